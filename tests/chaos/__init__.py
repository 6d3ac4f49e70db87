"""Turns in which something goes wrong, at a random event of each."""
