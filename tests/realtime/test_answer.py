"""The answer of a turn, gathered from its responses."""

from custom_components.realtime_assist.realtime.answer import FIRST_AUDIO_MS, Answer
from custom_components.realtime_assist.realtime.assembly import Message
from custom_components.realtime_assist.realtime.events import ResponseDone, ResponseStatus
from custom_components.realtime_assist.realtime.replies import FirstAudio, Reply

RATE = 24_000


async def test_a_very_short_answer_is_heard_as_soon_as_it_is_complete() -> None:
    """Nobody waits for "OK." until it is certain that nothing else comes."""
    answer = Answer(RATE, on_audio=lambda: None)
    replies = aiter(answer.replies)
    answer.take(0, Message("item", 0), bytes(RATE * 2 * FIRST_AUDIO_MS // 2000))
    assert not answer.replies._waiting
    linger = answer.settle(ResponseDone(response_id="r", status=ResponseStatus.COMPLETED))
    assert linger > 0
    assert answer.replies._waiting
    first: Reply = await anext(replies)
    assert isinstance(first, FirstAudio)
    answer.end(dropped=False)
    assert not [reply async for reply in replies if isinstance(reply, FirstAudio)]
