"""Many satellites that speak and listen in real time, and what one more costs.

    room        the room `realtime/` alone, without Home Assistant
    official    OpenAI's own realtime client, base64 both ways, with the same resampler
    whole       real pipelines of a real Home Assistant with the integration

Each runs in a process of its own, the server in another. `realtime_per_core` says how many
satellites one core could serve if all spoke or listened without a pause.
"""

import json
import os
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.environment import venvs
from tests.environment.catalogue import NEWEST_RELEASE
from tests.environment.shell import REPOSITORY

from .report import Figure

SECONDS: Final = float(os.environ.get("REALTIME_ASSIST_BENCH_SECONDS", "10"))
"""How long each crowd talks; a minute takes a quarter of an hour in all."""
CROWDS: Final = (1, 10, 50, 100)
COMPARED: Final = 50
RUNS: Final = 3
LATE_AIM_MS: Final = 10.0

type Told = dict[str, float]


def figures(seconds: float = SECONDS) -> Iterator[Figure]:
    """Measure all crowds. Raises OSError if one cannot be measured."""
    ours = venvs.ensure(venvs.named(f"ha-{NEWEST_RELEASE}"))
    theirs = venvs.ensure(venvs.named("judge-openai"))
    with _server(ours) as base_url:
        for crowd in CROWDS:
            for program in ("room", "whole"):
                told = _run(ours, program, base_url, crowd, seconds)
                yield from figures_of(f"satellites.{program}.{crowd}", told, crowd)
        costs: dict[str, list[float]] = {"room": [], "official": []}
        for _ in range(RUNS):
            for program, python in (("room", ours), ("official", theirs)):
                told = _run(python, program, base_url, COMPARED, seconds)
                costs[program].append(_cost(told))
    medians = {program: statistics.median(each) for program, each in costs.items()}
    for program, cost in medians.items():
        yield _milli(f"satellites.compared.{program}.cpu", cost)
    yield Figure(
        name="satellites.compared.ours_over_official",
        value=round(medians["room"] / medians["official"], 3),
        unit="times",
        aim=1.0,
        at_most=True,
    )


def figures_of(name: str, told: Told, crowd: int) -> Iterator[Figure]:
    """Return the figures of one crowd."""
    yield _milli(f"{name}.cpu", _cost(told))
    per_core = told["audio"] / told["cpu"]
    yield Figure(
        name=f"{name}.realtime_per_core",
        value=round(per_core, 1),
        unit="satellites",
        aim=CROWDS[-1] if crowd == CROWDS[-1] else None,
    )
    yield Figure(
        name=f"{name}.loop_delay_p99.9",
        value=round(max(told["late_ms"] - told["idle_late_ms"], 0.0), 2),
        unit="ms over an idle loop",
        aim=LATE_AIM_MS,
        at_most=True,
    )
    collector = round(told["collector_ms"], 2)
    yield Figure(name=f"{name}.collector", value=collector, unit="ms at the longest, of garbage")
    yield Figure(name=f"{name}.glitches", value=told["glitches"], unit=f"in {told['turns']} turns")
    kept = told.get("kept_mb", 0.0)
    each = told["memory_each_mb"] - kept / crowd
    yield Figure(name=f"{name}.memory", value=round(each, 3), unit="MB for each satellite")
    growth = told["memory_later_mb"] - told["memory_mb"]
    yield Figure(name=f"{name}.memory_growth", value=round(growth, 1), unit="MB in the second half")
    if "kept_mb" in told:
        kept_unit = "MB of speech, by Home Assistant for 300 s"
        yield Figure(name=f"{name}.kept", value=round(kept, 1), unit=kept_unit)


def _cost(told: Told) -> float:
    """Return processor seconds for each second of audio, spoken or heard."""
    return told["cpu"] / told["audio"]


def _milli(name: str, seconds: float) -> Figure:
    return Figure(name=name, value=round(1000 * seconds, 2), unit="ms of CPU for 1 s of audio")


@contextmanager
def _server(python: Path) -> Iterator[str]:
    """Run the server in a process of its own; give its address."""
    command = (str(python), "-m", "tests.bench.crowd.server")
    with subprocess.Popen(  # noqa: S603 - our own command
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            yield str(json.loads(server.stdout.readline())["base_url"])
        finally:
            server.terminate()


def _run(python: Path, program: str, base_url: str, crowd: int, seconds: float) -> Told:
    """Let a crowd talk, served by one of the programs."""
    command = (str(python), "-m", f"tests.bench.crowd.{program}")
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            (*command, base_url, str(crowd), str(seconds)),
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=seconds + 120,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        raise OSError(f"{crowd} satellites on {program} did not end") from expired
    if done.returncode or not done.stdout.strip():
        raise OSError(f"{crowd} satellites on {program} failed:\n{done.stderr[-5000:]}")
    told: Told = json.loads(done.stdout.splitlines()[-1])
    return told
