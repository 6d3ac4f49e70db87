"""The demonstration: a real Home Assistant, a real phone and real speech, on one machine."""
