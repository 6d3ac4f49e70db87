"""`scripts/test [pytest arguments]`: all checks, or some tests, on every supported release."""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from . import bars, lint, venvs
from .catalogue import ENVIRONMENTS, NEWEST_RELEASE, RELEASES
from .shell import REPOSITORY, SetupError, say
from .steps import Outcome, Step, run, run_all

# The tests of two releases, and the lint beside the shorter one.
_AT_ONCE = 2
# Most tests wait for what takes its time in a home, so that two workers keep one processor busy.
_SHARED = ("-q", "-n", "2", "--dist", "loadfile")
# More failures than this are not chance, and need no repeating.
_FEW = 3

DEMO = REPOSITORY / "scripts/demo"


def pytest_step(release: str, python: Path, arguments: Sequence[str], data: Path | None) -> Step:
    """Return the tests on one release; lines that ran are counted into the file `data`.

    What failed is noted beside that file.
    """
    measure = () if data is None else ("--cov", "--cov-report=", *_noting(data))
    return Step(
        name=f"tests on Home Assistant {release}",
        # As a module, so that the repository is where Python looks for packages.
        commands=((python, "-m", "pytest", *measure, *arguments),),
        env={} if data is None else {"COVERAGE_FILE": str(data)},
    )


def alone_step(release: str, python: Path, data: Path) -> Step:
    """Return the tests that failed in the step of `data`, one after another.

    They wait for real sockets, processes and satellites, and four workers on two processors can
    starve one of them. What is broken fails here as well.
    """
    again = ("--last-failed", "--last-failed-no-failures=none", f"--maxfail={_FEW}")
    return Step(
        name=f"what failed on Home Assistant {release}, alone",
        commands=((python, "-m", "pytest", "-q", *again, *_noting(data)),),
    )


def _noting(data: Path) -> tuple[str, ...]:
    return ("-o", f"cache_dir={data.with_suffix('.cache')}")


def coverage_step(python: Path, parts: Sequence[Path], report: Path) -> Step:
    """Return what joins the counts of all releases into a report, and shows what is missing."""
    data = f"--data-file={report.with_suffix('.coverage')}"
    coverage = (python, "-m", "coverage")
    return Step(
        name="coverage report",
        commands=(
            (*coverage, "combine", "--quiet", data, *parts),
            (*coverage, "report", data),
            (*coverage, "json", "--quiet", data, "-o", report),
        ),
    )


def check_all() -> bool:
    """Run every check, print what they say to standard output, and tell whether all are well."""
    pythons = _pythons()
    newest = pythons[NEWEST_RELEASE]
    _prepare_others()
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="realtime-assist-") as name:
        parts = {release: Path(name) / f"{release}.coverage" for release in pythons}
        steps = [
            *(pytest_step(rel, python, _SHARED, parts[rel]) for rel, python in pythons.items()),
            lint.step(newest),
        ]
        ended = {outcome.name: _show(outcome) for outcome in run_all(steps, at_once=_AT_ONCE)}
        for (release, python), step in zip(pythons.items(), steps, strict=False):
            if not ended[step.name].ok:
                ended[step.name] = _repeated(ended[step.name], release, python, parts[release])
        outcomes.extend(ended.values())
        outcomes.append(_show(_covered(newest, list(parts.values()), Path(name) / "all.json")))
    if DEMO.is_file():
        outcomes.append(run(Step(name="demo", commands=((DEMO, "--json"),)), keep=False))
    for outcome in outcomes:
        _print(outcome.line())
    return all(outcome.ok for outcome in outcomes)


def run_tests(arguments: Sequence[str]) -> bool:
    """Give arguments to pytest on every release, one after another; tell whether all passed."""
    steps = [
        pytest_step(release, python, arguments, None) for release, python in _pythons().items()
    ]
    outcomes = [run(step, keep=False) for step in steps]
    for outcome in outcomes:
        _print(outcome.line())
    return all(outcome.ok for outcome in outcomes)


def _pythons() -> dict[str, Path]:
    """Return the Python of each supported release, made if it is not there."""
    return {release: venvs.ensure(venvs.named(f"ha-{release}")) for release in RELEASES}


def _prepare_others() -> None:
    """Make what single tests and the demo use, so that none of them waits for it.

    Whichever needs one that could not be made says so itself, or does without.
    """
    for environment in ENVIRONMENTS:
        try:
            venvs.ensure(environment)
        except SetupError as error:
            say(f"{environment.name}: {error}")


def _covered(python: Path, parts: Sequence[Path], report: Path) -> Outcome:
    """Hold the joined counts of all releases against the bars."""
    outcome = run(coverage_step(python, parts, report), keep=True)
    if not outcome.ok:
        return outcome
    counted = bars.read(report)
    found = bars.complaints(counted)
    return Outcome(
        name="coverage",
        ok=not found,
        seconds=outcome.seconds,
        output="\n".join([outcome.output.rstrip(), bars.summary(counted), *found]),
    )


def _repeated(failed: Outcome, release: str, python: Path, data: Path) -> Outcome:
    """Repeat what failed, and say so whatever comes of it."""
    again = _show(run(alone_step(release, python, data), keep=True))
    name = f"{failed.name}, some of them only when repeated alone (see above)"
    return replace(failed, name=name, ok=True) if again.ok else failed


def _show(outcome: Outcome) -> Outcome:
    """Print an outcome with all that it said, and return it."""
    _print(f"== {outcome.line()}\n{outcome.output.rstrip()}")
    return outcome


def _print(text: str) -> None:
    """Write to standard output at once: other programs write there too."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Run all checks, or the tests that the arguments choose; return the exit status."""
    try:
        well = run_tests(arguments) if arguments else check_all()
    except SetupError as error:
        say(str(error))
        return 1
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
