"""A learned model: the formula that a search found best, with how and on what it was found.

It is kept as a file that a person can read and edit; the formula in it is text of our grammar. Its
path stands wherever a policy is named.
"""

import json
import math
import typing
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar

from freshet.core.errors import BadInputError, UsageError
from freshet.core.files import PRIVATE_FILE_MODE
from freshet.core.partial_files import atomic_output
from freshet.core.settings import MODEL_SUFFIX
from freshet.core.version import __version__
from freshet.formula.expression import Formula, parse_formula
from freshet.formula.variables import FitnessMeasure, WeightClock
from freshet.schedule import policies
from freshet.schedule.policies import FormulaRanking

MODEL_FORMAT = "freshet-model"
MODEL_VERSION = 2
MAX_MODEL_BYTES = 1_000_000
HEADER_FIELDS = ("format", "version")

TerminalSet = Literal["basic", "all", "extended"]
SelectionMethod = Literal["best", "avg", "sum"]
Row = TypeVar("Row", "FormulaModel", "PolicyTestResult")


@dataclass(frozen=True, slots=True)
class PolicyTestResult:
    """What one policy reached on the pages that the search never saw."""

    policy: str
    changerate: float
    ndcg: float
    freshness: float


@dataclass(frozen=True, slots=True)
class FormulaModel:
    """A formula that was learnt, from which trace and for what, and its place among the others.

    ``training`` and ``validation`` are its fitness on the pages that the search saw and on those
    that chose among its best; ``digest`` tells the trace from others of the same name. By ``seed``
    pages were shared out and lots drawn, by ``search`` the formula was bred. A figure that could
    not be measured is NaN, and null in the file.
    """

    formula: Formula
    terminals: TerminalSet
    clock: WeightClock
    fitness: FitnessMeasure
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
        """Write the model to a file, which is whole or not there."""
        if not is_model_path(str(path)):
            raise UsageError(f"{path}: the name of a model file ends in {MODEL_SUFFIX}; call it so")
        told = asdict(self) | {"formula": str(self.formula)}
        document = _measured({"format": MODEL_FORMAT, "version": MODEL_VERSION} | told)
        with atomic_output(path, mode=PRIVATE_FILE_MODE) as part:
            part.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> "FormulaModel":
        """Read a model from a file, refusing what is no model; figures are taken as they are."""
        table = _table(path)
        if table.get("format") != MODEL_FORMAT:
            raise BadInputError(
                f"{path}: not a model file: its format must be {MODEL_FORMAT!r}; choose one"
            )
        if table.get("version") != MODEL_VERSION:
            raise BadInputError(
                f"{path}: a model file of version {_shown(table.get('version'))}, and this Freshet "
                f"reads version {MODEL_VERSION}; learn it anew with 'freshet evolve'"
            )
        given = {name: value for name, value in table.items() if name not in HEADER_FIELDS}
        model = _filled(FormulaModel, given, str(path))
        if not 0 < model.budget <= 1:
            raise BadInputError(f"{path}: budget {model.budget:g} must be above 0 and at most 1")
        return model


def is_model_path(name: str) -> bool:
    """Say whether a policy's name is the path of a model file.

    >>> is_model_path("models/news.json"), is_model_path("t / X")
    (True, False)
    """
    return name.endswith(MODEL_SUFFIX)


def may_replace_model(path: Path) -> bool:
    """Say whether a model may go to a path: nothing is there, or a model that it replaces."""
    if not path.exists():
        return True
    try:
        return _table(path).get("format") == MODEL_FORMAT
    except BadInputError:
        return False


def resolve_policy(name: str) -> str | FormulaRanking:
    """Return the policy that a name stands for, as ``policies.make`` takes it.

    >>> resolve_policy("age"), resolve_policy("X*t").title
    ('age', 'X * t')
    """
    if name in policies.ALL_POLICY_NAMES:
        return name
    if not is_model_path(name):
        return FormulaRanking(policies.parse_policy_formula(name))
    model = FormulaModel.read(Path(name))
    return FormulaRanking(model.formula, model.clock, Path(name).stem)


def _measured(value: Any) -> Any:
    """Return a document in which nothing stands for what could not be measured.

    >>> _measured({"ndcg": float("nan"), "seeds": [1]})
    {'ndcg': None, 'seeds': [1]}
    """
    if isinstance(value, dict):
        return {name: _measured(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_measured(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _table(path: Path) -> Mapping[str, Any]:
    # A pipe would be waited for; a folder is told by who opens it.
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadInputError(f"{path}: is no file; 'freshet evolve' makes model files")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_MODEL_BYTES + 1)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}; 'freshet evolve' makes model "
                       "files") from error  # fmt: skip
    if len(content) > MAX_MODEL_BYTES:
        raise BadInputError(f"{path}: larger than {MAX_MODEL_BYTES:,} bytes: not a model file")
    try:
        table = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{path}: not readable as JSON: {error}; mend the file") from error
    if not isinstance(table, dict):
        raise BadInputError(f"{path}: not a model file, which is a table of values; choose one")
    return table


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _filled(cls: type[Row], table: Any, where: str) -> Row:
    """Return a row of a table that has exactly its fields, each of the right kind."""
    if not isinstance(table, dict):
        raise BadInputError(f"{where}: must be a table of values, not {_shown(table)}")
    names = [item.name for item in fields(cls)]
    if missing := [name for name in names if name not in table]:
        raise BadInputError(
            f"{where}: {', '.join(missing)} is missing; add it, or learn the model anew"
        )
    if unknown := [name for name in table if name not in names]:
        raise BadInputError(f"{where}: {_shown(unknown[0])} is unknown; take it out")
    kinds = typing.get_type_hints(cls)
    return cls(**{name: _value(kinds[name], table[name], f"{where}: {name}") for name in names})


def _value(kind: Any, value: Any, where: str) -> Any:
    """Return a value of the kind that a field has."""
    if kind is Formula:
        return _formula(value, where)
    if typing.get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise BadInputError(f"{where} must be a list, not {_shown(value)}")
        return tuple(_filled(PolicyTestResult, each, where) for each in value)
    if typing.get_origin(kind) is Literal:
        allowed = typing.get_args(kind)
        if value not in allowed:
            raise BadInputError(f"{where} must be one of {', '.join(allowed)}, not {_shown(value)}")
        return value
    return _plain(kind, value, where)


def _plain(kind: type, value: Any, where: str) -> Any:
    """Return a text, a whole number or a finite number."""
    if kind is float and value is None:
        return math.nan
    words = {str: "text", int: "a whole number", float: "a number"}[kind]
    fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
    if not fits or isinstance(value, bool):
        raise BadInputError(f"{where} must be {words}, not {_shown(value)}")
    if kind is str:
        return value
    if abs(value) > 1e300 or not math.isfinite(value):
        raise BadInputError(f"{where} must be {words} of usual size, not {_shown(value)}")
    return kind(value)


def _formula(value: Any, where: str) -> Formula:
    if not isinstance(value, str):
        raise BadInputError(f"{where} must be text, not {_shown(value)}")
    try:
        return parse_formula(value, policies.FORMULA_VARIABLES)
    except UsageError as error:
        raise BadInputError(f"{where}: {error}") from error


def _shown(value: Any) -> str:
    return repr(value)[:80]
