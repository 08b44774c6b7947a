"""Bursts in the output: their looks and today's cost."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import freshet
from freshet.archive.catalog.rows import Lease, VisitEntry
from freshet.core.budget import utc_day
from freshet.core.bursts import BurstKind, BurstProgress, PendingSample
from freshet.core.types import Outcome, Visit
from tests.cli.cli_runs import NEWS, Run


def sample(course: BurstProgress, offset: float, *, apart: bool = False) -> None:
    """Have the catalog note a visit as a sample."""
    with freshet.open(Path.cwd()) as collection:
        now = collection.clock.now()
        page = collection.page(NEWS).id
        lease = Lease(0, "crawl", now, now + timedelta(hours=1))
        due = replace(course, due=now.timestamp())
        sample = PendingSample(page, due, offset, apart=apart)
        collection.catalog.start_samples(lease, [sample], day=utc_day(now))
        collection.catalog.append_visits([VisitEntry(Visit(uuid4().bytes, page, now, Outcome.OK))])


def take_bursts() -> None:
    sample(BurstProgress(BurstKind.FAST, 0.0), 0.0)
    sample(BurstProgress(BurstKind.FAST, 0.0, step=1), 120.0)
    sample(BurstProgress(BurstKind.INSTANT, 0.0), 0.0, apart=True)
    sample(BurstProgress(BurstKind.INSTANT, 0.0, step=1), 0.0, apart=True)


def test_history_marks_the_looks_of_bursts(run: Run, collection: Path) -> None:
    assert "round" not in run("history", NEWS, "--limit", "3").out
    take_bursts()
    result = run("history", NEWS, "--limit", "5")
    for mark in ("fast, first", "fast, 2 minutes", "instant, first", "instant, one delay apart"):
        assert mark in result.out
    rows = run("history", NEWS, "--limit", "5", "--json").json
    marks = [row["sample"] and (row["sample"]["kind"], row["sample"]["offset"]) for row in rows]
    assert marks == [None, ("fast", 0.0), ("fast", 120.0), ("instant", 0.0), ("instant", 0.0)]


def test_status_tells_what_rounds_used_today(run: Run, collection: Path) -> None:
    assert "were for rounds" not in run("status").out
    take_bursts()
    result = run("status")
    assert "4 of them were used for bursts (limit 50); 1 page is in a burst now" in result.out
    today = run("status", "--json").json["today"]
    assert (today["spent"], today["samples"], today["share"], today["in_rounds"]) == (4, 4, 50, 1)
