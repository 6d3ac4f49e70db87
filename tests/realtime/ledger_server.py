"""A model server of many characters, for the ledger to deal with."""

from collections import Counter, deque
from dataclasses import dataclass, field
from random import Random
from typing import Final

from custom_components.realtime_assist.items import (
    Form,
)
from custom_components.realtime_assist.realtime.events import ItemKind
from custom_components.realtime_assist.realtime.ledger import REFUSALS
from custom_components.realtime_assist.realtime.model import Capabilities, Cut, NoteRole
from custom_components.realtime_assist.realtime.operations import (
    Create,
    CutTo,
    Delete,
    ItemOperation,
)

MS_PER_WORD: Final = 100
"""Every word lasts a tenth of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Personality:
    """How a server behaves."""

    name: str
    caps: Capabilities = field(default_factory=Capabilities)
    refuses: float = 0.0
    """Share of removals and cuts that it refuses; of creates a tenth of that, or none."""
    loses: float = 0.0
    """Share of acknowledgements that never come."""
    defers: bool = False
    """Acknowledges nothing while a response is active."""
    repeats: float = 0.1
    """Share of events that come twice."""

    @property
    def obedient(self) -> bool:
        """Whether everything that is asked is done and acknowledged at once."""
        return not self.refuses and not self.loses and not self.defers


_XAI: Final = Capabilities(cut=Cut.NONE, ack_ids=False, error_ids=False, note_role=NoteRole.USER)
PERSONALITIES: Final = (
    Personality(name="openai"),
    Personality(name="openai_refuses_a_third", refuses=0.33),
    Personality(name="openai_loses_a_tenth", refuses=0.05, loses=0.1),
    Personality(name="xai", caps=_XAI, refuses=0.2),
    Personality(name="xai_loses_a_tenth", caps=_XAI, refuses=0.05, loses=0.1),
    Personality(name="localai", caps=Capabilities(cut=Cut.REPLACE, error_ids=False), refuses=0.05),
    Personality(name="hugging_face", caps=Capabilities(cut=Cut.REPLACE), refuses=0.05, defers=True),
    Personality(name="gemini", caps=Capabilities(delete=False, cut=Cut.NONE, acks=False)),
)


@dataclass(slots=True)
class Item:
    """What a server holds."""

    id: str
    kind: ItemKind
    words: list[str]
    pair: str | None = None


type ServerEvent = tuple[str, str | None, ItemKind | int | None, str | None]


class Server:
    """Takes commands in order, and tells of them when it likes."""

    def __init__(self, personality: Personality, random: Random) -> None:
        """Begin a session."""
        self.personality = personality
        self.items: list[Item] = []
        self.events: deque[ServerEvent] = deque()
        self.active = False
        self._random = random
        self._deferred: list[ServerEvent] = []
        self._seen: set[str] = set()
        self._refused: Counter[str] = Counter()

    @property
    def words(self) -> set[str]:
        """Everything that a model would see now."""
        return {word for item in self.items for word in item.words}

    def handle(self, operation: ItemOperation, event_id: str) -> None:
        """Do what is asked, or refuse."""
        caps = self.personality.caps
        refuses = self.personality.refuses
        if isinstance(operation, Create):
            # What is refused for good is lost, and a refusal that is never told cannot be known.
            stubborn = self._refused[operation.item.key] == REFUSALS - 1
            refuses = 0 if self.personality.loses or stubborn else refuses / 10
        held = next((i for i in self.items if i.id == operation.remote_id), None)
        if caps.acks and self._random.random() < refuses:
            self._error(event_id)
            if isinstance(operation, Create):
                self._refused[operation.item.key] += 1
        elif isinstance(operation, Create):
            self._create(operation)
        elif held is None:
            self._error(event_id)
        elif isinstance(operation, Delete):
            assert caps.delete
            self.items.remove(held)
            self._tell(("deleted", held.id if caps.ack_ids else "", None, None))
        else:
            self._cut(held, operation, event_id)

    def born(self, item: Item) -> None:
        """Make an item, and tell of it."""
        self.items.append(item)
        self.events.append(("added", item.id, item.kind, item.pair))

    def finish(self) -> None:
        """End a response."""
        self.active = False
        self.events.extend(self._deferred)
        self._deferred.clear()

    def _create(self, operation: Create) -> None:
        assert operation.remote_id not in self._seen, "an id was sent twice"
        self._seen.add(operation.remote_id)
        wanted = operation.item
        if wanted.form is Form.OUTPUT:
            assert any(i.pair == wanted.pair for i in self.items), "an output of no call"
        kind = ItemKind.OUTPUT if wanted.form is Form.OUTPUT else ItemKind.SYSTEM
        self.items.append(Item(operation.remote_id, kind, wanted.body.split(), wanted.pair))
        if self.personality.caps.acks:
            self._tell(("added", operation.remote_id, kind, wanted.pair))

    def _cut(self, held: Item, operation: CutTo, event_id: str) -> None:
        assert self.personality.caps.cut is Cut.TRUNCATE
        if not 0 < operation.ms <= len(held.words) * MS_PER_WORD:
            self._error(event_id)
            return
        del held.words[operation.ms // MS_PER_WORD :]
        self._tell(("cut", held.id, operation.ms, None))

    def _error(self, event_id: str) -> None:
        named = self.personality.caps.error_ids
        self._tell(("error", event_id if named else None, None, None))

    def _tell(self, event: ServerEvent) -> None:
        if self._random.random() < self.personality.loses:
            return
        queue = self._deferred if self.personality.defers and self.active else self.events
        queue.append(event)
        # An answer that names nothing cannot be told from the next one's: no server repeats it.
        if event[1] and self._random.random() < self.personality.repeats:
            queue.append(event)
