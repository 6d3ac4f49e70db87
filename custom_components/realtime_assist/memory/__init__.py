"""What is remembered. Nothing here imports Home Assistant, except `storage.py`, nor `realtime/`."""
