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

from freshet.core.errors import BadInput, UsageError
from freshet.core.files import PRIVATE_FILE
from freshet.core.partial_files import replacing
from freshet.core.settings import MODEL_SUFFIX
from freshet.core.version import __version__
from freshet.formula.expression import Formula, parse
from freshet.formula.variables import Clock, Measure
from freshet.schedule import policies
from freshet.schedule.policies import Ranking

FORMAT = "freshet-model"
VERSION = 2
LARGEST_FILE_BYTES = 1_000_000
HEADER = ("format", "version")

Terminals = Literal["basic", "all", "extended"]
Selection = Literal["best", "avg", "sum"]
Row = TypeVar("Row", "Model", "Standing")


@dataclass(frozen=True, slots=True)
class Standing:
    """What one policy reached on the pages that the search never saw."""

    policy: str
    changerate: float
    ndcg: float
    freshness: float


@dataclass(frozen=True, slots=True)
class Model:
    """A formula that was learnt, from which trace and for what, and its place among the others.

    ``training`` and ``validation`` are its fitness on the pages that the search saw and on those
    that chose among its best; ``digest`` tells the trace from others of the same name. By ``seed``
    pages were shared out and lots drawn, by ``search`` the formula was bred. A figure that could
    not be measured is NaN, and null in the file.
    """

    formula: Formula
    terminals: Terminals
    clock: Clock
    fitness: Measure
    budget: float
    trace: str
    digest: str
    selection: Selection
    training: float
    validation: float
    seed: int
    search: int
    standings: tuple[Standing, ...] = ()
    made_with: str = __version__

    def save(self, path: Path) -> None:
        """Write the model to a file, which is whole or not there."""
        if not is_model_path(str(path)):
            raise UsageError(f"{path}: the name of a model file ends in {MODEL_SUFFIX}; call it so")
        told = asdict(self) | {"formula": str(self.formula)}
        document = _measured({"format": FORMAT, "version": VERSION} | told)
        with replacing(path, mode=PRIVATE_FILE) as part:
            part.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> "Model":
        """Read a model from a file, refusing what is no model; figures are taken as they are."""
        table = _table(path)
        if table.get("format") != FORMAT:
            raise BadInput(f"{path}: not a model file: its format must be {FORMAT!r}; choose one")
        if table.get("version") != VERSION:
            raise BadInput(
                f"{path}: a model file of version {_shown(table.get('version'))}, and this Freshet "
                f"reads version {VERSION}; learn it anew with 'freshet evolve'"
            )
        given = {name: value for name, value in table.items() if name not in HEADER}
        model = _filled(Model, given, str(path))
        if not 0 < model.budget <= 1:
            raise BadInput(f"{path}: budget {model.budget:g} must be above 0 and at most 1")
        return model


def is_model_path(name: str) -> bool:
    """Say whether a policy's name is the path of a model file.

    >>> is_model_path("models/news.json"), is_model_path("t / X")
    (True, False)
    """
    return name.endswith(MODEL_SUFFIX)


def may_be_written(path: Path) -> bool:
    """Say whether a model may go to a path: nothing is there, or a model that it replaces."""
    if not path.exists():
        return True
    try:
        return _table(path).get("format") == FORMAT
    except BadInput:
        return False


def resolved(name: str) -> str | Ranking:
    """Return the policy that a name stands for, as ``policies.make`` takes it.

    >>> resolved("age"), resolved("X*t").title
    ('age', 'X * t')
    """
    if name in policies.KNOWN:
        return name
    if not is_model_path(name):
        return Ranking(policies.formula_of(name))
    model = Model.read(Path(name))
    return Ranking(model.formula, model.clock, Path(name).stem)


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
        raise BadInput(f"{path}: is no file; 'freshet evolve' makes model files")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}; 'freshet evolve' makes model "
                       "files") from error  # fmt: skip
    if len(content) > LARGEST_FILE_BYTES:
        raise BadInput(f"{path}: larger than {LARGEST_FILE_BYTES:,} bytes: not a model file")
    try:
        table = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not readable as JSON: {error}; mend the file") from error
    if not isinstance(table, dict):
        raise BadInput(f"{path}: not a model file, which is a table of values; choose one")
    return table


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _filled(cls: type[Row], table: Any, where: str) -> Row:
    """Return a row of a table that has exactly its fields, each of the right kind."""
    if not isinstance(table, dict):
        raise BadInput(f"{where}: must be a table of values, not {_shown(table)}")
    names = [item.name for item in fields(cls)]
    if missing := [name for name in names if name not in table]:
        raise BadInput(f"{where}: {', '.join(missing)} is missing; add it, or learn the model anew")
    if unknown := [name for name in table if name not in names]:
        raise BadInput(f"{where}: {_shown(unknown[0])} is unknown; take it out")
    kinds = typing.get_type_hints(cls)
    return cls(**{name: _value(kinds[name], table[name], f"{where}: {name}") for name in names})


def _value(kind: Any, value: Any, where: str) -> Any:
    """Return a value of the kind that a field has."""
    if kind is Formula:
        return _formula(value, where)
    if typing.get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise BadInput(f"{where} must be a list, not {_shown(value)}")
        return tuple(_filled(Standing, each, where) for each in value)
    if typing.get_origin(kind) is Literal:
        allowed = typing.get_args(kind)
        if value not in allowed:
            raise BadInput(f"{where} must be one of {', '.join(allowed)}, not {_shown(value)}")
        return value
    return _plain(kind, value, where)


def _plain(kind: type, value: Any, where: str) -> Any:
    """Return a text, a whole number or a finite number."""
    if kind is float and value is None:
        return math.nan
    words = {str: "text", int: "a whole number", float: "a number"}[kind]
    fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
    if not fits or isinstance(value, bool):
        raise BadInput(f"{where} must be {words}, not {_shown(value)}")
    if kind is str:
        return value
    if abs(value) > 1e300 or not math.isfinite(value):
        raise BadInput(f"{where} must be {words} of usual size, not {_shown(value)}")
    return kind(value)


def _formula(value: Any, where: str) -> Formula:
    if not isinstance(value, str):
        raise BadInput(f"{where} must be text, not {_shown(value)}")
    try:
        return parse(value, policies.FORMULA_NAMES)
    except UsageError as error:
        raise BadInput(f"{where}: {error}") from error


def _shown(value: Any) -> str:
    return repr(value)[:80]
