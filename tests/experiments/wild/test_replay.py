"""Generated pages are served over HTTP, crawled by the real program, and scored."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
OPTIONS = ("--pages", "12", "--days", "2", "--speed", "100000", "--budget", "100%", "--json")


def test_the_program_crawls_generated_pages_and_keeps_them_fresh() -> None:
    command = [sys.executable, "-m", "experiments.wild", "replay", *OPTIONS]
    without_data = {name: text for name, text in os.environ.items() if name != "FRESHET_DATA"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=without_data,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (row,) = document["rows"]
    assert document["data"].startswith("generated pages")
    assert (row["pages"], row["pages_visited"], row["budgeted"]) == (12, 12, 24)
    assert 12 <= row["requests"] <= 24
    assert row["not_modified"] <= row["requests"] - 12
    assert row["changes_found"] == row["changes_recorded"]
    assert 0.0 < row["freshness"] <= 1.0
