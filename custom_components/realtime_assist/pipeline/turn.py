"""The Turn: from the first sound of a question to what was heard of its answer.

    listening        STT streams the speech; the pipeline's task is watched
    claimed          the conversation stage took it, and puts the answer's words into the chat log
    speaking         the TTS stage took it, and hands out the answer's audio
    closed           playout has settled, no tool runs: the record joins the thread

The ContextVar only proposes a Turn; a stage claims it, once, and only with proof. Whatever no stage
claimed when the pipeline's task ends is cancelled and stored nowhere.
"""

import asyncio
import contextlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util
from homeassistant.util.ulid import ulid_now

from ..memory.transcript import Source, TurnRecord
from ..realtime.errors import ConnectionLost
from .book import async_book
from .claims import Claims
from .context import current_turn
from .early import Route
from .ended import async_tell
from .origin import Origin, with_speaker
from .playout import PATIENCE, Ended, Heard, Playout
from .record import turn_record
from .tool_set import ToolSet
from .tools import TurnTools

if TYPE_CHECKING:
    from ..hub import Assistant
    from ..projection import Projection
    from ..realtime.exchange import Exchange

__all__ = ("Turn", "async_close_turns", "async_open_turns", "current_turn")


LEAVE_SECONDS: Final = 3.0
"""How long an assistant that goes away waits for what is said last."""


class Turn:
    """One turn. All of it runs in the event loop, and no method of it raises."""

    def __init__(  # noqa: PLR0913 - a turn is where its parts meet, all by name
        self,
        hass: HomeAssistant,
        *,
        assistant: Assistant,
        projection: Projection,
        origin: Origin,
        conversation_id: str | None,
        source: Source,
        route: Route,
        audio: bool = True,
    ) -> None:
        """Begin a turn on the wire; what the session still says elsewhere is interrupted by it."""
        self.hass = hass
        self.id: Final = ulid_now()
        self.at: Final = dt_util.now()
        self.began: Final = hass.loop.time()
        self.assistant = assistant
        self.projection = projection
        self.origin = origin
        self.conversation_id = conversation_id
        self.source = source
        self.audio = audio
        """Whether the answer is spoken."""
        self.route = route
        self.claims: Final = Claims(
            assistant.subentry_id, conversation_id, answering=source is not Source.VOICE
        )
        self.dismissed = False
        """Its words were "never mind": there is nothing to answer."""
        self.closed = False
        self.playout: Playout | None = None
        self.tools: TurnTools | None = None
        self.stopped = asyncio.Event()
        """Set when nothing more of the answer is wanted."""
        self.leaving = asyncio.Event()
        """Set when its assistant goes away: what was said so far has to do."""
        self._handed_over = asyncio.Event()
        self._apology: asyncio.Future[str | None] = hass.loop.create_future()
        self._local: str | None = None
        self._task: asyncio.Task[object] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ending: tuple[TurnRecord | None] | None = None
        self._heard: Heard | None = None
        async_book(hass).enter(self)
        self.exchange: Exchange = projection.begin(self, voice=self.voice)

    @property
    def voice(self) -> bool:
        """Return whether it was spoken to us."""
        return self.source is Source.VOICE

    # The pipeline's stages.

    def commit(self) -> None:
        """Fix who speaks, now that all of the words are there; later proof is for later turns."""
        self.origin = with_speaker(self.hass, self.origin)
        self.projection.fix(self)

    def watch(self, task: asyncio.Task[object] | None) -> None:
        """Follow the pipeline's task: some pipelines end without ever calling us again."""
        if task is not None and self._task is None:
            self._task = task
            task.add_done_callback(self._task_done)

    def claim_conversation(self, subentry_id: str, conversation_id: str) -> bool:
        """Return whether a stage may answer this turn."""
        return not self.closed and self.claims.answer(subentry_id, conversation_id)

    def claim_speech(self, subentry_id: str, first: str) -> bool:
        """Return whether a stage may speak this turn."""
        wanted = self.audio and not self.closed and not self.stopped.is_set()
        return wanted and self.claims.speak(subentry_id, first)

    def plays(self, *, streams: bool) -> Playout:
        """Start the clock of what is heard; `streams`: it is played as it comes."""
        lag = async_book(self.hass).lag(self.origin.satellite, streams=streams)
        self.playout = Playout(lag, streams=streams)
        return self.playout

    def played_out(self) -> None:
        """Note that all audio was handed over: from here on only time and the satellite tell."""
        self._handed_over.set()
        if self.playout is None or self._ending is not None:
            return
        now = self.hass.loop.time()
        self.playout.finish(now)
        end = self.playout.end or now
        patience = PATIENCE if self.origin.satellite else 0.0
        self._timer = self.hass.loop.call_at(end + patience, self._time_out)

    def use_tools(self, tool_set: ToolSet | None) -> TurnTools:
        """Return the calls of this turn; asked when the first call comes."""
        if self.tools is None:
            self.tools = TurnTools(
                self.hass,
                tool_set or ToolSet(),
                origin=self.origin,
                shorten=partial(self.projection.results.async_shorten, self),
                answer=self.exchange.answer,
                settled=self._close_if_done,
            )
        return self.tools

    def conclude(self, apology: str | None = None) -> None:
        """End the conversation stage; an apology is spoken after what there is."""
        if not self._apology.done():
            self._apology.set_result(apology)

    async def apology(self) -> str | None:
        """Return what is to be said besides the model's own speech, once that is known."""
        return await asyncio.shield(self._apology)

    def answered_locally(self, words: str) -> None:
        """Note what Home Assistant answered by itself."""
        if self.route.agent_ours and not self.claims.answering:
            self._local = f"{self._local} {words}" if self._local else words

    # What happens around it.

    @callback
    def idle(self, task: asyncio.Task[object] | None) -> None:
        """Note that the satellite turned idle; by the pipeline itself that is a run's end only."""
        if self.playout is None or (task is not None and task is self._task):
            return
        heard = self.playout.idle(self.hass.loop.time())
        if heard is None:
            return
        if heard.ended is Ended.IDLE:
            self._settle(heard)
        else:
            self._cut(heard)

    @callback
    def interrupt(self) -> None:
        """End it because something new begins on its satellite."""
        if self._ending is not None:
            return
        if self.playout is None:
            heard = Heard(ms=0, ended=Ended.INTERRUPTED, uncertainty_ms=0)
        else:
            heard = self.playout.interrupt(self.hass.loop.time())
        if heard.ended is Ended.TIME:
            self._settle(heard)
        else:
            self._cut(heard)

    @callback
    def discard(self) -> None:
        """End it as if it had never been: no speech, an error before anything was said."""
        if self._ending is None:
            self.exchange.cancel()
            self._end(None)

    @callback
    def dismiss(self) -> None:
        """Let the model be told nothing of it; whoever answers it says nothing."""
        self.dismissed = True
        self.exchange.cancel()

    @callback
    def finish(self) -> None:
        """End it: all that was said was heard, as far as anybody can tell."""
        if self._ending is None:
            self._end(self._record(None))

    async def leave(self) -> None:
        """Come to an end that is heard, since the assistant goes away: with an apology, if need be.

        Home Assistant takes the rest of a run from our engines, and they are gone soon.
        """
        self.exchange.fail(ConnectionLost("closed"))
        self.leaving.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await asyncio.wait((self._task or self._apology,))
                if self.claims.speaking:
                    await self._handed_over.wait()
        await self.stop()

    async def stop(self) -> None:
        """End it now: its assistant goes away."""
        self.interrupt()
        if self.tools is not None:
            await self.tools.stop()
        self._close_if_done()

    def _task_done(self, task: asyncio.Task[object]) -> None:
        if self._ending is not None:
            return
        if not self.claims.answering:
            self.exchange.cancel()
            self._end(self._record(None) if self._local is not None else None)
        elif task.cancelled():
            self.interrupt()
        elif not self.claims.speaking:
            self.finish()

    def _time_out(self) -> None:
        if self.playout is not None and self._ending is None:
            self._settle(self.playout.time_out())

    def _settle(self, heard: Heard) -> None:
        if self._ending is None:
            self._end(self._record(heard))

    def _cut(self, heard: Heard) -> None:
        """Stop the answer where it was heard to."""
        if self._ending is not None:
            return
        if not self.claims.answering:
            self.discard()
            return
        self.exchange.interrupt(heard.ms)
        self._heard = heard
        self._end(self._record(heard))

    def _record(self, heard: Heard | None) -> TurnRecord:
        return turn_record(
            turn_id=self.id,
            at=self.at,
            origin=self.origin,
            wire=self.exchange.record,
            heard=heard,
            local=self._local,
            source=self.source,
        )

    def _end(self, record: TurnRecord | None) -> None:
        """Nothing more is wanted; close as soon as no tool runs."""
        self._ending = (record,)
        self.conclude()
        self.stopped.set()
        if self._timer is not None:
            self._timer.cancel()
        if self.tools is not None:
            self.tools.abandon()
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self.closed or self._ending is None or (self.tools is not None and self.tools.running):
            return
        self.closed = True
        (record,) = self._ending
        if record is not None and self.tools is not None:
            # Tools that outlived the answer have ended since.
            record = replace(record, calls=self._record(self._heard).calls)
        async_book(self.hass).leave(self)
        self.exchange.close()
        self.projection.closed(record, self.id)
        if record is not None and self.origin.satellite is not None:
            seconds = self.hass.loop.time() - self.began
            async_tell(self.hass, record, self.origin.satellite, self.exchange.record, seconds)
        if self.origin.satellite is None or not self.audio:
            self.assistant.hub.start_task(
                self.projection.release(), "realtime_assist session of one turn"
            )


@callback
def async_open_turns(hass: HomeAssistant) -> tuple[Turn, ...]:
    """Return the turns that are not closed yet."""
    return async_book(hass).turns


async def async_close_turns(hass: HomeAssistant, subentry_id: str) -> None:
    """Close the turns of an assistant that goes away; what was heard of them is kept."""
    turns = async_book(hass).turns
    await asyncio.gather(*(t.leave() for t in turns if t.assistant.subentry_id == subentry_id))
