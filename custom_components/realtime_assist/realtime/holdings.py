"""Which items are held, and whose they are.

Items come to be known from whichever event is first: detected speech, a commit, an added item, an
item of a response. An item is bound to its turn once; one that nobody has claimed when its turn
settles is an orphan. While a turn is open its items may be cut, and nothing else.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TypedDict, Unpack

from ..items import Audience, Composition, Form, call_key, hear_key, say_key
from .operations import ItemState, LedgerItem, turn_of


class _Changes(TypedDict, total=False):
    key: str | None
    digest: str
    cut_ms: int | None
    pair: str | None
    audience: Audience
    state: ItemState
    open: bool
    turn_id: str | None
    received_ms: float
    text: str


class Holdings:
    """Items by their remote ids, with their turns and audiences; of one session at a time."""

    def __init__(self) -> None:
        """Start empty."""
        self._items: dict[str, LedgerItem] = {}
        self._turn: str | None = None
        self._settled: set[str] = set()
        self._released: set[str] = set()
        self._listed: dict[str, Audience] = {}
        self._marked: set[str] = set()
        self._banned: set[str] = set()
        self._numbers: Counter[str] = Counter()

    @property
    def items(self) -> tuple[LedgerItem, ...]:
        """What is held, in the order in which it became known."""
        return tuple(self._items.values())

    @property
    def natives(self) -> frozenset[str]:
        """Ids of the turns whose items were born in this session: `View.natives`.

        A turn of which something was revoked, or refused, is none of them: it goes as a whole, and
        comes back as text.
        """
        items = self._items.values()
        refused = {i.turn_id for i in items if i.state is ItemState.LOST and i.form is Form.NOTE}
        return frozenset(
            i.turn_id
            for i in items
            if i.turn_id and i.key and i.turn_id not in self._banned and i.turn_id not in refused
        )

    def begin(self, turn_id: str) -> None:
        """Let what is born now and claimed by nobody belong to this turn, until it settles."""
        self._turn = turn_id
        self._settled.discard(turn_id)

    def bind_user(self, item_id: str, turn_id: str) -> int:
        """Claim an item as what the user said in a turn; return its number there."""
        return self._claim(item_id, turn_id, hear_key)

    def bind_reply(self, item_id: str, turn_id: str) -> int:
        """Claim an item as a reply of a turn; return its number there."""
        return self._claim(item_id, turn_id, say_key)

    def bind_call(self, item_id: str, turn_id: str, call_id: str) -> None:
        """Claim an item as a call of a turn."""
        self._born(item_id, turn_id)
        self._change(item_id, pair=call_id)
        if (item := self._items.get(item_id)) and item.key is None:
            self._give(item_id, turn_id, call_key(call_id))

    def received(self, item_id: str, ms: float) -> None:
        """Count milliseconds of audio that arrived for a reply."""
        if item := self._items.get(item_id):
            self._change(item_id, received_ms=item.received_ms + ms)

    def spoken(self, item_id: str, ms: float) -> None:
        """Take it that the user has said `ms` milliseconds in a turn, this item the last of it."""
        if (item := self._items.get(item_id)) is None:
            return
        before = (
            other.received_ms
            for other in self._items.values()
            if other.turn_id == item.turn_id and other is not item and not other.is_reply
        )
        self._change(item_id, received_ms=max(0.0, ms - sum(before)))

    def wrote(self, item_id: str, text: str) -> None:
        """Add words that the model wrote into an item."""
        if item := self._items.get(item_id):
            self._change(item_id, text=item.text + text)

    def called(self, call_id: str, text: str) -> None:
        """Take the words that a call consists of: its name and its arguments."""
        if item := self._call(call_id):
            self._change(item.remote_id, text=text)

    def settle(self, turn_id: str) -> None:
        """Close a turn: its items are not open any more, and what nobody claimed is an orphan."""
        self._settled.add(turn_id)
        if self._turn == turn_id:
            self._turn = None
        for item in self.items:
            if item.turn_id == turn_id:
                self._change(item.remote_id, open=False)

    def release(self, turn_id: str) -> None:
        """Close a turn of which nothing is wanted: all its items are orphans."""
        self.settle(turn_id)
        self._released.add(turn_id)
        for item in self.items:
            if item.turn_id == turn_id:
                self._change(item.remote_id, key=None)

    def revoke(self, keys: Collection[str]) -> None:
        """Mark what is held under these keys as not to be seen; `turn:<id>` means all of a turn.

        Who may not see a part of a turn sees none of its items: what is left of it comes as text.
        A note that a later composition desires with the same text is not affected.
        """
        for item in self._items.values():
            if item.key in keys or (item.turn_id and f"turn:{item.turn_id}" in keys):
                self._marked.add(item.remote_id)
                self._ban(item.remote_id)

    def revoked(self, visible: frozenset[str]) -> frozenset[str]:
        """Return remote ids of what may not be seen by who may see `visible`.

        Beside what was revoked and what has another audience this is everything of a settled turn
        that no composition ever listed: who may see it is not known, so nobody may.
        """
        return frozenset(
            i.remote_id
            for i in self._items.values()
            if i.remote_id in self._marked
            or i.turn_id in self._banned
            or not i.audience <= visible
            or (i.key and i.turn_id in self._settled and i.turn_id not in self._listed)
        )

    def clear(self) -> None:
        """Hold nothing: a new session begins. A turn that is open stays so."""
        self._items.clear()
        self._settled.clear()
        self._released.clear()
        self._listed.clear()
        self._marked.clear()
        self._banned.clear()
        again = say_key(self._turn) if self._turn else ""
        self._numbers = Counter({again: self._numbers[again]})

    def _learn(self, composition: Composition) -> None:
        """Take over who may see a turn's items, from what the composition says of any of them."""
        audiences: dict[str, Audience] = {}
        for wanted in composition.desired:
            if turn_id := turn_of(wanted.key):
                audiences[turn_id] = audiences.get(turn_id, frozenset()) | wanted.audience
        self._listed |= audiences
        for item in self.items:
            audience = audiences.get(item.turn_id or "", item.audience)
            if audience != item.audience:
                self._change(item.remote_id, audience=audience)

    def _born(self, item_id: str, turn_id: str | None) -> None:
        """Learn of an item that the server made, unless it is known or has no name."""
        if item_id and item_id not in self._items:
            self._items[item_id] = LedgerItem(
                remote_id=item_id,
                form=Form.NATIVE,
                turn_id=turn_id,
                open=turn_id is not None and turn_id not in self._settled,
            )

    def _claim(self, item_id: str, turn_id: str, key: Callable[[str, int], str]) -> int:
        """Give an item its key, once; return its number in its turn."""
        self._born(item_id, turn_id)
        item = self._items.get(item_id)
        if item and item.key is not None:
            return int(item.key.rpartition("/")[2])
        number = self._numbers[count := key(turn_id, 0)]
        self._numbers[count] += 1
        self._give(item_id, turn_id, key(turn_id, number))
        return number

    def _give(self, item_id: str, turn_id: str, key: str) -> None:
        """Bind an item to a turn; of a turn that was released nothing is wanted, however late."""
        wanted = key if turn_id not in self._released else None
        self._change(item_id, key=wanted, turn_id=turn_id, open=turn_id not in self._settled)

    def _ban(self, remote_id: str) -> None:
        """Let the turn of an item go as a whole: part of it may not be seen."""
        if (item := self._items.get(remote_id)) and item.turn_id:
            self._banned.add(item.turn_id)

    def _call(self, pair: str | None) -> LedgerItem | None:
        calls = (i for i in self._items.values() if i.form is Form.NATIVE and i.pair == pair)
        return next(calls, None) if pair else None

    def _change(self, remote_id: str, **changes: Unpack[_Changes]) -> None:
        if item := self._items.get(remote_id):
            self._items[remote_id] = replace(item, **changes)
