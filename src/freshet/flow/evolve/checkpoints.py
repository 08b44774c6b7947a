"""Where an evolution stands, kept in a file after every generation, so that it can go on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from freshet.archive.exporters.base import replacing
from freshet.core.errors import BadInput, FreshetError, NotFound
from freshet.core.formula import parse
from freshet.schedule.evolve.search import Stand, stand_from
from freshet.schedule.evolve.select import Judged

FORMAT = "freshet-evolve"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Searched:
    """A search that is over: its fold and seed, and the formulas that it kept."""

    fold: int
    seed: int
    kept: tuple[Judged, ...]


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
    with replacing(path) as part:
        part.write_text(json.dumps(document, allow_nan=False), "utf-8")


def read(path: Path, purpose: Mapping[str, Any], names: Sequence[str]) -> Journey:
    """Return how far the evolution of that purpose has come."""
    document = _document(path)
    if document.get("format") != FORMAT or document.get("version") != VERSION:
        raise BadInput(f"{path}: is no checkpoint of this Freshet's evolve; begin without --resume")
    _require_same(path, document.get("purpose"), json.loads(json.dumps(purpose)))
    try:
        under_way = document["under_way"]
        return Journey(
            tuple(_searched(each, names) for each in document["over"]),
            under_way and stand_from(under_way, names),
        )
    except (KeyError, TypeError, ValueError, AttributeError, FreshetError) as error:
        raise _damaged(path, error) from error


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
    if kept == purpose:
        return
    kept = kept if isinstance(kept, dict) else {}
    if kept.get("digest") != purpose["digest"]:
        raise BadInput(
            f"{path}: a checkpoint of another trace ({kept.get('trace')!r}, not the "
            f"{purpose['trace']!r} given here); give that trace, or another --checkpoint"
        )
    differing = [name for name in purpose if kept.get(name) != purpose[name]]
    told = ", ".join(f"{name} {kept.get(name)!r}, not {purpose[name]!r}" for name in differing)
    raise BadInput(
        f"{path}: a checkpoint of other options: {told}; give those, or another --checkpoint"
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
