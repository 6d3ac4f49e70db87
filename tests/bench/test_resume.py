"""What it costs to go on is measured on the real integration, from the disk to the answer."""

import pytest

from . import resume


@pytest.mark.usefixtures("socket_enabled")
def test_a_short_history_is_resumed_and_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures come from a home that started again and was spoken to."""
    monkeypatch.setattr(resume, "LENGTHS", (4, 8))
    monkeypatch.setattr(resume, "PLACES_BETWEEN", 1)
    monkeypatch.setattr(resume, "RESTARTS", 1)
    told = {figure.name: figure for figure in resume.figures()}
    assert told["resume.8.operations"].value == 3
    assert told["resume.8.tokens"].value > told["resume.4.tokens"].value > 2000
    assert told["resume.8.compose.median"].value > 0
    assert told["resume.growth.operations"].met
