"""Operations that were sent and not answered yet, in the order in which they were sent."""

from dataclasses import dataclass

from .operations import ItemOperation


@dataclass(frozen=True, slots=True)
class _Sent:
    operation: ItemOperation
    deadline: float


class Outstanding:
    """Finds the operation that an answer means."""

    def __init__(self) -> None:
        """Start with nothing outstanding."""
        self._sent: dict[str, _Sent] = {}

    def __len__(self) -> int:
        """Return how many operations wait for an answer."""
        return len(self._sent)

    @property
    def deadline(self) -> float | None:
        """When the next operation expires, None if none is outstanding."""
        return min((sent.deadline for sent in self._sent.values()), default=None)

    def add(self, event_id: str, operation: ItemOperation, deadline: float) -> None:
        """Enter an operation under the id of its event."""
        self._sent[event_id] = _Sent(operation, deadline)

    def clear(self) -> None:
        """Expect no answer any more."""
        self._sent.clear()

    def pop(self, event_id: str) -> ItemOperation | None:
        """Take out the operation of an event."""
        sent = self._sent.pop(event_id, None)
        return sent.operation if sent else None

    def pop_kind(
        self, kinds: tuple[type[ItemOperation], ...], remote_id: str = ""
    ) -> ItemOperation | None:
        """Take out the oldest operation of these kinds; on one item, if its id is given."""
        for event_id, sent in self._sent.items():
            operation = sent.operation
            if isinstance(operation, kinds) and remote_id in {"", operation.remote_id}:
                del self._sent[event_id]
                return operation
        return None

    def pop_expired(self, now: float) -> list[ItemOperation]:
        """Take out everything that was due by `now`."""
        late = [event_id for event_id, sent in self._sent.items() if sent.deadline <= now]
        return [self._sent.pop(event_id).operation for event_id in late]

    def forget(self, remote_id: str) -> None:
        """Take out everything about an item that is gone."""
        self._sent = {e: s for e, s in self._sent.items() if s.operation.remote_id != remote_id}
