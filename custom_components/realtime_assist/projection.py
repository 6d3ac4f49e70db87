"""The joint of `realtime/` and `memory/`: one session, and the thread that it projects.

`session` asks what it should hold (`prepare`, `fresh_view`, `compose`, `outcome`), and the pipeline
tells what happened (`begin`, `fix`, `closed`). Neither learns of the other.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from homeassistant.core import callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.util import dt as dt_util

from .items import FACTS, RECAP, Composition, DesiredItem, View, meanwhile_key, note, outcome_key
from .llm_tools.read_result import ReadResultTool
from .long_results import LongResults
from .memory.compose import compose, note_body
from .memory.scopes import Scope, ScopeKey
from .memory.spending import Total
from .memory.transcript import Thread, ThreadKey, TurnRecord
from .pipeline.origin import Origin, now_note
from .pipeline.tool_set import ToolSet, async_tool_set
from .prefix import async_measure, session_config
from .realtime.config import SessionConfig
from .realtime.exchange import Exchange
from .realtime.replies import Call
from .realtime.session import RealtimeSession
from .talk import Talk

if TYPE_CHECKING:
    from .hub import Assistant
    from .pipeline.turn import Turn

_PRESSED_SECONDS: Final = 45.0
"""How long another model may take for the summary that a full session waits for."""
_IDLE_SECONDS: Final = 300.0
"""By then a provider has nothing cached any more: a new session costs no more than the old."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a turn belongs, whatever its satellite does before it is over."""

    key: ThreadKey
    visible: tuple[ScopeKey, ...]
    remember: bool

    def shown_to(self, visible: tuple[ScopeKey, ...]) -> bool:
        """Whether who sees these scopes may see what is said in the turn."""
        return all(key in visible for key in self.visible if key.scope is Scope.SPEAKER)


class Projection:
    """One session of an assistant, and the thread whose projection the provider holds."""

    def __init__(
        self,
        assistant: Assistant,
        origin: Origin,
        key: ThreadKey,
        *,
        text: bool = False,
        on_release: Callable[[Projection], None] | None = None,
    ) -> None:
        """Prepare a session; it opens when somebody speaks."""
        self._assistant = assistant
        self._house = assistant.hub.house
        self._on_release = on_release
        self._text = text
        self._now: str | None = None
        timeout = assistant.options.conversation_timeout * 60.0
        # A thread of one conversation is seen by that conversation alone.
        alone = key.scope.id if key.scope.scope is Scope.SESSION else None
        self._talk = Talk(timeout, alone)
        self.origin = origin
        self.key = key
        self.tools: ToolSet | None = None
        self.results = LongResults(self._house, self, assistant.options.tool_result_tokens)
        self._alone = Thread(key=key)
        """What is said where nothing is remembered: gone with the session."""
        self._told = self._thread
        """The thread as it was when the session opened."""
        self._places: dict[str, _Place] = {}
        self.meter = assistant.meter(lambda: self.key, self._summarise)
        self.session = RealtimeSession(
            http=async_get_clientsession(assistant.hub.hass),
            model=assistant.model,
            source=self,
            start_task=assistant.hub.start_task,
            idle_seconds=min(timeout, _IDLE_SECONDS),
            time=time.time,
            meter=self.meter,
        )
        self.meter.session = self.session

    # What the session asks.

    async def prepare(self) -> SessionConfig:
        """Load what a first turn needs and return what the session is configured with."""
        await self._house.async_ready(self.key, self.visible)
        options = self._assistant.options
        self.tools = await async_tool_set(
            self._assistant.hub.hass,
            options.llm_hass_api,
            origin=self.origin,
            names_on_request=options.names_on_request,
            own=(ReadResultTool(self.results),),
        )
        config = session_config(self._assistant, self.origin, self.tools, audio=not self._text)
        self.meter.prefix_tokens = async_measure(self._assistant, config, self.tools.left_out)
        return config

    def fresh_view(self) -> View:
        """Return the view of a session that opens now: its recap tells all that the thread has."""
        self._alone = Thread(key=self.key)
        self._told = self._thread
        self.results.end(but=self._places)
        return View(recap_upto=self._told.next_number - 1)

    def compose(self, view: View) -> Composition:
        """Return what the session should hold now."""
        return compose(
            thread=self._thread,
            entries=self._house.context.visible(self.visible),
            now=self._now,
            visible=self.visible,
            view=view,
            resume_tokens=self._assistant.options.resume_tokens,
            base=self._told,
        )

    def outcome(self, call: Call) -> DesiredItem:
        """Return the note that tells a session what became of a call that it does not know."""
        text = f"{call.name} was started before and has ended: {call.output}"
        return note(outcome_key(call.call_id), note_body("outcome", text))

    # What the pipeline tells.

    @callback
    def arrive(self, origin: Origin, key: ThreadKey) -> None:
        """Take it that somebody speaks there now: in another room, after a long time, perhaps."""
        self._be_at(origin, key)
        self.lapse()
        self._talk.begin()
        self._house.expiry.look()

    @callback
    def begin(self, turn: Turn, *, voice: bool) -> Exchange:
        """Start a turn on the wire; opens the session if it is closed."""
        self._places[turn.id] = self._place
        return self.session.begin(turn.id, voice=voice)

    @callback
    def fix(self, turn: Turn, extra_prompt: str | None = None) -> None:
        """Fix who speaks and what the moment is, for this turn."""
        self._be_at(turn.origin, self._assistant.thread_key(turn.origin, turn.conversation_id))
        if turn.id in self._places:
            self._places[turn.id] = self._place
        if any(not place.shown_to(self.visible) for place in self._places.values()):
            # A turn of somebody else is not over yet (a tool runs): it cannot be taken out of here.
            self.session.restart()
        self._now = now_note(dt_util.now(), turn.origin, extra_prompt)
        self.session.changed()

    @callback
    def closed(self, record: TurnRecord | None, turn_id: str) -> None:
        """Let a turn that is over join the thread; None: it is stored nowhere."""
        self._talk.went_on()
        place = self._places.pop(turn_id, self._place)
        if record is not None:
            self._keep(record, place)
            if place.remember:
                self.results.keep(record, place.key)
            self._house.context.new_turn(place.visible, turn_id)
        self.session.settle(turn_id)
        self.meter.look()

    def _keep(self, record: TurnRecord, place: _Place) -> None:
        """Let a turn join its thread, or only this session where nothing is remembered."""
        if place.remember and self._house.storage.thread(place.key) is None:
            # The session never opened, so nobody has read what was said there before.
            self._assistant.hub.hass.async_create_task(
                self._async_keep(record, place), "realtime_assist turn"
            )
        elif place.remember:
            self._house.join(place.key, record, self._assistant.options.resume_tokens)
        elif place.key == self._alone.key and not self._house.changes.forgotten_meanwhile(record):
            self._alone = self._alone.joined(record)
            self.session.changed()

    async def _async_keep(self, record: TurnRecord, place: _Place) -> None:
        await self._house.async_ready(place.key, place.visible)
        self._house.join(place.key, record, self._assistant.options.resume_tokens)

    def _be_at(self, origin: Origin, key: ThreadKey) -> None:
        """Take it that somebody speaks there; of another thread nothing may be seen any more."""
        other = key != self.key or origin.remember != self.origin.remember
        if origin.speaker != self.origin.speaker:
            self._now = None
        self.origin = origin
        self.key = key
        if other:
            self._alone = Thread(key=key)
            self.results.end()
            self.session.restart()

    async def _summarise(self) -> None:
        """Summarise the thread now, before the session goes on in another one."""
        if self.origin.remember:
            tokens = self._assistant.options.resume_tokens
            await self._house.compaction.async_compact(self.key, tokens, within=_PRESSED_SECONDS)

    async def release(self) -> None:
        """End a session that was for one turn only."""
        await self.async_close()
        if self._on_release is not None:
            self._on_release(self)

    async def async_close(self) -> None:
        """End the session."""
        await self.session.close()

    # What the house tells.

    @property
    def remembers(self) -> bool:
        """Whether what is said here joins the thread."""
        return self.origin.remember

    @property
    def visible(self) -> tuple[ScopeKey, ...]:
        """Return the scopes that may be seen here now, narrowest first."""
        return self.origin.visible(session=self._talk.id, temporary=self._talk.id)

    @property
    def conversation(self) -> str | None:
        """Return what the conversation that goes on here is known by; None: none does."""
        return None if self._talk.over and not self._places else self._talk.id

    @property
    def used(self) -> Total:
        """Return what its thread has used since the assistant was loaded."""
        return self._assistant.usage.of(self.key)

    @property
    def _thread(self) -> Thread:
        """Return what was said that this session may be told."""
        return self._house.thread(self.key) if self.origin.remember else self._alone

    @property
    def _place(self) -> _Place:
        return _Place(self.key, self.visible, self.origin.remember)

    @callback
    def forgotten(self, turns: tuple[str, ...] | None) -> None:
        """Withdraw facts, and turns that are gone; None: the thread is as it was."""
        self.results.forget()
        if not self.origin.remember:
            # What was said here is in this session only, so nobody knows whether it was about that.
            self.session.restart()
        gone = [FACTS]
        if turns is not None:
            gone += [RECAP, *map(meanwhile_key, turns), *(f"turn:{turn}" for turn in turns)]
        self.session.revoke(gone)

    @property
    def talking(self) -> bool:
        """Whether a conversation goes on here, or it was not seen yet that it is over."""
        return self._talk.going

    @callback
    def lapse(self) -> None:
        """End what belongs to a conversation that nobody went on with in time."""
        if self._talk.lapsed and not self._places:
            self._house.context.end_session(self._talk.scope, self.visible)
            self._talk.end()

    @callback
    def end_conversation(self) -> None:
        """End what belongs to this conversation alone; history and facts stay."""
        self._house.context.end_session(self._talk.scope, self.visible)
        self._talk.renew()
