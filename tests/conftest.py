"""What every test shares: chance is seeded, times are UTC, and none depends on how fast it runs."""

from hypothesis import settings

from freshet.core.local_time import use_utc

use_utc()
settings.register_profile("freshet", deadline=None, derandomize=True)
settings.load_profile("freshet")
