"""What was heard of a reply: a clock, a learned lag and the satellite's states.

Home Assistant takes all audio of a reply at once, whether or not anybody listens, so bytes say
nothing of what was heard. This clock estimates it from time:

    handed over --lag--> starts to play --duration--> ends --> the satellite turns idle

Each piece starts when the piece before it has ended, or a lag after it was handed over, whichever
is later: so the clock stands still while a reply has run dry. A satellite that plays only what is
complete starts a lag after the end of generation. All times are seconds of one monotonic clock.
"""

from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Final

FIRST_LAG: Final = 0.3
LONGEST_LAG: Final = 5.0
BARGE_IN_MS: Final = 200
"""How much earlier than its `listening` a person began to interrupt."""
NEAR_END: Final = 1.5
NOT_PLAYED: Final = 1.0
PATIENCE: Final = 5.0
"""Seconds after the expected end at which a reply counts as heard though no `idle` came."""
_SAMPLES: Final = 15
_GUESS_MS: Final = 1000


class Ended(StrEnum):
    """How it is known that a reply is over."""

    IDLE = "idle"
    """The satellite said so near the expected end: all was heard."""
    STOPPED = "stopped"
    """The satellite went idle before the end: heard to there."""
    NOT_PLAYED = "not_played"
    """It went idle at once: nothing was heard of a longer reply."""
    INTERRUPTED = "interrupted"
    """Something new began on that satellite."""
    TIME = "time"
    """Nothing was said; it must have ended by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """An estimate of what was heard."""

    ms: int
    """Milliseconds of speech; configured and gap-filling silence is not speech."""
    ended: Ended
    uncertainty_ms: int


class Lag:
    """How long a satellite takes from being offered audio to playing it: a running median."""

    def __init__(self) -> None:
        """Start with a guess."""
        self._samples: deque[float] = deque(maxlen=_SAMPLES)

    @property
    def seconds(self) -> float:
        """Return the lag to expect."""
        return median(self._samples) if self._samples else FIRST_LAG

    @property
    def spread_ms(self) -> int:
        """Return how far the samples lie from the lag, at the median."""
        if not self._samples:
            return _GUESS_MS
        middle = self.seconds
        return int(median(abs(sample - middle) for sample in self._samples) * 1000)

    def learn(self, seconds: float) -> None:
        """Take in one completed reply; what cannot be a lag is left out."""
        if 0.0 <= seconds <= LONGEST_LAG:
            self._samples.append(seconds)


@dataclass(slots=True)
class _Stretch:
    """Audio that plays without a break."""

    start: float
    ms: float
    speech: bool

    @property
    def end(self) -> float:
        return self.start + self.ms / 1000


class Playout:
    """The clock of one reply."""

    def __init__(self, lag: Lag, *, streams: bool) -> None:
        """Prepare for a satellite; `streams` is false for those that play only what is complete."""
        self.streams = streams
        self._lag = lag
        self._seconds = lag.seconds
        self._stretches: list[_Stretch] = []
        self._complete = False
        self._steady = True

    @property
    def started(self) -> bool:
        """Return whether any audio was handed over."""
        return bool(self._stretches)

    @property
    def complete(self) -> bool:
        """Return whether all audio was handed over."""
        return self._complete

    @property
    def end(self) -> float | None:
        """Return when what was handed over will have been played, None if that is not known."""
        if not self._stretches or not (self.streams or self._complete):
            return None
        return self._stretches[-1].end

    def hand_over(self, ms: float, now: float, *, speech: bool = True) -> None:
        """Note a piece of audio as given to Home Assistant."""
        last = self._stretches[-1] if self._stretches else None
        ready = now + self._seconds
        if last is None:
            self._stretches.append(_Stretch(ready, ms, speech))
            return
        dry = self.streams and ready > last.end
        if not dry and last.speech is speech:
            last.ms += ms
            return
        self._steady = self._steady and not dry
        self._stretches.append(_Stretch(ready if dry else last.end, ms, speech))

    def finish(self, now: float) -> None:
        """Note that nothing more will be handed over."""
        if self._complete:
            return
        self._complete = True
        if self.streams:
            return
        start = now + self._seconds
        for stretch in self._stretches:
            stretch.start = start
            start = stretch.end

    def position(self, now: float) -> int:
        """Return the milliseconds of speech that were played by now."""
        if not self.streams and not self._complete:
            return 0
        played = sum(
            min(max((now - stretch.start) * 1000, 0.0), stretch.ms)
            for stretch in self._stretches
            if stretch.speech
        )
        return int(played)

    def interrupt(self, now: float) -> Heard:
        """Return what was heard when something new begins on the satellite now."""
        end = self.end
        if self._complete and end is not None and now >= end:
            return self.time_out()
        ms = max(0, self.position(now) - BARGE_IN_MS)
        return Heard(
            ms=ms, ended=Ended.INTERRUPTED, uncertainty_ms=self._lag.spread_ms + BARGE_IN_MS
        )

    def idle(self, now: float) -> Heard | None:
        """Return what was heard when the satellite turns idle now, None if that means nothing."""
        if not self._stretches:
            return None
        end = self.end
        if self._complete and end is not None and now >= end - NEAR_END:
            self._learn(now, end)
            off = int(abs(now - end) * 1000)
            return Heard(ms=self._speech_ms(), ended=Ended.IDLE, uncertainty_ms=off)
        if not self.streams and not self._complete:
            return None
        if now - self._stretches[0].start < NOT_PLAYED:
            return Heard(ms=0, ended=Ended.NOT_PLAYED, uncertainty_ms=int(NOT_PLAYED * 1000))
        return Heard(ms=self.position(now), ended=Ended.STOPPED, uncertainty_ms=self._lag.spread_ms)

    def time_out(self) -> Heard:
        """Return what was heard when nothing ever said that the reply is over: all of it."""
        return Heard(ms=self._speech_ms(), ended=Ended.TIME, uncertainty_ms=_GUESS_MS)

    def _learn(self, now: float, end: float) -> None:
        """Learn the lag from a reply that was played without a gap."""
        if self._steady:
            self._lag.learn(now - end + self._seconds)

    def _speech_ms(self) -> int:
        return int(sum(stretch.ms for stretch in self._stretches if stretch.speech))
