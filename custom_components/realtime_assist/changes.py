"""Changing what is remembered: on the disk, in every history and in every live session at once.

actions, tools ──> Changes ──> facts (ContextStore), threads (MemoryStorage) ──> disk
                       └─────> the sessions that can see them follow at their next boundary
"""

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from homeassistant.util import dt as dt_util

from .memory.entries import ContextEntry, NotJson, Retention
from .memory.scopes import ScopeKey
from .memory.transcript import LineKind, Summary, SummaryLine, Thread, ThreadKey, TurnRecord
from .memory.writing import EntryOptions

if TYPE_CHECKING:
    from .house import House

_FORGETTINGS: Final = 256
"""Forgettings that turns which were open at that time are measured against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUpdate:
    """What an action or a tool wants changed."""

    scopes: tuple[ScopeKey, ...] = ()
    """Whose memory it is about; none: no change, every live session is brought up to date."""
    entries: Mapping[str, Any] = field(default_factory=dict)
    """Key -> value, or key -> a mapping of `value` and options (see `_OPTION_TYPES`)."""
    forget: tuple[str, ...] = ()
    summary: str | None = None
    full: bool = False
    """Open new sessions instead of changing the open ones."""
    source: str | None = None
    """What writes: kept with the entries. None: they keep the source that they have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What an update came to."""

    set: int = 0
    forgotten: int = 0


class Changes:
    """The one way to change what is remembered from outside a turn."""

    def __init__(self, house: House) -> None:
        """Work for a house."""
        self._house: Final = house
        self._forgettings: Final[deque[tuple[datetime, frozenset[str]]]] = deque(
            maxlen=_FORGETTINGS
        )

    async def async_apply(self, update: MemoryUpdate) -> Changed:
        """Change entries or a summary; sessions follow without being waited for.

        Raises NotJson or ValueError for an entry that cannot be kept, ScopeRefused where nothing
        may be written; nothing was changed then.
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
            (scope, key, *_value_and_options(value, update.source))
            for scope in update.scopes
            for key, value in update.entries.items()
        ]
        context = self._house.context
        for scope, key, value, options in asked:
            context.check(scope, key, value, **options)
        for scope, key, value, options in asked:
            context.set(scope, key, value, **options)
        return len(asked)

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
        await self._async_forget_words(words)
        return forgotten

    async def _async_forget_words(self, words: Iterable[str]) -> None:
        """Forget what was said in these words, in every history, and in turns that are open."""
        wanted = frozenset(words)
        if wanted:
            self._forgettings.append((dt_util.now(), wanted))
        turns = await self._house.storage.async_forget_words(wanted)
        await self._house.storage.async_flush()
        for projection in self._house.projections():
            projection.forgotten(turns.get(projection.key))

    def forgotten_meanwhile(self, record: TurnRecord) -> bool:
        """Whether a turn that is over holds words that were forgotten since it began."""
        words = {word for at, gone in self._forgettings if at >= record.at for word in gone}
        if not words:
            return False
        alone = Thread(key=ThreadKey("turn", ScopeKey.parse("global:turn")), turns=(record,))
        return not alone.without(words).turns

    async def async_forget_turns(self, turns: Mapping[ThreadKey, Collection[str]]) -> int:
        """Forget turns by their ids, and what summaries say of them; return how many there were."""
        forgotten = 0
        for key, ids in turns.items():
            thread = await self._house.storage.async_load_thread(key)
            after = _without_turns(thread, ids)
            if after is thread:
                continue
            forgotten += len(thread.turns) - len(after.turns)
            self._house.storage.save_thread(after)
            await self._house.storage.async_remove_copies(key)
            for projection in self._house.projections():
                if projection.key == key:
                    projection.forgotten(tuple(ids))
        await self._house.storage.async_flush()
        return forgotten

    async def async_clear_history(self, scopes: Collection[ScopeKey]) -> int:
        """Forget all that was said in the threads of these scopes; return how many turns it was."""
        cleared = 0
        for key in await self._house.async_thread_keys(scopes):
            thread = await self._house.storage.async_load_thread(key)
            if not thread.turns and thread.summary is None:
                continue
            cleared += len(thread.turns)
            self._house.storage.save_thread(thread.emptied())
            await self._house.storage.async_remove_copies(key)
            for projection in self._house.projections():
                if projection.key == key:
                    projection.forgotten(tuple(turn.id for turn in thread.turns))
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
            before = await self._house.storage.async_load_thread(thread.key)
            self._house.storage.save_thread(
                replace(
                    thread,
                    revision=before.revision + 1,
                    next_number=max(before.next_number, thread.next_number),
                )
            )
            touched.add(thread.key.scope)
        if touched:
            self._house.follow(touched)


def _without_turns(thread: Thread, ids: Collection[str]) -> Thread:
    """Return a thread without some turns and what its summary says of them."""
    numbers = {turn.number for turn in thread.turns if turn.id in ids}
    if not numbers:
        return thread
    summary = thread.summary and replace(
        thread.summary,
        lines=tuple(line for line in thread.summary.lines if numbers.isdisjoint(line.turns)),
    )
    return replace(
        thread,
        turns=tuple(turn for turn in thread.turns if turn.number not in numbers),
        summary=summary,
        revision=thread.revision + 1,
    )


_OPTION_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "retention": str,
    "expires_in": (int, float),
    "sliding": bool,
    "max_turns": int,
    "tags": list,
    "priority": int,
    "metadata": dict,
    "pinned": bool,
}


def _value_and_options(given: object, source: str | None) -> tuple[object, EntryOptions]:
    """Return what was given for a key: a value, or a mapping of a value and its options.

    A mapping counts as options only if it has `value` and nothing that is none. Raises NotJson for
    an option of a wrong type.
    """
    options: dict[str, Any] = {} if source is None else {"source": source}
    if (
        not isinstance(given, Mapping)
        or "value" not in given
        or given.keys() - _OPTION_TYPES.keys() - {"value"}
    ):
        return given, EntryOptions(**options)  # type: ignore[typeddict-item]  # `source` alone
    asked = {name: value for name, value in given.items() if name != "value"}
    for name, value in asked.items():
        if not isinstance(value, _OPTION_TYPES[name]):
            raise NotJson(name, type(value).__name__)
    if "retention" in asked:
        asked["retention"] = Retention(asked["retention"])
    return given["value"], EntryOptions(**options, **asked)  # type: ignore[typeddict-item]  # checked above by name
