"""Realtime Assist: a house that talks and remembers."""
