"""A simulated web of a month, and a visitor of its pages."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from freshet.core.settings import LimitSettings
from freshet.core.types import Snapshot
from freshet.record.parsed_visit import ParsedVisit, parse_visit
from freshet.world.simulated_web import SimulatedWeb

START = datetime(2026, 1, 5, tzinfo=UTC)
Look = Callable[[int, float, int], ParsedVisit]


@pytest.fixture(scope="session")
def web() -> SimulatedWeb:
    return SimulatedWeb(seed=7, start=START, days=30)


@pytest.fixture(scope="session")
def look(web: SimulatedWeb) -> Look:
    def see_page(page: int, epoch: float, visit: int) -> ParsedVisit:
        url = web.origins[web.pages[page].host] + web.pages[page].path
        answer = web.render(page, epoch, visit)
        return parse_visit(
            Snapshot(url, answer.body, answer.status, answer.headers), LimitSettings()
        )

    return see_page
