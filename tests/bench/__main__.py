"""`python3 -m tests.bench [NAME] [--json]`: bring what is missing, then measure.

Runs on the system's Python 3.11 or newer; the rest runs on the Python that Home Assistant needs.
"""

import os
import sys
from typing import NoReturn

from tests.environment import venvs
from tests.environment.shell import SetupError, say


def main(arguments: list[str]) -> int:
    """Install, then become what measures; return the exit status if that is not reached."""
    try:
        python = venvs.ensure(venvs.named("bench"))
    except SetupError as error:
        say(str(error))
        return 1
    return _become([str(python), "-m", "tests.bench.run", *arguments])


def _become(command: list[str]) -> NoReturn:
    """Go on as another program, in this very process: signals and the exit status stay right."""
    os.execv(command[0], command)  # noqa: S606 - our own module


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
