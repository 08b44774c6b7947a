"""Work for the tests of engines: functions that another process can import."""

import os
import signal

import numpy as np

from freshet.core.errors import BadInputError
from freshet.engine.result_cache import Columns


def double(batch: Columns) -> Columns:
    """Return twice every number."""
    return {"twice": 2 * batch["number"], "name": np.array([f"{n}" for n in batch["number"]])}


def who(batch: Columns) -> Columns:
    """Return the process that did the work, and how many threads it may use."""
    return {"process": np.array([os.getpid()]), "threads": np.array(os.environ["OMP_NUM_THREADS"])}


def die_at_three(batch: Columns) -> Columns:
    """End the process at once when the batch holds a three."""
    if 3 in batch["number"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return batch


def fail_at_three(batch: Columns) -> Columns:
    """Stumble when the batch holds a three."""
    if 3 in batch["number"]:
        raise ValueError("three is too many")
    return batch


def refuse_at_three(batch: Columns) -> Columns:
    """Refuse a batch that holds a three, as Freshet does."""
    if 3 in batch["number"]:
        raise BadInputError("three cannot be read")
    return batch
