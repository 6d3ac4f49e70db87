"""Three ways to go on with a conversation, as the simulated day of `cost.py` lives them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

from custom_components.realtime_assist.items import NOW, RECAP, View, note
from custom_components.realtime_assist.memory import asking
from custom_components.realtime_assist.memory.compose import compose, note_body
from custom_components.realtime_assist.memory.compression import checkpoint, committed, snapshot
from custom_components.realtime_assist.memory.money import Prices
from custom_components.realtime_assist.memory.render import turn_lines
from custom_components.realtime_assist.memory.scopes import GLOBAL
from custom_components.realtime_assist.memory.transcript import Thread, TurnRecord
from custom_components.realtime_assist.memory.usage import estimate_tokens
from custom_components.realtime_assist.models import PRICES_AT, model_facts

PREFIX: Final = 4200
"""Tokens of Assist's instructions and tools with 100 exposed entities (DESIGN, measured)."""
KEPT: Final = 0.8
IDLE: Final = timedelta(minutes=5)
RESUME_TOKENS: Final = 1500

FACTS: Final = model_facts("gpt-realtime-2.1")
INPUT_LIMIT: Final = FACTS.room


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that stands in the input: what it is, and its tokens."""

    name: str
    text: int = 0
    audio: int = 0

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.text + self.audio


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of the day, as the history has it, and what it costs as speech."""

    record: TurnRecord
    heard: int
    said: int


class Way(Protocol):
    """What the model gets with a turn."""

    rebuilds: int

    def ask(self, turn: Turn) -> list[Piece]:
        """Return the whole input, in its order, with the question at its end."""


PREFIX_PIECE: Final = Piece("prefix", text=PREFIX)


@dataclass
class Ours:
    """What the product composes."""

    thread: Thread
    rebuilds: int = 0
    summaries: list[float] = field(default_factory=list)
    """Dollars for each, if the model writes it."""
    _last: datetime | None = None
    _held: list[Piece] = field(default_factory=list)

    def ask(self, turn: Turn) -> list[Piece]:
        """Open a session where the last one is closed by now; then go on in it."""
        at = turn.record.at
        if self._last is None or at - self._last > IDLE:
            self.rebuilds += 1
            self._held = [PREFIX_PIECE, *self._recap()]
        self._last = at
        now = note(NOW, note_body(NOW, f"Time: {at:%A, %d %B %Y, %H:%M}\nRoom: Kitchen"))
        self._held.append(Piece(f"now {at}", text=estimate_tokens(now.body)))
        self._held.append(Piece(f"heard {turn.record.id}", audio=turn.heard))
        asked = list(self._held)
        self._held.append(Piece(f"said {turn.record.id}", audio=turn.said))
        self._summarise(turn)
        self.thread = grown(self.thread, turn.record)
        return asked

    def _summarise(self, turn: Turn) -> None:
        """Count what the model would be asked for, were it to write the summary that is due."""
        due = snapshot(self.thread.joined(turn.record), RESUME_TOKENS, turn.record.at)
        if due is None:
            return
        each = prices()
        told = sum(
            estimate_tokens(asking.instructions(task)) + estimate_tokens(asking.record(task))
            for task in due.tasks
        )
        written = sum(task.tokens for task in due.tasks)
        self.summaries.append((told * each.text_in + written * each.text_out) / 1e6)

    def _recap(self) -> Iterator[Piece]:
        view = View(recap_upto=self.thread.next_number - 1)
        composed = compose(
            thread=self.thread,
            entries=(),
            now=None,
            visible=(GLOBAL,),
            view=view,
            resume_tokens=RESUME_TOKENS,
        )
        for item in composed.desired:
            if item.key == RECAP:
                yield Piece(f"recap {item.digest}", text=estimate_tokens(item.body))


@dataclass
class FullReplay:
    """All of the history as text, whenever a session opens."""

    history: list[TurnRecord]
    rebuilds: int = 0
    _last: datetime | None = None
    _held: list[Piece] = field(default_factory=list)

    def ask(self, turn: Turn) -> list[Piece]:
        """Open a session where the last one is closed by now; then go on in it."""
        at = turn.record.at
        if self._last is None or at - self._last > IDLE:
            self.rebuilds += 1
            pieces = [
                Piece(record.id, text=estimate_tokens(turn_lines(record)))
                for record in self.history
            ]
            self._held = [PREFIX_PIECE, *_newest(pieces, INPUT_LIMIT - PREFIX)]
        self._last = at
        self._held.append(Piece(f"heard {turn.record.id}", audio=turn.heard))
        asked = list(self._held)
        self._held.append(Piece(f"said {turn.record.id}", audio=turn.said))
        self.history.append(turn.record)
        return asked


@dataclass
class ServerTruncation:
    """One session that goes on for ever, and a server that drops the oldest when it is full."""

    rebuilds: int = 0
    _held: list[Piece] = field(default_factory=list)

    def ask(self, turn: Turn) -> list[Piece]:
        """Say it into the session."""
        heard = Piece(f"heard {turn.record.id}", audio=turn.heard)
        if PREFIX + sum(piece.tokens for piece in (*self._held, heard)) > INPUT_LIMIT:
            self.rebuilds += 1
            self._held = _newest(self._held, int(KEPT * INPUT_LIMIT) - PREFIX)
        self._held.append(heard)
        asked = [PREFIX_PIECE, *self._held]
        self._held.append(Piece(f"said {turn.record.id}", audio=turn.said))
        return asked


def prices() -> Prices:
    """Return what the model costs. Raises OSError if that is not known."""
    if FACTS.prices is None:
        raise OSError(f"the prices of {PRICES_AT} do not know the model")
    return FACTS.prices


def grown(thread: Thread, record: TurnRecord) -> Thread:
    """Return a thread that a turn has joined, summarised where that is due."""
    thread = thread.joined(record)
    made = checkpoint(thread, RESUME_TOKENS, record.at)
    return thread if made is None else committed(thread, made)


def _newest(pieces: list[Piece], tokens: int) -> list[Piece]:
    """Return the newest that fit, oldest first."""
    kept: list[Piece] = []
    for piece in reversed(pieces):
        tokens -= piece.tokens
        if tokens < 0:
            break
        kept.append(piece)
    return kept[::-1]
