"""Kill a verb at each of its write points, and look whether going on loses or doubles anything.

Run as a program: ``crash_driver.py FOLDER VERB STEP``; it prints what went wrong at which point and
how many points there were, and fails where anything went wrong.
The child dies by ``os._exit`` at its n-th write, half of that write being done where it can be;
going on is then killed as well, halfway to there, and only the third attempt is left alone.
"""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

POINTS = 2_000
KILLED = 9


@dataclass(slots=True)
class Countdown:
    """How many writes are left before the end; none are counted while it is off."""

    left: int = 0

    def tick(self, *last: Any) -> None:
        """Count a write, and die at the last one."""
        self.left -= 1
        if self.left == 0:
            os._exit(KILLED)


COUNTDOWN = Countdown()


def counted(name: str) -> None:
    """Make a function of the system count as a write."""
    plain = getattr(os, name)

    def call(*arguments: Any, **options: Any) -> Any:
        COUNTDOWN.tick()
        return plain(*arguments, **options)

    setattr(os, name, call)


def write_half(file: int, content: bytes | memoryview, offset: int, plain: Any = os.pwrite) -> int:
    """Write; where this is the last write, only half of it."""
    if COUNTDOWN.left == 1:
        plain(file, bytes(content)[: len(content) // 2], offset)
    COUNTDOWN.tick()
    return int(plain(file, content, offset))


# The writer takes these when it is loaded, so they are changed before anything is.
os.pwrite = write_half
for each in ("fsync", "ftruncate", "rename", "unlink"):
    counted(each)

from sqlalchemy import Engine, event  # noqa: E402

from freshet.collection.collection import Collection  # noqa: E402
from freshet.core.types import Outcome  # noqa: E402
from freshet.record.collection_store import SETTINGS_FILE  # noqa: E402
from tests.record.record_samples import (  # noqa: E402
    CLOCK,
    URL,
    hop,
    html,
    make_collection,
    observe,
    page_facts,
    record,
)

event.listen(Engine, "commit", COUNTDOWN.tick)

OTHER = "https://example.org/other"
THERE = "https://example.org/there"
OBSERVATIONS = [
    observe(1, html("one", "a")),
    observe(1, html("one", "a"), url=OTHER),
    observe(4, html("four", "b")),
    observe(5, html("one", "a")),
    observe(6, b"<h1>Not found</h1>", status=404),
    observe(2, html("two", "a", "c")),
    observe(7, outcome=Outcome.TIMEOUT),
    observe(8, html("four", "b")),
    observe(9, html("nine"), url=OTHER),
    observe(10, html("ten"), hops=(hop(URL, THERE), hop(THERE, OTHER)), final_url=OTHER),
    observe(11, outcome=Outcome.REFUSED, why="private address", hops=(hop(URL, THERE),)),
    observe(12, html("ten"), hops=(hop(URL, THERE),), final_url=THERE),
]


def take(collection: Collection) -> None:
    """Record in small batches, one visit late, some bytes repeated."""
    record(
        collection, *(OBSERVATIONS[start : start + 3] for start in range(0, len(OBSERVATIONS), 3))
    )


def thin(collection: Collection) -> None:
    """Drop old versions."""
    collection.prune(timedelta(days=1), keep="year", apply=True)


def purge(collection: Collection) -> None:
    """Drop a page with all its bytes."""
    pages = [page for page in collection.pages() if page.url == OTHER]
    collection.remove(pages, purge=True)


def mend(collection: Collection) -> None:
    """Cut damage out of a file."""
    collection.repair()


def damage(collection: Collection) -> None:
    """Spoil a byte of the second record."""
    offset = collection.page(URL).history()[1].visit.location
    path = collection.archive_folder / offset.file
    if path.exists():
        content = bytearray(path.read_bytes())
        content[offset.offset + 40] ^= 0xFF
        path.write_bytes(content)


def small_files(collection: Collection) -> None:
    """Let a file of the archive be full after about two records."""
    with (collection.path / SETTINGS_FILE).open("a") as file:
        file.write("archive.file_bytes = 1_000\n")


@dataclass(frozen=True, slots=True)
class Verb:
    """A command that is killed, and the commands before it."""

    prepare: tuple[Callable[[Collection], None], ...]
    run: Callable[[Collection], None]


VERBS = {
    "take": Verb((), take),
    "take-into-small-files": Verb((small_files,), take),
    "prune": Verb((take,), thin),
    "purge": Verb((take,), purge),
    "repair": Verb((take, damage), mend),
}


def state(collection: Collection) -> list[Any]:
    """Return all that a collection says, its bytes included."""
    return [
        (page.url, page_facts(collection, page.url), readable(collection, page.url))
        for page in collection.pages()
    ]


def readable(collection: Collection, url: str) -> list[bytes | None]:
    """Return the bytes of every version, None where they are not kept."""
    page = collection.page(url)
    item = [collection.snapshots.read(version.row.visit, url) for version in page.versions]
    return [snapshot and snapshot.body for snapshot in item]


def visits(collection: Collection) -> set[bytes]:
    """Return the uids of all acknowledged visits."""
    return {
        row.visit.uid for page in collection.pages() for row in collection.catalog.history(page.id)
    }


def killed(folder: Path, verb: Verb, point: int) -> bool:
    """Run a verb in a child that dies at a point; say whether it did die there."""
    child = os.fork()
    if child == 0:
        with Collection.open(folder, clock=CLOCK) as collection:
            COUNTDOWN.left = point
            verb.run(collection)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED


def called_damage(folder: Path) -> str:
    """Return the problems that a check finds right after a kill, before any repair."""
    with Collection.open(folder, clock=CLOCK) as collection:
        return "; ".join(
            f"{problem.place}: {problem.what}" for problem in collection.check().problems
        )


def go_on(folder: Path, verb: Verb, expected: list[Any]) -> str:
    """Complete a command after a kill, and return the problems then."""
    with Collection.open(folder, clock=CLOCK) as collection:
        before = visits(collection)
        verb.run(collection)
        if verb.run is take and before - visits(collection):
            return "an acknowledged visit is lost"
        if state(collection) != expected:
            return "it differs from what was never killed"
        report = collection.check()
        remaining = list(collection.archive_folder.glob("*.open"))
        return "; ".join([*(f"{p.place}: {p.what}" for p in report.problems), *map(str, remaining)])


def sweep(folder: Path, verb: Verb, step: int) -> list[str]:
    """Kill a verb at every ``step``-th point; return a line per failure, and how many points."""
    with make_collection(folder / "start") as collection:
        for prepare in verb.prepare:
            prepare(collection)
    shutil.copytree(folder / "start", folder / "plain")
    with Collection.open(folder / "plain", clock=CLOCK) as collection:
        verb.run(collection)
        expected = state(collection)
    failures = []
    for point in range(1, POINTS, step):
        shutil.copytree(folder / "start", folder / str(point))
        died = killed(folder / str(point), verb, point)
        wrong = "" if damage in verb.prepare else called_damage(folder / str(point))
        killed(folder / str(point), verb, 1 + point // 2)
        wrong += go_on(folder / str(point), verb, expected)
        failures += [f"killed at write {point}: {wrong}"] if wrong else []
        if not died:
            return [*failures, f"{point - 1} points"]
    return failures


if __name__ == "__main__":
    lines = sweep(Path(sys.argv[1]), VERBS[sys.argv[2]], int(sys.argv[3]))
    sys.stdout.write("\n".join(lines) + "\n")
    sys.exit(len(lines) > 1)
