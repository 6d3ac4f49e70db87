"""Every server event that the loopback server may send, and where it is known from."""

from collections.abc import Mapping

from .marks import Mark, assumed, documented, recorded

_VAD = recorded("openai-audio_in_server_vad_turn")
_AUDIO = recorded("openai-text_in_audio_out_turn")
_TEXT = recorded("openai-2.1-text_tool_round")
_TYPES = documented("server events of the published types; never recorded")

EVENTS: Mapping[str, Mark] = {
    "session.created": _TEXT,
    "session.updated": _TEXT,
    "error": _TYPES,
    "conversation.created": recorded("xai-tool_call_round"),
    "conversation.item.added": _TEXT,
    "conversation.item.done": _TEXT,
    "conversation.item.created": recorded("azure_voice_live-audio_in_server_vad_turn"),
    "conversation.item.retrieved": _TYPES,
    "conversation.item.deleted": _TYPES,
    "conversation.item.truncated": _TYPES,
    "conversation.item.input_audio_transcription.delta": _VAD,
    "conversation.item.input_audio_transcription.completed": _VAD,
    "conversation.item.input_audio_transcription.failed": _TYPES,
    "conversation.item.input_audio_transcription.updated": recorded("xai-audio_in_server_vad_turn"),
    "input_audio_buffer.speech_started": _VAD,
    "input_audio_buffer.speech_stopped": _VAD,
    "input_audio_buffer.committed": _VAD,
    "input_audio_buffer.cleared": _TYPES,
    "input_audio_buffer.timeout_triggered": _TYPES,
    "response.created": _TEXT,
    "response.done": _TEXT,
    "response.output_item.added": _TEXT,
    "response.output_item.done": _TEXT,
    "response.content_part.added": _TEXT,
    "response.content_part.done": _TEXT,
    "response.output_text.delta": _TEXT,
    "response.output_text.done": _TEXT,
    "response.output_audio.delta": _AUDIO,
    "response.output_audio.done": _AUDIO,
    "response.output_audio_transcript.delta": _AUDIO,
    "response.output_audio_transcript.done": _AUDIO,
    "response.function_call_arguments.delta": _TEXT,
    "response.function_call_arguments.done": _TEXT,
    "rate_limits.updated": _TEXT,
    "ping": recorded("xai-tool_call_round"),
    "session.weather_changed": assumed("stands for any kind of event that is not invented yet"),
}
