"""The looks that noise is learnt from, and the rounds that they make up."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from freshet.core.types import View

MAX_LOOKS = 12
LookSpacing = Literal["apart", "fast", "instant"]


@dataclass(frozen=True, slots=True)
class NoiseLook:
    """A look with content, as noise is learnt from it; HTML needs its DOM rows.

    ``spacing`` says how it followed the look before: ``instant`` at the same moment, ``fast`` in one
    round with it, or ``apart`` from it. ``time`` is in epoch seconds.
    """

    view: View
    time: float
    spacing: LookSpacing = "apart"


def burst_indices(looks: Sequence[NoiseLook]) -> list[list[int]]:
    """Return the places of looks, those of one round together."""
    rounds: list[list[int]] = []
    for place, look in enumerate(looks):
        if look.spacing == "apart" or not rounds:
            rounds.append([])
        rounds[-1].append(place)
    return rounds


def neighbours_by_spacing(looks: Sequence[NoiseLook], since: LookSpacing) -> list[tuple[int, int]]:
    """Return the neighbouring looks of which the second followed the first like that."""
    places = range(len(looks))
    return [(old, new) for old, new in pairwise(places) if looks[new].spacing == since]
