"""The looks from which noise is learned, and their grouping into bursts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from freshet.core.types import View

MAX_LOOKS = 12
LookSpacing = Literal["apart", "fast", "instant"]


@dataclass(frozen=True, slots=True)
class NoiseLook:
    """A look with content; the view of an HTML page needs its DOM rows.

    ``spacing`` is the relation to the look before: ``instant`` at the same moment, ``fast`` in the
    same burst, or ``apart``. ``time`` is in epoch seconds.
    """

    view: View
    time: float
    spacing: LookSpacing = "apart"


def burst_indices(looks: Sequence[NoiseLook]) -> list[list[int]]:
    """Return the indices of looks, grouped by burst."""
    bursts: list[list[int]] = []
    for index, look in enumerate(looks):
        if look.spacing == "apart" or not bursts:
            bursts.append([])
        bursts[-1].append(index)
    return bursts


def neighbours_by_spacing(looks: Sequence[NoiseLook], since: LookSpacing) -> list[tuple[int, int]]:
    """Return the pairs of neighbouring looks with this spacing."""
    indices = range(len(looks))
    return [(old, new) for old, new in pairwise(indices) if looks[new].spacing == since]
