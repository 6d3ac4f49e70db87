"""The ways to summarise that need more than the memory: an AI Task entity, the session's model."""
