"""One file of the memory, as Home Assistant's `Store` writes it: private, atomic, versioned."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, Final, override

from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.storage import Store

from ..const import DOMAIN
from .kept import Dump
from .migration import VERSIONS, migrated
from .problems import Kind, Trouble

SAVE_SECONDS: Final = 0.8
"""From the first unsaved change to the write, which has the rest of its second left."""
SPREAD_SECONDS: Final = 0.4
"""By how much of it a file may be earlier, each by another part."""
RETRY_SECONDS: Final = 60.0


class StoreFile(Store[dict[str, Any]]):
    """One file of ours, which knows whether it is behind."""

    def __init__(  # noqa: PLR0913 - what it is, and whom it works with, all by name
        self,
        hass: HomeAssistant,
        *,
        kind: Kind,
        name: str,
        dump: Callable[[], Dump],
        report: Callable[[Trouble, Kind, str], None],
        gate: asyncio.Semaphore,
    ) -> None:
        """Prepare a file; `dump` gives what it should hold, `report` learns of failures.

        `gate` lets so many files be written at once.
        """
        key = f"{DOMAIN}/{kind}/{name}".removesuffix("/")
        super().__init__(
            hass,
            VERSIONS.get(kind, 1),
            key,
            private=True,
            atomic_writes=True,
            serialize_in_event_loop=False,
        )
        self._kind: Final = kind
        # Files that change together are not all written in one step of the event loop.
        share = int(name[:4], 16) / 0xFFFF if name else 1.0
        self._delay: Final = SAVE_SECONDS - SPREAD_SECONDS * share
        self._dump: Final = dump
        self._report: Final = partial(report, Trouble.NOT_WRITTEN, kind, name)
        self._behind = False
        self._ended = False
        self._gate: Final = gate
        self._writing: Final = asyncio.Lock()

    @callback
    def changed(self, delay: float | None = None) -> None:
        """Have it written soon. Home Assistant's delay starts anew at each call: so call once."""
        if not self._behind and not self._ended:
            self._behind = True
            self.async_delay_save(self._snapshot, self._delay if delay is None else delay)

    @property
    def busy(self) -> bool:
        """Whether there is something to write, or it is being written."""
        return self._behind or self._writing.locked()

    async def async_flush(self) -> None:
        """Write it now, if it is behind; return when a write that is under way is done, too."""
        if self._behind:
            await self._async_handle_write_data()  # type: ignore[no-untyped-call] # it is not
        async with self._writing:
            pass

    async def async_end(self) -> None:
        """Remove the file; it is not written any more, not even by a write that is under way."""
        self._ended = True
        self.make_read_only()
        # A save waits for a write that is under way, and writes nothing itself by now.
        await self.async_save({})
        await self.async_remove()

    @callback
    def _snapshot(self) -> dict[str, Any]:
        return self._frozen()()

    @callback
    def _frozen(self) -> Dump:
        self._behind = False
        return self._dump()

    @override
    async def _async_migrate_func(
        self, old_major_version: int, old_minor_version: int, old_data: dict[str, Any]
    ) -> dict[str, Any]:
        """Return what an older version wrote as we write it; Home Assistant then writes that."""
        return await self.hass.async_add_executor_job(
            migrated, self._kind, old_major_version, old_data
        )

    @override
    async def _async_write_data(self, data: dict[str, Any]) -> None:
        """Write; a failure, which Home Assistant only logs or forgets, is told and tried again.

        What is written is how it is now; the thread that writes makes the JSON of it.
        """
        self._behind = False
        try:
            async with self._writing, self._gate:
                if self._ended:
                    return
                if "data_func" in data:
                    data = {**data, "data_func": self._frozen()}
                await super()._async_write_data(data)
        except HomeAssistantError, OSError:
            self._report()
            self.changed(RETRY_SECONDS)
