"""Makes the environments of the catalogue."""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

from . import cache, interpreter, system, tools
from .catalogue import ENVIRONMENTS, Environment
from .shell import REPOSITORY, SetupError, run, say


def named(name: str) -> Environment:
    """Return the environment of a name; raise SetupError if the catalogue has none."""
    for environment in ENVIRONMENTS:
        if environment.name == name:
            return environment
    known = ", ".join(environment.name for environment in ENVIRONMENTS)
    raise SetupError(f"There is no environment {name}. Known: {known}")


def ensure(environment: Environment) -> Path:
    """Make an environment if it is not there, and return its Python."""
    system.ensure(environment.system)
    directory = directory_of(environment)
    python = directory / "bin" / "python"
    cache.make_once(directory, lambda: _build(environment, directory), usable=python.exists)
    _link(directory, cache.root() / "venvs" / environment.name)
    return python


def directory_of(environment: Environment) -> Path:
    """Return where an environment lives: another one as soon as it is to hold other things."""
    return cache.root() / "venvs" / f"{environment.name}-{digest(environment)}"


def digest(environment: Environment, repository: Path = REPOSITORY) -> str:
    """Return a short hash of all that decides what an environment holds."""
    # System packages come and go without it.
    described = {key: value for key, value in asdict(environment).items() if key != "system"}
    described["files"] = [(repository / name).read_text("utf-8") for name in environment.files]
    described["python"] = interpreter.OLDEST
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:12]


def _build(environment: Environment, directory: Path) -> None:
    """Fill an empty directory with an environment."""
    found = interpreter.find()
    say(f"{environment.name}: installing into {directory}")
    variables = {**tools.uv_environment(), **found.build_environment()}
    uv = tools.uv()
    run([uv, "venv", "-q", "--python", found.path, "--clear", directory])

    def install(*arguments: str | Path) -> None:
        python = directory / "bin" / "python"
        run(
            [uv, "pip", "install", "-q", "--python", python, *arguments],
            env=variables,
            cwd=REPOSITORY,
        )

    if environment.first:
        install(environment.first)
    files = [word for name in environment.files for word in ("-r", name)]
    if environment.requirements or files:
        install(*_constraints(environment, directory), *files, *environment.requirements)
    if environment.alone:
        install("--no-deps", *environment.alone)


def _constraints(environment: Environment, directory: Path) -> list[str | Path]:
    """Return the options that hold an installation to the versions of what came first."""
    if environment.constraints is None:
        return []
    found = sorted(directory.glob(f"lib/python*/site-packages/{environment.constraints}"))
    if not found:
        raise SetupError(f"{environment.first} has no {environment.constraints}")
    return ["-c", found[0]]


def _link(target: Path, link: Path) -> None:
    """Give the newest environment of a name a path that a person can remember."""
    if link.is_symlink() and link.readlink() == Path(target.name):
        return
    temporary = link.with_name(f".{link.name}.{os.getpid()}")
    temporary.symlink_to(target.name)
    temporary.replace(link)
