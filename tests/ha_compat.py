"""Early pytest plugin: lets one test plugin serve every supported Home Assistant.

`pytest-homeassistant-custom-component` is made for one Home Assistant release, and here it
also runs on the next one. It is loaded by entry point, and `-p` plugins come before those, so
what it expects is put in place here.
"""

# Home Assistant replaces `httpx` by its successor when it is imported, and the test plugin
# imports `httpx`: so Home Assistant must come first.
import homeassistant  # noqa: F401
from homeassistant.components import logger

# Moved to `logger.helpers` in 2026.11; the test plugin calls it by its old place.
if not hasattr(logger, "_clear_logger_overwrites"):
    from homeassistant.components.logger import helpers

    logger._clear_logger_overwrites = helpers._clear_logger_overwrites
