"""Whether Home Assistant starts later is seen, by its own account."""

from .setup import figures


def test_a_start_is_told_in_full(socket_enabled: None) -> None:  # noqa: ARG001 - a server listens
    """Nothing is connected before somebody speaks, and what is read is counted."""
    told = {figure.name: figure for figure in figures(threads=2, starts=1)}
    assert told["setup.2_threads"].value > 0
    assert told["setup.threads_cost"].aim is not None
    assert told["setup.first_turn"].value > 0
    assert told["setup.sockets_opened"].value == 0
    assert told["setup.sockets_opened"].met
    assert told["setup.threads_loaded"].aim == 0
