"""The tests of the pipeline live in a whole home."""

from tests.home import Home, brain, house, options

__all__ = ["Home", "brain", "house", "options"]
