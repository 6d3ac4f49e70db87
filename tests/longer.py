"""How much longer than usual tests by chance run.

Usually they are short and the same each time. `REALTIME_ASSIST_LONGER=25 scripts/test tests/...`
runs them 25 times as long, with new chance each time: 50 kills of Home Assistant instead of 2.
`tests/soak` takes 10,000 turns with 125.
"""

import os
from typing import Final

LONGER: Final = int(os.environ.get("REALTIME_ASSIST_LONGER", "1"))
"""By which factor; 1 is as in the suite."""
