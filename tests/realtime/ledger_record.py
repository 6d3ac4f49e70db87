"""What a house knows of what was said, and of what it was told to remember."""

from dataclasses import dataclass, field

from .ledger_server import MS_PER_WORD


@dataclass(slots=True)
class Said:
    """One reply, as the house knows it."""

    item_id: str
    words: list[str]
    """All that the model said, also what never arrived here."""
    received: int
    """So many of the words did."""
    heard_ms: int | None = None

    @property
    def heard(self) -> list[str]:
        """The words that somebody heard."""
        return self.words if self.heard_ms is None else self.words[: self.heard_ms // MS_PER_WORD]


@dataclass(slots=True)
class Turn:
    """What was said in one turn."""

    id: str
    audience: frozenset[str]
    heard: list[str]
    typed: bool = False
    number: int = 0
    says: dict[int, Said] = field(default_factory=dict)
    calls: dict[str, str | None] = field(default_factory=dict)
    """Words of the output of each call, None while it is unanswered."""
    responded: bool = False
    item_id: str | None = None
    """Of what the user said, while it is in a session."""

    @property
    def text(self) -> str:
        """All words that belong into a summary."""
        outputs = [words for words in self.calls.values() if words]
        return " ".join([*self.heard, *(w for s in self.says.values() for w in s.heard), *outputs])

    @property
    def unheard(self) -> set[str]:
        """Words that the model said and nobody heard."""
        return {w for s in self.says.values() for w in s.words} - set(self.text.split())


@dataclass(slots=True)
class Fact:
    """What the house was told to remember."""

    values: list[str]
    audience: frozenset[str]
