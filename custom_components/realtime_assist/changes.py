"""Changing what is remembered: on the disk, in every history and in every live session at once.

actions, tools ──> Changes ──> facts (ContextStore), threads (MemoryStorage) ──> disk
                       └─────> the sessions that can see them follow at their next boundary
"""

import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from homeassistant.util import dt as dt_util

from .const import DOMAIN
from .memory.archiving import async_archive, async_whole_thread
from .memory.entries import ContextEntry, UnknownVersion
from .memory.scopes import GLOBAL, ScopeKey
from .memory.segments import Revise, result_id
from .memory.transcript import LineKind, Summary, SummaryLine, Thread, ThreadKey, TurnRecord
from .update import Changed, Earlier, MemoryUpdate, value_and_options

if TYPE_CHECKING:
    from .house import House

_QUOTED: Final = 200
"""Characters by which a long text is known again where only its beginning was told."""
_TELLING: Final = 4
"""Characters below which a quote stands in too much else."""
_FORGETTINGS: Final = 256
"""Forgettings that turns which were open at that time are measured against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Forgetting:
    """What was forgotten at a moment. It is in memory for turns that were open then."""

    at: datetime
    words: frozenset[str] = field(repr=False)
    """No turn holds any of these."""
    quotes: frozenset[str] = field(repr=False)
    """No answer of a tool of ours holds any of these."""


class Changes:
    """The one way to change what is remembered from outside a turn."""

    def __init__(self, house: House) -> None:
        """Work for a house."""
        self._house: Final = house
        self._forgettings: Final[deque[_Forgetting]] = deque(maxlen=_FORGETTINGS)

    async def async_apply(self, update: MemoryUpdate) -> Changed:
        """Change entries or a summary; sessions follow without being waited for.

        Raises NotJson or ValueError for an entry that cannot be kept, UnknownVersion for one that
        was never so, ScopeRefused where nothing may be written; nothing was changed then.
        """
        await self._house.storage.async_load_scopes(update.scopes)
        written = self._write(update)
        forgotten = await self._async_forget(update)
        if update.summary is not None:
            await self._async_set_summary(update.scopes, update.summary)
        self._house.follow(update.scopes)
        return Changed(set=written, forgotten=forgotten)

    def _write(self, update: MemoryUpdate) -> int:
        """Write the entries, all or none; return how many there are now."""
        asked = [
            (scope, key, *value_and_options(value, update.source))
            for scope in update.scopes
            for key, value in update.entries.items()
        ]
        context = self._house.context
        asked = [
            (scope, key, self._value(scope, key, value), options)
            for scope, key, value, options in asked
        ]
        for scope, key, value, options in asked:
            context.check(scope, key, value, **options)
        for scope, key, value, options in asked:
            context.set(scope, key, value, **options)
        return len(asked)

    def _value(self, scope: ScopeKey, key: str, value: object) -> object:
        """Return a value, or the one that an entry had before where that is asked for."""
        if not isinstance(value, Earlier):
            return value
        entry = self._house.context.get((scope,), key)
        if entry is None:
            raise UnknownVersion(key, value.version)
        return entry.value_at(value.version)

    # Forgetting

    async def _async_forget(self, update: MemoryUpdate) -> int:
        """Forget entries, and what was said in their words; return how many entries there were.

        It is on the disk on return, as far as the disk takes it.
        """
        if not update.forget:
            return 0
        words: set[str] = set()
        forgotten = 0
        for scope in update.scopes:
            gone = [e for e in self._house.context.visible((scope,)) if e.key in update.forget]
            words.update(*(entry.words for entry in gone))
            forgotten += len(self._house.context.forget(scope, update.forget))
            await self._house.storage.async_remove_copies(scope)
        await self.async_forget_words(words)
        return forgotten

    async def async_forget_words(self, words: Iterable[str]) -> None:
        """Forget what was said in these words, in every history, and in turns that are open."""
        wanted = frozenset(form for word in words for form in _forms(word))
        self._note(words=wanted)
        turns = await self._house.storage.async_forget_words(wanted)
        await self._house.storage.async_flush()
        for projection in self._house.projections():
            projection.forgotten(turns.get(projection.key))

    async def async_forget_turns(self, turns: Mapping[ThreadKey, Collection[str]]) -> None:
        """Forget turns by their ids, what summaries say of them, and what was recalled of them."""
        storage = self._house.storage
        quotes = frozenset(
            [
                quote
                for key, ids in turns.items()
                for turn in await self._async_turns(key)
                if turn.id in ids
                for quote in _quotable(turn)
            ]
        )
        self._note(quotes=quotes)

        def stays(key: ThreadKey) -> Revise:
            ids = frozenset(turns.get(key, ()))
            return lambda turn: None if turn.id in ids or _quotes(turn, quotes) else turn

        gone: dict[ThreadKey, tuple[TurnRecord, ...]] = {}
        for key in await storage.async_thread_keys():
            thread = await storage.async_load_thread(key)
            stay = stays(key)
            gone[key] = tuple(t for t in (*thread.leaving, *thread.turns) if stay(t) is None)
            self._strike(key, gone[key])
        # Not before the threads: what leaves one of them meanwhile is archived first, and found.
        archived = await storage.archive.async_revise(stays)
        for key, out in archived.items():
            self._strike(key, out)
        for key in gone.keys() | archived.keys():
            if out := (*gone.get(key, ()), *archived.get(key, ())):
                await storage.async_remove_copies(key)
                self._withdraw(key, [turn.id for turn in out])
        await storage.async_flush()

    async def _async_turns(self, key: ThreadKey) -> tuple[TurnRecord, ...]:
        """Return all turns of a thread that are kept word for word."""
        thread = await async_whole_thread(self._house.storage, key)
        return (*thread.leaving, *thread.turns)

    def _strike(self, key: ThreadKey, gone: Collection[TurnRecord]) -> None:
        """Take turns out of a thread that is loaded, and what its summary says of them."""
        if not gone:
            return
        ids = {turn.id for turn in gone}
        numbers = {turn.number for turn in gone}
        thread = self._house.thread(key)
        after = thread.with_only(
            lambda turn: turn.id not in ids, lambda line: numbers.isdisjoint(line.turns)
        )
        # Another revision in any case: sessions may have been told of them.
        self._house.storage.save_thread(replace(after, revision=thread.revision + 1))

    def forgotten_meanwhile(self, record: TurnRecord) -> bool:
        """Whether a turn that is over holds what was forgotten since it began."""
        since = [each for each in self._forgettings if each.at >= record.at]
        if any(_quotes(record, each.quotes) for each in since):
            return True
        words = frozenset[str]().union(*(each.words for each in since))
        alone = Thread(key=ThreadKey("turn", GLOBAL), turns=(record,))
        return not alone.without(words).turns

    def _note(
        self, *, words: frozenset[str] = frozenset(), quotes: frozenset[str] = frozenset()
    ) -> None:
        """Keep what was forgotten, for turns that are open now: they close later."""
        if words or quotes:
            self._forgettings.append(_Forgetting(at=dt_util.now(), words=words, quotes=quotes))

    def _withdraw(self, key: ThreadKey, turns: Collection[str]) -> None:
        """Take turns that are gone out of the sessions of their thread."""
        for projection in self._house.projections():
            if projection.key == key:
                projection.forgotten(tuple(turns))

    async def async_clear_history(self, scopes: Collection[ScopeKey]) -> int:
        """Forget all that was said in the threads of these scopes; return how many turns it was."""
        cleared = 0
        for key in await self._house.async_thread_keys(scopes):
            thread = await self._house.storage.async_load_thread(key)
            turns = (*thread.leaving, *thread.turns)
            self._house.storage.save_thread(thread.emptied())
            archived = await self._house.storage.archive.async_remove(key)
            if turns or thread.summary or archived:
                cleared += len(turns) + archived
                await self._house.storage.async_remove_copies(key)
                self._withdraw(key, [turn.id for turn in turns])
        await self._house.storage.async_flush()
        return cleared

    async def _async_set_summary(self, scopes: tuple[ScopeKey, ...], text: str) -> None:
        """Replace what the threads of these scopes say of earlier turns, for every assistant."""
        for key in await self._house.async_thread_keys(scopes):
            thread = await self._house.storage.async_load_thread(key)
            line = SummaryLine(kind=LineKind.GIST, text=text, at=dt_util.now())
            upto = thread.summary.upto if thread.summary else 0
            summary = Summary(lines=(line,), upto=upto, made_by="action", at=dt_util.utcnow())
            # Another revision: a summary that is being made now is unfit, and sessions retell this.
            self._house.storage.save_thread(
                replace(thread, summary=summary, revision=thread.revision + 1)
            )

    async def async_restore(
        self, entries: Iterable[ContextEntry], threads: Iterable[Thread]
    ) -> None:
        """Put back what an export holds, over what is there; sessions follow.

        The scopes must be loaded. Raises ScopeRefused where nothing may be written.
        """
        touched: set[ScopeKey] = set()
        for entry in entries:
            self._house.context.restore(entry)
            touched.add(entry.scope)
        for thread in threads:
            storage = self._house.storage
            before = await storage.async_load_thread(thread.key)
            storage.save_thread(
                replace(
                    thread,
                    revision=before.revision + 1,
                    next_number=max(before.next_number, thread.next_number),
                )
            )
            await storage.archive.async_remove(thread.key)
            await async_archive(storage, thread.key, dt_util.now())
            touched.add(thread.key.scope)
            self._withdraw(thread.key, [turn.id for turn in before.turns])
        if touched:
            self._house.follow(touched)


def _forms(text: str) -> tuple[str, ...]:
    """Return a text as it was said, as it stands in JSON, and as the beginning of a long one."""
    start = text.strip()[:_QUOTED]
    return (text, start, json.dumps(start, ensure_ascii=False)[1:-1])


def _quotable(turn: TurnRecord) -> Iterator[str]:
    """Yield by what it is known that a tool of ours told something of a turn."""
    for part in (turn.heard_text or "", *(said.heard_words for said in turn.said)):
        yield from _forms(part)
    for call in turn.calls:
        yield result_id(turn.id, call.call_id)


def _quotes(turn: TurnRecord, quotes: Collection[str]) -> bool:
    """Whether a tool of ours told a turn any of these texts."""
    told = [call.output or "" for call in turn.calls if f"{DOMAIN}__" in call.name]
    telling = [quote for quote in quotes if len(quote) >= _TELLING]
    return any(quote in output for output in told for quote in telling)
