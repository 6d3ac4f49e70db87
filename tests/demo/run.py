"""`python -m tests.demo.run`: tells the story. Runs in Home Assistant's own environment."""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path

import aiohttp

from .processes import Processes
from .report import Reporter, StepResult
from .scene import set_up
from .server import Provider
from .story import STEPS, Told

LIMIT_SECONDS = 270.0
"""When the demonstration ends even if it is not through."""

_SHOWN_LINES = 40
_OPENAI = "https://api.openai.com/v1"


async def tell(reporter: Reporter, *, keep: Path, speech: Path, provider: Provider) -> None:
    """Show every step, and leave nothing but the recordings in `keep`."""
    with tempfile.TemporaryDirectory(prefix="realtime-assist-demo-") as folder:
        scratch = Path(folder)
        logs = scratch / "logs"
        logs.mkdir()
        async with (
            Processes(logs) as processes,
            aiohttp.ClientSession() as http,
            set_up(
                processes=processes, http=http, scratch=scratch, keep=keep, speech=speech
            ) as scene,
        ):
            told = Told(provider=provider)
            stopped_by = ""
            for step in STEPS:
                if stopped_by:
                    evidence = {"not_run": f"{stopped_by} failed"}
                    reporter.step(StepResult(step=step.name, ok=False, evidence=evidence))
                    continue
                reporter.progress(f"{step.name}: {(step.show.__doc__ or '').strip()}")
                try:
                    result = await step.show(scene, told)
                except Exception as error:  # noqa: BLE001 - whatever fails is told as a failed step
                    result = _failed(step.name, error)
                reporter.step(result)
                if not result.ok:
                    _show_logs(logs)
                    stopped_by = step.name if step.essential else ""


def provider_of_environment() -> Provider:
    """Return the real provider if there is a key for it, else the server of this repository."""
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not key:
        return Provider()
    return Provider(key=key, upstream=os.environ.get("OPENAI_BASE_URL", "").strip() or _OPENAI)


async def _main(arguments: argparse.Namespace) -> int:
    reporter = Reporter(as_json=arguments.json)
    task = asyncio.current_task()
    assert task is not None
    # A polite end is an end all the same: every process is stopped, the folder removed.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    arguments.keep.mkdir(parents=True, exist_ok=True)
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            await tell(
                reporter,
                keep=arguments.keep,
                speech=arguments.speech,
                provider=provider_of_environment(),
            )
    except TimeoutError:
        evidence = {"error": f"not through after {LIMIT_SECONDS:.0f} s"}
        reporter.step(StepResult(step="time", ok=False, evidence=evidence))
    return 0 if reporter.all_well else 1


def _failed(step: str, error: BaseException) -> StepResult:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    print("".join(traceback.format_exception(error)), file=sys.stderr)  # noqa: T201
    told = f"{type(error).__name__}: {error}".removesuffix(": ")
    return StepResult(step=step, ok=False, evidence={"error": told})


def _show_logs(logs: Path) -> None:
    """Show what the processes wrote last: the folder will be gone."""
    for log in sorted(logs.iterdir()):
        lines = log.read_text(errors="replace").splitlines()[-_SHOWN_LINES:]
        print(f"--- {log.stem} ---", *lines, sep="\n", file=sys.stderr)  # noqa: T201


def main() -> int:
    """Read the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.demo.run", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--speech", type=Path, required=True)
    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        return asyncio.run(_main(parser.parse_args()))
    print("ended before it was through", file=sys.stderr)  # noqa: T201
    return 130


if __name__ == "__main__":
    sys.exit(main())
