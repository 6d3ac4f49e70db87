"""`python3 -m tests.environment [NAME ...]`: make environments, print each one's Python."""

import argparse
import sys

from . import venvs
from .catalogue import ENVIRONMENTS
from .shell import SetupError, say


def main(arguments: list[str]) -> int:
    """Make the named environments, or all; return the exit status."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.environment", description=__doc__)
    known = [environment.name for environment in ENVIRONMENTS]
    parser.add_argument("name", nargs="*", help=f"of {', '.join(known)}; all, if none is named")
    try:
        for name in parser.parse_args(arguments).name or known:
            sys.stdout.write(f"{venvs.ensure(venvs.named(name))}\n")
            sys.stdout.flush()
    except SetupError as error:
        say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
