"""What is remembered.

Nothing here imports `realtime/`, and nothing but its storage (`storage.py`, `store_file.py`)
imports Home Assistant.
"""
