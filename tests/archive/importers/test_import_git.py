"""Import of a scraping repository's history; collected only if git is installed."""

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from freshet.archive.importers import git, git_process
from freshet.archive.observation import Observation
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow, Outcome

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


class Scraper:
    """A repository that a test fills."""

    def __init__(self, path: Path, *options: str) -> None:
        self.path = path
        path.mkdir()
        self.run("init", "--quiet", "--initial-branch=main", *options)

    def run(self, *command: str, at: int = 0) -> str:
        date = f"@{at} +0000"
        env = {**ENVIRONMENT, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        done = subprocess.run(
            ["git", *command], cwd=self.path, env=env, check=True, capture_output=True
        )
        return done.stdout.decode().strip()

    def commit(self, at: int, files: dict[str | bytes, bytes | None]) -> None:
        for name, body in files.items():
            file = self.path / os.fsdecode(name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)
            if body is not None:
                file.write_bytes(body)
        self.run("add", "--all")
        self.run("commit", "--quiet", "--allow-empty", "--message=run", at=at)

    def damage(self, revision: str, change: Callable[[Path], None]) -> None:
        blob = self.run("rev-parse", revision)
        file = self.path / ".git" / "objects" / blob[:2] / blob[2:]
        file.chmod(0o600)
        change(file)


@pytest.fixture
def scraper(tmp_path: Path) -> Scraper:
    return Scraper(tmp_path / "terms")


def observations(path: Path, **options: object) -> list[Observation]:
    items = list(git.read(path, **options))
    assert all(isinstance(item, Observation) for item in items), items
    return items


def test_each_commit_that_touched_a_file_is_a_version(scraper: Scraper) -> None:
    scraper.commit(100, {"a.md": b"one", "b.md": b"still"})
    scraper.commit(200, {"a.md": b"two"})
    assert [
        (item.url, item.time.timestamp(), item.snapshot.body) for item in observations(scraper.path)
    ] == [
        ("git:terms/a.md", 100, b"one"),
        ("git:terms/b.md", 100, b"still"),
        ("git:terms/a.md", 200, b"two"),
    ]


def test_a_version_has_the_repository_as_source_and_a_utc_time(scraper: Scraper) -> None:
    scraper.commit(86_400, {"a.md": b"one"})
    (observation,) = observations(scraper.path)
    assert (observation.source, observation.outcome) == ("terms", None)
    assert observation.time == datetime(1970, 1, 2, tzinfo=UTC)
    assert observation.time.tzinfo is UTC
    assert observation.snapshot.header("content-type") == "text/markdown; charset=utf-8"


def test_a_deleted_file_is_gone_and_may_come_back(scraper: Scraper) -> None:
    scraper.commit(1, {"a.md": b"one"})
    scraper.commit(2, {"a.md": None})
    scraper.commit(3, {"a.md": b"one"})
    assert [item.outcome for item in observations(scraper.path)] == [None, Outcome.GONE, None]


def test_a_merge_brings_what_differs_from_its_first_parent(scraper: Scraper) -> None:
    scraper.commit(1, {"a.md": b"one"})
    scraper.run("checkout", "--quiet", "-b", "side")
    scraper.commit(2, {"b.md": b"draft"})
    scraper.commit(3, {"b.md": b"final"})
    scraper.run("checkout", "--quiet", "main")
    scraper.run("merge", "--quiet", "--no-ff", "--message=merge", "side", at=4)
    assert [(item.url, item.time.timestamp()) for item in observations(scraper.path)] == [
        ("git:terms/a.md", 1),
        ("git:terms/b.md", 4),
    ]
    assert len(observations(scraper.path, ref="side")) == 3


def test_odd_names_are_kept_apart(scraper: Scraper) -> None:
    names = [
        b"a b",
        b"\nline\nends\n",
        b":100644 x",
        b"caf\xe9",
        "café".encode(),
        b"commit x",
        b"-",
    ]
    scraper.commit(1, dict.fromkeys(names, b"text"))
    versions = observations(scraper.path)
    assert len({item.url for item in versions}) == len(names)
    assert {item.url for item in versions} >= {"git:terms/%0Aline%0Aends%0A", "git:terms/caf%E9"}


def test_a_path_that_spells_a_url_is_that_page(scraper: Scraper) -> None:
    scraper.commit(1, {"www.example.org/a.html": b"<p>", "README.md": b"x"})
    assert {item.url for item in observations(scraper.path)} == {
        "https://www.example.org/a.html",
        "git:terms/README.md",
    }


def test_the_mapping_of_paths_and_the_source_can_be_given(scraper: Scraper) -> None:
    scraper.commit(1, {"a.md": b"one"})
    (observation,) = observations(
        scraper.path, source="mine", url_of=lambda path: f"x:{path.decode()}"
    )
    assert (observation.url, observation.source) == ("x:a.md", "mine")


def test_patterns_choose_files_and_all_commits_count_as_progress(scraper: Scraper) -> None:
    scraper.commit(1, {"a/x.html": b"one", "b.md": b"one"})
    scraper.commit(2, {"b.md": b"two"})
    reader = git.read(scraper.path, paths=["*.html"])
    assert [item.url for item in reader] == ["git:terms/a/x.html"]
    assert reader.done == reader.total == 2


def test_links_submodules_and_modes_are_no_versions(scraper: Scraper) -> None:
    scraper.commit(1, {"a.md": b"one"})
    (scraper.path / "link.md").symlink_to("a.md")
    head = scraper.run("rev-parse", "HEAD")
    scraper.run("update-index", "--add", "--cacheinfo", f"160000,{head},module")
    (scraper.path / "a.md").chmod(0o755)
    scraper.run("add", "a.md", "link.md")
    scraper.run("commit", "--quiet", "--message=other", at=2)
    assert [item.url for item in observations(scraper.path)] == ["git:terms/a.md"]


def test_a_file_that_becomes_a_link_is_gone(scraper: Scraper) -> None:
    scraper.commit(1, {"a.md": b"one"})
    (scraper.path / "a.md").unlink()
    (scraper.path / "a.md").symlink_to("elsewhere")
    scraper.run("commit", "--quiet", "--all", "--message=link", at=2)
    assert [item.outcome for item in observations(scraper.path)] == [None, Outcome.GONE]


def test_binary_and_large_files_are_bad_rows(
    scraper: Scraper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "MAX_FILE_BYTES", 10)
    scraper.commit(1, {"a.png": b"\x89PNG\0", "b.md": b"far too long", "c.md": b"short"})
    binary, large, good = git.read(scraper.path)
    assert isinstance(binary, BadRow)
    assert binary.why == "is a binary file"
    assert isinstance(large, BadRow)
    assert large.why == "has 12 bytes, more than the limit of 10"
    assert isinstance(good, Observation)


def test_a_missing_object_is_a_bad_row(scraper: Scraper) -> None:
    scraper.commit(1, {"a.md": b"one", "b.md": b"two"})
    scraper.damage("HEAD:a.md", Path.unlink)
    bad, good = git.read(scraper.path)
    assert isinstance(bad, BadRow)
    assert bad.why.endswith("is missing")
    assert good.snapshot.body == b"two"


def test_a_damaged_object_is_a_bad_row(scraper: Scraper) -> None:
    body = os.urandom(300).hex().encode()
    scraper.commit(1, {"a.md": body, "b.md": b"two"})
    scraper.damage("HEAD:a.md", lambda file: file.write_bytes(file.read_bytes()[:100]))
    bad, good = git.read(scraper.path)
    assert isinstance(bad, BadRow)
    assert "is damaged" in bad.why or "is missing" in bad.why
    assert good.snapshot.body == b"two"


def test_a_history_without_any_tree_is_refused(scraper: Scraper) -> None:
    scraper.commit(1, {"a.md": b"one"})
    scraper.damage("HEAD^{tree}", Path.unlink)
    reader = git.read(scraper.path)
    with pytest.raises(BadInputError, match="the history ends early"):
        list(reader)


def test_bare_repositories_are_read(scraper: Scraper, tmp_path: Path) -> None:
    scraper.commit(1, {"a.md": b"one"})
    scraper.run("clone", "--quiet", "--bare", ".", str(tmp_path / "copy.git"))
    assert [item.url for item in observations(tmp_path / "copy.git")] == ["git:copy/a.md"]
    assert [item.url for item in observations(scraper.path / ".git")] == ["git:terms/a.md"]


def test_sha_256_repositories_are_read(tmp_path: Path) -> None:
    scraper = Scraper(tmp_path / "terms", "--object-format=sha256")
    scraper.commit(1, {"a.md": b"one"})
    scraper.commit(2, {"a.md": None})
    assert [item.outcome for item in observations(scraper.path)] == [None, Outcome.GONE]


def test_what_is_no_repository_is_refused(scraper: Scraper, tmp_path: Path) -> None:
    inner = scraper.path / "inner"
    inner.mkdir()
    (tmp_path / "plain").mkdir()
    for folder in (inner, tmp_path / "plain"):
        with pytest.raises(BadInputError, match="is not a git repository"):
            git.read(folder)
    with pytest.raises(BadInputError, match="is not a folder"):
        git.read(tmp_path / "missing")


@pytest.mark.parametrize("ref", ["HEAD", "elsewhere", "--all", "--output=x"])
def test_a_missing_commit_is_refused(scraper: Scraper, ref: str) -> None:
    with pytest.raises(BadInputError, match=f"has no commit {ref}"):
        git.read(scraper.path, ref=ref)


def test_without_git_the_error_names_it(scraper: Scraper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(scraper.path))
    with pytest.raises(BadInputError, match="install git"):
        git.read(scraper.path)


def test_settings_of_the_repository_and_of_the_shell_run_nothing(
    scraper: Scraper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path}/sprung'\ncat \"$1\"\n")
    trap.chmod(0o755)
    scraper.commit(1, {".gitattributes": b"*.md diff=x\n", "a.md": b"one"})
    for name in ("core.fsmonitor", "diff.external", "gpg.program", "core.pager", "diff.x.textconv"):
        scraper.run("config", name, str(trap))
    scraper.run("config", "log.showSignature", "true")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert len(observations(scraper.path)) == 2
    assert not (tmp_path / "sprung").exists()


@pytest.fixture
def started_processes(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Collect every process that is started from now on."""
    processes: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def remember(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        processes.append(start(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(git_process.subprocess, "Popen", remember)
    return processes


def test_two_processes_serve_all_versions(
    scraper: Scraper, started_processes: list[subprocess.Popen[bytes]]
) -> None:
    scraper.commit(1, {f"{n}.md": b"one" for n in range(20)})
    reader = git.read(scraper.path)
    started_processes.clear()
    assert len(list(reader)) == 20
    assert len(started_processes) == 2


def test_stopping_early_leaves_no_process(
    scraper: Scraper, started_processes: list[subprocess.Popen[bytes]]
) -> None:
    scraper.commit(1, {f"{n}.md": b"one" for n in range(20)})
    items = iter(git.read(scraper.path))
    next(items)
    items.close()
    assert all(process.returncode is not None for process in started_processes)


def test_reading_again_gives_the_same_uids(scraper: Scraper) -> None:
    scraper.commit(1, {"a.md": b"one"})
    scraper.commit(1, {"a.md": b"two"})
    first, again = observations(scraper.path), observations(scraper.path)
    assert [item.uid for item in first] == [item.uid for item in again]
    assert len({item.uid for item in first}) == 2
