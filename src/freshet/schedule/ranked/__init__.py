"""Policies that rank pages by a formula, written by hand or learnt from a trace."""

from freshet.core.policy import Policy
from freshet.formula.expression import Formula
from freshet.formula.variables import BASIC_VARIABLES, PAPER_VARIABLES, WeightClock
from freshet.schedule.cadence import CONTINUOUS_CADENCE, CYCLE_CADENCE
from freshet.schedule.ranked.foreseeing import EXTENDED_VARIABLES, ExtendedFormulaPolicy
from freshet.schedule.ranked.plain import FormulaPolicy
from freshet.schedule.states import RevisitDelays

__all__ = [
    "VARIABLES_BY_TERMINAL_SET",
    "ExtendedFormulaPolicy",
    "FormulaPolicy",
    "make_formula_policy",
]

VARIABLES_BY_TERMINAL_SET = {
    "basic": BASIC_VARIABLES,
    "all": PAPER_VARIABLES,
    "extended": (*PAPER_VARIABLES, *EXTENDED_VARIABLES),
}


def make_formula_policy(
    formula: Formula,
    *,
    name: str = "",
    clock: WeightClock = "visit",
    seed: int = 0,
    delays: RevisitDelays | None = None,
    live: bool = False,
) -> Policy:
    """Return a policy that ranks by a formula and keeps what its names need, and no more."""
    title = name or str(formula)
    if formula.variables.isdisjoint(EXTENDED_VARIABLES):
        return FormulaPolicy(title, formula, clock=clock, seed=seed, delays=delays)
    cadence = CONTINUOUS_CADENCE if live else CYCLE_CADENCE
    return ExtendedFormulaPolicy(
        title, formula, cadence=cadence, clock=clock, seed=seed, delays=delays
    )
