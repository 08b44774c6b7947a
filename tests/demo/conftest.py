"""A stage that the tests of the demonstration share: built once, never crawled."""

from datetime import UTC, datetime

import pytest

from freshet.demo.demo_collection import Stage, build
from freshet.world.simulated_web import LivingWeb

START = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = 14


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A collection of every page of a living web."""
    web = LivingWeb(1, START, DAYS)
    origins = [f"http://127.0.0.1:{8000 + host}" for host in range(len(web.hosts))]
    return build(tmp_path_factory.mktemp("stage") / "collection", web, origins, "100/day")
