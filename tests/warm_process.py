"""Runs Python modules in processes that have Freshet's modules and compiled code loaded already.

A test process has one server, an interpreter that loads a crawl once and forks a process for each
module. Where the start of the interpreter is tested, ``subprocess`` is used instead.
"""

import atexit
import gc
import json
import os
import runpy
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from signal import SIGKILL
from subprocess import PIPE, CompletedProcess, Popen, TimeoutExpired
from tempfile import TemporaryDirectory
from threading import Lock, Timer
from typing import Any

from scrapy.utils.misc import walk_modules_iter

from freshet.core.settings import Settings
from freshet.crawl.live_policy import warm_up_policy
from freshet.fetch.collection_thread import WARM_UP_SNAPSHOT
from freshet.record.parsed_visit import parse_visit

ROOT = Path(__file__).parents[1]
# The first one inspects every frame of the imports under way, and so comes before the others.
MODULES = (
    "scrapy.core.downloader.contextfactory",
    "freshet.cli.crawl_session",
    "freshet.collection.collection",
    "scrapy.cmdline",
)
PACKAGES = ("freshet.fetch", "scrapy.downloadermiddlewares", "scrapy.spidermiddlewares")
NOW = datetime(2026, 3, 1, tzinfo=UTC)
STREAMS = ("stdin", "stdout", "stderr")


def run_module(
    module: str,
    *arguments: str,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    text: str = "",
    timeout: float = 60.0,
) -> CompletedProcess[str]:
    """Do what ``python -m MODULE ARGUMENTS`` does in a folder, with a text as standard input."""
    with TemporaryDirectory() as streams:
        (Path(streams) / "stdin").write_text(text)
        order = {
            "command": [module, *arguments],
            "folder": str(folder),
            "environment": {**os.environ, **(environment or {})},
            "streams": streams,
        }
        code = _server().run(order, timeout)
        stdout, stderr = ((Path(streams) / name).read_text() for name in STREAMS[1:])
    return CompletedProcess(order["command"], code, stdout, stderr)


class ForkServer:
    """The interpreter that forks; it runs one module at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.warm_process"]
        self._process = Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True)
        self._lock = Lock()

    def run(self, order: Mapping[str, Any], timeout: float) -> int:
        """Run a module to its end and return its exit code."""
        with self._lock:
            assert self._process.stdin is not None
            self._process.stdin.write(f"{json.dumps(order)}\n")
            self._process.stdin.flush()
            killer = Timer(timeout, os.kill, (self._read_number(), SIGKILL))
            killer.start()
            code = self._read_number()
        if not killer.is_alive():
            raise TimeoutExpired(order["command"], timeout)
        killer.cancel()
        return code

    def close(self) -> None:
        """End the server."""
        with self._process:
            pass

    def _read_number(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


@cache
def _server() -> ForkServer:
    server = ForkServer()
    atexit.register(server.close)
    return server


def main() -> None:
    """Fork a process for every line of standard input; print its id and then its exit code."""
    for module in MODULES:
        import_module(module)
    for package in PACKAGES:
        list(walk_modules_iter(package))
    parse_visit(WARM_UP_SNAPSHOT, Settings().limits, dom=True)
    warm_up_policy(Settings(), NOW)
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _run_in_child(**json.loads(line))
            sys.exit()
        print(child, flush=True)  # noqa: T201
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201


def _run_in_child(
    command: list[str], folder: str, environment: dict[str, str], streams: str
) -> None:
    for number, name in enumerate(STREAMS):
        flags = os.O_RDONLY if name == "stdin" else os.O_WRONLY | os.O_CREAT | os.O_APPEND
        os.dup2(os.open(Path(streams) / name, flags), number)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.path[0] = folder
    sys.argv[:] = command
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
