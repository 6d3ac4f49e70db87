"""A house with a memory, which the ledger projects to a server.

Every word is spoken once, so that where a word is can be asked by the word alone. A word lasts a
tenth of a second.
"""

from collections.abc import Collection
from dataclasses import replace
from random import Random
from typing import Final

from custom_components.realtime_assist.items import (
    FACTS,
    NOW,
    RECAP,
    Composition,
    DesiredItem,
    View,
    call_key,
    hear_key,
    meanwhile_key,
    native,
    note,
    output,
    say_key,
)
from custom_components.realtime_assist.realtime.events import ItemKind
from custom_components.realtime_assist.realtime.ledger import Ledger
from custom_components.realtime_assist.realtime.operations import (
    Create,
    Gate,
    ItemState,
    NewSession,
)

from .ledger_record import Fact, Said, Turn
from .ledger_server import MS_PER_WORD, Item, Personality, Server

FOREVER: Final = 60


class House:
    """The truth, and one session that projects it."""

    def __init__(self, personality: Personality, seed: int) -> None:
        """Begin with an empty memory."""
        self.random = Random(seed)  # noqa: S311 - the same life again, not a secret
        self.personality = personality
        self.ledger = Ledger(personality.caps)
        self.now = 0.0
        self.turns: list[Turn] = []
        self.open: Turn | None = None
        self.facts: dict[str, Fact] = {}
        self.visible: frozenset[str] = frozenset()
        self.forbidden: set[str] = set()
        self.noise: set[str] = set()
        self.fallbacks = 0
        self._count = 0
        self._numbers = 0
        self.server = Server(personality, self.random)
        self._recap_upto = 0

    def word(self) -> str:
        """Return a word that was never spoken."""
        self._count += 1
        return f"w{self._count}."

    def words(self, count: int) -> list[str]:
        """Return some of them."""
        return [self.word() for _ in range(count)]

    def sees(self, audience: Collection[str]) -> bool:
        """Whether something may be seen now."""
        return set(audience) <= self.visible

    def compose(self) -> Composition:
        """Return what the session should hold."""
        turns = [t for t in self.turns if self.sees(t.audience)]
        natives = self.ledger.natives
        view = View(natives=natives, recap_upto=self._recap_upto)
        desired: list[DesiredItem] = []
        old = [t for t in turns if t.number <= view.recap_upto]
        if old:
            audience = frozenset().union(*(t.audience for t in old))
            desired.append(note(RECAP, " ".join(t.text for t in old), audience))
        facts = [f for f in self.facts.values() if self.sees(f.audience)]
        if facts:
            audience = frozenset().union(*(f.audience for f in facts))
            desired.append(note(FACTS, " ".join(f.values[-1] for f in facts), audience))
        desired.append(note(NOW, f"turn-{self.open.id if self.open else ''}"))
        for turn in turns:
            if turn.id in natives:
                desired += self._native(turn)
            elif turn.number > view.recap_upto:
                desired.append(note(meanwhile_key(turn.id), turn.text, turn.audience))
        return Composition(desired=tuple(desired), visible=self.visible)

    def _native(self, turn: Turn) -> list[DesiredItem]:
        items = [native(hear_key(turn.id))]
        # Of a reply that nobody heard the record says nothing.
        items += [
            native(say_key(turn.id, n), cut_ms=s.heard_ms)
            for n, s in turn.says.items()
            if s.heard_ms is None or s.heard_ms > 0
        ]
        for call_id, words in turn.calls.items():
            items.append(native(call_key(call_id), pair=call_id))
            if words:
                items.append(output(call_id, words))
        return [replace(item, audience=turn.audience) for item in items]

    @property
    def live(self) -> list[DesiredItem]:
        """What only the open turn knows."""
        if self.open is None:
            return []
        items = [output(call_id, words) for call_id, words in self.open.calls.items() if words]
        if self.open.typed:
            items.append(note(hear_key(self.open.id), " ".join(self.open.heard)))
        return items

    @property
    def replaced(self) -> int:
        """Number of notes that the provider holds beside a newer one of the same meaning."""
        notes = {
            (i.key, i.digest)
            for i in self.ledger.items
            if i.is_note and i.state is not ItemState.LOST
        }
        return len(notes) - len({key for key, _ in notes})

    def reconcile(self, gate: Gate | None = None) -> bool:
        """Do what is legal now; return whether there was anything."""
        gate = gate or Gate(busy=self.server.active)
        operations = self.ledger.plan(self.compose(), gate, self.live)
        for operation in operations:
            if isinstance(operation, NewSession):
                self.reopen()
                self.reconcile()
                break
            self._count += 1
            event_id = f"e{self._count}"
            self.ledger.issue(operation, event_id, self.now)
            self.server.handle(operation, event_id)
        return bool(operations)

    def deliver(self, most: int = 1000) -> None:
        """Let the server's events arrive."""
        while self.server.events and most:
            most -= 1
            kind, name, value, pair = self.server.events.popleft()
            if kind == "added":
                assert isinstance(value, ItemKind)
                self.ledger.settle_added(name or "", value, pair)
            elif kind == "deleted":
                self.ledger.settle_deleted(name or "")
            elif kind == "cut":
                assert isinstance(value, int)
                self.ledger.settle_cut(name or "", value)
            else:
                self.ledger.settle_error(name)

    def pass_time(self, seconds: float) -> None:
        """Let deadlines pass."""
        self.now += seconds
        self.ledger.settle_expired(self.now)

    def reopen(self) -> None:
        """Begin a new session; an open turn is spoken again, or over if it was being answered."""
        self.server = Server(self.personality, self.random)
        self.ledger.renew()
        self._recap_upto = self._numbers
        turn = self.open
        if turn is None:
            return
        if turn.responded:
            self.close(turn)
        elif turn.item_id is not None:
            self.hear(turn)

    def hear(self, turn: Turn) -> None:
        """Let the server make an item of what the user said; any of three events comes first."""
        turn.item_id = f"item_{self.ledger.epoch}_{self.word()}"
        self.server.born(Item(turn.item_id, ItemKind.USER, list(turn.heard)))
        if self.random.random() < 0.5:
            self.deliver()
        self.ledger.bind_user(turn.item_id, turn.id)

    def reply(self, turn: Turn, received: int, more: int) -> None:
        """Let the server speak; some of its words are still on their way."""
        words = self.words(received + more)
        item = Item(f"item_{self.word()}", ItemKind.ASSISTANT, list(words))
        self.server.born(item)
        number = self.ledger.bind_reply(item.id, turn.id)
        self.ledger.received(item.id, received * MS_PER_WORD)
        turn.says[number] = Said(item.id, words, received)

    def call(self, turn: Turn) -> None:
        """Let the server ask for something to be done."""
        call_id = f"call_{self.word()}"
        item = Item(f"item_{call_id}", ItemKind.CALL, [], call_id)
        self.server.born(item)
        self.ledger.bind_call(item.id, turn.id, call_id)
        turn.calls[call_id] = None

    def finish_response(self, turn: Turn) -> None:
        """Let everything arrive that is still on its way."""
        self.server.finish()
        for said in turn.says.values():
            self.ledger.received(said.item_id, (len(said.words) - said.received) * MS_PER_WORD)
            said.received = len(said.words)

    def barge_in(self, turn: Turn, heard: int) -> None:
        """Interrupt the reply when so many of its words were heard; the rest never arrives."""
        for cut in self.ledger.interrupt(turn.id, heard * MS_PER_WORD):
            event_id = f"e{self.word()}"
            self.ledger.issue(cut, event_id, self.now)
            self.server.handle(cut, event_id)
        self.server.finish()
        for said in turn.says.values():
            words = min(heard, said.received)
            said.heard_ms = words * MS_PER_WORD
            heard -= words
        self.close(turn)

    def close(self, turn: Turn) -> None:
        """Let a turn join the record."""
        turn.number = self._next_number()
        turn.calls = {c: words for c, words in turn.calls.items() if words}
        self.turns.append(turn)
        self.open = None
        self.ledger.settle(turn.id)

    def release(self, turn: Turn) -> None:
        """Forget a turn that was none."""
        if self.server.active:
            self.server.finish()
        self.noise |= set(turn.heard) | {w for s in turn.says.values() for w in s.words}
        self.open = None
        self.ledger.release(turn.id)

    def make_noise(self) -> None:
        """Let the server say something that nobody asked for."""
        words = self.words(1)
        self.server.born(Item(f"item_{self.word()}", ItemKind.ASSISTANT, words))
        self.noise |= set(words)

    def remember(self, key: str, audience: frozenset[str]) -> None:
        """Set a fact; who may see it is decided once."""
        fact = self.facts.setdefault(key, Fact([], audience))
        fact.values.append(self.word())

    def forget_fact(self, key: str) -> None:
        """Take back all that a fact ever was."""
        self.forbidden |= set(self.facts.pop(key).values)
        self.ledger.revoke({FACTS})

    def forget_turn(self, turn: Turn) -> None:
        """Take back all that was said in a turn."""
        self.turns.remove(turn)
        self.forbidden |= set(turn.text.split()) | turn.unheard
        self.ledger.revoke({f"turn:{turn.id}", meanwhile_key(turn.id), RECAP})

    def turn_elsewhere(self, audience: frozenset[str]) -> None:
        """Let another session of this thread have a turn."""
        turn = Turn(self.word(), audience, self.words(2))
        turn.number = self._next_number()
        self.turns.append(turn)

    def _next_number(self) -> int:
        self._numbers += 1
        return self._numbers

    def barrier(self) -> None:
        """Wait for what must not be there when a response starts, else begin a new session."""
        for _ in range(12):
            self.reconcile()
            self.deliver()
            if not self.ledger.unfinished(self.compose(), self.live) and not self._missing():
                return
        self.fallbacks += 1
        self.reopen()
        for _ in range(12):
            self.reconcile()
            self.deliver()

    def _missing(self) -> bool:
        """Whether a refused create must be tried again."""
        plan = self.ledger.plan(self.compose(), Gate(), self.live)
        return any(isinstance(operation, Create) for operation in plan)

    def converge(self, gate: Gate) -> None:
        """Reconcile until nothing is left to do."""
        for _ in range(FOREVER):
            self.deliver()
            self.pass_time(4)
            if not self.reconcile(gate) and not self.ledger.outstanding:
                return
        raise AssertionError("there is always something left to do")

    def check(self) -> None:
        """Assert what must be so whenever a response starts."""
        seen = self.server.words
        assert not seen & self.forbidden, "forgotten words are seen"
        for turn in self.turns:
            words = set(turn.text.split())
            if not self.sees(turn.audience):
                assert not seen & words, "somebody else's words are seen"
            else:
                assert words <= seen, "heard words are lost"
            assert not seen & turn.unheard, "unheard words are seen"
        for fact in self.facts.values():
            if self.sees(fact.audience):
                assert fact.values[-1] in seen, "a fact is missing"
            else:
                assert not seen & set(fact.values), "somebody else's fact is seen"
        if self.open:
            assert set(self.open.heard) <= seen, "what is to be answered is missing"
        pairs = [(i.kind, i.pair) for i in self.server.items if i.pair]
        assert len(pairs) == len(set(pairs)), "a call was answered twice"
        calls = {pair for kind, pair in pairs if kind is ItemKind.CALL}
        outputs = {pair for kind, pair in pairs if kind is ItemKind.OUTPUT}
        assert calls == outputs, "a call without an output, or the reverse"
        assert not self.fallbacks or not self.personality.obedient, "a new session was not needed"
