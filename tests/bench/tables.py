"""Figures as tables: what the README shows of a bench can be made anew by one command.

    scripts/bench turn satellites setup audio --markdown

A table says which figures stand in its rows and columns by their names, in which `{row}` and
`{column}` are filled in. A figure that was not measured leaves its cell empty, a row without any is
left out, a table without rows as well.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from tests.environment.catalogue import RELEASES

from .report import Figure

type Labels = Mapping[str, str]
"""What stands in a name, and what a person reads instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Which figures stand where. A row may itself name the column."""

    title: str
    corner: str
    name: str
    rows: Labels
    columns: Labels

    def lines(self, figures: Mapping[str, Figure]) -> Iterator[str]:
        """Yield it line by line; nothing if none of its figures was measured."""
        rows = [
            (label, cells)
            for row, label in self.rows.items()
            if any(cells := [self._cell(figures, row, column) for column in self.columns])
        ]
        if not rows:
            return
        yield from (f"{self.title}", "")
        yield _row([self.corner, *self.columns.values()])
        yield _row(["---"] * (len(self.columns) + 1))
        for label, cells in rows:
            yield _row([label, *cells])
        yield ""

    def _cell(self, figures: Mapping[str, Figure], row: str, column: str) -> str:
        figure = figures.get(self.name.replace("{row}", row).replace("{column}", column))
        return "" if figure is None else _value(figure)


_KINDS: Final = {
    "floor.{column}.first": "The floor: a bare client, the later of first audio and transcript",
    "floor.{column}.audio": "- its first audio alone",
    "floor.{column}.transcript": "- its transcript alone",
    "ours.{column}.first": "Here",
    "ours.{column}.over_floor": "- over the floor",
    "ours.{column}.over_floor.p95": "- over the floor, 95th percentile",
    "ours_converted.{column}.over_floor": "- over the floor, converted by ffmpeg",
    "ours_converted.{column}.over_floor.p95": "- the same, 95th percentile",
    "after_transcript.{column}.first": "Here, asked for only after the transcript",
    "classic.{column}.first": "Classic streaming engines",
    "ours.{column}.last": "Here, until the last byte",
    "ours.{column}.budget.end_of_turn": "Of it: end of turn",
    "ours.{column}.budget.gate": "- model and transcript (gate)",
    "ours.{column}.budget.pipeline": "- Home Assistant between its stages",
    "ours.{column}.budget.chat_log": "- chat log",
    "ours.{column}.budget.voice": "- from announcement to first byte",
    "ours_converted.{column}.budget.voice": "- the same, converted by ffmpeg",
}


def _turn(release: str) -> Table:
    return Table(
        title=f"Home Assistant {release}: from the last word to the first byte of the answer, for "
        "replies of so many characters (medians)",
        corner="",
        name=f"turn.{release}.{{row}}",
        rows=_KINDS,
        columns={str(length): str(length) for length in (2, 20, 60, 600)},
    )


_CROWD: Final = Table(
    title="Satellites that speak and listen at once: the room `realtime/` alone, without Home "
    "Assistant, and a whole Home Assistant",
    corner="Satellites",
    name="satellites.{row}.{column}",
    rows={
        f"{program}.{crowd}": f"{label}, {crowd}"
        for program, label in (("room", "Room"), ("whole", "Whole"))
        for crowd in (1, 10, 50, 100)
    },
    columns={
        "cpu": "Processor",
        "realtime_per_core": "One core could serve",
        "loop_delay_p99.9": "Event loop late, 99.9 %",
        "collector": "Of it Python's collector, at most",
        "glitches": "Gaps in the audio",
        "memory": "Memory",
        "memory_growth": "It grows by",
    },
)
_COMPARED: Final = Table(
    title="One stream of ours beside OpenAI's own client, base64 both ways, same resampler "
    "(medians of three runs)",
    corner="",
    name="satellites.compared.{row}",
    rows={
        "room.cpu": "Here",
        "official.cpu": "OpenAI's client",
        "ours_over_official": "Ratio",
    },
    columns={"": "Processor"},
)

_SETUP: Final = Table(
    title="A start of Home Assistant (medians)",
    corner="",
    name="setup.{row}",
    rows={
        "empty": "Setup with an empty memory",
        "100_threads": "With 100 stored conversations",
        "threads_loaded": "Conversations read before somebody speaks",
        "sockets_opened": "Connections opened before somebody speaks",
        "first_turn_pays": "What the first turn after a start takes longer than the next",
    },
    columns={"": "Here"},
)
_AUDIO: Final = Table(
    title="Audio: 16 kHz to the model's 24 kHz (up), and back (down)",
    corner="",
    name="audio.{row}",
    rows={
        "up.snr_1khz": "Up, signal to noise of a tone",
        "up.image_rejection": "Up, images are down by",
        "up.cpu": "Up, processor",
        "down.snr_1khz": "Down, signal to noise of a tone",
        "down.alias_rejection": "Down, aliases are down by",
        "down.cpu": "Down, processor",
        "encode.cpu": "Base64 and JSON of what is said",
        "decode.cpu": "JSON and base64 of what is answered",
    },
    columns={"": "Here"},
)

TABLES: Final[Sequence[Table]] = (
    *(_turn(release) for release in RELEASES),
    _CROWD,
    _COMPARED,
    _SETUP,
    _AUDIO,
)


def tables(figures: Sequence[Figure], now: datetime | None = None) -> str:
    """Return all tables that the figures fill, with the day and the machine."""
    by_name = {figure.name: figure for figure in figures}
    lines = [line for table in TABLES for line in table.lines(by_name)]
    day = (now or datetime.now(UTC)).strftime("%-d %B %Y")
    load = os.getloadavg()[1]
    head = f"Measured on {day}, on {os.cpu_count()} cores, with a load of {load:.1f}."
    return "\n".join([head, "", *lines])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("  ", " ")


def _value(figure: Figure) -> str:
    missed = ", missed" if figure.met is False else ""
    whole = float(figure.value).is_integer() or abs(figure.value) >= 100
    digits = 0 if whole else 1 if abs(figure.value) >= 10 else 2
    return f"{figure.value:.{digits}f} {figure.unit}{missed}"
