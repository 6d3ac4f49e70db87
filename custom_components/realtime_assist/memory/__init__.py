"""What is remembered.

Nothing here imports `realtime/`, and only its way to the disk (`storage.py`, `disk.py`,
`store_file.py`) imports Home Assistant.
"""
