"""For tests of what a restart finds: Home Assistant uses the disk, in a folder of its own.

A module imports these fixtures by name. As a plugin they would be those of all other tests as well.
"""

from pathlib import Path
from typing import Any

import pytest

__all__ = ["hass_config_dir", "hass_storage"]


@pytest.fixture
def hass_storage() -> dict[str, Any]:
    """Let Home Assistant use the disk."""
    return {}


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """Give it a folder of its own."""
    return str(tmp_path)
