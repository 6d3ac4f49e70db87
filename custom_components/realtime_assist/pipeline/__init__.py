"""From an Assist pipeline run to a Turn."""
