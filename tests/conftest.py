"""What every test of the integration needs."""

from collections.abc import Generator
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import settings

# Home Assistant looks for the package `custom_components`, and the test plugin brings one of
# its own: whichever is imported first wins. The integration itself is left to the tests of it.
import custom_components  # noqa: F401

# A machine that does other things as well is slow at times: no test fails for that.
settings.register_profile("unhurried", settings.default, deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(autouse=True)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[None]:
    """Prepare Home Assistant in the tests that use it, and cost the others nothing.

    This repository's integration can be found, and speech that Home Assistant caches stays out
    of the working tree.
    """
    if "hass" not in request.fixturenames:
        yield
        return
    request.getfixturevalue("enable_custom_integrations")
    speech = tmp_path / "tts"
    speech.mkdir()
    with patch("homeassistant.components.tts._init_tts_cache_dir", return_value=str(speech)):
        yield
