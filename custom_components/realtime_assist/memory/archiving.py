"""Between the threads and their archive: what leaves the one, until the other has it."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from .moving import shifted
from .transcript import Thread, ThreadKey, TurnRecord

if TYPE_CHECKING:
    from .storage import MemoryStorage


async def async_archive(storage: MemoryStorage, key: ThreadKey, now: datetime) -> None:
    """Move what a summary stands for into the archive, if there is any. It must be loaded.

    Whatever cannot be written stays in the thread, and is tried again the next time. What is
    never on the disk stays in memory.
    """

    def leaving() -> tuple[TurnRecord, ...]:
        thread = storage.thread(key)
        return thread.leaving if thread else ()

    if not key.scope.durable or not leaving():
        return
    kept = await storage.archive.async_add(key, leaving, now)
    if kept and (thread := storage.thread(key)):
        left = tuple(turn for turn in thread.leaving if turn.id not in kept)
        storage.save_thread(replace(thread, leaving=left))


async def async_whole_thread(storage: MemoryStorage, key: ThreadKey) -> Thread:
    """Return a thread with all that is archived of it among what leaves it."""
    thread = await storage.async_load_thread(key)
    turns = {turn.id: turn for turn in await storage.archive.async_turns(key)}
    # One that is on its way stands in two files.
    turns |= {turn.id: turn for turn in thread.leaving}
    return replace(thread, leaving=tuple(t for t in turns.values() if not thread.turn(t.id)))


async def async_join_archives(storage: MemoryStorage, older: ThreadKey, key: ThreadKey) -> None:
    """Give a thread what is archived of an older one, too, as `moving.merged` numbers it."""
    shift = partial(shifted, by=(await storage.async_load_thread(older)).next_number - 1)
    await storage.archive.async_revise(lambda _: shift, (key,))
    await storage.archive.async_move(older, key)
