"""What does a day cost? A simulation: 200 scattered turns, in a home after a week of others.

Nothing is measured at a provider. Ours composes what the product composes, with its summaries, in a
new session whenever five minutes have gone by. `full_replay` opens its sessions at the same moments
and tells all of the history as text, as much as the model takes. `server_truncation` never leaves
its session: all audio stays in it, and the server drops the oldest fifth when the model is full.

`summaries` is what ours pays beside it where the model itself writes the summaries: each asks for
as much as it may at the most.

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
from typing import Final

from custom_components.realtime_assist.memory.scopes import GLOBAL
from custom_components.realtime_assist.memory.transcript import Said, Thread, ThreadKey, TurnRecord
from custom_components.realtime_assist.memory.usage import Load

from .cost_ways import FullReplay, Ours, Piece, ServerTruncation, Turn, Way, grown, prices
from .remembered import ACTS, DAYS, PEOPLE, PLACES, THINGS
from .report import Figure

TURNS: Final = 200
"""Of a day; nobody speaks at night."""
DAYS_BEFORE: Final = 7
AIM: Final = 1.1
_MORNING: Final = 7
_NIGHT: Final = 23
_HOUR: Final = timedelta(hours=1)
_LETTERS: Final = 15
"""That are spoken in a second."""
RECORDED_SHARE: Final = 0.37
"""Where the recordings are not at hand."""
RECORDINGS: Final = Path(__file__).parents[3] / "shared" / "recordings"


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
        thread = grown(thread, turn.record)
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
        if isinstance(way, Ours):
            cents = 100 * sum(way.summaries) / len(day)
            full = f"cost.simulation.{name}.summaries"
            yield Figure(name=full, value=len(way.summaries), unit="in a day")
            yield Figure(name=f"{full}.cost", value=round(cents, 3), unit="US cents a turn")


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
    each = prices()
    dollars = turn.said * each.audio_out
    for piece, share in zip(asked, shares, strict=True):
        dollars += piece.text * ((1 - share) * each.text_in + share * each.text_cached)
        dollars += piece.audio * ((1 - share) * each.audio_in + share * each.audio_cached)
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
