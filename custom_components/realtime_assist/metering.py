"""The joint of what a session reports and of what memory makes of it: its gauge and its pressure.

    session ──Spent──> SessionMeter ──> gauge, usage log
    session <──full──── SessionMeter <── limits of the model, of the option, of what was seen

When the pressure is hard the thread is summarised first, and only then is the session pressed into
a new one. Whatever becomes of that summary, the session is not held up by it for long.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final, Protocol, override

from homeassistant.core import callback

from .memory.gauge import Gauge, Reading
from .memory.money import response_cost, transcript_cost
from .memory.pressure import HARD, Extent, Level, Pressure, pressure
from .memory.spending import Kind, Use, completed, reported
from .memory.transcript import ThreadKey
from .memory.usage import ITEM_TOKENS, Load, estimate_tokens, load_of
from .models import ModelFacts
from .realtime.events import Usage
from .realtime.lifecycle import StartTask
from .realtime.metering import Meter, Purpose, Spent
from .realtime.operations import LedgerItem
from .usage_log import UsageLog

_LOGGER: Final = logging.getLogger(__name__)

SUMMARY_SECONDS: Final = 60.0
"""How long a new session under hard pressure waits for a summary."""
ROOM: Final = 1_000
"""Tokens that are left to talk, however little a session may hold beyond what it begins with."""


class Metered(Protocol):
    """What a meter must know of its session."""

    @property
    def connected(self) -> bool:
        """Whether the session is open."""

    @property
    def held(self) -> tuple[LedgerItem, ...]:
        """What the provider holds, as far as it is known."""

    @property
    def turns(self) -> int:
        """How many turns were had in the open session."""

    @property
    def age(self) -> float:
        """Seconds since the open session began."""

    @property
    def lifetime(self) -> float | None:
        """Seconds that the open session may last, None if the provider does not say."""

    def rebuild(self) -> None:
        """Begin a new session as soon as nobody is interrupted."""

    def boundary(self) -> None:
        """Do what has become legal."""


class SessionMeter(Meter):
    """Measures one session."""

    def __init__(  # noqa: PLR0913 - what is known of a session and of its model, all by name
        self,
        *,
        facts: ModelFacts,
        limit: int,
        minute_price: float | None,
        believed: bool,
        log: UsageLog,
        thread: Callable[[], ThreadKey | None],
        summarise: Callable[[], Coroutine[Any, Any, None]] | None,
        start_task: StartTask,
    ) -> None:
        """Begin with nothing held.

        `limit`: tokens that a session may hold. `minute_price`: US dollars for writing down a
        minute of speech, None if unknown. `believed`: what the provider reports as input is all
        that it holds. `thread`: whose use it is, None for nobody's.
        """
        self.gauge = Gauge()
        self._prefix_tokens = 0
        self.session: Metered | None = None
        """Set once the session is made: each needs the other."""
        self._facts: Final = facts
        self._limit: Final = limit
        self._believed: Final = believed
        self._minute_price: Final = minute_price
        self._log: Final = log
        self._thread: Final = thread
        self._summarise: Final = summarise
        self._start_task: Final = start_task
        self._begun_with: int | None = None
        self._summary: asyncio.Task[None] | None = None
        self._ready = False
        """A recap of what is too long was made, or cannot be."""

    @property
    def prefix_tokens(self) -> int:
        """Instructions and tools of the session, estimated."""
        return self._prefix_tokens

    @prefix_tokens.setter
    def prefix_tokens(self, tokens: int) -> None:
        if tokens != self._prefix_tokens:
            self._prefix_tokens = self._log.prefix_tokens = tokens
            self._log.changed()

    # What is shown

    def reading(self) -> Reading:
        """Return how many tokens the session holds; of a session that is not open nothing."""
        if self.session is None or not self.session.connected:
            return Gauge().reading(0)
        return self.gauge.reading(self._held(self.session.held))

    def pressure(self) -> Pressure:
        """Return how near the session is to one of its limits."""
        session = self.session
        if session is None or not session.connected:
            return Pressure()
        load = load_of(map(_load, session.held))
        return pressure(
            Extent(
                tokens=self.reading().tokens,
                audio_seconds=load.audio_seconds,
                turns=session.turns,
                age_seconds=session.age,
            ),
            self.limits(),
        )

    def limits(self) -> Extent:
        """Return what the session may hold at most."""
        tokens = min(self._limit, self.gauge.ceiling or self._limit)
        # Else a prefix that fills the session alone would end it after every turn.
        least = (self.gauge.factor * (self._begun_with or 0) + ROOM) / HARD
        told = self.session.lifetime if self.session is not None else None
        return Extent(
            tokens=max(tokens, round(least)),
            audio_seconds=self._facts.audio_seconds,
            turns=self._facts.turns,
            age_seconds=told or self._facts.session_seconds,
        )

    # What the session tells

    @property
    @override
    def long(self) -> bool:
        return self.pressure().level is not Level.NONE

    @property
    @override
    def full(self) -> bool:
        return self._ready and self.pressure().level is Level.HARD

    @callback
    @override
    def spent(self, spent: Spent) -> None:
        now = time.time()
        if self._begun_with is None and self.session is not None:
            notes = (item for item in self.session.held if item.is_note)
            self._begun_with = self._held(notes)
        use = _use(spent.usage, now)
        if spent.purpose is Purpose.TRANSCRIPT:
            cost = transcript_cost(use, self._minute_price)
            self._log.add(self._thread(), use, cost, transcript=True)
        else:
            if spent.whole or spent.made:
                use = self._estimated(use, spent)
            self._log.add(self._thread(), use, response_cost(use, self._facts.prices))
        tokens = spent.usage.input_tokens
        if spent.whole and self._believed and tokens is not None:
            self._gauged(tokens, spent, now)
        self._log.changed()

    def _estimated(self, use: Use, spent: Spent) -> Use:
        """Return a use with estimates for what was not reported of it."""
        prefix = Load(text_tokens=self.prefix_tokens)
        read = load_of((prefix, *map(_load, spent.read)))
        return completed(use, read, load_of(map(_load, spent.made)), self._facts.rates)

    def _gauged(self, tokens: int, spent: Spent, now: float) -> None:
        held, rates = self._held(spent.read), self._facts.rates
        said = sum(_load(item).audio_tokens(rates) for item in spent.read if item.is_reply)
        known = self.gauge.lost
        self.gauge = self.gauge.reported(tokens, held, now, loose=said)
        if self.gauge.lost and not known and self.session is not None:
            _LOGGER.warning(
                "The provider read %d tokens, far fewer than it was told: it drops what is older"
                " without a word. A new session begins, with what was said in short",
                tokens,
            )
            self.session.rebuild()

    @callback
    @override
    def emptied(self) -> None:
        self.gauge = self.gauge.fresh()
        self._begun_with = None
        self._ready = False
        self._log.changed()

    # What its owner tells

    @callback
    def look(self) -> None:
        """See whether a summary is called for, now that a turn is over."""
        self._log.changed()
        hard = self.pressure().level is Level.HARD
        self._ready = self._ready and hard
        waiting = self._summary is not None and not self._summary.done()
        if hard and not self._ready and not waiting:
            self._summary = self._start_task(
                self._make_ready(), "realtime_assist summary under pressure"
            )

    async def _make_ready(self) -> None:
        """Summarise, then let the session go."""
        try:
            async with asyncio.timeout(SUMMARY_SECONDS):
                if self._summarise is not None:
                    await self._summarise()
        except TimeoutError:
            _LOGGER.debug("A summary under pressure was not ready in time")
        except Exception as err:  # noqa: BLE001 - a summary that fails must not keep a full session
            _LOGGER.warning("A summary under pressure failed: %s", type(err).__name__)
        if self.session is not None:
            self._ready = self.session.connected
            self.session.boundary()

    def _held(self, items: Iterable[LedgerItem]) -> int:
        """Return about how many tokens these items and the prefix are, not calibrated."""
        return self.prefix_tokens + load_of(map(_load, items)).tokens(self._facts.rates)


def _load(item: LedgerItem) -> Load:
    """Return what an item of the ledger is to a model."""
    ms = item.received_ms if item.cut_ms is None else min(item.received_ms, item.cut_ms)
    # Of a reply a model reads the words as well (recorded), until it is cut (documented).
    text = item.text if item.cut_ms is None else ""
    return Load(
        text_tokens=estimate_tokens(text) + ITEM_TOKENS,
        heard_ms=0 if item.is_reply else round(ms),
        said_ms=round(ms) if item.is_reply else 0,
    )


def _use(usage: Usage, at: float) -> Use:
    """Return what a provider reports, in the words of the memory."""
    counts = {
        Kind.INPUT: usage.input_tokens,
        Kind.INPUT_TEXT: usage.input_text_tokens,
        Kind.INPUT_AUDIO: usage.input_audio_tokens,
        Kind.INPUT_IMAGE: usage.input_image_tokens,
        Kind.CACHED: usage.cached_tokens,
        Kind.CACHED_TEXT: usage.cached_text_tokens,
        Kind.CACHED_AUDIO: usage.cached_audio_tokens,
        Kind.CACHED_IMAGE: usage.cached_image_tokens,
        Kind.OUTPUT: usage.output_tokens,
        Kind.OUTPUT_TEXT: usage.output_text_tokens,
        Kind.OUTPUT_AUDIO: usage.output_audio_tokens,
    }
    return reported(at, counts, seconds=usage.seconds)
