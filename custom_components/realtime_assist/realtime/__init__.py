"""Talking to a realtime model. Nothing here imports Home Assistant or `memory/`."""
