"""The tests of the summaries live in a whole home."""

from tests.home import Home, brain, house, options

__all__ = ["Home", "brain", "house", "options"]
