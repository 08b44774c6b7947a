"""A collection to bring things into, and which of these tests this machine can run."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock

collect_ignore = ["pywb_application.py"]  # runs in the environment of the replay tools
if not shutil.which("git"):
    collect_ignore.append("test_git_end_to_end.py")


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    clock = FixedClock(datetime(2026, 11, 15, 8, 30, tzinfo=UTC))
    with Collection.create(tmp_path / "kept", contact="a@example.org", clock=clock) as made:
        yield made
