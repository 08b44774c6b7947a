"""Models: which forecasts are live, since when, and how well they did."""

from dataclasses import dataclass
from datetime import datetime

from freshet.core.errors import UsageError
from freshet.crawl.learned_correction import LearnedForecastStatus
from freshet.crawl.policy_status import ExplorationStatus, PolicyStatus
from freshet.features.look_features import LOOK_FEATURE_NAMES
from freshet.predict.change_model import ChangeModel, LookSummary
from freshet.predict.forecast_scores import ForecastScores
from freshet.record.collection_store import MODELS_FOLDER
from freshet.record.models.change_model_file import read_change_model
from freshet.serve.dashboard import Dashboard
from freshet.serve.parameters import ParameterValues


@dataclass(frozen=True, slots=True)
class ModelReport:
    """A learned model: what it was trained on, and its scores on later looks beside baselines."""

    title: str
    made: datetime
    trained: LookSummary
    validated: LookSummary
    scores: dict[str, ForecastScores]
    gain: float
    gain_low: float
    gain_high: float
    is_better: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ModelsDocument:
    """The policy of the crawl, its mixture, and the learned model.

    ``learned`` is the state of the model in the crawl: whether it is used, why, and its gain in
    log-loss over the default forecast on the looks since. ``problem`` says why a stored model
    cannot be read.
    """

    made: datetime
    policy: str
    objective: str
    policy_status: PolicyStatus | None
    exploration: ExplorationStatus
    learned: LearnedForecastStatus | None
    model: ModelReport | None
    problem: str


def read_models(dashboard: Dashboard, values: ParameterValues) -> ModelsDocument:
    """Return which forecasts are live."""
    status = dashboard.status()
    with dashboard.outlook() as outlook:
        policy, objective = outlook.policy, outlook.objective
    model, problem = None, ""
    try:
        stored = read_change_model(dashboard.collection.path / MODELS_FOLDER, LOOK_FEATURE_NAMES)
        model = None if stored is None else _report(stored)
    except UsageError as error:
        problem = str(error)
    return ModelsDocument(
        made=dashboard.collection.clock.now(),
        policy=policy,
        objective=objective,
        policy_status=status.policy,
        exploration=status.exploration,
        learned=status.learned,
        model=model,
        problem=problem,
    )


def _report(model: ChangeModel) -> ModelReport:
    validation = model.validation
    return ModelReport(
        title=model.title,
        made=model.made,
        trained=model.trained,
        validated=validation.looks,
        scores=dict(validation.scores),
        gain=validation.gain,
        gain_low=validation.gain_low,
        gain_high=validation.gain_high,
        is_better=validation.is_better,
        reason=validation.reason,
    )
