"""Where an evolution stands, kept in a file after every generation, so that it can go on."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from freshet.backtest.trace import Trace
from freshet.core.errors import BadInput, FreshetError, NotFound
from freshet.core.files import PRIVATE_FILE
from freshet.core.partial_files import replacing
from freshet.formula.expression import parse
from freshet.learning.evolve.fold_evaluator import Searched
from freshet.learning.evolve.genetic_search import Stand, stand_from
from freshet.learning.evolve.model_selection import Judged
from freshet.learning.evolve.task import Task

FORMAT = "freshet-evolve"
VERSION = 2


@dataclass(frozen=True, slots=True)
class Journey:
    """How far an evolution has come: the searches that are over, and the one under way."""

    over: tuple[Searched, ...] = ()
    under_way: Stand | None = None


def write(path: Path, purpose: Mapping[str, Any], journey: Journey) -> None:
    """Keep how far an evolution has come; ``purpose`` is what tells it from any other."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "purpose": purpose,
        "over": [_plain(each) for each in journey.over],
        "under_way": journey.under_way and journey.under_way.as_json(),
    }
    with replacing(path, mode=PRIVATE_FILE) as part:
        part.write_text(json.dumps(document, allow_nan=False), "utf-8")


def purpose_of(trace: Trace, task: Task, device: str) -> dict[str, Any]:
    """Return what tells an evolution from any other, by the options of the command.

    What the trace is called is for people: traces of one digest are the same.
    """
    plain = asdict(task)
    ways = plain.pop("ways")
    fitness, select = plain.pop("measure"), plain.pop("selection")
    called = f"{trace.name}: {len(trace.pages):,} pages, {trace.cycles:,} cycles"
    told = {"trace": called, "digest": trace.digest, "fitness": fitness, "select": select}
    return {**told, **plain, **ways, "device": device}


def read(path: Path, purpose: Mapping[str, Any], task: Task) -> Journey:
    """Return how far the evolution of that purpose, and of that task, has come."""
    document = _document(path)
    if document.get("format") != FORMAT or document.get("version") != VERSION:
        raise BadInput(f"{path}: is no checkpoint of this Freshet's evolve; begin without --resume")
    _require_same(path, document.get("purpose"), json.loads(json.dumps(purpose)))
    try:
        under_way = document["under_way"]
        journey = Journey(
            tuple(_searched(each, task.names) for each in document["over"]),
            None if under_way is None else stand_from(under_way, task.names),
        )
        _require_whole(journey, task)
    except (KeyError, TypeError, ValueError, AttributeError, FreshetError) as error:
        raise _damaged(path, error) from error
    return journey


def _require_whole(journey: Journey, task: Task) -> None:
    """Refuse what no evolution of the task would have written."""
    seeds = range(task.seed, task.seed + task.seeds)
    order = [(fold, seed) for fold in range(max(1, task.folds)) for seed in seeds]
    if [(each.fold, each.seed) for each in journey.over] != order[: len(journey.over)]:
        raise ValueError("its searches are not those of its seeds and folds")
    if not all(each.kept for each in journey.over):
        raise ValueError("a search kept nothing")
    figures = [figure for each in journey.over for one in each.kept for figure in _figures(one)]
    if journey.under_way is not None:
        figures += _figures_under_way(journey.under_way, task)
        if len(journey.over) >= len(order):
            raise ValueError("one search too many")
    if not all(math.isfinite(figure) for figure in figures):
        raise ValueError("a fitness is no number")


def _figures(judged: Judged) -> tuple[float, float]:
    return judged.training, judged.validation


def _figures_under_way(stand: Stand, task: Task) -> list[float]:
    """Return every fitness of a search that is under way and can go on."""
    if not (stand.population and stand.best):
        raise ValueError("a generation is empty")
    if not 0 <= stand.generation < task.ways.generations - 1:
        raise ValueError(f"generation {stand.generation}")
    return [*stand.known.values(), *(each.fitness for each in (*stand.population, *stand.best))]


def _document(path: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    except FileNotFoundError as error:
        raise NotFound(f"{path}: there is no checkpoint; begin without --resume") from error
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, error) from error
    return document if isinstance(document, dict) else {}


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _damaged(path: Path, error: Exception) -> BadInput:
    return BadInput(f"{path}: the checkpoint is damaged ({error}); delete it and begin anew")


def _require_same(path: Path, kept: Any, purpose: Mapping[str, Any]) -> None:
    """Refuse to go on with a search of something else."""
    kept = kept if isinstance(kept, dict) else {}
    if {**kept, "trace": ""} == {**purpose, "trace": ""}:
        return
    if kept.get("digest") != purpose["digest"]:
        raise BadInput(
            f"{path}: a checkpoint of another trace ({kept.get('trace')}, not {purpose['trace']} "
            "as given here); give that trace, or another --checkpoint"
        )
    differing = [name for name in purpose if name != "trace" and kept.get(name) != purpose[name]]
    were, are = (
        " ".join(f"--{name} {some.get(name)}" for name in differing) for some in (kept, purpose)
    )
    raise BadInput(
        f"{path}: a checkpoint of other options: {were}, not {are}; give those, or another "
        "--checkpoint"
    )


def _plain(searched: Searched) -> dict[str, Any]:
    kept = [[str(each.formula), each.training, each.validation] for each in searched.kept]
    return {"fold": searched.fold, "seed": searched.seed, "kept": kept}


def _searched(plain: Mapping[str, Any], names: Sequence[str]) -> Searched:
    kept = tuple(
        Judged(parse(text, names), float(training), float(validation))
        for text, training, validation in plain["kept"]
    )
    return Searched(int(plain["fold"]), int(plain["seed"]), kept)
