"""A scraping repository comes in once, a missing object costs what it held; only where git is."""

import os
import subprocess
from pathlib import Path

import pytest

from freshet.backtest.trace_formats.open_trace import guess_format, open_trace
from freshet.collection.collection import Collection
from freshet.core.errors import BadInputError
from freshet.core.types import Outcome
from tests.backtest.traces import lines_of

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "a@example.org" for who in ("AUTHOR", "COMMITTER")},
}
TEXT = b"The river rose in spring, and the fields along it were green again "


def git(folder: Path, *command: str, at: int = 0) -> str:
    dates = {f"GIT_{who}_DATE": f"@{at} +0000" for who in ("AUTHOR", "COMMITTER")}
    done = subprocess.run(
        ["git", *command], cwd=folder, env=ENVIRONMENT | dates, check=True, capture_output=True
    )
    return done.stdout.decode().strip()


def commit(folder: Path, at: int, body: bytes | None, name: str = "page.md") -> None:
    file = folder / name
    file.unlink(missing_ok=True)
    if body is not None:
        file.write_bytes(body)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=run", at=at)


@pytest.fixture
def scraper(tmp_path: Path) -> Path:
    folder = tmp_path / "terms"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    bodies = (TEXT + b"first", TEXT + b"second", None, TEXT + b"first")
    for number, body in enumerate(bodies, 1):
        commit(folder, 100 * number, body)
    return folder


def outcomes(collection: Collection) -> list[tuple[str, bool | None]]:
    rows = collection.page("git:terms/page.md").history()
    return [(row.visit.outcome, row.change and row.change.changed) for row in rows]


def test_every_commit_is_a_version_and_comes_in_once(collection: Collection, scraper: Path) -> None:
    first, again = (collection.import_history("git", scraper) for _ in range(2))
    assert (first.visits, again.visits, again.already_there) == (4, 0, 4)
    assert outcomes(collection) == [
        (Outcome.OK, None),
        (Outcome.OK, True),
        (Outcome.GONE, None),
        (Outcome.OK, True),
    ]
    assert collection.page("git:terms/page.md").snapshot(-1).body == TEXT + b"first"
    assert collection.check().is_sound


def test_later_commits_are_added_to_the_history(collection: Collection, scraper: Path) -> None:
    collection.import_history("git", scraper)
    commit(scraper, 500, TEXT + b"fifth")
    done = collection.import_history("git", scraper)
    assert (done.visits, done.already_there) == (1, 4)
    assert outcomes(collection)[-1] == (Outcome.OK, True)


def test_commits_of_the_same_second_keep_their_order(collection: Collection, scraper: Path) -> None:
    for word in (b"a", b"b", b"c"):
        commit(scraper, 900, TEXT + word)
    collection.import_history("git", scraper)
    page = collection.page("git:terms/page.md")
    assert [page.snapshot(number).body[-1:] for number in (-3, -2, -1)] == [b"a", b"b", b"c"]


def test_a_missing_object_costs_only_what_it_held(collection: Collection, scraper: Path) -> None:
    blob = git(scraper, "rev-parse", "HEAD~2:page.md")
    (scraper / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    done = collection.import_history("git", scraper)
    assert (done.visits, done.bad) == (3, 1)
    assert "page.md" in done.bad_rows[0].place
    assert [outcome for outcome, _ in outcomes(collection)] == ["ok", "gone", "ok"]


def test_a_missing_tree_costs_only_its_commit(collection: Collection, scraper: Path) -> None:
    tree = git(scraper, "rev-parse", "HEAD~2^{tree}")
    (scraper / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    done = collection.import_history("git", scraper)
    assert (done.visits, done.bad) == (3, 1)
    assert [outcome for outcome, _ in outcomes(collection)] == ["ok", "gone", "ok"]


def test_a_missing_commit_leaves_all_newer_ones(collection: Collection, scraper: Path) -> None:
    commit = git(scraper, "rev-parse", "HEAD~3")
    (scraper / ".git" / "objects" / commit[:2] / commit[2:]).unlink()
    done = collection.import_history("git", scraper)
    assert (done.visits, done.bad) == (3, 1)
    assert collection.check().is_sound


def test_a_folder_that_is_no_repository_is_refused(collection: Collection, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(BadInputError, match="plain"):
        collection.import_history("git", tmp_path / "plain")
    assert collection.catalog.counts().visits == 0


def test_a_repository_is_a_trace_whose_runs_are_its_days_with_commits(tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    for day in (0, 1, 2, 4, 5):
        (folder / "often.md").write_bytes(TEXT + f"day {day}".encode())
        commit(folder, 86_400 * day + 7, TEXT + b"late" * (day > 2), name="seldom.md")
    assert guess_format(folder) == "git"
    trace = open_trace(folder)
    assert (trace.name, lines_of(trace)) == ("mirror", ["xx?xx", "..?x."])


def test_a_repository_without_commits_is_no_trace(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    with pytest.raises(BadInputError, match="has no commit HEAD"):
        open_trace(tmp_path)
