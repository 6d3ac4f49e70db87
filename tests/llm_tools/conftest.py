"""The tests of the tools live in a whole home, with people in it."""

from tests.home import Home, brain, house, options
from tests.people import People, people

__all__ = ["Home", "People", "brain", "house", "options", "people"]
