"""What was said, and what of the answers was heard: turns, and the threads that they belong to."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, Self, override

from ..items import EVERYBODY, Audience
from .scopes import ScopeKey
from .words import cut_at_word, is_text, text_of

COMMENTARY: Final = "commentary"
"""Phase of a reply that only accompanies the work: spoken and kept as heard, never summarised."""


class Source(StrEnum):
    """How a turn came to be."""

    VOICE = "voice"
    TEXT = "text"
    LOCAL = "local"
    """Home Assistant answered by itself; no model was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One reply of the model."""

    index: int
    text: str = field(repr=False)
    audio_ms: int = 0
    """How much audio of it was received; 0: text only."""
    heard_ms: int | None = None
    """None: all of it was heard; 0: nothing."""
    phase: str | None = None

    @property
    def cut(self) -> bool:
        """Whether it was not heard to its end."""
        return self.heard_ms is not None and self.heard_ms < max(self.audio_ms, 1)

    @property
    def heard_words(self) -> str:
        """The words that were heard: whole words only, by the share of audio."""
        if not self.cut or self.heard_ms is None:
            return self.text
        length = len(self.text) * max(self.heard_ms, 0) // max(self.audio_ms, 1)
        return cut_at_word(self.text, length)


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """One tool call of the model."""

    call_id: str
    name: str
    arguments: str = field(repr=False)
    """JSON text as the model wrote it."""
    output: str | None = field(default=None, repr=False)
    """Our answer exactly as it was sent; None: it was never answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """One turn that is over."""

    id: str
    number: int = 0
    """Place in its thread, from 1; 0: it has not joined one."""
    at: datetime
    """When it began, in the time zone of the house: this is how the model is told of it."""
    source: Source = Source.VOICE
    heard_text: str | None = field(default=None, repr=False)
    """What the user said or typed; None: unknown."""
    unclear: bool = False
    """The recogniser was unsure: marked as such, and never learned."""
    said: tuple[Said, ...] = ()
    calls: tuple[Called, ...] = ()
    audience: Audience = EVERYBODY
    device_id: str | None = None
    area_id: str | None = None
    place: str | None = None
    """Name of the room at that time."""
    speaker: str | None = None
    """Name of who spoke, where it is known."""
    interrupted: bool = False
    uncertainty_ms: int = 0
    """How far the heard position may be off."""

    @property
    def answered(self) -> bool:
        """Whether every call has its output."""
        return all(call.output is not None for call in self.calls)

    def well_formed(self) -> Self:
        """Return it with lone surrogates replaced: one would keep the thread off the disk."""
        if all(is_text(text) for text in self.texts()):
            return self
        return replace(
            self,
            heard_text=self.heard_text and text_of(self.heard_text),
            said=tuple(replace(said, text=text_of(said.text)) for said in self.said),
            calls=tuple(
                replace(
                    call,
                    arguments=text_of(call.arguments),
                    output=call.output and text_of(call.output),
                )
                for call in self.calls
            ),
        )

    def texts(self) -> Iterable[str]:
        """Yield every text of it that people or tools gave."""
        if self.heard_text:
            yield self.heard_text
        for said in self.said:
            yield said.text
        for call in self.calls:
            yield call.arguments
            yield call.output or ""


def free_of(words: Iterable[str]) -> Callable[[Iterable[str]], bool]:
    """Return what tells whether texts hold none of these words. Case does not matter."""
    wanted = {text.casefold() for text in words if text.strip()}
    return lambda texts: not any(bad in text.casefold() for text in texts for bad in wanted)


@dataclass(frozen=True, slots=True)
class ThreadKey:
    """Which history: an assistant's subentry id (or `*`, shared by all) and a scope."""

    assistant: str
    scope: ScopeKey

    def __post_init__(self) -> None:
        """Refuse an assistant that could not be read back."""
        if not self.assistant or "/" in self.assistant:
            msg = "an assistant id is neither empty nor has a slash"
            raise ValueError(msg)

    @override
    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        return f"{self.assistant}/{self.scope}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a key from its text; raises ValueError if it is none."""
        assistant, _, scope = text.partition("/")
        return cls(assistant, ScopeKey.parse(scope))


class LineKind(StrEnum):
    """What a line of a summary tells."""

    GIST = "gist"
    FACT = "fact"
    PREFERENCE = "preference"
    REQUEST = "request"
    """Something asked for that is still open."""
    PROMISE = "promise"
    NAME = "name"
    """What something or somebody is called in this house."""
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLine:
    """One line of a summary, with the numbers of the turns it came from."""

    kind: LineKind
    text: str = field(repr=False)
    turns: tuple[int, ...] = ()
    audience: Audience = EVERYBODY
    at: datetime | None = None
    """When it was said: words as `tomorrow` count from there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What is left of all turns up to and including number `upto`."""

    lines: tuple[SummaryLine, ...]
    upto: int
    made_by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """The history that belongs together: a summary, and the turns after it. Append-only."""

    key: ThreadKey
    turns: tuple[TurnRecord, ...] = ()
    summary: Summary | None = None
    next_number: int = 1
    revision: int = 0
    """Counts what was forgotten: a summary that was begun before does not fit any more."""
    last_at: datetime | None = None
    leaving: tuple[TurnRecord, ...] = ()
    """Turns that the summary stands for by now, until the archive has them for certain."""

    def joined(self, turn: TurnRecord) -> Self:
        """Return it with a turn at the next number. One that is in it already changes nothing."""
        if self.turn(turn.id):
            return self
        return replace(
            self,
            turns=(*self.turns, replace(turn.well_formed(), number=self.next_number)),
            next_number=self.next_number + 1,
            last_at=turn.at,
        )

    def turn(self, turn_id: str) -> TurnRecord | None:
        """Return a turn by its id, as long as it is verbatim."""
        return next((turn for turn in self.turns if turn.id == turn_id), None)

    def without(self, words: Iterable[str]) -> Self:
        """Return it without the turns and summary lines that hold any of these texts.

        Case does not matter. Nothing found is no change; else the revision counts one up.
        """
        clean = free_of(words)
        return self.with_only(lambda turn: clean(turn.texts()), lambda line: clean((line.text,)))

    def with_only(
        self, turns: Callable[[TurnRecord], bool], lines: Callable[[SummaryLine], bool]
    ) -> Self:
        """Return it with the turns and summary lines of which that is true.

        If that is all of them it is no change; else the revision counts one up.
        """
        kept = tuple(filter(turns, self.turns))
        leaving = tuple(filter(turns, self.leaving))
        there = self.summary.lines if self.summary else ()
        left = tuple(filter(lines, there))
        if (len(kept), len(leaving), len(left)) == (len(self.turns), len(self.leaving), len(there)):
            return self
        return replace(
            self,
            turns=kept,
            leaving=leaving,
            summary=self.summary and replace(self.summary, lines=left),
            revision=self.revision + 1,
        )

    def emptied(self) -> Self:
        """Return it with all forgotten; numbers go on, so that live sessions are not confused."""
        return replace(self, turns=(), leaving=(), summary=None, revision=self.revision + 1)
