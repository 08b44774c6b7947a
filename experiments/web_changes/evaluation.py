"""Tables of results: the published figures, the world's and those of the real pages."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import polars as pl

from experiments.web_changes.data import EXCLUDED_PARTS, HOURLY_PARTS
from experiments.web_changes.experiment import LIVELY_SHARE, MeasuredPages
from freshet.core.types import FloatArray
from freshet.measure.statistics.burst_table import BurstInterval
from freshet.measure.statistics.groups import SHAPES, GroupSummary, compare_groups, summarise_group
from freshet.measure.statistics.page_summary import PageFigures

EXPECTED = Path(__file__).with_name("expected.json")
HORIZONS = ("2 hours", "1 day", "1 week", "2 weeks", "4 weeks", "5 weeks")
DOMAINS = ("gov", "edu", "com", "net", "org")
DEPTHS = ("5+", "4", "3", "2", "1", "0")
VISITORS = ("2", "3-6", "7-38", "39+")
CATEGORIES = (
    "Industry/trade", "Music", "Porn", "Personal pages", "Sports/recreation", "News/magazines",
)  # fmt: skip
GROUP_TABLES = (
    ("t1_visitors", "visitors", VISITORS),
    ("t1_tld", "tld", DOMAINS),
    ("t1_depth", "depth", DEPTHS),
    ("t1_category", "category", CATEGORIES),
)
GROUP_TESTS = (
    ("interval_hours", "p_hours"),
    ("dice_mean", "p_dice"),
    ("knot_hours", "p_knot_hours"),
    ("knot_dice", "p_knot_dice"),
)
MIN_OFTEN_CHANGES, HALF_LEFT = 8, 0.5
HOUR_BINS = (0.0, 1.5, 24.5, 168.0, 400.0, 840.0)
DICE_BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

Value = float | str | None
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class FigureValue:
    """A figure, and the number of pages behind it."""

    value: Value
    pages: int


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure of one table; ``n`` is the number of real pages, else of generated ones."""

    table: str
    group: str
    metric: str
    paper: Value
    world: Value
    real: Value
    n: int
    n_world: int


Figures = dict[Key, FigureValue]


def figure_rows(paper: Mapping[Key, Value], world: Figures, real: Figures) -> list[FigureRow]:
    """Combine the figures of the paper, the world and the real pages in the paper's order."""
    keys = dict.fromkeys([*paper, *world, *real])
    missing = FigureValue(None, 0)
    result_rows = []
    for key in keys:
        world_value, real_value = world.get(key, missing), real.get(key, missing)
        n = real_value.pages if real_value.value is not None else world_value.pages
        result_rows.append(
            FigureRow(
                *key, paper.get(key), world_value.value, real_value.value, n, world_value.pages
            )
        )
    return result_rows


def paper_figures() -> dict[Key, Value]:
    """Return the paper's figures."""
    stored = json.loads(EXPECTED.read_text("utf-8"))["rows"]
    published_rows = [row for row in stored if row["paper"] is not None]
    return {(row["table"], row["group"], row["metric"]): row["paper"] for row in published_rows}


def digest(folder: Path) -> str:
    """Return a hash of all data files of a folder."""
    folder_hash = blake2b(digest_size=16)
    for path in sorted(folder.glob("*.parquet")):
        folder_hash.update(path.name.encode())
        folder_hash.update(blake2b(path.read_bytes(), digest_size=16).digest())
    return folder_hash.hexdigest()


def expected_json(table: Sequence[FigureRow], *, seed: int, pages: int, data: str) -> str:
    """Return the table as the stored JSON text, against which later runs are checked.

    Each row gets the tolerance for a run with the same seed; the section ``quick`` stays unchanged.
    """
    quick = json.loads(EXPECTED.read_text("utf-8"))["quick"]
    quick_lines, row_lines = _lines(quick["rows"]), _lines([_kept_row(row) for row in table])
    quick_header = f'"pages": {quick["pages"]}, "seed": {quick["seed"]}'
    return (
        f'{{"seed": {seed}, "pages": {pages}, "digest": "{data}",\n'
        f' "quick": {{{quick_header}, "rows": [\n{quick_lines}\n ]}},\n'
        f' "rows": [\n{row_lines}\n ]}}\n'
    )


def _lines(rows: Sequence[object]) -> str:
    return ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)


def _kept_row(row: FigureRow) -> dict[str, Value]:
    values = {name: _rounded(getattr(row, name)) for name in ("paper", "world", "real")}
    sizes = [abs(value) for value in values.values() if isinstance(value, float)]
    tolerance = max(0.01, 0.03 * max(sizes)) if sizes else None
    keys = {"table": row.table, "group": row.group, "metric": row.metric}
    return keys | values | {"n": row.n, "n_world": row.n_world, "tolerance": _rounded(tolerance)}


def _rounded(value: Value) -> Value:
    return float(f"{value:.6g}") if isinstance(value, float | int) else value


def page_tables(measured: MeasuredPages) -> Figures:
    """Return Tables 1 and 4, the shares of curves and the histograms of Figure 3."""
    figures = only_changed(measured.figures)
    tables = dict(totals(figures))
    for table, name, groups in GROUP_TABLES:
        tables |= dict(figures_by_group(table, groups, measured.names[name], measured, figures))
    tables |= dict(curves("all", figures))
    tables |= dict(curves("changed once", figures[figures.changes == 1]))
    tables |= dict(curves("changed often", figures[figures.changes >= MIN_OFTEN_CHANGES]))
    tables |= dict(survival("all", figures))
    tables |= dict(histograms(figures))
    return tables


def only_changed(figures: PageFigures) -> PageFigures:
    """Remove shapes and shares of words from pages that never changed."""
    columns = {name: getattr(figures, name) for name in PageFigures.__dataclass_fields__}
    columns["shape"] = np.where(figures.changes > 0, figures.shape, "")
    for name in ("stay", "go"):
        columns[name] = np.where(figures.changes > 0, columns[name], np.nan)
    return PageFigures(**columns)


def totals(figures: PageFigures) -> Iterator[tuple[Key, FigureValue]]:
    """Yield the first row of Table 1, and the figures of the text about all pages."""
    total = summarise_group("all", figures)
    yield ("t1_all", "all", "never_changed"), FigureValue(total.never_changed, total.compared)
    yield from group_figures("t1_all", total)


def group_figures(table: str, row: GroupSummary) -> Iterator[tuple[Key, FigureValue]]:
    """Yield the means of a row of Table 1, with the knots of both algorithms."""
    means = {
        "hours": row.interval_hours,
        "dice": row.dice,
        "knot_hours": row.knot_hours,
        "knot_dice": row.knot_dice,
        "paper_knot_hours": row.paper_knot_hours,
        "paper_knot_dice": row.paper_knot_dice,
    }
    for metric, mean in means.items():
        yield (table, row.name, metric), FigureValue(mean.mean, mean.pages)


def figures_by_group(
    table: str,
    names: Sequence[str],
    member: np.ndarray,
    measured: MeasuredPages,
    figures: PageFigures,
) -> Iterator[tuple[Key, FigureValue]]:
    """Yield the rows of Table 1 for some groups, and the test for differences."""
    for name in names:
        is_member = member == name
        yield from group_figures(table, summarise_group(name, figures[is_member]))
        by_site = site_means(figures.interval_hours[is_member], measured.names["site"][is_member])
        yield (table, name, "hours_by_site"), FigureValue(_mean(by_site), len(by_site))
    for figure, metric in GROUP_TESTS:
        values = getattr(figures, figure)
        is_known = np.isfinite(values)
        test = compare_groups(figure, {name: values[is_known & (member == name)] for name in names})
        pages = int(np.count_nonzero(is_known & np.isin(member, names)))
        yield (table, "groups differ", metric), FigureValue(test.p, pages)


def site_means(values: FloatArray, sites: np.ndarray) -> FloatArray:
    """Return the mean of each site, so that every site counts the same.

    >>> site_means(np.array([1.0, 3.0, 5.0]), np.array(["a", "a", "b"])).tolist()
    [2.0, 5.0]
    """
    is_known = np.isfinite(values)
    _, site_indices = np.unique(sites[is_known], return_inverse=True)
    sums = np.bincount(site_indices, values[is_known])
    return np.asarray(sums / np.bincount(site_indices)) if len(site_indices) else np.empty(0)


def figures_by_part(measured: MeasuredPages) -> Figures:
    """Return Table 1's figures and shares of curves for each part of the real data."""
    figures, parts = only_changed(measured.figures), measured.names["part"]
    tables: Figures = {}
    for part in sorted(set(parts.tolist())):
        row = summarise_group(part, figures[parts == part])
        tables["t1_part", part, "never_changed"] = FigureValue(row.never_changed, row.compared)
        tables |= dict(group_figures("t1_part", row))
        if row.shapes:
            tables["t1_part", part, "knotted"] = FigureValue(row.shapes[-1], row.curves)
    return tables


def whole_span_figures(folder: Path) -> Figures:
    """Return figures of all observed days of all pages, beyond the window of five weeks."""
    days = pl.scan_parquet(folder / "observations.parquet").filter(
        ~pl.col("part").is_in([*EXCLUDED_PARTS, *HOURLY_PARTS])
    )
    pages = days.group_by("part", "page").agg(
        (pl.col("day").filter("changed").max() - pl.col("day").min()).dt.total_hours().alias("h"),
        pl.col("changed").sum().alias("changes"),
    )
    table = pages.collect()
    changed = table.filter(pl.col("changes") > 0)
    hours = float((changed["h"] / changed["changes"]).mean())
    never_changed = 1 - len(changed) / len(table)
    return {
        ("t1_all", "whole span", "never_changed"): FigureValue(never_changed, len(table)),
        ("t1_all", "whole span", "hours"): FigureValue(hours, len(changed)),
    }


def curves(name: str, figures: PageFigures) -> Iterator[tuple[Key, FigureValue]]:
    """Yield the shares of flat, sloped and knotted curves, and their knots."""
    row = summarise_group(name, figures)
    for shape, share in zip(SHAPES, row.shapes, strict=False):
        yield ("curves", name, shape), FigureValue(share, row.curves)
    for prefix, hours, dice in (
        ("knot", row.knot_hours, row.knot_dice),
        ("paper_knot", row.paper_knot_hours, row.paper_knot_dice),
    ):
        yield ("curves", name, f"{prefix}_hours_mean"), FigureValue(hours.mean, hours.pages)
        yield ("curves", name, f"{prefix}_hours_median"), FigureValue(hours.median, hours.pages)
        yield ("curves", name, f"{prefix}_dice_mean"), FigureValue(dice.mean, dice.pages)
        yield ("curves", name, f"{prefix}_dice_median"), FigureValue(dice.median, dice.pages)


def survival(name: str, figures: PageFigures) -> Iterator[tuple[Key, FigureValue]]:
    """Yield Table 4, over the pages that changed."""
    row = summarise_group(name, figures[figures.changes > 0])
    for metric, means in (("mean", row.survival), ("unbroken", row.unbroken_survival)):
        for horizon, mean in zip(HORIZONS, means, strict=True):
            yield ("t4", horizon, metric), FigureValue(mean.mean, mean.pages)
    last = row.survival[-1]
    yield ("t4", HORIZONS[-1], "median"), FigureValue(last.median, last.pages)
    shares = figures.survival[figures.changes > 0][:, -1]
    known_shares = shares[np.isfinite(shares)]
    lost_share = float(np.mean(known_shares < HALF_LEFT)) if len(known_shares) else None
    yield ("t4", HORIZONS[-1], "less than half left"), FigureValue(lost_share, len(known_shares))


def histograms(figures: PageFigures) -> Iterator[tuple[Key, FigureValue]]:
    """Yield the shares of pages in the bins of Figure 3."""
    for metric, values, edges in (
        ("hours", figures.interval_hours, HOUR_BINS),
        ("dice", figures.dice_mean, DICE_BINS),
    ):
        known_values = values[np.isfinite(values)]
        counts, _ = np.histogram(known_values, edges)
        for low, high, count in zip(edges, edges[1:], counts.tolist(), strict=False):
            share = count / len(known_values) if len(known_values) else None
            yield ("fig3", f"{low:g} to {high:g}", metric), FigureValue(share, len(known_values))


def sub_hour_figures(table: Sequence[BurstInterval], figures: PageFigures) -> Figures:
    """Return Table 2: shares of all pages; those of the hour cover the whole five weeks."""
    pages = len(figures)
    tables: Figures = {}
    for row in table:
        name = "instant" if row.minutes == 0 else f"{row.minutes} minutes"
        share = row.pages / pages
        tables["t2", name, "any"] = FigureValue(row.any * share, pages)
        tables["t2", name, "all"] = FigureValue(row.all * share, pages)
        tables["t2", name, "dice_mean"] = FigureValue(row.mean_dice, row.pages)
        tables["t2", name, "dice_median"] = FigureValue(row.median_dice, row.pages)
    is_lively = figures.changes > LIVELY_SHARE * figures.compared
    tables["t2", "60 minutes", "any"] = FigureValue(float(np.mean(figures.changes > 0)), pages)
    tables["t2", "60 minutes", "all"] = FigureValue(float(np.mean(is_lively)), pages)
    return tables


def as_json(data: str, table: Sequence[FigureRow]) -> str:
    """Return the experiment's JSON document."""
    return json.dumps({"name": "web_changes", "data": data, "rows": [asdict(row) for row in table]})


def as_text(table: Sequence[FigureRow]) -> str:
    """Return the rows as a printable table."""
    head = f"{'table':<10}{'group':<24}{'metric':<20}{'paper':>10}{'world':>10}{'real':>10}{'n':>8}"
    lines = [
        f"{row.table:<10}{row.group[:23]:<24}{row.metric:<20}{format_value(row.paper):>10}"
        f"{format_value(row.world):>10}{format_value(row.real):>10}{row.n:>8}"
        for row in table
    ]
    return "\n".join([head, *lines])


def format_value(value: Value) -> str:
    """Format a figure in few characters; a dash stands for none.

    >>> format_value(None), format_value(0.7944), format_value(123.4), format_value("words")
    ('-', '.794', '123', 'words')
    """
    if value is None or isinstance(value, str):
        return value or "-"
    if abs(value) >= 20:
        return f"{value:.0f}"
    return f"{value:.3f}".removeprefix("0") if abs(value) < 1 else f"{value:.2f}"


def _mean(values: FloatArray) -> float | None:
    return float(values.mean()) if len(values) else None
