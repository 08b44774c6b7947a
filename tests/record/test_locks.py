"""Only one process appends to the archive; commands that write the catalog work beside it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import freshet
from freshet.collection.collection import Collection
from freshet.core.errors import LockedError
from tests.record.record_samples import CLOCK, URL, html, make_collection, marks, observe, record

HOLD = """
import sys
from pathlib import Path
from freshet.collection.collection import Collection
with Collection.open(Path(sys.argv[1])).recording():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_recorder_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    with (
        make_collection(tmp_path / "c") as first,
        Collection.open(tmp_path / "c", clock=CLOCK) as second,
    ):
        with first.recording(), pytest.raises(LockedError, match=rf"process {os.getpid()}"):
            record(second, [observe(1, html("one"))])
        record(second, [observe(1, html("one"))])
        assert len(marks(second)) == 1


@pytest.mark.parametrize("verb", ["import", "prune", "purge", "repair"])
def test_every_verb_that_changes_the_archive_respects_the_holder(tmp_path: Path, verb: str) -> None:
    (tmp_path / "seen.csv").write_text("page,time,changed\nhttps://a.org/,1,0\n")
    with (
        make_collection(tmp_path / "c") as first,
        Collection.open(tmp_path / "c", clock=CLOCK) as second,
    ):
        page = first.add(URL)
        age = CLOCK.now() - observe(0).time
        verbs = {
            "import": lambda: second.import_history("csv", tmp_path / "seen.csv"),
            "prune": lambda: second.prune(age, apply=True),
            "purge": lambda: second.remove([page], purge=True),
            "repair": second.repair,
        }
        with first.recording(), pytest.raises(LockedError):
            verbs[verb]()
        assert first.catalog.counts().visits == 0


def test_the_catalog_can_be_changed_beside_a_recorder(tmp_path: Path) -> None:
    with (
        make_collection(tmp_path / "c") as first,
        Collection.open(tmp_path / "c", clock=CLOCK) as second,
    ):
        with first.recording() as recorder:
            page = second.add(URL, tags=("news",))
            second.catalog.pause_pages([page.id])
            second.change_settings(page, [("counts_as", "links")])
            recorder.record([observe(1, html("one", "a")), observe(2, html("two", "a"))])
            second.remove([second.add("https://example.org/x")])
            recorder.record([observe(3, html("two", "b"))])
        page = first.page(URL)
        assert (page.paused, page.tags) == (True, ("news",))
        assert [changed for _, changed in marks(first)] == [None, False, True]


def test_the_lock_of_a_killed_holder_is_taken(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLD, tmp_path / "c"],
            env={**os.environ, "PYTHONPATH": str(Path(freshet.__file__).parents[1])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with holder:
            assert holder.stdout.readline() == b"held\n"
            with pytest.raises(LockedError, match=f"process {holder.pid}"):
                record(collection, [])
            holder.send_signal(signal.SIGKILL)
            holder.wait()
        record(collection, [observe(1, html("one"))])
        assert len(marks(collection)) == 1
