"""The vocabulary that `realtime/` and `memory/` share.

What we hold is the truth; the provider's conversation is a projection of it. `memory.compose` says
which items the provider should hold, `realtime.ledger` which it holds now, and `realtime.reconcile`
compares the two. This module has the words for that comparison and nothing else: neither room
imports the other.

Keys are meanings, never ids of the wire:

    recap                    the summary and quoted earlier turns of the thread
    facts                    scoped memory
    now                      time, room, who speaks, extra prompts of this run
    meanwhile:<turn>         a turn of the thread that happened outside this session
    outcome:<call>           what became of a tool that outlived its socket
    turn:<turn>/hear/<n>     what the user said (native audio, or typed text that we create)
    turn:<turn>/say/<n>      a reply of the model
    call:<call>              a tool call of the model
    output:<call>            our answer to it
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

RECAP: Final = "recap"
FACTS: Final = "facts"
NOW: Final = "now"

type Audience = frozenset[str]
"""Scope keys (as text) that a reader must all be allowed to see. Empty: whoever sees the thread."""

EVERYBODY: Final[Audience] = frozenset()


class Form(StrEnum):
    """How an item comes to be in the provider's conversation."""

    NOTE = "note"
    """Text that we make and append."""
    NATIVE = "native"
    """Born on the server: speech, replies, calls. We bind, cut or remove it; we never create it."""
    OUTPUT = "output"
    """Our answer to a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredItem:
    """One item that the provider should hold.

    Notes and outputs are equal by key and digest, natives by key and cut. Text is never compared.
    """

    key: str
    form: Form
    digest: str = ""
    """Of the rendered body; empty for natives, whose content is the server's."""
    body: str = ""
    """Text of a note (envelope included) or of an output; empty for natives."""
    cut_ms: int | None = None
    """Natives: None is whole, n the milliseconds that were heard, 0: it must not be there."""
    pair: str | None = None
    """Call id: a call and its output live and die together."""
    audience: Audience = EVERYBODY

    @property
    def by_user(self) -> bool:
        """Whether a note is the user's own typed words, not something the house tells."""
        return self.form is Form.NOTE and self.key.startswith("turn:")

    @property
    def is_said(self) -> bool:
        """Whether an answer without it would be wrong: typed words, or what became of a call."""
        return self.by_user or self.form is Form.OUTPUT or self.key.startswith("outcome:")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What `compose` must know of a session, so that its window does not slide at each turn."""

    natives: frozenset[str] = frozenset()
    """Ids of the turns whose items were born in this session."""
    recap_upto: int = 0
    """Number of the last turn of the thread that this session's recap covers.

    Later ones that are not native come as `meanwhile` notes.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """What a session should hold now, and for whose eyes."""

    desired: tuple[DesiredItem, ...]
    visible: frozenset[str]
    """Scope keys (as text) that may be seen: a held item for others is revoked."""


def digest(text: str) -> str:
    """Return 12 hexadecimal digits that identify a text, equal in every process."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def note(key: str, body: str, audience: Audience = EVERYBODY) -> DesiredItem:
    """Return a note with the digest of its body."""
    return DesiredItem(key=key, form=Form.NOTE, digest=digest(body), body=body, audience=audience)


def native(
    key: str, *, cut_ms: int | None = None, pair: str | None = None, audience: Audience = EVERYBODY
) -> DesiredItem:
    """Return a native item: it is bound where the server made it, never created."""
    return DesiredItem(key=key, form=Form.NATIVE, cut_ms=cut_ms, pair=pair, audience=audience)


def output(call_id: str, body: str, audience: Audience = EVERYBODY) -> DesiredItem:
    """Return the answer to a call."""
    return DesiredItem(
        key=output_key(call_id),
        form=Form.OUTPUT,
        digest=digest(body),
        body=body,
        pair=call_id,
        audience=audience,
    )


def hear_key(turn_id: str, index: int = 0) -> str:
    """Return the key of what the user said."""
    return f"turn:{turn_id}/hear/{index}"


def say_key(turn_id: str, index: int = 0) -> str:
    """Return the key of a reply; a turn may have several (a preamble, then the answer)."""
    return f"turn:{turn_id}/say/{index}"


def call_key(call_id: str) -> str:
    """Return the key of a tool call."""
    return f"call:{call_id}"


def output_key(call_id: str) -> str:
    """Return the key of the answer to a tool call."""
    return f"output:{call_id}"


def meanwhile_key(turn_id: str) -> str:
    """Return the key of the note about a turn that happened outside the session."""
    return f"meanwhile:{turn_id}"


def outcome_key(call_id: str) -> str:
    """Return the key of the note about a call that outlived its socket."""
    return f"outcome:{call_id}"
