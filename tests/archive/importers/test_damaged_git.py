"""Damaged repositories lose only the damaged versions; collected only if git is installed."""

import zlib
from pathlib import Path

import pytest

from freshet.archive.importers import git
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow
from tests.archive.importers.test_import_git import Scraper

Versions = list[tuple[float, bytes]]


@pytest.fixture
def scraper(tmp_path: Path) -> Scraper:
    return Scraper(tmp_path / "terms")


def write_history(scraper: Scraper, folder: str = "") -> None:
    """Write six versions of one page, at the times 1 to 6."""
    for at in range(1, 7):
        scraper.commit(at, {f"{folder}a.md": f"version {at}".encode()})


def observations_and_bad_rows(path: Path) -> tuple[Versions, list[BadRow]]:
    """Return the versions and the bad rows of a repository."""
    items = list(git.read(path))
    bad = [item for item in items if isinstance(item, BadRow)]
    good = [item for item in items if not isinstance(item, BadRow)]
    return [(item.time.timestamp(), item.snapshot.body) for item in good], bad


def versions(*times: int) -> Versions:
    return [(at, f"version {at}".encode()) for at in times]


def scramble(file: Path) -> None:
    file.write_bytes(b"not what git wrote")


@pytest.mark.parametrize("change", [Path.unlink, scramble])
@pytest.mark.parametrize("tree", ["HEAD~3^{tree}", "HEAD~3:pages"])
def test_a_bad_tree_costs_its_own_commit(scraper: Scraper, change, tree: str) -> None:
    write_history(scraper, "pages/")
    commit = scraper.run("rev-parse", "HEAD~3")
    scraper.damage(tree, change)
    good, bad = observations_and_bad_rows(scraper.path)
    assert good == versions(1, 2, 4, 5, 6)
    assert [row.place for row in bad] == [commit[:12]]
    assert "its files cannot be listed: git stopped (" in bad[0].why


@pytest.mark.parametrize("revision", ["HEAD^{tree}", "HEAD~5^{tree}"])
def test_a_missing_tree_at_an_end_costs_that_end(scraper: Scraper, revision: str) -> None:
    write_history(scraper)
    scraper.damage(revision, Path.unlink)
    good, bad = observations_and_bad_rows(scraper.path)
    assert good == (
        versions(1, 2, 3, 4, 5) if revision == "HEAD^{tree}" else versions(2, 3, 4, 5, 6)
    )
    assert len(bad) == 1


def test_changes_of_a_bad_commit_come_with_the_next_good_one(scraper: Scraper) -> None:
    scraper.commit(1, {"a.md": b"one"})
    scraper.commit(2, {"a.md": b"two"})
    scraper.commit(3, {"b.md": b"other"})
    scraper.damage("HEAD~1^{tree}", Path.unlink)
    good, bad = observations_and_bad_rows(scraper.path)
    assert good == [(1, b"one"), (3, b"two"), (3, b"other")]
    assert len(bad) == 1


def test_commits_that_share_a_missing_folder_keep_their_other_files(scraper: Scraper) -> None:
    scraper.commit(1, {"a/a.md": b"one", "b.md": b"one"})
    scraper.commit(2, {"a/a.md": b"lost"})
    scraper.commit(3, {"b.md": b"two"})
    scraper.commit(4, {"b.md": b"three"})
    scraper.commit(5, {"a/a.md": b"back"})
    scraper.damage("HEAD~3:a", Path.unlink)
    good, bad = observations_and_bad_rows(scraper.path)
    assert [row for row in good if row[0] < 5] == [
        (1, b"one"),
        (1, b"one"),
        (3, b"two"),
        (4, b"three"),
    ]
    assert (5, b"back") in good
    assert len(bad) == 1


@pytest.mark.parametrize("change", [Path.unlink, scramble])
@pytest.mark.parametrize(("back", "kept"), [(3, (4, 5, 6)), (5, (2, 3, 4, 5, 6)), (1, (6,))])
def test_a_bad_commit_leaves_all_newer_ones(
    scraper: Scraper, change, back: int, kept: tuple[int, ...]
) -> None:
    write_history(scraper)
    scraper.damage(f"HEAD~{back}", change)
    good, bad = observations_and_bad_rows(scraper.path)
    assert good == versions(*kept)
    assert [row.place for row in bad] == ["terms"]
    assert "the history ends early" in bad[0].why


@pytest.mark.parametrize("change", [Path.unlink, scramble])
def test_a_bad_newest_commit_is_refused(scraper: Scraper, change) -> None:
    write_history(scraper)
    scraper.damage("HEAD", change)
    with pytest.raises(BadInputError, match="commit HEAD"):
        git.read(scraper.path)


def test_several_bad_commits_in_one_history_are_skipped(tmp_path: Path) -> None:
    scraper = Scraper(tmp_path / "terms", "--object-format=sha256")
    write_history(scraper)
    for revision in ("HEAD~4", "HEAD~2^{tree}", "HEAD~1^{tree}"):
        scraper.damage(revision, Path.unlink)
    reader = git.read(scraper.path)
    good = [item.time.timestamp() for item in reader if not isinstance(item, BadRow)]
    assert good == [3, 6]
    assert reader.done == reader.total == 4


@pytest.mark.parametrize("seconds", ["9" * 20, "9" * 5000, "soon", "-1"])
def test_a_commit_without_a_usable_time_costs_its_own_versions(
    scraper: Scraper, seconds: str
) -> None:
    scraper.commit(1, {"a.md": b"one"})
    scraper.commit(2, {"a.md": b"two"})
    tree, parent = scraper.run("rev-parse", "HEAD^{tree}", "HEAD~1").split()
    who = f"a <a@example.org> {seconds} +0000"
    text = f"tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n\nrun\n"
    (scraper.path.parent / "commit").write_text(text)
    commit = scraper.run("hash-object", "-t", "commit", "-w", "--literally", "../commit")
    scraper.run("update-ref", "HEAD", commit)
    scraper.commit(3, {"a.md": b"three"})
    good, bad = observations_and_bad_rows(scraper.path)
    assert good == [(1, b"one"), (3, b"three")]
    assert [row.why for row in bad] == ["its commit has no usable time"]


@pytest.mark.parametrize("claimed", [1_000_000, 4])
def test_a_file_that_holds_more_or_less_than_it_claims_is_a_bad_row(
    scraper: Scraper, claimed: int
) -> None:
    write_history(scraper)
    body = zlib.compress(b"blob %d\0version 4" % claimed)
    scraper.damage("HEAD~2:a.md", lambda file: file.write_bytes(body))
    good, bad = observations_and_bad_rows(scraper.path)
    assert good == versions(1, 2, 3, 5, 6)
    assert [row.why.split()[-1] for row in bad] == ["damaged"]
