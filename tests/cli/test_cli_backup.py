"""Backups made while a crawl runs, as an operator makes them."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import freshet
from tests.cli.cli_runs import Run
from tests.fetch.crawls import make_collection
from tests.fetch.servers import Loopback, ScriptedPage, Site
from tests.warm_process import run_module

WORDS = "<p>the river rose in spring and the fields along it were green again</p>"
SITE = Site({
    f"/{name}": ScriptedPage(tuple(f"{WORDS}<p>{name} {number}</p>" for number in range(50)))
    for name in ("a", "b", "c")
})
BACKUPS = 4


def freshet_json(*words: str) -> Any:
    result = run_module("freshet", *words, "--json")
    result.check_returncode()
    return json.loads(result.stdout)


def test_each_backup_of_a_running_crawl_restores_to_a_sound_collection(tmp_path: Path) -> None:
    with Loopback({"site": SITE}) as server:
        urls = [f"{server.urls['site']}/{name}" for name in ("a", "b", "c")]
        folder = make_collection(
            tmp_path / "c", urls, server.allow, {"delay": 0.0, "page_interval": 0.0},
            archive={"file_bytes": 20_000},
        )  # fmt: skip
        words = ["run", "--budget", "100000000", "-C", str(folder)]
        command = [sys.executable, "-m", "freshet", *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as crawl:
            assert any("/c" in line for line in crawl.stdout or ())
            backup_files = [
                freshet_json("backup", str(tmp_path / f"b{n % 2}"), "-C", str(folder))
                for n in range(BACKUPS)
            ]
            restored = [
                freshet_json("restore", str(tmp_path / f"b{n}"), str(tmp_path / f"r{n}"))
                for n in range(2)
            ]
            crawl.send_signal(signal.SIGINT)
            crawl.communicate(timeout=60)
    assert backup_files[2]["copied_files"] < backup_files[2]["files"]
    assert [item["made"] for item in restored] == [item["made"] for item in backup_files[-2:]]
    visits = [_visits(tmp_path / name) for name in ("r0", "r1", "c")]
    assert 3 <= visits[0] <= visits[1] <= visits[2]


def _visits(path: Path) -> int:
    with freshet.open(path) as collection:
        assert collection.check().is_sound
        return collection.status().counts.visits


def test_backup_and_restore_say_what_they_did(run: Run, tmp_path: Path) -> None:
    run("init", str(tmp_path / "c"), "--contact", "a@example.org")
    message = run("backup", str(tmp_path / "b"), "-C", str(tmp_path / "c"))
    assert message.code == 0
    assert "2 files" in message.out
    message = run("restore", str(tmp_path / "b"), str(tmp_path / "r"))
    assert message.code == 0
    assert "UTC" in message.out
    assert run("restore", str(tmp_path / "b"), str(tmp_path / "r")).code == 2
    assert run("status", "-C", str(tmp_path / "r")).code == 0
