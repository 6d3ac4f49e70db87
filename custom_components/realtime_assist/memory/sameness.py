"""When two texts say the same: in other case, accents, signs or Unicode form."""

import re
from collections.abc import Iterable
from typing import Final

from .entries import ContextEntry
from .folding import fold

_SIGNS: Final = re.compile(r"[\s_]|[^\w\s](?!\d)(?<![%‰°€$£#@&+*/=<>])")
"""What may differ: spaces and signs of writing, but not those that belong to a number."""
_TELLING: Final = 3
"""Words from which on a text says by itself what it is about."""


def same_form(text: str) -> str:
    """Return what is equal for all ways to write a text."""
    bare = " ".join(_SIGNS.sub(" ", fold(text)).split())
    return bare or text.strip()


def entry_for(key: str, held: Iterable[ContextEntry]) -> ContextEntry | None:
    """Return the first of the entries whose key is written in one of the ways of `key`."""
    wanted = same_form(key)
    return next((entry for entry in held if same_form(entry.key) == wanted), None)


def told_before(key: str, text: str, held: Iterable[ContextEntry]) -> ContextEntry | None:
    """Return the first of the entries that says this already, under this key or another.

    A short text, as `yes` or `7`, says nothing without its key.
    """
    wanted_key, wanted = same_form(key), same_form(text)
    telling = len(wanted.split()) >= _TELLING
    for entry in held:
        value = entry.value
        form = same_form(value) if isinstance(value, str) else same_form(entry.value_json)
        own = same_form(entry.key)
        if form == wanted and (telling or own == wanted_key):
            return entry
        if telling and wanted == f"{own} {form}":
            return entry
    return None
