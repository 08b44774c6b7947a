"""Days on which a whole site changed."""

import numpy as np

from freshet.backtest.site_wide_days import SiteWideDay, SiteWideDays, find_site_wide_days
from tests.backtest.test_day_grid import days


def test_several_looks_at_a_page_in_a_day_count_once() -> None:
    """On day 7, 9 of 21 pages change; each changed page was looked at three times."""
    rows = [("p", str(page), 7, page < 9) for page in range(21)]
    rows += [("p", str(page), 7, False) for page in range(9) for _ in range(2)]
    table = days(*rows)
    found = find_site_wide_days(table, np.zeros(21, np.int32), ["site"])
    assert found == (SiteWideDay("site", 7, 21, 9),)
    assert find_site_wide_days(table, np.full(21, -1, np.int32), []) == ()


def test_twenty_pages_or_forty_per_cent_are_not_enough() -> None:
    few = days(*(("p", str(page), 1, True) for page in range(20)))
    assert find_site_wide_days(few, np.zeros(20, np.int32), ["site"]) == ()
    some = days(*(("p", str(page), 1, page < 10) for page in range(25)))
    assert find_site_wide_days(some, np.zeros(25, np.int32), ["site"]) == ()


def test_days_are_in_the_order_of_time_and_the_first_are_shown() -> None:
    table = days(*((part, str(page), day, True) for part, day in (("b", 3), ("a", 9), ("a", 3))
                   for page in range(21)))  # fmt: skip
    sites = np.array([0 if part == "a" else 1 for part in table.parts], np.int32)
    found = SiteWideDays(find_site_wide_days(table, sites, ["a", "b"]), are_dropped=True)
    assert [(day.site, day.day) for day in found.days] == [("a", 3), ("b", 3), ("a", 9)]
    assert found.describe() == (
        "3 site-wide days dropped: 1970-01-04 a (100% of 21 pages), "
        "1970-01-04 b (100% of 21 pages), 1970-01-10 a (100% of 21 pages)"
    )
    assert found.dropped_days("a").tolist() == [3, 9]
    assert SiteWideDays(found.days).dropped_days("a").tolist() == []
    many = SiteWideDays(found.days * 400)
    assert many.describe().endswith(", and 1,197 more")
