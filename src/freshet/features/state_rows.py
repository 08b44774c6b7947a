"""The states of pages as several arrays with a row per page."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def append_rows(
    states: Sequence[NDArray[Any]], new_states: Sequence[NDArray[Any]]
) -> tuple[NDArray[Any], ...]:
    """Return states with the rows of new pages after them."""
    return tuple(np.concatenate(pair) for pair in zip(states, new_states, strict=True))


def reset_row(states: Sequence[NDArray[Any]], new_states: Sequence[NDArray[Any]], row: int) -> None:
    """Replace one row of states by that of a new page."""
    for column, new in zip(states, new_states, strict=True):
        column[row] = new[0]
