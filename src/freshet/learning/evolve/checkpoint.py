"""Where an evolution stands, kept in a file after every generation, so that it can go on."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from freshet.backtest.trace import Trace
from freshet.core.errors import BadInputError, FreshetError, NotFoundError
from freshet.core.files import PRIVATE_FILE_MODE
from freshet.core.partial_files import atomic_output
from freshet.formula.expression import parse_formula
from freshet.learning.evolve.fold_evaluator import FinishedSearch
from freshet.learning.evolve.genetic_search import Generation, generation_from_json
from freshet.learning.evolve.model_selection import ValidatedFormula
from freshet.learning.evolve.task import EvolutionTask

CHECKPOINT_FORMAT = "freshet-evolve"
CHECKPOINT_VERSION = 2


@dataclass(frozen=True, slots=True)
class EvolutionCheckpoint:
    """How far an evolution has come: the searches that are over, and the one under way."""

    finished_searches: tuple[FinishedSearch, ...] = ()
    current_generation: Generation | None = None


def write_checkpoint(
    path: Path, purpose: Mapping[str, Any], checkpoint: EvolutionCheckpoint
) -> None:
    """Keep how far an evolution has come; ``purpose`` is what tells it from any other."""
    document = {
        "format": CHECKPOINT_FORMAT,
        "version": CHECKPOINT_VERSION,
        "purpose": purpose,
        "over": [_plain(each) for each in checkpoint.finished_searches],
        "under_way": checkpoint.current_generation and checkpoint.current_generation.as_json(),
    }
    with atomic_output(path, mode=PRIVATE_FILE_MODE) as part:
        part.write_text(json.dumps(document, allow_nan=False), "utf-8")


def evolution_purpose(trace: Trace, task: EvolutionTask, device: str) -> dict[str, Any]:
    """Return what tells an evolution from any other, by the options of the command.

    What the trace is called is for people: traces of one digest are the same.
    """
    plain = asdict(task)
    ways = plain.pop("ways")
    fitness, select = plain.pop("measure"), plain.pop("selection")
    called = f"{trace.name}: {len(trace.pages):,} pages, {trace.cycles:,} cycles"
    told = {"trace": called, "digest": trace.digest, "fitness": fitness, "select": select}
    return {**told, **plain, **ways, "device": device}


def read_checkpoint(
    path: Path, purpose: Mapping[str, Any], task: EvolutionTask
) -> EvolutionCheckpoint:
    """Return how far the evolution of that purpose, and of that task, has come."""
    document = _document(path)
    if document.get("format") != CHECKPOINT_FORMAT or document.get("version") != CHECKPOINT_VERSION:
        raise BadInputError(
            f"{path}: is no checkpoint of this Freshet's evolve; begin without --resume"
        )
    _require_same(path, document.get("purpose"), json.loads(json.dumps(purpose)))
    try:
        under_way = document["under_way"]
        journey = EvolutionCheckpoint(
            tuple(_searched(each, task.variables) for each in document["over"]),
            None if under_way is None else generation_from_json(under_way, task.variables),
        )
        _require_whole(journey, task)
    except (KeyError, TypeError, ValueError, AttributeError, FreshetError) as error:
        raise _damaged(path, error) from error
    return journey


def _require_whole(journey: EvolutionCheckpoint, task: EvolutionTask) -> None:
    """Refuse what no evolution of the task would have written."""
    seeds = range(task.seed, task.seed + task.seeds)
    order = [(fold, seed) for fold in range(max(1, task.folds)) for seed in seeds]
    if [(each.fold, each.seed) for each in journey.finished_searches] != order[
        : len(journey.finished_searches)
    ]:
        raise ValueError("its searches are not those of its seeds and folds")
    if not all(each.formulas for each in journey.finished_searches):
        raise ValueError("a search kept nothing")
    figures = [
        figure
        for each in journey.finished_searches
        for one in each.formulas
        for figure in _figures(one)
    ]
    if journey.current_generation is not None:
        figures += _figures_under_way(journey.current_generation, task)
        if len(journey.finished_searches) >= len(order):
            raise ValueError("one search too many")
    if not all(math.isfinite(figure) for figure in figures):
        raise ValueError("a fitness is no number")


def _figures(judged: ValidatedFormula) -> tuple[float, float]:
    return judged.training, judged.validation


def _figures_under_way(stand: Generation, task: EvolutionTask) -> list[float]:
    """Return every fitness of a search that is under way and can go on."""
    if not (stand.population and stand.best):
        raise ValueError("a generation is empty")
    if not 0 <= stand.number < task.ways.generations - 1:
        raise ValueError(f"generation {stand.number}")
    return [
        *stand.fitness_by_text.values(),
        *(each.fitness for each in (*stand.population, *stand.best)),
    ]


def _document(path: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    except FileNotFoundError as error:
        raise NotFoundError(f"{path}: there is no checkpoint; begin without --resume") from error
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, error) from error
    return document if isinstance(document, dict) else {}


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _damaged(path: Path, error: Exception) -> BadInputError:
    return BadInputError(f"{path}: the checkpoint is damaged ({error}); delete it and begin anew")


def _require_same(path: Path, kept: Any, purpose: Mapping[str, Any]) -> None:
    """Refuse to go on with a search of something else."""
    kept = kept if isinstance(kept, dict) else {}
    if {**kept, "trace": ""} == {**purpose, "trace": ""}:
        return
    if kept.get("digest") != purpose["digest"]:
        raise BadInputError(
            f"{path}: a checkpoint of another trace ({kept.get('trace')}, not {purpose['trace']} "
            "as given here); give that trace, or another --checkpoint"
        )
    differing = [name for name in purpose if name != "trace" and kept.get(name) != purpose[name]]
    were, are = (
        " ".join(f"--{name} {some.get(name)}" for name in differing) for some in (kept, purpose)
    )
    raise BadInputError(
        f"{path}: a checkpoint of other options: {were}, not {are}; give those, or another "
        "--checkpoint"
    )


def _plain(searched: FinishedSearch) -> dict[str, Any]:
    kept = [[str(each.formula), each.training, each.validation] for each in searched.formulas]
    return {"fold": searched.fold, "seed": searched.seed, "kept": kept}


def _searched(plain: Mapping[str, Any], names: Sequence[str]) -> FinishedSearch:
    kept = tuple(
        ValidatedFormula(parse_formula(text, names), float(training), float(validation))
        for text, training, validation in plain["kept"]
    )
    return FinishedSearch(int(plain["fold"]), int(plain["seed"]), kept)
