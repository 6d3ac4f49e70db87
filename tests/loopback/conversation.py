"""The conversation a session holds: which items, in which order, and which a model still sees.

Pure, no I/O. What a client may do to it is refused here with the codes that are known for it; where
the code or the outcome is not recorded, a switch decides (see `switches.py`).
"""

from collections.abc import Callable
from typing import Any

from .audio import BYTES_PER_MS, duration_ms
from .items import Item, Part
from .parsing import ItemParser
from .refusal import RefusedError
from .switches import Switches

type Json = dict[str, Any]

_NOT_AUDIO = "Only model output audio messages can be truncated"


class Conversation:
    """The ordered items of one session, and which of them a model no longer sees."""

    def __init__(self, switches: Switches, new_id: Callable[[str], str]) -> None:
        """Start empty; `new_id("item")` makes an id for an item that comes without one."""
        self.items: list[Item] = []
        self.forgotten: set[str] = set()
        self._switches = switches
        self._parser = ItemParser(switches, new_id)

    def holds(self, item: Item) -> bool:
        """Tell whether this very item is held."""
        return any(held is item for held in self.items)

    def __contains__(self, item_id: object) -> bool:
        """Tell whether an item of that id is held."""
        return any(item.id == item_id for item in self.items)

    def find(self, item_id: str) -> Item | None:
        """Return the item of that id, or None."""
        return next((item for item in self.items if item.id == item_id), None)

    def before(self, item: Item) -> str | None:
        """Return the id of the item in front of `item`, or None if it is the first or gone."""
        place = next((i for i, held in enumerate(self.items) if held is item), 0)
        return self.items[place - 1].id if place else None

    def seen(self) -> list[Item]:
        """Return the items that a model sees: held, and not silently dropped."""
        return [item for item in self.items if item.id not in self.forgotten]

    def append(self, item: Item) -> None:
        """Add an item that the server itself made."""
        self.items.append(item)

    def create(self, raw: Json, previous: str | None) -> Item:
        """Add a client's item after `previous` (absent: last; `root`: first).

        Raises RefusedError.
        """
        item = self._parser.parse(raw)
        if item.id in self and self._switches.duplicate_id == "refused":
            says = f"Error adding item: an item with id '{item.id}' already exists."
            raise RefusedError(code="item_create_duplicate_item_id", says=says)
        if item.type == "function_call_output":
            self._check_call(item.call_id)
        self.items.insert(self._place(previous), item)
        return item

    def parse_input(self, raw: Json, param: str) -> Item:
        """Return an item of `response.create.input`, which may refer to a held one.

        Raises RefusedError.
        """
        if raw.get("type") != "item_reference":
            return self._parser.parse(raw, param)
        found = self.find(str(raw.get("id")))
        if found is None:
            says = f"Item with id '{raw.get('id')}' not found."
            raise RefusedError(code="invalid_value", says=says, param=f"{param}.id")
        return found

    def delete(self, item_id: str) -> Item:
        """Take an item out, text and audio. Raises RefusedError if it is not held."""
        item = self.find(item_id)
        if item is None or self._undeletable(item):
            says = f"Error deleting item: the item with id '{item_id}' does not exist."
            raise RefusedError(code="item_delete_invalid_item_id", says=says)
        self.discard(item)
        return item

    def _undeletable(self, item: Item) -> bool:
        """Tell whether this server does not find an item under the id that it announced."""
        if item.status == "in_progress" and self._switches.delete_in_progress == "refused":
            return True
        return item.role == "assistant" and self._switches.delete_reply == "refused"

    def retrieve(self, item_id: str) -> Item:
        """Return an item. Raises RefusedError if it is not held."""
        item = self.find(item_id)
        if item is None:
            says = f"Error retrieving item: the item with id '{item_id}' does not exist."
            raise RefusedError(code="item_retrieve_invalid_item_id", says=says)
        return item

    def truncate(self, item_id: str, content_index: int, audio_end_ms: int) -> None:
        """Cut an assistant's audio after `audio_end_ms`, and erase its transcript.

        Raises RefusedError.
        """
        item = self.find(item_id)
        if item is None:
            says = f"Error truncating item: the item with id '{item_id}' does not exist."
            raise RefusedError(code="item_truncate_invalid_item_id", says=says)
        spoken = item.role == "assistant" and content_index < len(item.content)
        if not spoken or item.content[content_index].type != "output_audio":
            raise RefusedError(code=None, says=_NOT_AUDIO)
        part = item.content[content_index]
        if not part.audio or (audio_end_ms == 0 and self._switches.truncate_at_zero == "refused"):
            raise RefusedError(code=None, says=_NOT_AUDIO)
        held = duration_ms(part.audio)
        if audio_end_ms > held:
            says = f"Audio content of {held}ms is already shorter than {audio_end_ms}ms"
            raise RefusedError(code="invalid_value", says=says, param="audio_end_ms")
        self._cut(item, part, audio_end_ms)

    def _cut(self, item: Item, part: Part, audio_end_ms: int) -> None:
        """Cut as the server at hand does it: truly, by blanking all of it, or not at all."""
        match self._switches.truncate:
            case "cuts":
                del part.audio[audio_end_ms * BYTES_PER_MS :]
                part.transcript = None
                item.sealed = True
            case "blanks":
                part.audio.clear()
                part.transcript = ""
                item.sealed = True
            case "acks_only":
                pass

    def trim(self, limit: int, keep: float) -> int:
        """Forget the oldest items until what is seen costs at most `limit` tokens; return how many.

        `keep` is the share of the limit down to which it goes once it goes at all. No event tells
        of it, and the items stay held: only the model no longer sees them.
        """
        seen = self.seen()
        total = sum(item.tokens() for item in seen)
        if total <= limit:
            return 0
        dropped = 0
        for item in seen[:-1]:
            if total <= limit * keep:
                break
            self.forgotten.add(item.id)
            total -= item.tokens()
            dropped += 1
        return dropped

    def discard(self, item: Item) -> None:
        """Take out an item without a word, if it is held."""
        self.items = [held for held in self.items if held is not item]

    def _check_call(self, call_id: str) -> None:
        """Refuse the output of a call that is not held, as OpenAI does without naming the event."""
        known = any(item.type == "function_call" and item.call_id == call_id for item in self.items)
        if not known and self._switches.unknown_call == "refused":
            says = f"Tool call ID '{call_id}' not found in conversation."
            raise RefusedError(code="invalid_tool_call_id", says=says, names_event=False)

    def _place(self, previous: str | None) -> int:
        """Return where an item goes that shall follow `previous`.

        Raises RefusedError for an unknown id.
        """
        if previous is None or self._switches.previous_item_id != "honoured":
            return len(self.items)
        if previous == "root":
            return 0
        for place, item in enumerate(self.items):
            if item.id == previous:
                return place + 1
        if self._switches.unknown_previous == "appended":
            return len(self.items)
        says = f"Error adding item: the previous item with id '{previous}' does not exist."
        raise RefusedError(code="item_create_invalid_previous_item_id", says=says)
