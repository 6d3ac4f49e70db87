"""A small rule mind for the speaking brain: it knows what it holds, and nothing else.

It gets the conversation as lines: what was said (as the recogniser heard it), what was noted, what
tools gave. A note is only ever searched for facts: what stands in it is never obeyed.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from .brain import Answer, Call, Reply, Request, Speech
from .facts import NAMED, QUESTION, WORD, Line, capital, content_words, find_fact, gist, name_in

type Json = dict[str, Any]

_SWITCH = (
    re.compile(r"\b(?:turn|switch|put)\s+(?P<way>on|off)\s+(?P<what>.+)", re.IGNORECASE),
    re.compile(r"\b(?:turn|switch|put)\s+(?P<what>.+?)\s+(?P<way>on|off)\b", re.IGNORECASE),
)
_ASKS_NAME = re.compile(
    r"\b(?:what(?:'s| is| was)? my name|who am i|do you know my name)\b", re.IGNORECASE
)
_ASKS_TIME = re.compile(r"\bwhat time\b|\bwhat(?:'s| is) the time\b", re.IGNORECASE)
_ASKS_BEFORE = re.compile(r"\bwhat did i (?:ask|say|tell)\b", re.IGNORECASE)
_STOPS = re.compile(r"^\W*(?:stop|never ?mind|cancel|be quiet)\b", re.IGNORECASE)
_CLOCK = re.compile(r"\b\d{1,2}[:.]\d{2}(?:\s*[ap]\.?m\.?)?", re.IGNORECASE)
_REMEMBERS = re.compile(r"^\W*(?:please )?remember\s+(?:that\s+)?(?P<fact>.+)", re.IGNORECASE)
_NAMES_LINE = re.compile(r"\bnames?:\s*(.+)", re.IGNORECASE)
_AREA_HELD = re.compile(r"\b(?:in|area:?) (?:the )?(?:area )?([A-Z]\w+(?: [A-Z]\w+)*)(?: area)?\b")
_OPENERS = ("light", "lamp", "switch", "fan", "cover", "lock")


def think(lines: Sequence[Line], request: Request) -> Reply:
    """Return the answer to the newest line that calls for one."""
    if request.aside:
        return Reply.of(gist(lines))
    newest = next((i for i in reversed(range(len(lines))) if lines[i].who == "user"), None)
    outcomes = [line for line in lines[(newest or 0) :] if line.who == "tool"]
    if outcomes:
        return Reply.of(" ".join(_outcome(line) for line in outcomes))
    if newest is None or not WORD.search(lines[newest].text):
        return Reply.of("I did not hear anything.")
    said = lines[newest].text
    return _answer(said, [line for i, line in enumerate(lines) if i != newest], request)


def _answer(said: str, held: Sequence[Line], request: Request) -> Reply:
    """Return the answer to what a user said, from what else is held."""
    for rule in (_stop, _switching, _asked_name, _told_name, _time, _before, _asked, _remembering):
        if (answer := rule(said, held, request)) is not None:
            return Reply.of(answer)
    return Reply.of("All right.")


def _stop(said: str, _held: Sequence[Line], _request: Request) -> Answer | None:
    """Be quiet when told to."""
    return "Okay." if _STOPS.search(said) else None


def _asked_name(said: str, held: Sequence[Line], _request: Request) -> Answer | None:
    """Say the name of the user, if it is held."""
    if not _ASKS_NAME.search(said):
        return None
    name = name_in(held)
    return f"Your name is {name}." if name else "I do not know your name."


def _told_name(said: str, _held: Sequence[Line], _request: Request) -> Answer | None:
    """Greet a user who gives a name."""
    found = None if said.rstrip().endswith("?") else NAMED.search(said)
    return None if found is None else f"Nice to meet you, {capital(found['name'])}."


def _time(said: str, held: Sequence[Line], request: Request) -> Answer | None:
    """Say the time from the newest note that has one, else ask a tool."""
    if not _ASKS_TIME.search(said):
        return None
    for line in reversed(held):
        if line.who == "note" and (found := _CLOCK.search(line.text)):
            return f"It is {found[0]}."
    tool = _tool(request.tools, "GetCurrentTime", "get_time", "GetDateTime")
    return "I do not know what time it is." if tool is None else Call(tool["name"])


def _before(said: str, held: Sequence[Line], _request: Request) -> Answer | None:
    """Say what the user said last, if that is held."""
    if not _ASKS_BEFORE.search(said):
        return None
    before = [line.text for line in held if line.who == "user"]
    return f"You said: {before[-1]}" if before else "I do not know that."


def _asked(said: str, held: Sequence[Line], _request: Request) -> Answer | None:
    """Answer any other question with the fact that fits it best."""
    if not (QUESTION.search(said) or said.rstrip().endswith("?")):
        return None
    fact = find_fact(said, held)
    return f"You told me: {fact}" if fact else "I do not know that."


# Tools


def _switching(said: str, held: Sequence[Line], request: Request) -> Answer | None:
    """Return the call that switches what a user wants switched, if there is a tool for it."""
    for pattern in _SWITCH:
        if (found := pattern.search(said)) is None:
            continue
        tool = _tool(request.tools, f"HassTurn{found['way'].capitalize()}", f"turn_{found['way']}")
        if tool is not None:
            what = re.sub(
                r"^(?:all\s+)?(?:of\s+)?(?:the|my)\s+", "", found["what"], flags=re.IGNORECASE
            )
            arguments = _target(what.strip(" .!?,"), tool, held, request)
            return Call(tool["name"], json.dumps(arguments))
    return None


def _target(what: str, tool: Json, held: Sequence[Line], request: Request) -> Json:
    """Return the arguments that name `what`, as far as the tool's schema has places for them."""
    properties = (tool.get("parameters") or {}).get("properties") or {}
    known = [request.instructions, *(line.text for line in held if line.who in {"note", "tool"})]
    arguments: Json = {}
    name = _known_name(what, known)
    if name is not None and "name" in properties:
        arguments["name"] = name
        return arguments
    words = what.lower().split()
    domain = next((one for one in _OPENERS if any(word.startswith(one) for word in words)), None)
    place = " ".join(word for word in words if domain is None or not word.startswith(domain))
    area = place.title() if domain and place else _area(known) if domain else None
    if "area" in properties and area:
        arguments["area"] = area
    if "domain" in properties and domain:
        domain = "light" if domain == "lamp" else domain
        arguments["domain"] = [domain] if properties["domain"].get("type") == "array" else domain
    if not arguments and "name" in properties:
        arguments["name"] = what
    return arguments


def _known_name(what: str, texts: Sequence[str]) -> str | None:
    """Return the name in a list of names that shares most words with `what`.

    All of them must fit.
    """
    wanted = content_words(what)
    best: tuple[int, str] | None = None
    for text in texts:
        for listed in _NAMES_LINE.findall(text):
            for name in re.split(r"[,;]", listed):
                words = content_words(name)
                if words and words <= wanted | {"light"} and (shared := len(words & wanted)):
                    best = max(best or (0, ""), (shared, name.strip(" '\"")))
    return best[1] if best and best[0] >= min(2, len(wanted)) else None


def _area(texts: Sequence[str]) -> str | None:
    """Return the area that the instructions or notes say we are in."""
    return next((found[1] for text in texts if (found := _AREA_HELD.search(text))), None)


def _remembering(said: str, _held: Sequence[Line], request: Request) -> Answer | None:
    """Return the call that keeps a fact, if there is a tool with a place for it."""
    found = _REMEMBERS.search(said)
    tool = _tool(request.tools, "Remember", "set_memory", "memory_set", "store_memory")
    if found is None or tool is None:
        return None
    fact = found["fact"].strip(" .")
    parameters = tool.get("parameters") or {}
    properties = parameters.get("properties") or {}
    needed = set(parameters.get("required") or properties)
    arguments: Json = {}
    for name, schema in properties.items():
        if name in {"value", "text", "content", "fact", "note", "information"}:
            arguments[name] = fact
        elif name in needed and name in {"key", "name", "topic", "title"}:
            arguments[name] = "_".join(sorted(content_words(fact))[:4]) or "fact"
        elif name in needed and schema.get("enum"):
            arguments[name] = schema["enum"][0]
    return Call(tool["name"], json.dumps(arguments))


def _tool(tools: Sequence[Json], *endings: str) -> Json | None:
    """Return the first tool whose name ends with one of these."""
    for ending in endings:
        for tool in tools:
            if tool["name"].lower().endswith(ending.lower()):
                return tool
    return None


def _outcome(line: Line) -> str:
    """Return in words what a tool gave."""
    try:
        result = json.loads(line.text)
    except ValueError:
        return line.text[:300]
    if not isinstance(result, dict):
        return str(result)[:300]
    if result.get("error") or result.get("success") is False:
        says = result.get("error_text") or result.get("message") or result.get("error") or ""
        return f"Sorry, that did not work. {says}".strip()
    return _spoken(result) or _switched(line.tool, result)


def _switched(tool: str, result: Json) -> str:
    """Return what a tool without words of its own has done."""
    data = result.get("data")
    done = data.get("success") if isinstance(data, dict) else None
    names = [one["name"] for one in done or [] if isinstance(one, dict) and one.get("name")]
    if "turn" not in tool.lower():
        return "Done."
    way = "off" if tool.lower().endswith("off") else "on"
    return f"I turned {way} the {names[0]}." if names else f"I turned it {way}."


def _spoken(result: Json) -> str | None:
    """Return what Home Assistant itself would say about a result."""
    speech = result.get("speech")
    if isinstance(speech, str) and speech:
        return speech
    if isinstance(speech, dict):
        plain = speech.get("plain") or {}
        return plain.get("speech") or None
    return None


def spoken_text(reply: Reply) -> str:
    """Return the words that a reply says aloud."""
    return " ".join(part.text for part in reply.parts if isinstance(part, Speech))
