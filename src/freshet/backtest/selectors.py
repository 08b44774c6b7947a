"""Selectors for back-tests by name: policies, oracles, formulas and learned models."""

from collections.abc import Iterable
from pathlib import Path

from freshet.backtest.cycle_crawl import Selector
from freshet.backtest.cycle_oracles import CYCLE_ORACLES
from freshet.backtest.trace import Trace
from freshet.core.errors import UsageError
from freshet.core.setting_checks import looks_like_formula
from freshet.schedule import policies
from freshet.schedule.model_file import FormulaModel, is_model_path, resolve_policy

ALL_NAMES = (*policies.POLICY_NAMES, *CYCLE_ORACLES)
ACCEPTED_NAMES = (*ALL_NAMES, *policies.LINK_POLICY_NAMES, *policies.CYCLE_POLICY_NAMES)


def check_name(name: str) -> None:
    """Reject a name that is not a policy, oracle, formula, readable model file or class."""
    if name in ACCEPTED_NAMES:
        return
    if policies.is_own_policy(name):
        policies.make_policy(name)
        return
    if not is_model_path(name) and not looks_like_formula(name):
        raise UsageError(policies.unknown_policy_message(name, ACCEPTED_NAMES))
    resolve_policy(name)


def models_trained_on(trace: Trace, names: Iterable[str]) -> list[str]:
    """Return the names of models that were trained on this trace."""
    models = [name for name in names if is_model_path(name)]
    digest = trace.digest if models else ""
    return [name for name in models if FormulaModel.read(Path(name)).digest == digest]


def make_selector(name: str, trace: Trace, seed: int) -> Selector:
    """Return the policy of that name, or an oracle of the trace."""
    if name in CYCLE_ORACLES:
        return CYCLE_ORACLES[name](trace, seed=seed)
    return policies.make_policy(resolve_policy(name), seed=seed)
