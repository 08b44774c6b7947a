"""Moments of recorded changes within their days."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from freshet.backtest.continuous.ground_truth import ground_truth_of_trace
from freshet.backtest.trace import Trace
from freshet.backtest.trace_formats.change_moments import previous_looks, previous_runs
from freshet.backtest.trace_formats.git_versions import GitVersions
from freshet.backtest.trace_formats.open_trace import open_trace
from freshet.backtest.trace_formats.saved_trace import open_saved_trace, save_trace
from tests.record.record_samples import html, make_collection, observe, record

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY_HOURS = 24


def write_looks(path: Path, *pages: dict[float, bool]) -> Path:
    """Write the looks at pages, by hours from the start."""
    lines = [
        f"https://example.org/{page},{(START + timedelta(hours=hour)).isoformat()},{int(changed)}"
        for page, looks in enumerate(pages)
        for hour, changed in looks.items()
    ]
    path.write_text("\n".join(["page,time,changed", *lines]) + "\n")
    return path


def every(hours: int, *changed: float, days: int = 4) -> dict[float, bool]:
    """Return looks every so many hours, some of which found a change."""
    return {hour: hour in changed for hour in range(0, DAY_HOURS * days, hours)}


def recorded_hours(trace: Trace) -> list[list[float]]:
    """Return the hours of each page's recorded changes."""
    assert trace.change_times is not None
    starts, times = trace.change_times.starts, trace.change_times.times
    return [(times[first:end] / 3600).tolist() for first, end in pairwise(starts.tolist())]


def test_a_change_has_the_moment_of_the_look_that_found_it(tmp_path: Path) -> None:
    looks = write_looks(tmp_path / "a.csv", every(6, 6, 54, 60, 78), every(12, 12, 24, 72))
    trace = open_trace(looks)
    assert recorded_hours(trace) == [[6, 54, 60, 78], [12, 24, 72]]
    assert trace.timed_share == 1.0
    for seed in (1, 2):
        truth = ground_truth_of_trace(trace, seed=seed)
        assert (truth.times / 3600).tolist() == [6, 54, 60, 78, 12, 24, 72]


def test_looks_a_day_apart_do_not_tell_the_moment(tmp_path: Path) -> None:
    """Page 0 is looked at once a day, not at the same minute; page 1 every six hours."""
    daily = {2.0: False, 25.9: True, 50.2: True, 74.0: False}
    trace = open_trace(write_looks(tmp_path / "a.csv", daily, every(6, 42)))
    assert recorded_hours(trace) == [[], [42]]
    assert trace.timed_share == pytest.approx(1 / 3)
    drawn_times = [ground_truth_of_trace(trace, seed=seed).times / 3600 for seed in (1, 2)]
    for times in drawn_times:
        assert [24 <= times[0] < 48, 48 <= times[1] < 72, times[2] == 42] == [True] * 3
    assert drawn_times[0][0] != drawn_times[1][0]


def test_an_earlier_look_on_the_same_day_is_enough(tmp_path: Path) -> None:
    """The look at midnight is 20 hours before the one that found a change; the last is not."""
    looks = {0.0: False, 24.0: False, 44.0: True, 48.0: False, 72.0: False, 95.0: False}
    other = {0.0: False, 26.0: False, 47.0: False, 60.5: True, 72.0: False}
    trace = open_trace(write_looks(tmp_path / "a.csv", looks, other))
    assert recorded_hours(trace) == [[44], []]


@pytest.mark.parametrize("hour", [0, 12])
def test_looks_at_one_time_of_day_are_drawn_as_without_times(tmp_path: Path, hour: int) -> None:
    looks = {DAY_HOURS * day + hour: day in (1, 3) for day in range(5)}
    file = write_looks(tmp_path / "a.csv", looks, looks)
    file.write_text(file.read_text() + "\n".join(file.read_text().splitlines()[1:]) + "\n")
    trace = open_trace(file)
    assert trace.change_times is None
    assert trace.timed_share == 0.0


def test_moments_move_with_the_days_of_their_site(tmp_path: Path) -> None:
    """All 21 pages change on day 1, which is dropped; page 0 also changes on other days."""
    pages = [every(6, 30, *([18, 54, 78] if page == 0 else [])) for page in range(21)]
    file = write_looks(tmp_path / "a.csv", *pages)
    assert recorded_hours(open_trace(file))[0] == [18, 30, 54, 78]
    dropped = open_trace(file, drop_site_wide_days=True, impute=False, least_known=0.5)
    assert dropped.cycles == 3
    assert recorded_hours(dropped)[:2] == [[18, 30, 54], []]


def test_a_collection_and_a_saved_trace_have_moments(tmp_path: Path) -> None:
    with make_collection(tmp_path / "some") as collection:
        for page in "ab":
            url = f"https://example.org/{page}"
            looks = [observe(n / 4, html(f"{n // 6} {page}"), url=url) for n in range(20)]
            record(collection, looks)
    trace = open_trace(tmp_path / "some")
    hours = recorded_hours(trace)
    assert hours[0] == hours[1]
    assert np.diff(hours[0]).tolist() == [36.0, 36.0]
    save_trace(trace, tmp_path / "saved")
    opened = open_saved_trace(tmp_path / "saved")
    assert recorded_hours(opened) == hours
    assert opened.digest == trace.digest
    assert recorded_hours(trace.select(np.array([1]))) == hours[1:]


def test_a_commit_is_the_moment_if_the_scraper_ran_shortly_before() -> None:
    """Runs at 0, 6, 12 h and so on commit two files, one minute apart; then one run a day."""
    versions = GitVersions()
    minute = 1 / 1440
    runs = [0.0, 0.25, 0.5, 0.75, 1.9, 2.9]
    for number, day in enumerate(runs):
        versions.add(observe(day, html(f"{number}"), url="git:a.html"))
        versions.add(observe(day + minute, html(f"{number // 2}"), url="git:b.html"))
    table = versions.build()
    assert table.change_times is not None
    known = {
        (table.urls[page][-6], round(float(time) / 86_400 % 1, 2))
        for page, time in zip(table.pages, table.change_times, strict=True)
        if not np.isnan(time)
    }
    starts = {round(day % 1, 2) for day in (0.25, 0.5, 0.75)}
    assert {time for name, time in known if name == "a"} == starts
    assert {time for name, time in known if name == "b"} == {0.5}


def test_no_looks_have_no_previous_ones() -> None:
    assert len(previous_looks(np.empty(0, np.int32), np.empty(0))) == 0
    assert np.isnan(previous_runs(np.empty(0), np.array([1.0]))).all()
