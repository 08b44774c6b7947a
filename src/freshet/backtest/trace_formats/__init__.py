"""Open a trace: recorded pages in any supported format, or generated ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import numpy as np

from freshet.archive.importers import bing
from freshet.archive.importers.base import OBSERVATIONS_FILE, input_name
from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.backtest.imputation import impute_unknown
from freshet.backtest.trace import (
    MIN_KNOWN_SHARE,
    NAMED_TRACES,
    PageGroupKeys,
    Trace,
    TraceCells,
    build_trace,
    cells_of_all_days,
    cells_of_named_trace,
    count_known_days,
    day_span,
    source_of,
)
from freshet.backtest.trace_formats.readers import (
    DAY_READERS,
    SILENT_LISTENER,
    HistorySource,
    ReadListener,
)
from freshet.backtest.trace_formats.saved_trace import MANIFEST_FILE as TRACE_FILE
from freshet.backtest.trace_formats.saved_trace import open_saved_trace
from freshet.core.errors import BadInputError, UsageError
from freshet.core.extras import OptionalPackage
from freshet.core.tables import PageDayTable, hash_names
from freshet.record.store import SETTINGS_FILE
from freshet.view.url import canonical_url, page_address
from freshet.world.population import draw_population
from freshet.world.presets import PRESETS

if TYPE_CHECKING:
    from freshet.archive.importers import day_table
else:
    day_table = OptionalPackage("freshet.archive.importers.day_table", extra="parquet")

FORMATS = ("parquet", *DAY_READERS, "trace")
FORMATS_WITH_PARTS = ("parquet", "catalog")
IMPUTED_FORMATS = ("bing", "csv")
DEFAULT_PAGES, DEFAULT_CYCLES, DEFAULT_SEED = 20_000, 57, 1
# One row with a wrong year would create millions of days.
MAX_DAY_SPAN = 36_525

FormatTests = Mapping[str, Callable[[Path], bool]]
FOLDER_FORMATS: FormatTests = {
    "trace": lambda folder: (folder / TRACE_FILE).is_file(),
    "catalog": lambda folder: (folder / SETTINGS_FILE).is_file(),
    "parquet": lambda folder: (folder / OBSERVATIONS_FILE).is_file(),
    "bing": lambda folder: any(folder.glob(f"{bing.HISTORY}.*")),
    "git": lambda folder: any((folder / name).exists() for name in (".git", "objects")),
}
FILE_FORMATS: FormatTests = {
    "parquet": lambda file: file.suffix == ".parquet",
    "csv": lambda file: Path(file.name.removesuffix(".gz")).suffix in {".csv", ".tsv", ".txt"},
}


class TraceExtent(TypedDict, total=False):
    """Size and seed of a generated trace, and the minimum share of known days.

    None and missing values mean the default.
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
    listener: ReadListener = SILENT_LISTENER,
    **extent: Unpack[TraceExtent],
) -> Trace:
    """Return the trace of recorded pages, or a generated one if no path is given.

    ``form`` is one of FORMATS, guessed by default; ``name`` selects among the pages. ``impute``
    fills unknown cells, by default only for some formats. ``listener`` receives progress and notes
    about unreadable input.
    """
    if where is None:
        _refuse(extent.get("least_known") is not None, "--known", "generated pages are all known")
        _refuse(impute is not None, "--impute", "generated pages are all known")
        return _generated(form, name or "brdc", extent)
    for option in ("pages", "cycles"):
        _refuse(extent.get(option) is not None, f"--{option}", f"{where} has those it has")
    form = form or guess_format(where)
    if form not in FORMATS:
        raise UsageError(f"{form!r} is no form of a trace; choose {', '.join(FORMATS)}")
    trace = _recorded(form, HistorySource(where, name, listener), extent.get("least_known"))
    if form in IMPUTED_FORMATS if impute is None else impute:
        trace = impute_unknown(trace)
    require_usable_trace(trace, f"{where}: ")
    return trace


def generate_trace(name: str, pages: int, cycles: int, *, seed: int = DEFAULT_SEED) -> Trace:
    """Generate a trace whose statistics match published ones."""
    _require_one_of(PRESETS, name, "without a folder")
    drawn = draw_population(PRESETS[name], pages, cycles, seed)
    trace = build_trace(
        name, PageGroupKeys(drawn.hosts, drawn.sites, drawn.directories), drawn.changed
    )
    require_usable_trace(trace, "")
    return trace


def guess_format(where: Path) -> str:
    """Return the format that a file or folder looks like."""
    if not where.exists():
        raise BadInputError(f"{where} is not there; give a file or folder with recorded pages")
    tests = FOLDER_FORMATS if where.is_dir() else FILE_FORMATS
    detected = next((form for form, matches in tests.items() if matches(where)), None)
    if detected is None:
        problem = (
            "holds no observations.parquet" if where.is_dir() else "is no .parquet or .csv file"
        )
        raise BadInputError(
            f"{where}: {problem}, nor is it one of {', '.join(FORMATS)}; say which it is"
        )
    return detected


def require_usable_trace(trace: Trace, where: str) -> None:
    """Reject a trace on which all policies are equal."""
    label = f"{where}the trace {trace.name!r}"
    if not len(trace.pages):
        raise BadInputError(
            f"{label} has no page whose days are known well enough; look for more days"
        )
    if trace.cycles <= WARM_UP_CYCLES:
        raise BadInputError(
            f"{label} has {trace.cycles} cycles, and the first {WARM_UP_CYCLES} only warm up"
        )
    if len(trace.pages) == 1:
        raise BadInputError(f"{label} has one page: there is nothing to choose; bring more pages")
    if trace.known_share == 0.0:
        raise BadInputError(
            f"{label} has only unknown cells: there is nothing to find; bring more days"
        )
    if not np.any(trace.changed_bits[WARM_UP_CYCLES:]):
        raise BadInputError(
            f"{label} has no change after the first {WARM_UP_CYCLES} cycles: there is nothing to find;"
            " bring more days"
        )


def _generated(form: str, name: str, extent: TraceExtent) -> Trace:
    if form:
        raise UsageError(f"the form {form!r} says how to read pages; give the file or folder")
    pages, cycles = extent.get("pages") or DEFAULT_PAGES, extent.get("cycles") or DEFAULT_CYCLES
    seed = extent.get("seed")
    return generate_trace(name, pages, cycles, seed=DEFAULT_SEED if seed is None else seed)


def _refuse(is_given: bool, option: str, why: str) -> None:
    if is_given:
        raise UsageError(f"{option} has no effect here: {why}; leave it out")


def _recorded(form: str, recording: HistorySource, least_known: float | None) -> Trace:
    """Return the trace of a history in a known format."""
    is_known = least_known is not None and form not in DAY_READERS
    _refuse(is_known, "--known", f"a {'saved' if form == 'trace' else form} trace has its pages")
    if recording.part and form not in FORMATS_WITH_PARTS:
        raise UsageError(
            f"{recording.part!r}: a {form} trace has no parts to choose from; leave the name out"
        )
    if form == "trace":
        return open_saved_trace(recording.path)
    if form == "parquet":
        return _regular(recording.path, recording.part or "mixed")
    return _on_one_grid(form, recording, MIN_KNOWN_SHARE if least_known is None else least_known)


def _regular(where: Path, name: str) -> Trace:
    """Return a named trace of daily observations; a page's site is its source."""
    _require_one_of(NAMED_TRACES, name, f"of {where}")
    table = day_table.read_day_table(where)
    trace_cells = cells_of_named_trace(table, name)
    sites = [source_of(table.parts[page]) for page in trace_cells.pages]
    return _packed(name, table, trace_cells, sites)


def _on_one_grid(form: str, recording: HistorySource, least_known: float) -> Trace:
    """Return the trace of all days of a history, of the pages with enough known days."""
    table = DAY_READERS[form](recording)
    _require_days(table, recording.path)
    trace_cells = cells_of_all_days(table, min_known_share=least_known)
    if not len(trace_cells.pages):
        best_share = count_known_days(table).max() / day_span(table)
        raise BadInputError(
            f"{recording.path}: no page is known on {least_known:.0%} of the {day_span(table)} days"
            f" from {_day(table.days.min())} to {_day(table.days.max())}, the best one on"
            f" {best_share:.1%}; look more often, ask for a lower share (--known), or mend wrong times"
        )
    return _packed(recording.part or _name(recording.path.resolve()), table, trace_cells, None)


def _day(number: int) -> str:
    """Return a day by its number since 1970.

    >>> _day(365)
    '1971-01-01'
    """
    return str(np.datetime64(int(number), "D"))


def _name(where: Path) -> str:
    """Return a folder's name, or a file's name without its suffixes."""
    return where.name if where.is_dir() else input_name(where)


def _packed(
    name: str, table: PageDayTable, trace_cells: TraceCells, sites: Sequence[str] | None
) -> Trace:
    """Return the trace of some cells, with the group keys and importance of their pages."""
    locations = [
        page_address(canonical_url(table.urls[page]) or table.urls[page])
        for page in trace_cells.pages
    ]
    keys = PageGroupKeys(
        hosts=hash_names([location.host for location in locations]),
        sites=hash_names(sites or [location.site for location in locations]),
        directories=hash_names([location.directory for location in locations]),
    )
    return build_trace(
        name,
        keys,
        trace_cells.changed,
        unknown=trace_cells.unknown,
        importance=None if table.importance is None else table.importance[trace_cells.pages],
        new_links=trace_cells.new_links,
    )


def _require_days(table: PageDayTable, where: Path) -> None:
    if not len(table):
        raise BadInputError(
            f"{where}: only unknowns: no look was compared with one before; bring more looks"
        )
    if day_span(table) > MAX_DAY_SPAN:
        raise BadInputError(
            f"{where}: the looks are {day_span(table):,} days apart; mend or leave out the wrong times"
        )


def _require_one_of(names: Iterable[str], name: str, where: str) -> None:
    if name not in names:
        raise UsageError(f"{name!r} is no trace {where}; choose {' or '.join(names)}")
