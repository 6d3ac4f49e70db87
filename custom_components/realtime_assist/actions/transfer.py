"""Actions that carry memory from home to home, or keep a copy of it: export and import."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final

import probatio as vol
from homeassistant.core import ServiceCall
from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util

from ..house import House
from ..memory.archiving import async_whole_thread
from ..memory.context import ScopeRefused
from ..memory.entries import ContextEntry
from ..memory.moving import audiences
from ..memory.scopes import ScopeKey
from ..memory.thread_file import thread_from_dict, thread_to_dict
from ..memory.transcript import Thread
from ..update import MemoryUpdate
from .scopes import (
    LASTING,
    LASTING_FIELDS,
    Caller,
    action_invalid,
    async_caller,
    async_scopes,
    refusals_told,
)

FORMAT: Final = "realtime_assist.memory"
VERSION: Final = 1
"""A newer one is refused; an older one would be read."""

ATTR_DATA: Final = "data"
ATTR_DRY_RUN: Final = "dry_run"
ATTR_EVERYTHING: Final = "everything"
ATTR_HISTORY: Final = "history"
ATTR_MODE: Final = "mode"
MERGE: Final = "merge"
REPLACE: Final = "replace"

EXPORT_SCHEMA: Final = vol.Schema(
    {
        **LASTING_FIELDS,
        vol.Optional(ATTR_EVERYTHING, default=False): cv.boolean,
        vol.Optional(ATTR_HISTORY, default=False): cv.boolean,
    }
)
IMPORT_SCHEMA: Final = vol.Schema(
    {
        vol.Required(ATTR_DATA): dict,
        vol.Optional(ATTR_MODE, default=MERGE): vol.In([MERGE, REPLACE]),
        vol.Optional(ATTR_DRY_RUN, default=False): cv.boolean,
    }
)


async def async_export_memory(house: House, call: ServiceCall) -> dict[str, Any]:
    """Return the entries of scopes, and what was said there if that is asked for."""
    caller = await async_caller(house.hass, call)
    scopes = await _async_exported(house, call, caller)
    exported: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "exported": dt_util.utcnow().isoformat(),
        "scopes": [
            {
                "scope": scope.scope.value,
                "scope_id": scope.id,
                "entries": [
                    entry.to_dict() for entry in house.context.visible((scope,)) if entry.durable
                ],
            }
            for scope in scopes
        ],
    }
    if call.data[ATTR_HISTORY]:
        keys = await house.async_thread_keys(scopes)
        threads = [await async_whole_thread(house.storage, key) for key in keys]
        exported["threads"] = [
            thread_to_dict(_seen(thread, caller))
            for thread in threads
            if thread.turns or thread.leaving or thread.summary
        ]
    return exported


async def _async_exported(house: House, call: ServiceCall, caller: Caller) -> tuple[ScopeKey, ...]:
    """Return what is to be exported: what is named, or everything, which only some may ask for."""
    if not call.data[ATTR_EVERYTHING]:
        scopes = await async_scopes(house.hass, call)
        await house.storage.async_load_scopes(scopes)
        return scopes
    if not caller.admin:
        raise action_invalid("administrators_only")
    await house.async_loaded()
    threads = await house.storage.async_thread_keys()
    known = {*house.context.scopes(), *(key.scope for key in threads)}
    return tuple(sorted((scope for scope in known if scope.durable), key=str))


def _seen(thread: Thread, caller: Caller) -> Thread:
    """Return a thread with what the caller may see of it."""
    summary = thread.summary and replace(
        thread.summary,
        lines=tuple(line for line in thread.summary.lines if caller.may_see(line.audience)),
    )
    return replace(
        thread,
        turns=tuple(turn for turn in thread.turns if caller.may_see(turn.audience)),
        leaving=tuple(turn for turn in thread.leaving if caller.may_see(turn.audience)),
        summary=summary,
    )


# Import


@dataclass(frozen=True, slots=True, kw_only=True)
class _Import:
    """What an export holds, checked."""

    scopes: tuple[ScopeKey, ...]
    entries: tuple[ContextEntry, ...]
    threads: tuple[Thread, ...]


@dataclass(slots=True, kw_only=True)
class _Plan:
    """What an import would do."""

    entries: list[ContextEntry] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    forget: dict[ScopeKey, tuple[str, ...]] = field(default_factory=dict)
    unchanged: int = 0
    older: int = 0
    """Entries that are newer here."""
    kept: int = 0
    """Threads that are left as they are."""


async def async_import_memory(house: House, call: ServiceCall) -> dict[str, Any]:
    """Take over what an export holds. All of it is checked before any of it is written."""
    found = _read(call.data[ATTR_DATA])
    caller = await async_caller(house.hass, call)
    touched = {*found.scopes, *(thread.key.scope for thread in found.threads)}
    if not all(caller.may(scope) for scope in touched):
        raise action_invalid("not_your_memory")
    if not all(caller.may_see(who) for thread in found.threads for who in audiences(thread)):
        raise action_invalid("not_your_memory")
    await house.storage.async_load_scopes(found.scopes)
    plan = await _async_plan(house, found, replacing=call.data[ATTR_MODE] == REPLACE)
    _check(house, plan)
    report: dict[str, Any] = {
        "dry_run": call.data[ATTR_DRY_RUN],
        "scopes": [str(scope) for scope in sorted(touched, key=str)],
        "entries": {
            "set": len(plan.entries),
            "unchanged": plan.unchanged,
            "older": plan.older,
            "forgotten": sum(map(len, plan.forget.values())),
        },
        "threads": {"set": len(plan.threads), "kept": plan.kept},
    }
    if not call.data[ATTR_DRY_RUN]:
        await _async_carry_out(house, plan)
    return report


async def _async_carry_out(house: House, plan: _Plan) -> None:
    """Do what was planned."""
    try:
        for scope, keys in plan.forget.items():
            await house.changes.async_apply(MemoryUpdate(scopes=(scope,), forget=keys))
        await house.changes.async_restore(plan.entries, plan.threads)
    except ScopeRefused as err:
        raise action_invalid("storage_read_only") from err


def _read(data: Mapping[str, Any]) -> _Import:
    """Return what an export holds; raises ServiceValidationError where it is none."""
    if data.get("format") != FORMAT or not isinstance(data.get("version"), int):
        raise action_invalid("import_unknown")
    if data["version"] > VERSION:
        raise action_invalid("import_newer")
    try:
        parts = [(_scope(part), part["entries"]) for part in data["scopes"]]
        entries = tuple(
            ContextEntry.from_dict(scope, entry) for scope, listed in parts for entry in listed
        )
        threads = tuple(_thread(part) for part in data.get("threads", ()))
        for who in chain.from_iterable(map(audiences, threads)):
            Caller().may_see(who)
    except (KeyError, TypeError, ValueError) as err:
        raise action_invalid("import_damaged") from err
    if not parts and not threads:
        raise action_invalid("empty_filter")
    now = dt_util.utcnow()
    return _Import(
        scopes=tuple(dict.fromkeys(scope for scope, _ in parts)),
        entries=tuple(entry for entry in entries if entry.durable and not entry.expired(now)),
        threads=threads,
    )


def _scope(part: Mapping[str, Any]) -> ScopeKey:
    key = ScopeKey.parse(f"{part['scope']}:{part['scope_id']}")
    if key.scope not in LASTING:
        raise ValueError("a scope that no export has")
    return key


def _thread(part: object) -> Thread:
    thread, unread = thread_from_dict(part)
    if unread or thread.key.scope.scope not in LASTING:
        raise ValueError("a thread that no export has")
    return thread


async def _async_plan(house: House, found: _Import, *, replacing: bool) -> _Plan:
    """Return what an import would do to what is here."""
    plan = _Plan()
    held = {(entry.scope, entry.key): entry for entry in house.context.visible(found.scopes)}
    for entry in found.entries:
        here = held.get((entry.scope, entry.key))
        if here is not None and _same(here, entry):
            plan.unchanged += 1
        elif here is not None and here.updated > entry.updated and not replacing:
            plan.older += 1
        else:
            plan.entries.append(entry)
    if replacing:
        told = {(entry.scope, entry.key) for entry in found.entries}
        for scope in found.scopes:
            here_keys = (key for held_by, key in held if held_by == scope)
            if gone := tuple(key for key in here_keys if (scope, key) not in told):
                plan.forget[scope] = gone
    for thread in found.threads:
        here_thread = await async_whole_thread(house.storage, thread.key)
        if replacing or not (here_thread.turns or here_thread.leaving or here_thread.summary):
            plan.threads.append(thread)
        else:
            plan.kept += 1
    return plan


def _same(here: ContextEntry, there: ContextEntry) -> bool:
    """Whether two entries say the same for as long."""
    return all(
        getattr(here, name) == getattr(there, name)
        for name in ("value_json", "retention", "expires_at", "max_turns", "tags", "pinned")
    )


def _check(house: House, plan: _Plan) -> None:
    """Raise what writing would raise, before anything is written."""
    with refusals_told():
        for entry in plan.entries:
            house.context.check(entry.scope, entry.key, entry.value)
