"""Policies of users in back-tests and in a crawl."""

from datetime import timedelta
from pathlib import Path

import pytest

from freshet.backtest.comparison import check_request
from freshet.core.clock import FixedClock
from freshet.core.errors import UsageError
from freshet.schedule.policies import make_policy
from tests.crawl.crawl_samples import NOON, PAGES, crawling, make_folder, visit_all

OWN = "tests.schedule.own_policies:NewestFirst"


def test_an_own_policy_is_made_and_named_as_it_was_given() -> None:
    assert make_policy(OWN, live=True).name == OWN


def test_an_own_policy_is_checked_before_a_back_test_starts() -> None:
    check_request([OWN, "age"], [0.1], 1)
    with pytest.raises(UsageError, match="cannot be imported"):
        check_request(["tests.schedule.own_policies:Missing"], [0.1], 1)
    with pytest.raises(UsageError, match="cannot be made: TypeError"):
        check_request(["tests.schedule.own_policies:Unmakeable"], [0.1], 1)


def test_a_crawl_visits_pages_in_the_order_of_an_own_policy(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "c")
    with (folder / "freshet.toml").open("a") as file:
        file.write(f'policy = "{OWN}"\n')
    clock = FixedClock(NOON)
    with crawling(folder, clock, f"{PAGES}/day") as session:
        first = [job.page for job in visit_all(session, clock)]
        clock.at = NOON + timedelta(days=1)
        second = [job.page for job in visit_all(session, clock)]
    assert len(first) == PAGES
    assert second == [max(first)]
