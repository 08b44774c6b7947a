"""Importing a repository; collected where git is installed."""

import subprocess
from pathlib import Path

from tests.cli.cli_runs import Run


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_a_repository_is_imported(run: Run, empty: Path, tmp_path: Path) -> None:
    folder = tmp_path / "scraped"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for text in ("one", "two"):
        (folder / "a.html").write_text(f"<p>The page says {text} today.</p>", "utf-8")
        (folder / "b.txt").write_text(text, "utf-8")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", text)
    assert run("import", "git", str(folder), "--paths", "*.html", "--json").json["visits"] == 2


def test_files_that_are_no_pages_stay_off_the_live_list(
    run: Run, empty: Path, tmp_path: Path
) -> None:  # fmt: skip
    folder = tmp_path / "terms"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "Terms.md").write_text("# Terms\n\nwords\n", "utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "first")
    result = run("import", "git", str(folder), "--source", "", "--json").json
    assert (result["visits"], result["bad"]) == (0, 1)
    assert "it has the scheme git; only http and https" in result["bad_rows"][0]["why"]
    assert run("list", "--json").json == []
