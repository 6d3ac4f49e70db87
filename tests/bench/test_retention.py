"""What a resumed session still knows is measured as it was meant to be."""

from datetime import UTC, datetime

import pytest

from . import locomo, retention
from .locomo import Asked, Conversation, Turn
from .retention import Line, Measure

AT = datetime(2026, 11, 30, tzinfo=UTC)
TALK = Conversation(
    name="talk",
    turns=(
        Turn(id="a", speaker="Anna", text="The blue heron nests beside Uppsala castle.", at=AT),
        *(
            Turn(id=f"t{n}", speaker="Ben", text=f"Well, the weather is fine {n}.", at=AT)
            for n in range(60)
        ),
    ),
    asked=(Asked(question="Where does the heron nest?", evidence=frozenset({"a", "t1"})),),
)


def test_a_line_must_cite_and_hold_and_be_short() -> None:
    """Nothing counts as known that could not be read off one short line."""
    measure = Measure(TALK)

    def survives(text: str, *cites: str) -> bool:
        return "a" in measure.survivors([Line(text=text, cites=frozenset(cites))])

    assert survives("A blue heron nests at Uppsala castle", "a")
    assert not survives("A blue heron nests at Uppsala castle", "t1")
    assert not survives("A heron at the castle", "a")
    assert not survives("blue heron nests Uppsala castle " + "and " * 40, "a")


@pytest.mark.parametrize("way", retention.WAYS)
def test_every_way_keeps_to_its_room(way: str) -> None:
    """No way is better because it says more; what is picked knowingly is never worse."""
    lines = retention.WAYS[way](TALK)
    room = retention.CHARACTERS if "characters" in way else 4 * retention.TOKENS
    assert 0 < sum(len(line.text) for line in lines) <= room
    best = Measure(TALK).shares(retention.oracle(TALK))
    assert way.endswith("characters") or best >= Measure(TALK).shares(lines)


@pytest.mark.skipif(
    not locomo.FOLDER.is_dir(), reason="the conversations lie in a folder beside the repository"
)
def test_a_summary_without_a_model_tells_more_than_the_newest_turns() -> None:
    """After months a home without a summarising model still knows more than last week."""
    conversation = locomo.conversations()[1]
    measure = Measure(conversation)

    def mean(way: retention.Way) -> float:
        return sum(measure.shares(way(conversation))) / len(conversation.asked)

    assert mean(retention.summarised) > 2 * mean(retention.newest)
    assert mean(retention.frequent_words) < 0.02
