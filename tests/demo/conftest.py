"""A demo collection that the tests share: built once, never crawled."""

from datetime import UTC, datetime

import pytest

from freshet.demo.demo_collection import DemoCollection, build_collection
from freshet.world.simulated_web import SimulatedWeb

START = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = 14


@pytest.fixture(scope="session")
def demo_collection(tmp_path_factory: pytest.TempPathFactory) -> DemoCollection:
    """A collection of every page of a simulated web."""
    web = SimulatedWeb(1, START, DAYS)
    origins = [f"http://127.0.0.1:{8000 + host}" for host in range(len(web.hosts))]
    return build_collection(
        tmp_path_factory.mktemp("stage") / "collection", web, origins, "100/day"
    )
