"""From the model's answer to Home Assistant's chat log.

    Exchange.replies() --text, calls--> deltas() --> chat log --> pipeline --> TTS, the frontend
                                          tools <--> chat log

Everything that goes wrong here becomes a result with an apology, never an exception.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any, Final

from homeassistant.components.conversation import (
    AssistantContent,
    AssistantContentDeltaDict,
    ChatLog,
    ConversationInput,
    ConversationResult,
    ConverseError,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent

from ..memory.transcript import COMMENTARY
from ..realtime.errors import ConnectionLost, RealtimeError, ResponseFailed
from ..realtime.replies import Call, FirstAudio, Reply, ReplyCalls, ReplyEnd, ReplyText
from .sentences import Apology, kind_of, sentence
from .tool_set import llm_context
from .turn import Turn

_LOGGER = logging.getLogger(__name__)

# Home Assistant counts characters, blanks too: more than sixty of them, and it streams the answer
# at once, keeps it out of its cache of spoken texts, and writes no file.
PADDING: Final = "\n" * 61
WORDLESS: Final = "…"
REPLY_SECONDS: Final = 60.0
"""The exchange has its own, shorter watchdogs; this one guards against all of them failing."""
_QUESTION_MARKS: Final = ("?", "\u037e", "\uff1f", "\u061f")


@dataclass(slots=True)
class Answer:
    """What came of an answer."""

    words: str = ""
    """All that was put into the chat log, without the padding."""
    last: str = ""
    """The last reply that is more than commentary."""
    failure: RealtimeError | None = None
    apology: str | None = None


class Replying:
    """One answer on its way into a chat log."""

    def __init__(
        self,
        hass: HomeAssistant,
        turn: Turn,
        user_input: ConversationInput,
        chat_log: ChatLog,
        *,
        spoken_by_us: bool,
    ) -> None:
        """Prepare. `spoken_by_us`: our TTS stage may follow, so words wait for the first audio."""
        self.answer = Answer()
        self._hass = hass
        self._turn = turn
        self._input = user_input
        self._log = chat_log
        self._padded = not spoken_by_us
        self._audible = False
        self._held: list[str] = []
        self._index: int | None = None
        self._tools_given = False

    async def run(self, agent_id: str) -> ConversationResult:
        """Stream the answer into the chat log and return the result."""
        begin = len(self._log.content)
        try:
            async for _ in self._log.async_add_delta_content_stream(agent_id, self._deltas()):
                pass
        except Exception as err:  # noqa: BLE001 - whatever it is, somebody waits for an answer
            _LOGGER.warning("An answer could not be streamed: %s", type(err).__name__)
            self._sorry(ResponseFailed("stream"))
        self._strip(begin)
        if len(self._log.content) == begin or self._log.content[-1].role != "assistant":
            self._log.async_add_assistant_content_without_tools(
                AssistantContent(agent_id=agent_id, content=self.answer.words.strip())
            )
        return self._result()

    async def _deltas(self) -> AsyncGenerator[AssistantContentDeltaDict]:
        yield {"role": "assistant"}
        replies = self._turn.exchange.replies()
        while True:
            reply = await self._next(replies)
            for delta in self._take(reply):
                yield delta
            if isinstance(reply, ReplyCalls) and reply.calls:
                await self._provide()
                yield {"tool_calls": self._admit(reply.calls)}
                # A new message lets the chat log await the results before anything else comes.
                yield {"role": "assistant"}
            if isinstance(reply, ReplyEnd):
                break
        await self._provide()

    def _take(self, reply: Reply) -> list[AssistantContentDeltaDict]:
        """Return what a reply adds to the chat log now."""
        deltas: list[AssistantContentDeltaDict] = []
        if isinstance(reply, ReplyText):
            self._hold(reply)
        elif isinstance(reply, FirstAudio):
            self._audible = True
            deltas += self._pad()
        if self._padded or isinstance(reply, ReplyCalls | ReplyEnd):
            deltas += self._release()
        if isinstance(reply, ReplyEnd):
            deltas += self._finish(reply)
        return deltas

    def _finish(self, end: ReplyEnd) -> list[AssistantContentDeltaDict]:
        """Return what is added behind the model's own words."""
        deltas: list[AssistantContentDeltaDict] = []
        if self._audible and not self.answer.words and not end.incomplete:
            # Home Assistant takes an answer without words for no answer at all.
            deltas += self._say(WORDLESS)
        if end.failure is not None:
            self._sorry(end.failure)
            if self._turn.audio:
                deltas += self._pad()
            deltas += self._say(self.answer.apology or "")
        return deltas

    async def _next(self, replies: Any) -> Reply:  # noqa: ANN401 - an async iterator of replies
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                return await anext(replies)
        except TimeoutError:
            return ReplyEnd(failure=ConnectionLost("silent"))
        except StopAsyncIteration:
            return ReplyEnd()

    def _hold(self, reply: ReplyText) -> None:
        """Keep words; a new reply of the turn does not run into the one before."""
        text = reply.text
        if self._index is not None and reply.index != self._index:
            before = "".join(self._held) or self.answer.words
            if before and not before[-1].isspace():
                text = f" {text}"
        if reply.phase != COMMENTARY:
            self.answer.last = (
                self.answer.last + reply.text if reply.index == self._index else reply.text
            )
        self._index = reply.index
        self._held.append(text)

    def _release(self) -> list[AssistantContentDeltaDict]:
        text = "".join(self._held)
        self._held.clear()
        return self._say(text)

    def _pad(self) -> list[AssistantContentDeltaDict]:
        if self._padded:
            return []
        self._padded = True
        self._turn.claims.said(PADDING)
        return [{"content": PADDING}]

    def _say(self, text: str) -> list[AssistantContentDeltaDict]:
        if not text:
            return []
        if self.answer.apology == text and self.answer.words:
            text = f" {text}"
        self.answer.words += text
        self._turn.claims.said(text)
        return [{"content": text}]

    def _sorry(self, failure: RealtimeError) -> None:
        self.answer.failure = failure
        self.answer.apology = sentence(kind_of(failure), self._input.language)

    def _admit(self, calls: tuple[Call, ...]) -> list[Any]:
        tools = self._turn.use_tools(self._turn.projection.tools)
        return [tools.admit(call.call_id, call.name, call.arguments) for call in calls]

    async def _provide(self) -> None:
        """Give the chat log our tools, and a prompt for those who read along; once."""
        if self._tools_given:
            return
        self._tools_given = True
        tools = self._turn.use_tools(self._turn.projection.tools)
        api = tools.api(self._turn.id)
        context = self._input.as_llm_context(llm_context(self._turn.origin).platform)
        try:
            await self._log.async_provide_llm_data(
                context,
                api,
                self._turn.assistant.options.prompt,
                self._input.extra_system_prompt,
            )
        except ConverseError:
            # The prompt's template is broken; the session said so, and has another one.
            self._log.llm_api = tools.instance(api, context)

    def _strip(self, begin: int) -> None:
        """Take the padding out of the chat log."""
        for index in range(begin, len(self._log.content)):
            content = self._log.content[index]
            if isinstance(content, AssistantContent) and content.content:
                stripped = content.content.strip()
                if stripped != content.content:
                    self._log.content[index] = replace(content, content=stripped or None)

    def _result(self) -> ConversationResult:
        response = intent.IntentResponse(language=self._input.language)
        words = self.answer.words.strip()
        if self.answer.failure is not None:
            words = words or self.answer.apology or sentence(Apology.FAILED, self._input.language)
            response.async_set_error(intent.IntentResponseErrorCode.UNKNOWN, words)
        else:
            response.async_set_speech(words)
        return ConversationResult(
            response=response,
            conversation_id=self._log.conversation_id,
            continue_conversation=self.answer.failure is None and asks(self.answer.last),
        )


def asks(text: str) -> bool:
    """Return whether a reply asks something, so that the microphone should open again."""
    return text.strip().endswith(_QUESTION_MARKS)
