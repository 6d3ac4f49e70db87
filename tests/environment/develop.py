"""`scripts/develop [hass arguments]`: a Home Assistant to click in, with this integration.

Its configuration stays in the cache from one run to the next: delete that folder to begin anew.
"""

import os
import sys
from pathlib import Path

from . import cache, venvs
from .catalogue import NEWEST_RELEASE
from .shell import REPOSITORY, SetupError, say

# Not `default_config`: much of it needs packages and a network of its own. Home Assistant's
# demo brings lights, and rooms for them, to talk about.
CONFIGURATION = """\
homeassistant:
  name: Realtime Assist
assist_pipeline:
demo:
history:
logbook:
media_source:
logger:
  default: warning
  logs:
    custom_components.realtime_assist: debug
"""


def prepare(directory: Path) -> None:
    """Make a configuration folder, unless there is one, with this repository's integration."""
    directory.mkdir(parents=True, exist_ok=True)
    configuration = directory / "configuration.yaml"
    if not configuration.exists():
        configuration.write_text(CONFIGURATION, encoding="utf-8")
    link = directory / "custom_components"
    if link.is_symlink():
        link.unlink()
    link.symlink_to(REPOSITORY / "custom_components")


def command(python: Path, directory: Path, arguments: list[str]) -> list[str]:
    """Return how Home Assistant is started. All that it would install is installed."""
    return [
        *(str(python), "-m", "homeassistant", "--config", str(directory), "--skip-pip"),
        *arguments,
    ]


def main(arguments: list[str]) -> int:
    """Become Home Assistant; return only if that fails."""
    try:
        python = venvs.ensure(venvs.named(f"ha-{NEWEST_RELEASE}"))
    except SetupError as error:
        say(str(error))
        return 1
    directory = cache.root() / "develop"
    prepare(directory)
    say(f"Home Assistant {NEWEST_RELEASE} in {directory}: http://localhost:8123")
    words = command(python, directory, arguments)
    return os.execv(words[0], words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
