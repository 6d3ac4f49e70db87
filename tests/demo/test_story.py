"""The story is told to its end, whatever fails in it."""

import io
import json
import sys
from pathlib import Path

import pytest

from . import run, story
from .client import CommandFailed
from .report import Reporter, StepResult
from .scene import Scene
from .server import Provider
from .story import Step, Told
from .wire import Frame


async def _well(scene: Scene, told: Told) -> StepResult:
    """Go well."""
    del scene, told
    return StepResult(step="well", ok=True)


async def _wrong(scene: Scene, told: Told) -> StepResult:
    """Go wrong."""
    del scene, told
    raise ExceptionGroup("several", [CommandFailed("the phone is busy")])


async def _told(
    steps: tuple[Step, ...], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> list[dict[str, object]]:
    """Tell these steps and return the lines."""
    monkeypatch.setattr(run, "STEPS", steps)
    out = io.StringIO()
    reporter = Reporter(as_json=True, out=out, err=io.StringIO())
    await run.tell(reporter, keep=folder, speech=Path(sys.executable), provider=Provider())
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.usefixtures("socket_enabled")
async def test_a_failed_step_does_not_hide_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A reader sees all that works beside what does not, and why."""
    steps = (Step(name="wrong", show=_wrong), Step(name="well", show=_well))
    assert await _told(steps, monkeypatch, tmp_path) == [
        {"step": "wrong", "ok": False, "error": "CommandFailed: the phone is busy"},
        {"step": "well", "ok": True},
    ]


@pytest.mark.usefixtures("socket_enabled")
async def test_what_makes_no_sense_is_not_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a Home Assistant nobody waits for calls to it; each step is told all the same."""
    steps = (Step(name="wrong", show=_wrong, essential=True), Step(name="well", show=_well))
    assert (await _told(steps, monkeypatch, tmp_path))[1] == {
        "step": "well",
        "ok": False,
        "not_run": "wrong failed",
    }


def test_the_steps_are_those_that_are_promised() -> None:
    """Whoever reads the output knows what to expect, in which order."""
    names = [step.name for step in story.STEPS]
    promised = ["light", "remember", "restart", "recall", "update", "summary", "latency"]
    assert [name for name in names if name in promised] == promised
    assert all((step.show.__doc__ or "").strip() for step in story.STEPS)


def test_the_cost_of_resuming_stands_beside_that_of_the_whole_history() -> None:
    """The summary step compares like with like: what is read besides instructions and tools."""
    update = {"type": "session.update", "session": {"instructions": "x" * 398}}
    note = {"content": [{"type": "input_text", "text": "y" * 40}]}
    told = Told(
        provider=Provider(),
        before_restart=(
            Frame(at=0, session=0, way="received", event=update),
            _done(session=0, tokens=150),
            _done(session=0, tokens=400),
        ),
        on_resume=(
            Frame(
                at=1,
                session=1,
                way="received",
                event={"type": "conversation.item.create", "item": note},
            ),
            _done(session=1, tokens=120),
        ),
    )
    assert story.resumed(told) == {
        "resume_tokens": 10,
        "history_tokens": 300,
        "instructions_tokens": 100,
        "input_tokens_before_restart": 400,
        "input_tokens_on_resume": 120,
    }


@pytest.mark.parametrize(
    ("text", "word", "there"),
    [
        ("Your name is Anna.", "anna", True),
        ("Thursdays, as always", "thursday", True),
        ("a banana", "anna", False),
        ("", "anna", False),
    ],
)
def test_answers_are_matched_by_words(text: str, word: str, *, there: bool) -> None:
    """An answer counts by what it says, not by how a recogniser spells it."""
    assert story.has(text, word) is there


def _done(*, session: int, tokens: int) -> Frame:
    response = {"output": [], "usage": {"input_tokens": tokens}}
    event = {"type": "response.done", "response": response}
    return Frame(at=0, session=session, way="sent", event=event)
