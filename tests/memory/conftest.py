"""A disk for the tests of what is kept on it: what is tested is what a restart finds."""

from pathlib import Path

import pytest
from homeassistant.core import HomeAssistant

from tests.on_disk import hass_config_dir, hass_storage  # noqa: F401 - fixtures


@pytest.fixture
def disk(hass: HomeAssistant) -> Path:
    """Return our part of the storage folder."""
    return Path(hass.config.path(".storage", "realtime_assist"))
