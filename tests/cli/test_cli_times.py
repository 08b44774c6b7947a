"""Times are shown in the zone of the machine, with its name; JSON is always UTC."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import freshet
from freshet.archive.warc.lock import ArchiveLock
from freshet.core.clock import FixedClock
from freshet.core.local_time import use_utc
from tests.cli.cli_runs import NEWS, Run
from tests.cli.small_web import START


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the machine stand nine hours east of Greenwich."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "JST-9")
        time.tzset()
        yield
    use_utc()


@pytest.mark.usefixtures("in_tokyo")
def test_times_are_shown_in_the_machines_zone_with_its_name(run: Run, collection: Path) -> None:
    output = run("history", NEWS, "--limit", "1").out
    assert "2026-02-01 15:00:00 JST" in output
    assert "2026-02-01 15:04 JST" in run("list").out
    assert "2026-02-01 15:00:00 JST" in run("why", NEWS).out
    assert " JST" in run("plan").out
    assert "JST (v1)" in run("diff", NEWS, "1", "2").out


@pytest.mark.usefixtures("in_tokyo")
def test_errors_give_their_times_in_the_machines_zone(run: Run, collection: Path) -> None:
    early = run("show", NEWS, "--version", "2020-01-01").err
    assert "was first seen at 2026-01-05 15:00:00 JST, after that" in early
    clock = FixedClock(START)
    with ArchiveLock(collection / "archive", command="freshet import csv x", clock=clock):
        locked = run("run").err
    assert re.search(r"\(process \d+, since 2026-01-05 15:00:00 JST\)", locked)


@pytest.mark.usefixtures("in_tokyo")
@pytest.mark.parametrize("words", [("--utc", "history", NEWS), ("history", NEWS, "--utc")])
def test_utc_shows_them_in_utc(run: Run, collection: Path, words: tuple[str, ...]) -> None:
    output = run(*words, "--limit", "1").out
    assert "2026-02-01 06:00:00 UTC" in output


@pytest.mark.usefixtures("in_tokyo")
def test_json_stays_utc(run: Run, collection: Path) -> None:
    [row] = run("history", NEWS, "--limit", "1", "--json").json
    assert row["visit"]["time"] == "2026-02-01T06:00:00+00:00"


@pytest.mark.usefixtures("in_tokyo")
def test_a_time_copied_from_the_history_names_its_version(run: Run, collection: Path) -> None:
    output = run("show", NEWS, "--version", "2026-02-01 15:00:00", "--json").json
    assert output["version"] == 28
    before = run("show", NEWS, "--version", "2026-02-01 14:59:59", "--json").json
    assert before["version"] == 27
    day = run("show", NEWS, "--version", "2026-01-31", "--json").json
    assert day["version"] == 27


@pytest.mark.usefixtures("in_tokyo")
@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("2026-02-01 15:00:00", 28),
        ("2026-02-01T14:59", 27),
        ("2026-01-31", 27),
        ("2026-02-01T06:00:00+00:00", 28),
        ("2026-02-01T14:59:00+00:00", 28),
        (datetime(2026, 2, 1, 15), 28),  # noqa: DTZ001
        (datetime(2026, 2, 1, 14, 59), 27),  # noqa: DTZ001
        (datetime(2026, 2, 1, 6, tzinfo=UTC), 28),
    ],
)
def test_python_reads_times_without_a_zone_as_the_commands_do(
    collection: Path, moment: str | datetime, number: int
) -> None:
    with freshet.open(collection) as opened:
        assert opened.page(NEWS).version(moment).number == number


@pytest.fixture
def in_no_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let TZ name a zone four days away from Greenwich, which none is."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC+99")
        time.tzset()
        yield
    use_utc()


@pytest.mark.usefixtures("in_no_zone")
def test_times_are_shown_in_utc_where_there_is_no_such_zone(run: Run, collection: Path) -> None:
    assert "2026-02-01 06:04 UTC" in run("list").out
    assert "2026-02-01 06:00:00 UTC" in run("history", NEWS, "--limit", "1").out
    assert run("diff", NEWS, "2026-01-05", "2026-02-01").code == 0
