"""Policies that rank pages by a formula, given as text or learnt from a trace.

What a formula may ask to know of a page stands in ``NAMES``, by the set of names that it belongs
to: those of Santos et al. 2015, and with them those that the default policy's forecast tells.
"""

from freshet.core.policy import Policy
from freshet.formula.expression import Formula
from freshet.formula.variables import ALL, BASIC, Clock
from freshet.schedule.cadence import CONTINUOUS, CYCLES
from freshet.schedule.ranked.foreseeing import FORESEEN, Foreseeing
from freshet.schedule.ranked.plain import Ranked
from freshet.schedule.states import Waits

__all__ = ["NAMES", "Foreseeing", "Ranked", "make"]

NAMES = {"basic": BASIC, "all": ALL, "extended": (*ALL, *FORESEEN)}


def make(
    formula: Formula,
    *,
    name: str = "",
    clock: Clock = "visit",
    seed: int = 0,
    waits: Waits | None = None,
    live: bool = False,
) -> Policy:
    """Return a policy that ranks by a formula and keeps what its names need, and no more."""
    title = name or str(formula)
    if formula.names.isdisjoint(FORESEEN):
        return Ranked(title, formula, clock=clock, seed=seed, waits=waits)
    cadence = CONTINUOUS if live else CYCLES
    return Foreseeing(title, formula, cadence=cadence, clock=clock, seed=seed, waits=waits)
