"""The entries of the scopes on the disk: read once, then followed.

A scope is never written before its file was read, since that would be over what was not seen.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from .context import ContextStore
from .disk import Disk
from .files import file_name
from .kept import Dump, Kept
from .problems import Kind
from .scopes import ScopeKey


class ScopeFiles:
    """Keeps a context store on the disk, a file for each scope."""

    def __init__(self, context: ContextStore, disk: Disk) -> None:
        """Follow a context store."""
        self._context: Final = context
        self._disk: Final = disk
        self._waiting: Final[set[ScopeKey]] = set()
        context.guard(self._refusal)
        self.unfollow: Final = context.subscribe(self.changed)

    def is_read(self, names: Iterable[str]) -> bool:
        """Whether all that these files held is in the context store."""
        return all(self._disk.is_read(Kind.ENTRIES, name) for name in names)

    async def async_load(self, names: Iterable[str]) -> None:
        """Read some files, as far as they were not read. One task at a time; they are listed."""
        unread = [name for name in names if self._disk.index.is_unread(Kind.ENTRIES, name)]
        found = await self._disk.async_take(Kind.ENTRIES, unread, _whole) if unread else {}
        for name, (scope, kept) in found.items():
            self._context.load(scope, kept)
            self._disk.note(Kind.ENTRIES, name, str(scope))
            self._disk.index.read(Kind.ENTRIES, name)
        for name in unread:
            if name not in found:
                await self._async_load_carefully(name)
        self.write_waiting()

    async def _async_load_carefully(self, name: str) -> None:
        """Read a file with which something is wrong, and tell what."""
        if (data := await self._disk.async_read(Kind.ENTRIES, name)) is not None:
            await self._async_take(name, data)
        self._disk.index.read(Kind.ENTRIES, name)

    async def _async_take(self, name: str, data: dict[str, Any]) -> None:
        """Give what can be read of a file to the context store."""
        try:
            scope = ScopeKey.parse(data["scope"])
            lost = None
            if file_name(scope) == name:
                found = await self._disk.async_run(Kept.read, scope, data)
                lost = self._context.load(scope, found)
        except AttributeError, KeyError, TypeError, ValueError:
            lost = None
        if lost is None:
            await self._disk.async_keep_aside(Kind.ENTRIES, name, move=True)
            return
        self._disk.note(Kind.ENTRIES, name, data["scope"])
        if lost:
            await self._disk.async_keep_aside(Kind.ENTRIES, name, lost=lost)

    def write_waiting(self) -> None:
        """Have what was changed before its file was read written, where there is none to read."""
        for scope in [scope for scope in self._waiting if self.is_read((file_name(scope),))]:
            self._waiting.discard(scope)
            self.changed(scope)

    def changed(self, scope: ScopeKey) -> None:
        """Have a scope written soon, but never before its file was read."""
        name = file_name(scope)
        if not scope.durable or self._disk.refusal(Kind.ENTRIES, name):
            return
        if not self._disk.is_read(Kind.ENTRIES, name):
            self._waiting.add(scope)
            return
        self._disk.note(Kind.ENTRIES, name, str(scope))
        self._disk.changed(Kind.ENTRIES, name)

    def stopping(self) -> None:
        """Have written when what was read was used last, where nothing else was written since."""
        for scope in self._context.used():
            self.changed(scope)

    def dump(self, name: str) -> Dump:
        """Return what makes what a file should hold, as that is now."""
        scope = ScopeKey.parse(self._disk.index.key(Kind.ENTRIES, name))
        return partial(self._context.kept(scope).to_dict, scope)

    def _refusal(self, scope: ScopeKey) -> str | None:
        """Return why a scope takes no writes."""
        return self._disk.refusal(Kind.ENTRIES, file_name(scope)) if scope.durable else None


def _whole(name: str, data: dict[str, Any]) -> tuple[ScopeKey, Kept]:
    """Return what a file keeps of a scope; raises ValueError if not all of it can be read."""
    scope = ScopeKey.parse(data["scope"])
    kept = Kept.read(scope, data)
    if file_name(scope) != name or kept.unread:
        raise ValueError("only a part can be read")
    return scope, kept
