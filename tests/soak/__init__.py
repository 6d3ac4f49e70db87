"""Thousands of turns at silent speed, on which all kinds of things go wrong, by chance."""
