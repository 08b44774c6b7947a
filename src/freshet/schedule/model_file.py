"""Model files: a learned formula, with the trace and the settings that it was learned with.

A model file is JSON that a person can read and edit. Its path may be given wherever a policy is
named.
"""

import math
import typing
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from freshet.core import __version__
from freshet.core.errors import BadInputError, UsageError
from freshet.core.json_files import read_json_object, write_json_object
from freshet.core.setting_checks import MODEL_SUFFIX
from freshet.formula.expression import Formula, parse_formula
from freshet.formula.variables import WeightClock
from freshet.schedule import policies
from freshet.schedule.policies import FormulaRanking

MODEL_FORMAT = "freshet-model"
MODEL_VERSION = 2
MAX_MODEL_BYTES = 1_000_000
HEADER_FIELDS = ("format", "version")

TerminalSet = Literal["basic", "all", "extended"]
SelectionMethod = Literal["best", "avg", "sum"]
Record = TypeVar("Record", "FormulaModel", "PolicyTestResult")

OPTIONAL: Mapping[str, bool] = {"optional": True}


@dataclass(frozen=True, slots=True)
class PolicyTestResult:
    """The results of one policy on the test pages, which the search did not use.

    Files of earlier versions have no weighted freshness and no share of the links; NaN if unknown.
    """

    policy: str
    changerate: float
    ndcg: float
    freshness: float
    weighted_freshness: float = field(default=math.nan, metadata=OPTIONAL)
    links_detected: float = field(default=math.nan, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class FormulaModel:
    """A learned formula, the trace and settings it was learned with, and results of all policies.

    ``training`` and ``validation`` are the formula's fitness on the training pages and on the
    validation pages, which selected it. ``digest`` distinguishes traces of the same name. ``seed``
    is the seed of the page split and of tie breaks, ``search`` that of the search which found the
    formula. A figure that could not be measured is NaN, and null in the file.
    """

    formula: Formula
    terminals: TerminalSet
    clock: WeightClock
    fitness: str
    budget: float
    trace: str
    digest: str
    selection: SelectionMethod
    training: float
    validation: float
    seed: int
    search: int
    standings: tuple[PolicyTestResult, ...] = ()
    made_with: str = __version__

    def save(self, path: Path) -> None:
        """Write the model to a file; a failure leaves no partial file."""
        if not is_model_path(str(path)):
            raise UsageError(
                f"{path}: the name of a model file must end in {MODEL_SUFFIX}; rename it"
            )
        header = {"format": MODEL_FORMAT, "version": MODEL_VERSION}
        write_json_object(path, header | asdict(self) | {"formula": str(self.formula)})

    @classmethod
    def read(cls, path: Path) -> "FormulaModel":
        """Read a model file and check its fields; figures are not recomputed."""
        document = _read_document(path)
        if document.get("format") != MODEL_FORMAT:
            raise BadInputError(
                f"{path}: not a model file: its format must be {MODEL_FORMAT!r}; choose one"
            )
        if document.get("version") != MODEL_VERSION:
            raise BadInputError(
                f"{path}: a model file of version {_shorten(document.get('version'))}, but this "
                f"Freshet reads version {MODEL_VERSION}; learn it again with 'freshet evolve'"
            )
        values = {name: value for name, value in document.items() if name not in HEADER_FIELDS}
        model = _read_record(FormulaModel, values, str(path))
        if not 0 < model.budget <= 1:
            raise BadInputError(f"{path}: budget {model.budget:g} must be above 0 and at most 1")
        return model


def is_model_path(name: str) -> bool:
    """Whether a policy's name is the path of a model file.

    >>> is_model_path("models/news.json"), is_model_path("t / X")
    (True, False)
    """
    return name.endswith(MODEL_SUFFIX)


def may_replace_model(path: Path) -> bool:
    """Whether a model may be written to a path: it is free, or it has an older model."""
    if not path.exists():
        return True
    try:
        return _read_document(path).get("format") == MODEL_FORMAT
    except BadInputError:
        return False


def resolve_policy(name: str) -> str | FormulaRanking:
    """Return the policy of a name, formula, model path or class, as ``make_policy`` takes it.

    >>> resolve_policy("age"), resolve_policy("X*t").title
    ('age', 'X * t')
    """
    if name in policies.ALL_POLICY_NAMES or policies.is_own_policy(name):
        return name
    if not is_model_path(name):
        return FormulaRanking(policies.parse_policy_formula(name))
    model = FormulaModel.read(Path(name))
    return FormulaRanking(model.formula, model.clock, Path(name).stem)


def _read_document(path: Path) -> dict[str, Any]:
    advice = "choose a model file; 'freshet evolve' makes them"
    return read_json_object(path, max_bytes=MAX_MODEL_BYTES, advice=advice)


def _read_record(cls: type[Record], values: Any, location: str) -> Record:
    """Return a record from values by field name; every field must be there and of its type."""
    if not isinstance(values, dict):
        raise BadInputError(f"{location}: must be a JSON object, not {_shorten(values)}")
    names = [item.name for item in fields(cls)]
    values = dict.fromkeys((item.name for item in fields(cls) if item.metadata), None) | values
    if missing := [name for name in names if name not in values]:
        raise BadInputError(
            f"{location}: {', '.join(missing)} is missing; add it, or learn the model again"
        )
    if unknown := [name for name in values if name not in names]:
        raise BadInputError(f"{location}: {_shorten(unknown[0])} is unknown; remove it")
    types = typing.get_type_hints(cls)
    return cls(**{
        name: _read_value(types[name], values[name], f"{location}: {name}") for name in names
    })


def _read_value(field_type: Any, value: Any, location: str) -> Any:
    """Return a value of a field's type."""
    if field_type is Formula:
        return _read_formula(value, location)
    if typing.get_origin(field_type) is tuple:
        if not isinstance(value, list):
            raise BadInputError(f"{location} must be a list, not {_shorten(value)}")
        return tuple(_read_record(PolicyTestResult, item, location) for item in value)
    if typing.get_origin(field_type) is Literal:
        allowed = typing.get_args(field_type)
        if value not in allowed:
            raise BadInputError(
                f"{location} must be one of {', '.join(allowed)}, not {_shorten(value)}"
            )
        return value
    return _read_scalar(field_type, value, location)


def _read_scalar(field_type: type, value: Any, location: str) -> Any:
    """Return a string, an integer or a finite number."""
    if field_type is float and value is None:
        return math.nan
    type_name = {str: "text", int: "a whole number", float: "a number"}[field_type]
    fits = isinstance(value, field_type) or (field_type is float and isinstance(value, int))
    if not fits or isinstance(value, bool):
        raise BadInputError(f"{location} must be {type_name}, not {_shorten(value)}")
    if field_type is str:
        return value
    if abs(value) > 1e300 or not math.isfinite(value):
        raise BadInputError(f"{location} must be {type_name} of usual size, not {_shorten(value)}")
    return field_type(value)


def _read_formula(value: Any, location: str) -> Formula:
    if not isinstance(value, str):
        raise BadInputError(f"{location} must be text, not {_shorten(value)}")
    try:
        return parse_formula(value, policies.FORMULA_VARIABLES)
    except UsageError as error:
        raise BadInputError(f"{location}: {error}") from error


def _shorten(value: Any) -> str:
    return repr(value)[:80]
