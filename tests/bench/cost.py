"""What does a day cost? A simulation: 200 scattered turns, in a home after a week of others.

Nothing is measured at a provider. Ours composes what the product composes, with its summaries, in a
new session whenever five minutes have gone by. `full_replay` opens its sessions at the same moments
and tells all of the history as text, as much as the model takes. `server_truncation` never leaves
its session: all audio stays in it, and the server drops the oldest fifth when the model is full.

All three are told the same instructions and tools of a home with 100 exposed entities. Money is
counted three times: nothing is cached; the share that recorded sessions show is, of any input; and
an ideal cache that forgets nothing and knows every beginning that was sent before.
"""

import random
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

from custom_components.realtime_assist.items import NOW, RECAP, View, note
from custom_components.realtime_assist.memory.compose import compose, note_body
from custom_components.realtime_assist.memory.compression import checkpoint, committed
from custom_components.realtime_assist.memory.render import turn_lines
from custom_components.realtime_assist.memory.scopes import GLOBAL
from custom_components.realtime_assist.memory.transcript import Said, Thread, ThreadKey, TurnRecord
from custom_components.realtime_assist.memory.usage import Load, estimate_tokens
from custom_components.realtime_assist.models import PRICES_AT, model_facts

from .remembered import ACTS, DAYS, PEOPLE, PLACES, THINGS
from .report import Figure

TURNS: Final = 200
"""Of a day; nobody speaks at night."""
DAYS_BEFORE: Final = 7
PREFIX: Final = 4200
"""Tokens of Assist's instructions and tools with 100 exposed entities (DESIGN, measured)."""
KEPT: Final = 0.8
IDLE: Final = timedelta(minutes=5)
RESUME_TOKENS: Final = 1500
AIM: Final = 1.1
_MORNING: Final = 7
_NIGHT: Final = 23
_HOUR: Final = timedelta(hours=1)
_LETTERS: Final = 15
"""That are spoken in a second."""
RECORDED_SHARE: Final = 0.37
"""Where the recordings are not at hand."""
RECORDINGS: Final = Path(__file__).parents[3] / "shared" / "recordings"


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
    _last: datetime | None = None
    _held: list[Piece] = field(default_factory=list)
    _told: Thread | None = None

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
        self.thread = _grown(self.thread, turn.record)
        return asked

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


class Caches:
    """How much of each input is cached, under each assumption."""

    def __init__(self, recorded: float) -> None:
        """Have seen nothing."""
        self._recorded: Final = recorded
        self._seen: Final[set[int]] = set()

    def shares(self, asked: list[Piece]) -> dict[str, list[float]]:
        """Return the cached share of each piece, by assumption; then remember the input."""
        beginnings, beginning = [], 0
        for piece in asked:
            beginning = hash((beginning, piece.name))
            beginnings.append(beginning)
        known = [1.0 if each in self._seen else 0.0 for each in beginnings]
        self._seen.update(beginnings)
        return {
            "no_cache": [0.0] * len(asked),
            "recorded_cache": [self._recorded] * len(asked),
            "ideal_cache": known,
        }


@dataclass(kw_only=True)
class Day:
    """What a day came to, turn by turn."""

    tokens: list[int] = field(default_factory=list)
    dollars: dict[str, list[float]] = field(default_factory=dict)
    rebuilds: int = 0


def figures() -> Iterator[Figure]:
    """Live the day in each way, and tell it: the mean of a turn, and the last hour by the first."""
    week, day = _lived()
    thread = Thread(key=ThreadKey("bench", GLOBAL))
    for turn in week:
        thread = _grown(thread, turn.record)
    recorded = recorded_share()
    yield Figure(name="cost.simulation.recorded_cache", value=round(recorded, 3), unit="share")
    server = ServerTruncation()
    for turn in week:
        server.ask(turn)
    server.rebuilds = 0
    ways: dict[str, Way] = {
        "ours": Ours(thread),
        "full_replay": FullReplay([turn.record for turn in week]),
        "server_truncation": server,
    }
    for name, way in ways.items():
        yield from _told(f"cost.simulation.{name}", _spent(way, day, Caches(recorded)), day)


def recorded_share(folder: Path = RECORDINGS) -> float:
    """Return the share of input that was cached in the recorded sessions of OpenAI's models."""
    cached = given = 0
    for path in sorted(folder.glob("openai-*.yaml")) + sorted(folder.glob("azure-*.yaml")):
        text = path.read_text(encoding="utf-8")
        given += sum(map(int, re.findall(r"\binput_tokens: (\d+)", text)))
        cached += sum(map(int, re.findall(r"\bcached_tokens: (\d+)", text)))
    return cached / given if given else RECORDED_SHARE


def _spent(way: Way, day: list[Turn], caches: Caches) -> Day:
    spent = Day()
    for turn in day:
        asked = way.ask(turn)
        spent.tokens.append(sum(piece.tokens for piece in asked))
        for assumption, shares in caches.shares(asked).items():
            spent.dollars.setdefault(assumption, []).append(_price(asked, shares, turn))
    spent.rebuilds = way.rebuilds
    return spent


def _price(asked: list[Piece], shares: list[float], turn: Turn) -> float:
    """Return the dollars of one turn: its input, and what was said."""
    prices = FACTS.prices
    if prices is None:
        raise OSError(f"the prices of {PRICES_AT} do not know the model")
    dollars = turn.said * prices.audio_out
    for piece, share in zip(asked, shares, strict=True):
        dollars += piece.text * ((1 - share) * prices.text_in + share * prices.text_cached)
        dollars += piece.audio * ((1 - share) * prices.audio_in + share * prices.audio_cached)
    return dollars / 1e6


def _told(name: str, spent: Day, day: list[Turn]) -> Iterator[Figure]:
    first = [n for n, turn in enumerate(day) if turn.record.at < day[0].record.at + _HOUR]
    last = [
        n for n, turn in enumerate(day) if turn.record.at >= day[-1].record.at.replace(minute=0)
    ]
    yield Figure(name=f"{name}.input", value=round(statistics.fmean(spent.tokens)), unit="tokens")
    yield Figure(name=f"{name}.rebuilds", value=spent.rebuilds, unit="in a day")
    aim = AIM if name.endswith("ours") else None

    def growth(what: str, values: list[float] | list[int]) -> Figure:
        times = statistics.fmean(values[n] for n in last) / statistics.fmean(
            values[n] for n in first
        )
        full = f"{name}.{what}.last_hour_by_first"
        return Figure(name=full, value=round(times, 3), unit="times", aim=aim, at_most=True)

    yield growth("input", spent.tokens)
    for assumption, dollars in spent.dollars.items():
        mean = round(100 * statistics.fmean(dollars), 3)
        yield Figure(name=f"{name}.{assumption}", value=mean, unit="US cents a turn")
        yield growth(assumption, dollars)


def _lived() -> tuple[list[Turn], list[Turn]]:
    """Return the turns of the week before, and those of the day: the same in every run."""
    chance = random.Random(1)  # noqa: S311 - no secret
    minutes = _minutes(chance)
    begin = datetime(2026, 11, 23, tzinfo=UTC)
    days = [
        [_turn(chance, begin + timedelta(days=day, minutes=minute)) for minute in minutes]
        for day in range(DAYS_BEFORE + 1)
    ]
    return [turn for day in days[:-1] for turn in day], days[-1]


def _minutes(chance: random.Random) -> list[float]:
    """Return when in a day somebody speaks: every hour in the same pattern, some hours more."""
    hours = range(_MORNING, _NIGHT)
    each = TURNS // len(hours)
    pattern: list[float] = []
    while len(pattern) < each:
        start = chance.uniform(0, 58)
        burst = [start + 0.5 * number for number in range(chance.choice((1, 1, 2, 3)))]
        pattern += burst[: each - len(pattern)]
    minutes = [60 * hour + minute for hour in hours for minute in pattern]
    more = TURNS - len(minutes)
    middle = 60 * (_MORNING + _NIGHT) // 2
    return sorted([*minutes, *(middle + 7.5 * number for number in range(more))])


def _turn(chance: random.Random, at: datetime) -> Turn:
    pick = chance.choice
    heard = f"{pick(PEOPLE)} {pick(ACTS)} the {pick(THINGS)} in the {pick(PLACES)}, is that so?"
    said = f"Yes, the {pick(THINGS)} is there until {pick(DAYS)}, {chance.randrange(24)} o'clock."
    heard_ms, said_ms = (len(text) * 1000 // _LETTERS for text in (heard, said))
    record = TurnRecord(
        id=f"{at:%d %H:%M:%S}",
        at=at,
        heard_text=heard,
        said=(Said(index=0, text=said, audio_ms=said_ms),),
        place="Kitchen",
    )
    return Turn(
        record=record,
        heard=Load(heard_ms=heard_ms).audio_tokens(),
        said=Load(said_ms=said_ms).audio_tokens(),
    )


def _grown(thread: Thread, record: TurnRecord) -> Thread:
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
