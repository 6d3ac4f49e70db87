"""What the pipeline remembers between runs: open turns, how satellites behave, whose words wait."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey

from .playout import Lag

if TYPE_CHECKING:
    from .turn import Turn


_MAX_WAITING: Final = 100


class Book:
    """One per Home Assistant."""

    def __init__(self) -> None:
        """Begin empty."""
        self._open: dict[str, Turn] = {}
        self._lags: dict[tuple[str, bool], Lag] = {}
        self._started: dict[str, str] = {}
        self._expecting: set[str] = set()
        self._spoken: dict[str, tuple[float, str]] = {}

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Return the open turns, oldest first."""
        return tuple(self._open.values())

    def enter(self, turn: Turn) -> None:
        """Take in a new turn. What a session still says is interrupted by it."""
        if turn.audio:
            for other in self.turns:
                if other.projection is turn.projection:
                    other.interrupt()
        self._open[turn.id] = turn

    def leave(self, turn: Turn) -> None:
        """Drop a turn that is closed."""
        self._open.pop(turn.id, None)

    def of_satellite(self, entity_id: str) -> Iterator[Turn]:
        """Return the open turns of a satellite."""
        return (turn for turn in self.turns if turn.origin.satellite_entity_id == entity_id)

    def of_conversation(self, conversation_id: str) -> Iterator[Turn]:
        """Return the open turns of one of Home Assistant's conversations."""
        return (turn for turn in self.turns if turn.conversation_id == conversation_id)

    def lag(self, satellite: str | None, *, streams: bool) -> Lag:
        """Return the lag of a satellite (registry id); without one a guess that learns nothing."""
        if satellite is None:
            return Lag()
        return self._lags.setdefault((satellite, streams), Lag())

    def spoke(self, satellite: str, words: str, now: float) -> None:
        """Note what a satellite (registry id) has said, and when it ended."""
        self._spoken[satellite] = (now, words)

    def last_spoken(self, satellite: str | None, since: float) -> str:
        """Return what a satellite said last, empty if that ended before `since`."""
        ended, words = self._spoken.get(satellite or "", (0.0, ""))
        return words if ended >= since else ""

    # Whose words wait: a reply must not be asked for before they are known to the model.

    def started(self, conversation_id: str, words: str) -> None:
        """Note what a satellite said to start a conversation (`start_conversation`)."""
        self._started[conversation_id] = words
        while len(self._started) > _MAX_WAITING:
            del self._started[next(iter(self._started))]

    def ended(self, conversation_id: str) -> None:
        """Forget a conversation."""
        self._started.pop(conversation_id, None)

    def expect(self, entity_id: str) -> None:
        """Note that the next run of a satellite answers something that it was made to say."""
        self._expecting.add(entity_id)

    def others_wait(self, satellite: str | None, conversation_id: str) -> bool:
        """Return whether somebody else's words must come first; asked once for each run."""
        expected = satellite in self._expecting
        if satellite is not None:
            self._expecting.discard(satellite)
        return expected or conversation_id in self._started

    def peek_started(self, conversation_id: str | None) -> str:
        """Return what the satellite said to start a conversation, empty if it did not."""
        return self._started.get(conversation_id or "", "")

    def take_started(self, conversation_id: str) -> str | None:
        """Return, once, what the satellite said to start this conversation."""
        return self._started.pop(conversation_id, None)


_BOOK: HassKey[Book] = HassKey("realtime_assist_pipeline")


@callback
def async_book(hass: HomeAssistant) -> Book:
    """Return the book of this Home Assistant."""
    return hass.data.setdefault(_BOOK, Book())
