"""The live view on the terminal."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from freshet.backtest.continuous.crawler import CrawlerScore
from freshet.cli import live_view
from freshet.crawl.fetch_job import CrawlDaySpending
from freshet.demo.monitor import LivePageStatus, LiveStatus, VisitFinding

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
NEWS = LivePageStatus(
    name="herald.example/",
    kind="news",
    looks=9,
    changes=4,
    last_change=NOW - 3 * HOUR,
    next_check=NOW + 5 * HOUR,
    chance=0.25,
    rate=4.2,
    rate_low=2.0,
    rate_high=12.0,
)
SIGHT = LiveStatus(
    now=NOW,
    elapsed_share=0.5,
    spending=CrawlDaySpending("2026-03-05", 42, 100),
    outcomes={"ok": 1000, "not-modified": 200, "captcha": 3},
    scores=(
        CrawlerScore("freshet", 1203, 55, 0.9, 0.85),
        CrawlerScore("age", 1201, 44, 0.8, 0.75),
        CrawlerScore("nutch", 1201, 33, 0.7, 0.65),
    ),
    pages=(NEWS,),
    findings=(VisitFinding(NOW, "herald.example/", "words changed: 12"),),
)


def drawn(status: LiveStatus, monkeypatch: pytest.MonkeyPatch, width: int = 120) -> list[str]:
    console = Console(width=width, height=40)
    monkeypatch.setattr(live_view, "console", console)
    with console.capture() as capture:
        console.print(live_view.render_demo_state(status))
    return capture.get().split("\n")


def line_with(text: str, lines: list[str]) -> str:
    return next(line for line in lines if text in line)


def test_the_view_shows_the_time_the_budget_and_the_visits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = drawn(SIGHT, monkeypatch)
    assert lines[0].startswith("Thu 05 March, 12:00  ━━━━━━━━━━──────────")
    assert "budget today 42 of 100" in lines[0]
    assert lines[1] == "1,203 visits, 200 of them “not modified”, 3 without content"


def test_the_view_has_a_line_for_every_crawler(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = drawn(SIGHT, monkeypatch)
    for name, fresh, changes in (
        ("Freshet", "90.0%", "55"),
        ("round-robin", "80.0%", "44"),
        ("Nutch-like", "70.0%", "33"),
    ):
        line = line_with(name, lines)
        assert fresh in line
        assert changes in line


@pytest.mark.parametrize("width", [80, 120])
def test_a_page_is_shown_with_its_forecast(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = drawn(SIGHT, monkeypatch, width)
    line = line_with("herald.example/  ", lines)
    for text in ("news", "3 h ago", "in 5 h", "0.25", "●"):
        assert text in line
    assert ("4.2 (2.0 to 12)" in line) is (width == 120)
    assert all(len(each) <= width for each in lines)


def test_a_page_whose_time_has_come_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    status = replace(SIGHT, pages=(replace(NEWS, next_check=NOW - HOUR),))
    assert " due " in line_with("herald.example/  ", drawn(status, monkeypatch))


def test_a_page_without_a_forecast_has_empty_cells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blank = replace(NEWS, name="blank", last_change=None, next_check=None, chance=None, rate=None)
    line = line_with("blank", drawn(replace(SIGHT, pages=(blank,)), monkeypatch))
    assert line.split() == ["blank", "news"]


def test_recent_findings_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Thu 12:00  herald.example/  words changed: 12" in drawn(SIGHT, monkeypatch)


def test_text_that_could_steer_the_terminal_is_not_passed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    status = replace(SIGHT, findings=(VisitFinding(NOW, "a\x1b[31mb", "c\nd"),))
    assert "Thu 12:00  a?[31mb  c d" in drawn(status, monkeypatch)


def test_a_low_terminal_still_shows_some_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_view, "console", Console(width=80, height=10))
    assert live_view.max_visible_pages() == live_view.MIN_VISIBLE_PAGES


@pytest.mark.parametrize(
    ("chance", "hours", "said"),
    [(0.99, 24.0 * 200, "if room"), (0.99, 5.0, "in 5 h"), (0.2, 24.0 * 40, "in 40 d"),
     (0.99, -1.0, "due"), (0.2, 0.5, "in 30 min")],
)  # fmt: skip
def test_a_page_that_is_worth_no_more_later_comes_where_there_is_room(
    chance: float, hours: float, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = replace(NEWS, chance=chance, next_check=NOW + hours * HOUR)
    lines = drawn(replace(SIGHT, pages=(page,)), monkeypatch)
    assert said in line_with("news", lines)
