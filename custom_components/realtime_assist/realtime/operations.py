"""The words of the ledger: what is held, and what may be asked of the provider."""

from dataclasses import dataclass, field
from enum import StrEnum

from ..items import EVERYBODY, Audience, DesiredItem, Form


class ItemState(StrEnum):
    """Where an item stands between us and the provider."""

    SENT = "sent"
    """Created or cut, and not acknowledged yet."""
    HELD = "held"
    """The provider has it."""
    LEAVING = "leaving"
    """Its removal is not acknowledged yet."""
    LOST = "lost"
    """The provider refused three times: it stays as it is, and only a new session changes that."""


class Reason(StrEnum):
    """Why a new session is needed."""

    REVOKED = "revoked"
    """Something may not be seen any more and cannot be taken away."""
    HALF_PAIR = "half_pair"
    """A call without its output, or the reverse, cannot be taken away."""
    CUT = "cut"
    """A reply was not heard to its end and cannot be shortened in place."""
    ORPHANS = "orphans"
    """Nobody's items cannot be taken away, and now a new session costs nothing."""
    SUPERSEDED = "superseded"
    """Notes were replaced, and now a new session costs nothing."""
    PRESSURE = "pressure"
    """The conversation is too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerItem:
    """One item that the provider holds, or may hold."""

    remote_id: str
    form: Form
    key: str | None = None
    """None: born on the server and nobody's (yet)."""
    digest: str = ""
    cut_ms: int | None = None
    """Milliseconds that a reply was cut to; None: whole."""
    pair: str | None = None
    """Call id of a call and of its output."""
    audience: Audience = EVERYBODY
    state: ItemState = ItemState.HELD
    open: bool = False
    """Its turn has not settled: it may be cut, and nothing else."""
    turn_id: str | None = None
    """The turn in which it was born, or whose typed words it is."""
    received_ms: float = 0.0
    """Milliseconds of its audio: of a reply what has arrived here, of speech what was sent."""
    text: str = field(default="", repr=False)
    """The words in it, those of a spoken reply as well: a model reads them. Never logged."""

    @property
    def is_note(self) -> bool:
        """Whether it is a note of the house, and not the user's typed words."""
        return self.form is Form.NOTE and self.turn_id is None

    @property
    def is_ours(self) -> bool:
        """Whether we made it, under an id of ours."""
        return self.form is not Form.NATIVE

    @property
    def is_reply(self) -> bool:
        """Whether it is claimed as a reply of the model."""
        return self.form is Form.NATIVE and self.key is not None and "/say/" in self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Whether items may change now, and what a new session would cost."""

    busy: bool = False
    """A commit or detected speech is unacknowledged, or a response is active: hands off."""
    cold: bool = False
    """Idle for so long that a new session costs nothing."""
    hard: bool = False
    """The conversation presses against a limit, and a recap of it is ready."""


@dataclass(frozen=True, slots=True)
class Create:
    """Append a note or an output under a new id."""

    item: DesiredItem
    remote_id: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove an item."""

    remote_id: str


@dataclass(frozen=True, slots=True)
class CutTo:
    """Shorten a reply to what was heard, never beyond what was received."""

    remote_id: str
    ms: int


@dataclass(frozen=True, slots=True)
class NewSession:
    """Start anew: an empty ledger, then everything that is desired, in one flush."""

    reason: Reason


type ItemOperation = Create | Delete | CutTo
type Operation = ItemOperation | NewSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What became of item operations; ever growing, also across sessions."""

    created: int = 0
    deleted: int = 0
    superseded: int = 0
    """Notes that a newer one of the same key replaced."""
    failed: int = 0
    """Items that the provider refused for good."""
    refused: int = 0
    expired: int = 0
    """Operations that were never answered."""
    rebuilt: int = 0
    """New sessions."""

    def since(self, before: Counts) -> Counts:
        """Return what was counted after `before`."""
        return Counts(
            created=self.created - before.created,
            deleted=self.deleted - before.deleted,
            superseded=self.superseded - before.superseded,
            failed=self.failed - before.failed,
            refused=self.refused - before.refused,
            expired=self.expired - before.expired,
            rebuilt=self.rebuilt - before.rebuilt,
        )


def turn_of(key: str) -> str | None:
    """Return the turn whose words a key means, None for all other keys."""
    kind, _, rest = key.partition(":")
    return rest.partition("/")[0] if kind == "turn" else None
