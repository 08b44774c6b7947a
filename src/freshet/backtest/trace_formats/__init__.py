"""Open a trace: recorded pages in any form that can be read, or generated ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from freshet.archive.importers import bing
from freshet.archive.importers.base import part_of
from freshet.archive.importers.day_table import FILE as DAYS_FILE
from freshet.archive.importers.day_table import read_days
from freshet.backtest.cycle_crawl import WARM_UP
from freshet.backtest.imputation import imputed
from freshet.backtest.trace import (
    LEAST_KNOWN,
    SOURCES,
    Cells,
    Keys,
    Trace,
    cells,
    known_days,
    on_one_grid,
    packed,
    source_of,
    span,
)
from freshet.backtest.trace_formats.readers import READERS, UNTOLD, Recording, Told
from freshet.backtest.trace_formats.saved_trace import FILE as TRACE_FILE
from freshet.backtest.trace_formats.saved_trace import open_saved
from freshet.core.errors import BadInput, UsageError
from freshet.core.tables import DayTable, keys_of
from freshet.record.store import SETTINGS_FILE
from freshet.view.url import canonical, place
from freshet.world.population import population
from freshet.world.presets import PRESETS

FORMS = ("parquet", *READERS, "trace")
NAMED = ("parquet", "catalog")
IMPUTED = ("bing", "csv")
PAGES, CYCLES, SEED = 20_000, 57, 1
# One row with a wrong year would lay out millions of days.
LONGEST_DAYS = 36_525

Signs = Mapping[str, Callable[[Path], bool]]
IN_FOLDER: Signs = {
    "trace": lambda folder: (folder / TRACE_FILE).is_file(),
    "catalog": lambda folder: (folder / SETTINGS_FILE).is_file(),
    "parquet": lambda folder: (folder / DAYS_FILE).is_file(),
    "bing": lambda folder: any(folder.glob(f"{bing.HISTORY}.*")),
    "git": lambda folder: any((folder / name).exists() for name in (".git", "objects")),
}
OF_FILE: Signs = {
    "parquet": lambda file: file.suffix == ".parquet",
    "csv": lambda file: Path(file.name.removesuffix(".gz")).suffix in {".csv", ".tsv", ".txt"},
}


class Extent(TypedDict, total=False):
    """How many pages and cycles are generated, by which seed; and how well days must be known.

    What is None or left out is as usual.
    """

    pages: int | None
    cycles: int | None
    seed: int | None
    least_known: float | None


def open_trace(
    where: Path | None,
    *,
    form: str = "",
    name: str = "",
    impute: bool | None = None,
    told: Told = UNTOLD,
    **extent: Unpack[Extent],
) -> Trace:
    """Return the trace of recorded pages, or a generated one where none are given.

    ``form`` is one of FORMS, else it is guessed; ``name`` chooses among the pages that are there.
    ``impute`` guesses unknown cells, as it is usual for some forms. ``told`` is who hears how far
    the reading is, and what could not be read.
    """
    if where is None:
        _refuse(extent.get("least_known") is not None, "--known", "generated pages are all known")
        _refuse(impute is not None, "--impute", "generated pages are all known")
        return _generated(form, name or "brdc", extent)
    for option in ("pages", "cycles"):
        _refuse(extent.get(option) is not None, f"--{option}", f"{where} has those it has")
    form = form or guess(where)
    if form not in FORMS:
        raise UsageError(f"{form!r} is no form of a trace; choose {', '.join(FORMS)}")
    trace = _recorded(form, Recording(where, name, told), extent.get("least_known"))
    if form in IMPUTED if impute is None else impute:
        trace = imputed(trace)
    require_something_to_find(trace, f"{where}: ")
    return trace


def generate(name: str, pages: int, cycles: int, *, seed: int = SEED) -> Trace:
    """Make a trace of a generated population whose statistics are published ones."""
    _require_one_of(PRESETS, name, "without a folder")
    drawn = population(PRESETS[name], pages, cycles, seed)
    trace = packed(name, Keys(drawn.hosts, drawn.sites, drawn.directories), drawn.changed)
    require_something_to_find(trace, "")
    return trace


def guess(where: Path) -> str:
    """Return the form that a file or folder looks like."""
    if not where.exists():
        raise BadInput(f"{where} is not there; give a file or folder with recorded pages")
    signs = IN_FOLDER if where.is_dir() else OF_FILE
    found = next((form for form, has in signs.items() if has(where)), None)
    if found is None:
        what = "holds no observations.parquet" if where.is_dir() else "is no .parquet or .csv file"
        raise BadInput(f"{where}: {what}, nor is it one of {', '.join(FORMS)}; say which it is")
    return found


def require_something_to_find(trace: Trace, where: str) -> None:
    """Refuse a trace on which all policies are equal."""
    what = f"{where}the trace {trace.name!r}"
    if not len(trace.pages):
        raise BadInput(f"{what} has no page whose days are known well enough; look for more days")
    if trace.cycles <= WARM_UP:
        raise BadInput(f"{what} has {trace.cycles} cycles, and the first {WARM_UP} only warm up")
    if len(trace.pages) == 1:
        raise BadInput(f"{what} has one page: there is nothing to choose; bring more pages")
    if trace.known_share == 0.0:
        raise BadInput(f"{what} has only unknown cells: there is nothing to find; bring more days")
    if not np.any(trace.changed_bits[WARM_UP:]):
        raise BadInput(
            f"{what} has no change after the first {WARM_UP} cycles: there is nothing to find;"
            " bring more days"
        )


def _generated(form: str, name: str, extent: Extent) -> Trace:
    if form:
        raise UsageError(f"the form {form!r} says how to read pages; give the file or folder")
    pages, cycles = extent.get("pages") or PAGES, extent.get("cycles") or CYCLES
    seed = extent.get("seed")
    return generate(name, pages, cycles, seed=SEED if seed is None else seed)


def _refuse(given: bool, option: str, why: str) -> None:
    if given:
        raise UsageError(f"{option} has no effect here: {why}; leave it out")


def _recorded(form: str, recording: Recording, least_known: float | None) -> Trace:
    """Return the trace of a history in a known form."""
    is_known = least_known is not None and form not in READERS
    _refuse(is_known, "--known", f"a {'saved' if form == 'trace' else form} trace has its pages")
    if recording.part and form not in NAMED:
        raise UsageError(
            f"{recording.part!r}: a {form} trace has no parts to choose from; leave the name out"
        )
    if form == "trace":
        return open_saved(recording.where)
    if form == "parquet":
        return _regular(recording.where, recording.part or "mixed")
    return _on_one_grid(form, recording, LEAST_KNOWN if least_known is None else least_known)


def _regular(where: Path, name: str) -> Trace:
    """Return a named trace of daily observations: what a site is to a live page, is its source."""
    _require_one_of(SOURCES, name, f"of {where}")
    table = read_days(where)
    found = cells(table, name)
    sites = [source_of(table.parts[page]) for page in found.pages]
    return _packed(name, table, found, sites)


def _on_one_grid(form: str, recording: Recording, least_known: float) -> Trace:
    """Return the trace of all days of a history, of pages that are known well enough."""
    table = READERS[form](recording)
    _require_days(table, recording.where)
    found = on_one_grid(table, least_known=least_known)
    if not len(found.pages):
        best = known_days(table).max() / span(table)
        raise BadInput(
            f"{recording.where}: no page is known on {least_known:.0%} of the {span(table)} days"
            f" from {_day(table.days.min())} to {_day(table.days.max())}, the best one on"
            f" {best:.1%}; look more often, ask for a lower share (--known), or mend wrong times"
        )
    return _packed(recording.part or _name(recording.where.resolve()), table, found, None)


def _day(number: int) -> str:
    """Return a day by its number since 1970.

    >>> _day(365)
    '1971-01-01'
    """
    return str(np.datetime64(int(number), "D"))


def _name(where: Path) -> str:
    """Return a folder's name, or a file's without its suffixes."""
    return where.name if where.is_dir() else part_of(where)


def _packed(name: str, table: DayTable, found: Cells, sites: Sequence[str] | None) -> Trace:
    """Return the trace of some cells, with where their pages lie and what they are worth."""
    places = [place(canonical(table.urls[page]) or table.urls[page]) for page in found.pages]
    keys = Keys(
        hosts=keys_of([each.host for each in places]),
        sites=keys_of(sites or [each.site for each in places]),
        directories=keys_of([each.directory for each in places]),
    )
    return packed(
        name,
        keys,
        found.changed,
        unknown=found.unknown,
        importance=None if table.importance is None else table.importance[found.pages],
        new_links=found.new_links,
    )


def _require_days(table: DayTable, where: Path) -> None:
    if not len(table):
        raise BadInput(
            f"{where}: only unknowns: no look was compared with one before; bring more looks"
        )
    if span(table) > LONGEST_DAYS:
        raise BadInput(
            f"{where}: the looks are {span(table):,} days apart; mend or leave out the wrong times"
        )


def _require_one_of(names: Iterable[str], name: str, where: str) -> None:
    if name not in names:
        raise UsageError(f"{name!r} is no trace {where}; choose {' or '.join(names)}")
