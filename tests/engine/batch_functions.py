"""Batch functions for the tests of the engine, which another process can import."""

import os
import signal

import numpy as np

from freshet.core.errors import BadInputError
from freshet.engine.result_cache import Columns


def double(batch: Columns) -> Columns:
    """Return twice every number."""
    return {"twice": 2 * batch["number"], "name": np.array([f"{n}" for n in batch["number"]])}


def process_info(batch: Columns) -> Columns:
    """Return the id of the worker process, and its number of threads."""
    return {"process": np.array([os.getpid()]), "threads": np.array(os.environ["OMP_NUM_THREADS"])}


def die_at_three(batch: Columns) -> Columns:
    """Kill the process at a batch with a three."""
    if 3 in batch["number"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return batch


def fail_at_three(batch: Columns) -> Columns:
    """Raise an error at a batch with a three."""
    if 3 in batch["number"]:
        raise ValueError("three is too many")
    return batch


def refuse_at_three(batch: Columns) -> Columns:
    """Raise an error of Freshet at a batch with a three."""
    if 3 in batch["number"]:
        raise BadInputError("three cannot be read")
    return batch
