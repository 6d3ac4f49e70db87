"""A disk for the tests of what is kept on it: what is tested is what a restart finds."""

from pathlib import Path
from typing import Any

import pytest
from homeassistant.core import HomeAssistant


@pytest.fixture
def hass_storage() -> dict[str, Any]:
    """Let Home Assistant use the disk: what is tested is what a restart finds."""
    return {}


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """Give it a folder of its own."""
    return str(tmp_path)


@pytest.fixture
def disk(hass: HomeAssistant) -> Path:
    """Return our part of the storage folder."""
    return Path(hass.config.path(".storage", "realtime_assist"))
