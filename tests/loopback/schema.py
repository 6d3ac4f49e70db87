"""What a client event may look like: small checks put together, refusing with the known codes.

The rules are those of the published reference of the Realtime API (GA), written down as data.
"""

import re
from collections.abc import Callable, Mapping

from .refusal import RefusedError

type Check = Callable[[object, str, bool], None]
"""Checks (value, where it stands, whether unknown fields are refused); raises RefusedError."""

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_MEDIA_15_MIB = 15 * 1024 * 1024 * 4 // 3 + 4


def _wrong_type(value: object, at: str, wanted: str) -> RefusedError:
    """Return the refusal of a value of the wrong JSON type."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    got = "null" if value is None else names.get(type(value), "a number")
    says = f"Invalid type for '{at}': expected {wanted}, but got {got} instead."
    return RefusedError(code="invalid_type", says=says, param=at)


def anything(_value: object, _at: str, _strict: bool) -> None:  # noqa: FBT001
    """Accept whatever it is."""


def text(longest: int | None = None, pattern: re.Pattern[str] | None = None) -> Check:
    """Accept a string of at most `longest` letters that matches `pattern` as a whole."""

    def check(value: object, at: str, _strict: bool) -> None:  # noqa: FBT001
        if not isinstance(value, str):
            raise _wrong_type(value, at, "a string")
        if longest is not None and len(value) > longest:
            says = (
                f"Invalid '{at}': string too long. Expected a string with maximum length "
                f"{longest}, but got a string with length {len(value)} instead."
            )
            raise RefusedError(code="string_above_max_length", says=says, param=at)
        if pattern is not None and not pattern.fullmatch(value):
            says = f"Invalid '{at}': expected a string that matches '{pattern.pattern}'."
            raise RefusedError(code="invalid_value", says=says, param=at)

    return check


def number(low: float, high: float = float("inf"), *, whole: bool = False) -> Check:
    """Accept a number between `low` and `high`, both included."""

    def check(value: object, at: str, _strict: bool) -> None:  # noqa: FBT001
        fits = isinstance(value, int) or (isinstance(value, float) and not whole)
        if isinstance(value, bool) or not fits:
            raise _wrong_type(value, at, "an integer" if whole else "a number")
        if not low <= value <= high:  # type: ignore[operator]  # a number
            raise RefusedError.value(at, value, f"Expected a value between {low} and {high}.")

    return check


def flag(value: object, at: str, _strict: bool) -> None:  # noqa: FBT001
    """Accept true or false."""
    if not isinstance(value, bool):
        raise _wrong_type(value, at, "a boolean")


def one_of(*allowed: str) -> Check:
    """Accept one of these strings."""

    def check(value: object, at: str, _strict: bool) -> None:  # noqa: FBT001
        if value not in allowed:
            names = ", ".join(f"'{name}'" for name in allowed)
            raise RefusedError.value(at, value, f"Supported values are: {names}.")

    return check


def nullable(inner: Check) -> Check:
    """Accept null, or what `inner` accepts."""

    def check(value: object, at: str, strict: bool) -> None:  # noqa: FBT001
        if value is not None:
            inner(value, at, strict)

    return check


def either(*choices: tuple[type, Check]) -> Check:
    """Accept what the check for the value's own type accepts."""

    def check(value: object, at: str, strict: bool) -> None:  # noqa: FBT001
        for kind, inner in choices:
            if isinstance(value, kind) and not isinstance(value, bool):
                inner(value, at, strict)
                return
        raise _wrong_type(value, at, "another type")

    return check


def listing(inner: Check) -> Check:
    """Accept an array whose elements `inner` accepts."""

    def check(value: object, at: str, strict: bool) -> None:  # noqa: FBT001
        if not isinstance(value, list):
            raise _wrong_type(value, at, "an array")
        for place, element in enumerate(value):
            inner(element, f"{at}[{place}]", strict)

    return check


def shape(required: str = "", /, **known: Check) -> Check:
    """Accept an object with these fields; `required` names some of them, apart by spaces."""

    def check(value: object, at: str, strict: bool) -> None:  # noqa: FBT001
        if not isinstance(value, dict):
            raise _wrong_type(value, at, "an object")
        prefix = f"{at}." if at else ""
        for name in required.split():
            if name not in value:
                raise RefusedError.missing(prefix + name)
        for name, inner in value.items():
            if name in known:
                known[name](inner, prefix + name, strict)
            elif strict:
                says = f"Unknown parameter: '{prefix}{name}'."
                raise RefusedError(code="unknown_parameter", says=says, param=prefix + name)

    return check


def _turn_detection(value: object, at: str, strict: bool) -> None:  # noqa: FBT001
    """Accept the turn detection of its own type."""
    common: dict[str, Check] = {
        "type": one_of("server_vad", "semantic_vad"),
        "create_response": flag,
        "interrupt_response": flag,
    }
    if isinstance(value, dict) and value.get("type") == "semantic_vad":
        common["eagerness"] = one_of("low", "medium", "high", "auto")
    else:
        common |= {
            "threshold": number(0, 1),
            "prefix_padding_ms": number(0, whole=True),
            "silence_duration_ms": number(0, whole=True),
            "idle_timeout_ms": nullable(number(5_000, 30_000, whole=True)),
        }
    shape("type", **common)(value, at, strict)


def _format(value: object, at: str, strict: bool) -> None:  # noqa: FBT001
    """Accept PCM at 24 kHz, the only format that this server speaks."""
    known: dict[str, Check] = {"type": one_of("audio/pcm")}
    if isinstance(value, dict) and value.get("type") == "audio/pcm":
        known["rate"] = _pcm_rate
    shape("type", **known)(value, at, strict)


def _pcm_rate(value: object, at: str, _strict: bool) -> None:  # noqa: FBT001
    """Accept 24000."""
    if value != 24_000:
        raise RefusedError.value(at, value, "Value must be 24000.")


def _metadata(value: object, at: str, strict: bool) -> None:  # noqa: FBT001
    """Accept up to 16 pairs of a key of 64 letters and a value of 512."""
    shape()(value, at, False)
    pairs: Mapping[str, object] = value if isinstance(value, dict) else {}
    if len(pairs) > 16:
        says = (
            f"Invalid '{at}': too many properties. Expected an object with at most 16 properties."
        )
        raise RefusedError(code="object_above_max_properties", says=says, param=at)
    for key, held in pairs.items():
        text(64)(key, f"{at} key", strict)
        text(512)(held, f"{at}.{key}", strict)


def _modalities(value: object, at: str, strict: bool) -> None:  # noqa: FBT001
    """Accept text or audio, never both together."""
    listing(one_of("text", "audio"))(value, at, strict)
    if not isinstance(value, list) or len(value) != 1:
        says = f"Invalid modalities: {value}. Supported combinations are: ['text'] and ['audio']."
        raise RefusedError(code="invalid_value", says=says, param=at)


_TOOL = shape(
    "type name",
    type=one_of("function"),
    name=text(64, _TOOL_NAME),
    description=text(),
    parameters=anything,
)
_TOOL_CHOICE = either(
    (str, one_of("none", "auto", "required")),
    (dict, shape("type", type=one_of("function", "mcp"), name=text(), server_label=text())),
)
_MAX_TOKENS = either((str, one_of("inf")), (int, number(1, 4_096, whole=True)))
_VOICE = either((str, text()), (dict, shape("id", id=text())))
_TRUNCATION = either(
    (str, one_of("auto", "disabled")),
    (
        dict,
        shape(
            "type retention_ratio",
            type=one_of("retention_ratio"),
            retention_ratio=number(0, 1),
            token_limits=nullable(shape(post_instructions=number(1, whole=True))),
        ),
    ),
)
_REASONING = shape(effort=one_of("minimal", "low", "medium", "high", "xhigh"))
_TRANSCRIPTION = shape(
    model=text(),
    language=nullable(text()),
    languages=nullable(listing(text())),
    prompt=nullable(text()),
    keywords=nullable(listing(text())),
    delay=anything,
)
_NOISE = shape("type", type=one_of("near_field", "far_field"), strength=number(0, 1))
_AUDIO_INPUT = shape(
    format=_format,
    noise_reduction=nullable(_NOISE),
    transcription=nullable(_TRANSCRIPTION),
    turn_detection=nullable(_turn_detection),
)
_TRACING = nullable(
    either(
        (str, one_of("auto")),
        (dict, shape(workflow_name=text(), group_id=text(), metadata=anything)),
    )
)
_SHARED: dict[str, Check] = {
    "instructions": text(),
    "max_output_tokens": _MAX_TOKENS,
    "output_modalities": _modalities,
    "parallel_tool_calls": flag,
    "prompt": nullable(anything),
    "reasoning": nullable(_REASONING),
    "tool_choice": _TOOL_CHOICE,
    "tools": listing(_TOOL),
}
SESSION = shape(
    "type",
    **_SHARED,
    type=one_of("realtime"),
    model=text(),
    audio=shape(
        input=_AUDIO_INPUT,
        output=shape(format=_format, voice=_VOICE, speed=number(0.25, 1.5)),
    ),
    include=nullable(listing(text())),
    tracing=_TRACING,
    truncation=_TRUNCATION,
)
RESPONSE = shape(
    **_SHARED,
    audio=shape(output=shape(format=_format, voice=_VOICE)),
    conversation=one_of("auto", "none"),
    input=listing(anything),
    metadata=nullable(_metadata),
)
_PART = shape(
    "type",
    type=text(),
    text=anything,
    audio=text(_MEDIA_15_MIB),
    transcript=nullable(text()),
    image_url=text(),
    detail=text(),
)
ITEM = shape(
    "type",
    id=text(),
    type=text(),
    object=text(),
    status=text(),
    role=text(),
    content=listing(_PART),
    name=text(),
    call_id=text(),
    arguments=text(),
    output=text(),
    phase=nullable(text()),
)


def event(required: str = "", /, **known: Check) -> Check:
    """Accept a client event: its own fields, `type`, and the `event_id` of up to 512 letters."""
    return shape(required, type=text(), event_id=nullable(text(512)), **known)
