"""The order of day and month, and times that no post can have."""

from datetime import UTC, datetime

import pytest

from freshet.view.posts.page_nodes import read_nodes
from freshet.view.posts.time_candidates import find_candidates
from freshet.view.posts.time_context import page_context, plausible_moment
from freshet.view.posts.written_time import ExactTime, TimeContext

VISITED = datetime(2012, 6, 15, tzinfo=UTC).timestamp()


def is_day_first(*texts: str) -> bool:
    nodes = read_nodes("".join(f"<p>{text}</p>" for text in texts))
    return page_context(nodes, find_candidates(nodes), VISITED).day_first


@pytest.mark.parametrize(
    ("texts", "day_first"),
    [
        (("03-04-2012, 10:00", "13-04-2012, 10:00"), True),
        (("03-04-2012, 10:00", "03-14-2012, 10:00"), False),
        (("05-02-2012, 10:00", "06-02-2012, 10:00", "02-03-2012, 10:00"), True),
        (("01-09-2012, 10:00", "02-03-2012, 10:00", "03-01-2012, 10:00"), False),
        (("08-03-2012, 10:00",), True),
        (("03-04-2012, 07:15 PM",), False),
        (("03-04-2012, 19:15",), True),
    ],
    ids=[
        "day above 12",
        "month second",
        "rising",
        "rising by month",
        "future",
        "half days",
        "none",
    ],
)
def test_all_times_of_a_page_decide_the_order_of_day_and_month(
    texts: tuple[str, ...], day_first: bool
) -> None:
    assert is_day_first(*texts) is day_first


@pytest.mark.parametrize(
    ("ahead", "expected"), [(-10.0, -10.0), (3600.0, 0.0), (26 * 3600.0, 0.0), (30 * 3600.0, None)]
)
def test_times_ahead_of_the_visit_are_clipped_or_dropped(
    ahead: float, expected: float | None
) -> None:
    moment = plausible_moment(ExactTime(VISITED + ahead), TimeContext(VISITED))
    assert moment == (None if expected is None else VISITED + expected)
