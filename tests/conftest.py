"""What every test shares: chance is seeded, times are UTC, and none depends on how fast it runs."""

import os
import sys

from hypothesis import settings

from freshet.core.local_time import use_utc

# Tests start hundreds of interpreters. With bytecode none compiles all the modules again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

use_utc()
settings.register_profile("freshet", deadline=None, derandomize=True)
settings.load_profile("freshet")
