"""Raw traces: which days of a page are changed, and which pages are drawn."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from experiments.wild.data import (
    GENERATED,
    open_source,
    trace_sources,
    with_recorded_moments,
    write_raw_trace,
)
from experiments.wild.generated_pages import GeneratedSites, generate_histories
from experiments.wild.page_history import PageHistory, sample_by_site

from freshet.backtest.continuous.ground_truth import ground_truth_of_trace
from freshet.backtest.trace_formats.open_trace import open_trace
from freshet.core.clock import to_epoch
from freshet.core.errors import BadInputError

START = datetime(2026, 4, 1, tzinfo=UTC)
DAY = 86_400.0


def page(*changes: tuple[float, str]) -> PageHistory:
    times = tuple(to_epoch(START) + day * DAY for day, _ in changes)
    return PageHistory("docs", "https://example.org/a", times, tuple(text for _, text in changes))


def test_a_day_is_changed_if_its_text_differs_from_the_day_before(tmp_path: Path) -> None:
    # The change at 0.5 shows at midnight 1. That at 2.2 is undone at 2.8, before any midnight.
    history = page((-9, "a"), (0.5, "b"), (2.2, "c"), (2.8, "b"), (3.0, "d"))
    write_raw_trace(tmp_path / "t.csv", [history, page((-1, "x"), (0.0, "y"))], START, 5)
    rows = [line.split(",") for line in (tmp_path / "t.csv").read_text("utf-8").splitlines()[1:]]
    assert [int(changed) for _, _, changed in rows] == [0, 1, 0, 1, 0, *[0] * 5]
    assert rows[0][:2] == ["http://docs.example/example.org/a?i=1", "2026-04-01T00:00:00+00:00"]


def test_the_trace_is_read_as_the_program_reads_it(tmp_path: Path) -> None:
    histories = generate_histories(GeneratedSites(2, 5), START, 20)
    write_raw_trace(tmp_path / "raw.csv", histories, START, 20)
    trace = open_trace(tmp_path / "raw.csv")
    assert (len(trace.pages), trace.cycles, trace.known_share) == (10, 20, 1.0)


def test_recorded_moments_replace_drawn_ones(tmp_path: Path) -> None:
    histories = [page((-9, "a"), (0.5, "b"), (2.2, "b"), (2.8, "a")), page((-1, "x"), (1.25, "y"))]
    write_raw_trace(tmp_path / "raw.csv", histories, START, 5)
    trace = with_recorded_moments(open_trace(tmp_path / "raw.csv"), histories, START)
    truth = ground_truth_of_trace(trace, seed=1)
    assert (truth.times / DAY).tolist() == pytest.approx([0.5, 2.8, 1.25])
    assert truth.starts.tolist() == [0, 2, 3]


def test_on_a_site_wide_day_many_pages_of_a_generated_site_change_together() -> None:
    trace = open_source(trace_sources(None)[0])
    assert trace.name == GENERATED
    shares = [trace.changed(day)[:100].mean() for day in range(trace.cycles)]
    assert max(shares) > 0.3
    assert sorted(shares)[trace.cycles // 2] < 0.1


def test_generated_pages_depend_on_the_seed_only() -> None:
    first, again = (generate_histories(GeneratedSites(1, 3), START, 9) for _ in range(2))
    assert first == again
    assert generate_histories(GeneratedSites(1, 3, seed=2), START, 9) != first


def test_drawn_pages_keep_the_shares_of_their_sites() -> None:
    pages = [("claude_docs", str(n)) for n in range(60)] + [("stalker", str(n)) for n in range(30)]
    drawn = sample_by_site(pages, 9, seed=3)
    assert [part for part, _ in drawn] == ["claude_docs"] * 6 + ["stalker"] * 3
    assert len(set(drawn)) == 9
    assert drawn == sample_by_site(pages, 9, seed=3) != sample_by_site(pages, 9, seed=4)


def test_a_folder_without_recorded_pages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="versions"):
        trace_sources(tmp_path)
