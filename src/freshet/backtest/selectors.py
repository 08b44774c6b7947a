"""Whoever can be back-tested, by name: policies, ceilings, formulas and learned models."""

from collections.abc import Iterable
from pathlib import Path

from freshet.backtest.cycle_crawl import Chooser
from freshet.backtest.cycle_oracles import ORACLES
from freshet.backtest.trace import Trace
from freshet.core.errors import UsageError
from freshet.core.settings import looks_like_formula
from freshet.schedule import policies
from freshet.schedule.model_file import Model, is_model_path, resolved

EVERY = (*policies.NAMES, *ORACLES)
KNOWN = (*EVERY, *policies.VARIANTS)


def check(name: str) -> None:
    """Refuse what is no policy, ceiling, formula or readable model file."""
    if name in KNOWN:
        return
    if not is_model_path(name) and not looks_like_formula(name):
        raise UsageError(policies.unknown(name, KNOWN))
    resolved(name)


def learnt_on(trace: Trace, names: Iterable[str]) -> list[str]:
    """Return those names that are of models which were learnt on this very trace."""
    models = [name for name in names if is_model_path(name)]
    digest = trace.digest if models else ""
    return [name for name in models if Model.read(Path(name)).digest == digest]


def contender(name: str, trace: Trace, seed: int) -> Chooser:
    """Return the policy of that name, or the one that looks at the truth of the trace."""
    if name in ORACLES:
        return ORACLES[name](trace, seed=seed)
    return policies.make(resolved(name), seed=seed)
