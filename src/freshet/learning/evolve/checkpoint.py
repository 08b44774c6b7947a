"""The checkpoint of an evolution, written after every generation, from which it can be resumed."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from freshet.backtest.trace import Trace
from freshet.core.errors import BadInputError, FreshetError, NotFoundError
from freshet.core.files import PRIVATE_FILE_MODE, atomic_output
from freshet.core.strict_json import load_strict_json
from freshet.formula.expression import parse_formula
from freshet.learning.evolve.fold_evaluator import FinishedSearch
from freshet.learning.evolve.genetic_search import Generation, generation_from_json
from freshet.learning.evolve.model_selection import ValidatedFormula
from freshet.learning.evolve.task import EvolutionTask

CHECKPOINT_FORMAT = "freshet-evolve"
CHECKPOINT_VERSION = 3


@dataclass(frozen=True, slots=True)
class EvolutionCheckpoint:
    """The finished searches of an evolution, and the last generations of the current ones.

    Searches that run side by side have generations of the same number.
    """

    finished_searches: tuple[FinishedSearch, ...] = ()
    current_generations: tuple[Generation, ...] = ()


def write_checkpoint(
    path: Path, purpose: Mapping[str, Any], checkpoint: EvolutionCheckpoint
) -> None:
    """Write a checkpoint; ``purpose`` identifies the evolution."""
    document = {
        "format": CHECKPOINT_FORMAT,
        "version": CHECKPOINT_VERSION,
        "purpose": purpose,
        "over": [_search_as_json(search) for search in checkpoint.finished_searches],
        "under_way": [generation.as_json() for generation in checkpoint.current_generations],
    }
    with atomic_output(path, mode=PRIVATE_FILE_MODE) as part:
        part.write_text(json.dumps(document, allow_nan=False), "utf-8")


def evolution_purpose(trace: Trace, task: EvolutionTask, device: str) -> dict[str, Any]:
    """Return the values that identify an evolution, by the names of the command's options.

    The description of the trace is for people: traces of the same digest are the same.
    """
    options = asdict(task)
    config = options.pop("config")
    purpose = {
        "trace": f"{trace.name}: {len(trace.pages):,} pages, {trace.cycles:,} cycles",
        "digest": trace.digest,
        "fitness": options.pop("measure"),
        "select": options.pop("selection"),
    }
    return {**purpose, **options, **config, "device": device}


def read_checkpoint(
    path: Path, purpose: Mapping[str, Any], task: EvolutionTask
) -> EvolutionCheckpoint:
    """Read the checkpoint of an evolution; that of another purpose or task is refused."""
    document = _read_json(path)
    if document.get("format") != CHECKPOINT_FORMAT or document.get("version") != CHECKPOINT_VERSION:
        raise BadInputError(
            f"{path}: not a checkpoint of this Freshet's evolve; begin without --resume"
        )
    _require_same_purpose(path, document.get("purpose"), json.loads(json.dumps(purpose)))
    try:
        checkpoint = EvolutionCheckpoint(
            tuple(_search_from_json(search, task.variables) for search in document["over"]),
            tuple(
                generation_from_json(generation, task.variables)
                for generation in document["under_way"]
            ),
        )
        _require_valid(checkpoint, task)
    except (KeyError, TypeError, ValueError, AttributeError, FreshetError) as error:
        raise _damaged(path, error) from error
    return checkpoint


def _require_valid(checkpoint: EvolutionCheckpoint, task: EvolutionTask) -> None:
    """Refuse a checkpoint that no evolution of the task would have written."""
    seeds = range(task.seed, task.seed + task.seeds)
    order = [(fold, seed) for fold in range(max(1, task.folds)) for seed in seeds]
    searches = checkpoint.finished_searches
    if [(search.fold, search.seed) for search in searches] != order[: len(searches)]:
        raise ValueError("its searches are not those of its seeds and folds")
    if not all(search.formulas for search in searches):
        raise ValueError("a search has no formulas")
    formulas = [formula for search in searches for formula in search.formulas]
    fitnesses = [
        fitness for formula in formulas for fitness in (formula.training, formula.validation)
    ]
    current = checkpoint.current_generations
    for generation in current:
        fitnesses += _fitnesses_of(generation, task)
    if len(searches) + len(current) > len(order):
        raise ValueError("one search too many")
    numbers = {generation.number for generation in current}
    if len(numbers) > 1 or len(current) not in {0, 1, task.seeds}:
        raise ValueError("its current generations do not belong together")
    if not all(math.isfinite(fitness) for fitness in fitnesses):
        raise ValueError("a fitness is not a number")


def _fitnesses_of(generation: Generation, task: EvolutionTask) -> list[float]:
    """Return every fitness of a generation that can have a successor."""
    if not (generation.population and generation.best):
        raise ValueError("a generation is empty")
    if not 0 <= generation.number < task.config.generations - 1:
        raise ValueError(f"generation {generation.number}")
    formulas = (*generation.population, *generation.best)
    return [*generation.fitness_by_text.values(), *(scored.fitness for scored in formulas)]


def _read_json(path: Path) -> Mapping[str, Any]:
    try:
        document = load_strict_json(path.read_bytes())
    except FileNotFoundError as error:
        raise NotFoundError(f"{path}: there is no checkpoint; begin without --resume") from error
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, error) from error
    return document if isinstance(document, dict) else {}


def _damaged(path: Path, error: Exception) -> BadInputError:
    return BadInputError(f"{path}: the checkpoint is damaged ({error}); delete it and begin again")


def _require_same_purpose(path: Path, stored: Any, purpose: Mapping[str, Any]) -> None:
    """Refuse to resume an evolution of another trace or with other options."""
    stored = stored if isinstance(stored, dict) else {}
    if {**stored, "trace": ""} == {**purpose, "trace": ""}:
        return
    if stored.get("digest") != purpose["digest"]:
        raise BadInputError(
            f"{path}: a checkpoint of another trace ({stored.get('trace')}, not {purpose['trace']} "
            "as given here); give that trace, or another --checkpoint"
        )
    names = [name for name in purpose if name != "trace" and stored.get(name) != purpose[name]]
    stored_options, given_options = (
        " ".join(f"--{name} {options.get(name)}" for name in names) for options in (stored, purpose)
    )
    raise BadInputError(
        f"{path}: a checkpoint of other options: {stored_options}, not {given_options}; give "
        "those, or another --checkpoint"
    )


def _search_as_json(search: FinishedSearch) -> dict[str, Any]:
    formulas = [
        [str(validated.formula), validated.training, validated.validation]
        for validated in search.formulas
    ]
    return {"fold": search.fold, "seed": search.seed, "kept": formulas}


def _search_from_json(document: Mapping[str, Any], variables: Sequence[str]) -> FinishedSearch:
    formulas = tuple(
        ValidatedFormula(parse_formula(text, variables), float(training), float(validation))
        for text, training, validation in document["kept"]
    )
    return FinishedSearch(int(document["fold"]), int(document["seed"]), formulas)
