"""Open a trace: recorded pages in any supported format, or generated ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import numpy as np

from freshet.archive.importers import bing
from freshet.archive.importers.base import OBSERVATIONS_FILE, input_name
from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.backtest.day_grid import (
    MIN_KNOWN_SHARE,
    NAMED_TRACES,
    TraceCells,
    cells_of_all_days,
    cells_of_named_trace,
    count_known_days,
    day_span,
    source_of,
)
from freshet.backtest.imputation import impute_unknown
from freshet.backtest.trace import PageGroupKeys, Trace, build_trace
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
from freshet.core.humanize import count_text
from freshet.core.tables import PageDayTable, hash_names
from freshet.record.collection_store import SETTINGS_FILE
from freshet.view.url import PageAddress, canonical_url, page_address
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
    """Size and seed of a generated trace, the minimum share of known days, and which days count.

    None and missing values mean the default. By default only the published traces ``snap`` and
    ``mixed`` drop the days on which whole sites changed. ``links`` says which new links count: all,
    internal, external or never-seen. A trace for ``cold`` crawls needs no cycles for a warm-up.
    """

    pages: int | None
    cycles: int | None
    seed: int | None
    least_known: float | None
    drop_site_wide_days: bool | None
    links: str | None
    cold: bool


def open_trace(
    path: Path | None,
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
    if path is None:
        _reject_option(
            extent.get("least_known") is not None,
            "--known",
            "all days of generated pages are known",
        )
        _reject_option(impute is not None, "--impute", "all days of generated pages are known")
        _reject_option(
            extent.get("drop_site_wide_days") is not None,
            "--drop-site-wide-days",
            "generated pages have no dates",
        )
        return _generate(form, name or "brdc", extent)
    for option in ("pages", "cycles"):
        _reject_option(
            extent.get(option) is not None, f"--{option}", f"{path} has a fixed number of them"
        )
    form = form or guess_format(path)
    if form not in FORMATS:
        raise UsageError(f"{form!r} is not a trace format; use one of {', '.join(FORMATS)}")
    trace = _read_recorded(form, HistorySource(path, name, listener), extent)
    if form in IMPUTED_FORMATS if impute is None else impute:
        trace = impute_unknown(trace)
    require_usable_trace(trace, f"{path}: ", cold=extent.get("cold", False))
    return trace


def generate_trace(
    name: str, pages: int, cycles: int, *, seed: int = DEFAULT_SEED, cold: bool = False
) -> Trace:
    """Generate a trace whose statistics match published ones."""
    _require_one_of(PRESETS, name, "without a folder")
    population = draw_population(PRESETS[name], pages, cycles, seed)
    trace = build_trace(
        name,
        PageGroupKeys(population.hosts, population.sites, population.directories),
        population.changed,
    )
    require_usable_trace(trace, "", cold=cold)
    return trace


def guess_format(path: Path) -> str:
    """Return the format that a file or folder looks like."""
    if not path.exists():
        raise BadInputError(f"{path} does not exist; give a file or folder with recorded pages")
    tests = FOLDER_FORMATS if path.is_dir() else FILE_FORMATS
    detected = next((form for form, matches in tests.items() if matches(path)), None)
    if detected is None:
        problem = (
            "contains no observations.parquet"
            if path.is_dir()
            else "is not a .parquet or .csv file"
        )
        raise BadInputError(
            f"{path}: unknown format: it {problem}; name the format: {', '.join(FORMATS)}"
        )
    return detected


def require_usable_trace(trace: Trace, context: str, *, cold: bool = False) -> None:
    """Reject a trace on which all policies are equal.

    No visit that counts finds a change of the first cycles: those of the warm-up, or in a cold
    crawl the first one.
    """
    first_cycles = 1 if cold else WARM_UP_CYCLES
    label = f"{context}the trace {trace.name!r}"
    if not len(trace.pages):
        raise BadInputError(f"{label} has no page with enough known days; record more days")
    if trace.cycles <= first_cycles:
        raise BadInputError(
            f"{label} has {count_text(trace.cycles, 'cycle')}, at least {first_cycles + 1} are "
            "needed; record more days"
        )
    if len(trace.pages) == 1:
        raise BadInputError(f"{label} has one page, so there is nothing to select; add more pages")
    if trace.known_share == 0.0:
        raise BadInputError(
            f"{label} has only unknown cells, so there is nothing to find; add more days"
        )
    if not np.any(trace.changed_bits[first_cycles:]):
        first = "cycle" if cold else f"{WARM_UP_CYCLES} cycles"
        raise BadInputError(
            f"{label} has no change after the first {first}, so there is nothing to find; "
            "add more days"
        )


def _generate(form: str, name: str, extent: TraceExtent) -> Trace:
    if form:
        raise UsageError(f"the format {form!r} says how to read pages; give the file or folder")
    pages, cycles = extent.get("pages") or DEFAULT_PAGES, extent.get("cycles") or DEFAULT_CYCLES
    seed = extent.get("seed")
    seed = DEFAULT_SEED if seed is None else seed
    return generate_trace(name, pages, cycles, seed=seed, cold=extent.get("cold", False))


def _reject_option(is_given: bool, option: str, reason: str) -> None:
    if is_given:
        raise UsageError(f"{option} has no effect here: {reason}; leave it out")


def _read_recorded(form: str, source: HistorySource, extent: TraceExtent) -> Trace:
    """Return the trace of a history in a known format."""
    least_known, drop = extent.get("least_known"), extent.get("drop_site_wide_days")
    is_fixed = least_known is not None and form not in DAY_READERS
    _reject_option(
        is_fixed, "--known", f"a {'saved' if form == 'trace' else form} trace has fixed pages"
    )
    if source.part and form not in FORMATS_WITH_PARTS:
        raise UsageError(
            f"{source.part!r}: a {form} trace has no parts to select; leave the name out"
        )
    _reject_option(
        drop is not None and form == "trace",
        "--drop-site-wide-days",
        "a saved trace has fixed days",
    )
    if form == "trace":
        return open_saved_trace(source.path)
    links = extent.get("links")
    if form == "parquet":
        return _read_named(source.path, source.part or "mixed", drop, links or "all")
    _reject_option(links is not None, "--links", f"a {form} trace counts all new links")
    known_share = MIN_KNOWN_SHARE if least_known is None else least_known
    return _read_days(form, source, known_share, drop=bool(drop))


def _read_named(path: Path, name: str, drop: bool | None, links: str) -> Trace:
    """Return a named trace of daily observations; a page's site is its source."""
    _require_one_of(NAMED_TRACES, name, f"of {path}")
    table = day_table.read_day_table(path, links=links)
    trace_cells = cells_of_named_trace(table, name, drop=drop)
    return _build(name, table, trace_cells, [source_of(part) for part in table.parts])


def _read_days(form: str, source: HistorySource, least_known: float, *, drop: bool) -> Trace:
    """Return the trace of all days of a history, of the pages with enough known days."""
    table = DAY_READERS[form](source)
    _require_days(table, source.path)
    sites = [_address(url).site for url in table.urls]
    trace_cells = cells_of_all_days(table, min_known_share=least_known, sites=sites, drop=drop)
    if not len(trace_cells.pages):
        best_share = count_known_days(table).max() / day_span(table)
        raise BadInputError(
            f"{source.path}: no page is known on {least_known:.0%} of the {day_span(table)} days"
            f" from {_day(table.days.min())} to {_day(table.days.max())}, the best one on"
            f" {best_share:.1%}; look more often, give a lower share (--known), or correct wrong"
            " times"
        )
    return _build(source.part or _trace_name(source.path.resolve()), table, trace_cells, sites)


def _day(number: int) -> str:
    """Return a day by its number since 1970.

    >>> _day(365)
    '1971-01-01'
    """
    return str(np.datetime64(int(number), "D"))


def _trace_name(path: Path) -> str:
    """Return a folder's name, or a file's name without its suffixes."""
    return path.name if path.is_dir() else input_name(path)


def _build(name: str, table: PageDayTable, trace_cells: TraceCells, sites: Sequence[str]) -> Trace:
    """Return the trace of some cells, with the group keys and importance of their pages.

    ``sites`` are the sites of all pages of the table.
    """
    locations = [_address(table.urls[page]) for page in trace_cells.pages]
    keys = PageGroupKeys(
        hosts=hash_names([location.host for location in locations]),
        sites=hash_names([sites[page] for page in trace_cells.pages]),
        directories=hash_names([location.directory for location in locations]),
    )
    trace = build_trace(
        name,
        keys,
        trace_cells.changed,
        unknown=trace_cells.unknown,
        importance=None if table.importance is None else table.importance[trace_cells.pages],
        new_links=trace_cells.new_links,
    )
    return replace(
        trace,
        change_times=trace_cells.change_times,
        site_wide_days=trace_cells.site_wide_days,
        most_links=trace_cells.most_links,
    )


def _address(url: str) -> PageAddress:
    return page_address(canonical_url(url) or url)


def _require_days(table: PageDayTable, path: Path) -> None:
    if not len(table):
        raise BadInputError(
            f"{path}: no known day: no look was compared with an earlier one; add more looks"
        )
    if day_span(table) > MAX_DAY_SPAN:
        raise BadInputError(
            f"{path}: the looks span {day_span(table):,} days; correct or remove wrong times"
        )


def _require_one_of(names: Iterable[str], name: str, context: str) -> None:
    if name not in names:
        raise UsageError(f"{name!r} is not a trace {context}; choose {' or '.join(names)}")
