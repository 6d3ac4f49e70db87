"""How long after the last word does an answer begin? On a real pipeline of each Home Assistant.

    ours               replies of 2, 20, 60 and 600 characters
    floor              a bare client: the later of first audio and transcript
    after_transcript   ours, with the response asked for only after the transcript
    classic            streaming engines, each with the delay that such engines are said to have

What takes its time elsewhere is declared in `turns/declared.py`, each number with its source, and
is the same for ours and the floor, which are measured by turns: `over_floor` is the difference.
"""

import json
import os
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from tests.environment import venvs
from tests.environment.catalogue import RELEASES
from tests.environment.shell import REPOSITORY

from .report import Figure

TURNS: Final = 8
SECONDS: Final = 600
"""After so long it hangs, on whatever machine."""
MEDIAN_AIM: Final = 20.0
P95_AIM: Final = 50.0
CONVERTED_AIM: Final = 80.0

type Turns = dict[tuple[str, int, str], list[dict[str, float]]]


def figures(turns: int = TURNS) -> Iterator[Figure]:
    """Time turns on every supported release, side by side. Raises OSError if that cannot be."""
    with ThreadPoolExecutor(len(RELEASES)) as pool:
        told = pool.map(lambda release: _run(release, turns), RELEASES)
        for release, lines in zip(RELEASES, told, strict=True):
            yield from told_of(f"turn.{release}", gathered(lines))


def gathered(lines: Sequence[str]) -> Turns:
    """Return the stamps of all turns, by kind, length of the reply and mode."""
    found: Turns = defaultdict(list)
    for line in lines:
        turn: dict[str, Any] = json.loads(line)
        found[turn["kind"], turn["length"], turn["mode"]].append(turn["stamps"])
    return found


def told_of(name: str, turns: Turns) -> Iterator[Figure]:
    """Return the figures of one release, in milliseconds after the last word."""
    for (kind, length, mode), stamps in turns.items():
        which = f"{name}.{kind}{'' if mode in ('', 'plain') else f'_{mode}'}.{length}"
        if kind == "floor":
            for part in ("audio", "transcript"):
                yield _ms(f"{which}.{part}", statistics.median(each[part] for each in stamps))
            firsts = [max(each["audio"], each["transcript"]) for each in stamps]
        else:
            firsts = [each["first"] for each in stamps]
        yield _ms(f"{which}.first", statistics.median(firsts))
        yield _ms(f"{which}.first.p95", p95(firsts))
        yield _ms(f"{which}.last", statistics.median(each["last"] for each in stamps))
        if kind == "ours":
            yield from _over_floor(which, firsts, turns["floor", length, ""], mode)
            yield from _budget(which, stamps)


def _over_floor(
    name: str, firsts: Sequence[float], floors: Sequence[dict[str, float]], mode: str
) -> Iterator[Figure]:
    """Return what ours takes longer than the turn of the bare client that came right after it."""
    over = [
        first - max(floor["audio"], floor["transcript"])
        for first, floor in zip(firsts, floors, strict=True)
    ]
    plain = mode == "plain"
    aim = MEDIAN_AIM if plain else CONVERTED_AIM
    yield _ms(f"{name}.over_floor", statistics.median(over), aim)
    yield _ms(f"{name}.over_floor.p95", p95(over), P95_AIM if plain else None)


def _budget(name: str, stamps: Sequence[dict[str, float]]) -> Iterator[Figure]:
    """Return where the time goes: the parts add up to the first byte of each turn."""
    parts = {
        "end_of_turn": ("", "stream_end"),
        "gate": ("stream_end", "stt_end"),
        "pipeline": ("stt_end", "intent_start"),
        "chat_log": ("intent_start", "announced"),
        "voice": ("announced", "first"),
    }
    for part, (begin, end) in parts.items():
        took = statistics.median(each[end] - each.get(begin, 0.0) for each in stamps)
        yield _ms(f"{name}.budget.{part}", took)


def p95(values: Sequence[float]) -> float:
    """Return the value that 95 % of them do not exceed; of a few, the largest."""
    return sorted(values)[max(-(-len(values) * 95 // 100) - 1, 0)]


def _ms(name: str, seconds: float, aim: float | None = None) -> Figure:
    return Figure(name=name, value=round(1000 * seconds, 1), unit="ms", aim=aim, at_most=True)


def _run(release: str, turns: int) -> list[str]:
    """Time turns in the environment of a release; return what it printed."""
    python = venvs.ensure(venvs.named(f"ha-{release}"))
    command = (str(python), "-m", "tests.bench.turns", "--turns", str(turns))
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            command,
            cwd=REPOSITORY,
            env=dict(os.environ),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        raise OSError(f"the turns on {release} did not end within {SECONDS} s") from expired
    if done.returncode:
        raise OSError(f"the turns on {release} could not be taken:\n{done.stderr[-5000:]}")
    return done.stdout.splitlines()
