"""What every test shares: chance is seeded, and no test depends on how fast it runs."""

from hypothesis import settings

settings.register_profile("freshet", deadline=None, derandomize=True)
settings.load_profile("freshet")
