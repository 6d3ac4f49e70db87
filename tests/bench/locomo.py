"""Long conversations with questions, and the turns that hold the evidence (LoCoMo, ACL 2024).

The data is not part of this repository: it lies in a folder beside it.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[3] / "shared" / "locomo"

_UNANSWERABLE: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a conversation."""

    id: str
    speaker: str
    text: str
    at: datetime
    """When its session began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question, and the ids of the turns that answer it."""

    question: str
    evidence: frozenset[str]

    def share(self, found: list[str]) -> float:
        """Return the share of the evidence that was found."""
        return len(self.evidence & set(found)) / len(self.evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """All sessions of two people."""

    name: str
    turns: tuple[Turn, ...]
    asked: tuple[Asked, ...]


def conversations(folder: Path = FOLDER) -> tuple[Conversation, ...]:
    """Read all conversations of a folder; raises FileNotFoundError if there is none."""
    found = tuple(_conversation(path) for path in sorted(folder.glob("*.json")))
    if not found:
        raise FileNotFoundError(f"there are no conversations in {folder}")
    return found


def _conversation(path: Path) -> Conversation:
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    turns = tuple(_turns(data))
    known = frozenset(turn.id for turn in turns)
    asked = (
        Asked(question=qa["question"], evidence=known.intersection(qa["evidence"]))
        for qa in data["qa"]
        if qa["category"] != _UNANSWERABLE
    )
    return Conversation(
        name=path.stem, turns=turns, asked=tuple(item for item in asked if item.evidence)
    )


def _turns(data: dict[str, Any]) -> Iterator[Turn]:
    names = [name for name in data if re.fullmatch(r"session_\d+", name)]
    for name in sorted(names, key=lambda name: int(name.removeprefix("session_"))):
        at = datetime.strptime(f"{data[f'{name}_date_time']} +0000", "%I:%M %p on %d %B, %Y %z")
        for turn in data[name]:
            texts = (turn["text"], turn.get("blip_caption"))
            yield Turn(
                id=turn["dia_id"],
                speaker=turn["speaker"],
                text=" ".join(text for text in texts if text),
                at=at,
            )
