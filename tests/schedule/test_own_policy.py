"""Policies of users in back-tests and in a crawl."""

from datetime import timedelta
from pathlib import Path

import pytest

from freshet.backtest.comparison import check_request, run_policies
from freshet.backtest.continuous.comparison import run_policies_continuously
from freshet.backtest.trace_formats.open_trace import generate_trace
from freshet.core.clock import FixedClock
from freshet.core.errors import OwnClassError, UsageError
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


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        ("ScoreRaises", "ScoreRaises.score failed: RuntimeError: no score"),
        ("ScoreExits", "ScoreExits.score failed: SystemExit: 0"),
        ("ScoreIsNaN", "ScoreIsNaN.score failed: it returned NaN for 20 of 20 pages"),
        ("ScoreIsShort", r"ScoreIsShort.score failed: it returned an array of shape \(19,\)"),
        ("LearnRaises", "LearnRaises.learn failed: FileNotFoundError: no table"),
        ("ChooseRaises", "ChooseRaises.choose failed: RuntimeError: no choice"),
        ("ChoosesUnknown", "ChoosesUnknown.choose failed: it returned page 10"),
        ("ChoosesTooMany", "ChoosesTooMany.choose failed: it returned 3 pages, 2 at most"),
        ("ChoosesTwice", "ChoosesTwice.choose failed: it returned page [0-9]+ 2 times"),
        ("ChoosesNothing", "ChoosesNothing.choose failed: it returned NoneType"),
    ],
)
def test_a_back_test_names_the_method_of_an_own_policy_that_fails(
    policy: str, problem: str
) -> None:
    trace = generate_trace("brdc", pages=20, cycles=4, seed=1)
    with pytest.raises(OwnClassError, match=problem):
        list(run_policies(trace, [f"tests.schedule.own_policies:{policy}"], [0.1], seeds=1))


def test_a_back_test_in_continuous_time_names_the_method_too() -> None:
    trace = generate_trace("brdc", pages=20, cycles=4, seed=1)
    with pytest.raises(OwnClassError, match=r"ScoreIsNaN\.score failed: it returned NaN"):
        list(run_policies_continuously(trace, [OWN.replace("NewestFirst", "ScoreIsNaN")], [0.1]))


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
