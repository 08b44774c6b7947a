"""The tables: what the paper published, what the world and the real pages give, side by side."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import polars as pl

from experiments.web_changes.data import HOURLY, LEFT_OUT
from experiments.web_changes.experiment import NEARLY_EVERY, Measured
from freshet.core.types import Floats
from freshet.measure.statistics.burst_table import Interval
from freshet.measure.statistics.groups import SHAPES, Group, differ, group
from freshet.measure.statistics.page_summary import PageFigures

EXPECTED = Path(__file__).with_name("expected.json")
HORIZONS = ("2 hours", "1 day", "1 week", "2 weeks", "4 weeks", "5 weeks")
DOMAINS = ("gov", "edu", "com", "net", "org")
DEPTHS = ("5+", "4", "3", "2", "1", "0")
OFTEN, LITTLE_LEFT = 8, 0.5
HOUR_BINS = (0.0, 1.5, 24.5, 168.0, 400.0, 840.0)
DICE_BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

Value = float | str | None
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Found:
    """A figure, and of how many pages it is."""

    value: Value
    pages: int


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of one table; ``n`` is the number of real pages, else that of generated ones."""

    table: str
    group: str
    metric: str
    paper: Value
    world: Value
    real: Value
    n: int
    n_world: int


Figures = dict[Key, Found]


def rows(paper: Mapping[Key, Value], world: Figures, real: Figures) -> list[Row]:
    """Lay figures side by side, those of the paper first and in its order."""
    keys = dict.fromkeys([*paper, *world, *real])
    nothing = Found(None, 0)
    found = []
    for key in keys:
        ours, theirs = world.get(key, nothing), real.get(key, nothing)
        n = theirs.pages if theirs.value is not None else ours.pages
        found.append(Row(*key, paper.get(key), ours.value, theirs.value, n, ours.pages))
    return found


def published() -> dict[Key, Value]:
    """Return the paper's figures."""
    held = json.loads(EXPECTED.read_text("utf-8"))["rows"]
    said = [row for row in held if row["paper"] is not None]
    return {(row["table"], row["group"], row["metric"]): row["paper"] for row in said}


def digest(folder: Path) -> str:
    """Return what tells the data files of a folder from any others: a hash of all of them."""
    found = blake2b(digest_size=16)
    for path in sorted(folder.glob("*.parquet")):
        found.update(path.name.encode())
        found.update(blake2b(path.read_bytes(), digest_size=16).digest())
    return found.hexdigest()


def kept(table: Sequence[Row], *, seed: int, pages: int, data: str) -> str:
    """Return the table as it is kept beside this file, for later runs to be held against.

    Rows have the tolerance within which a run of the same seed must lie; what the small world must
    give stays as it is.
    """
    quick = json.loads(EXPECTED.read_text("utf-8"))["quick"]
    bounds, held = _lines(quick["rows"]), _lines([_kept_row(row) for row in table])
    small = f'"pages": {quick["pages"]}, "seed": {quick["seed"]}'
    return (
        f'{{"seed": {seed}, "pages": {pages}, "digest": "{data}",\n'
        f' "quick": {{{small}, "rows": [\n{bounds}\n ]}},\n'
        f' "rows": [\n{held}\n ]}}\n'
    )


def _lines(rows: Sequence[object]) -> str:
    return ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)


def _kept_row(row: Row) -> dict[str, Value]:
    held = {name: _rounded(getattr(row, name)) for name in ("paper", "world", "real")}
    sizes = [abs(value) for value in held.values() if isinstance(value, float)]
    tolerance = max(0.01, 0.03 * max(sizes)) if sizes else None
    named = {"table": row.table, "group": row.group, "metric": row.metric}
    return named | held | {"n": row.n, "n_world": row.n_world, "tolerance": _rounded(tolerance)}


def _rounded(value: Value) -> Value:
    return float(f"{value:.6g}") if isinstance(value, float | int) else value


def page_tables(measured: Measured) -> Figures:
    """Return Tables 1 and 4, the shares of curves and the histograms of Figure 3."""
    figures = of_changed(measured.figures)
    found = dict(totals(figures))
    found |= dict(grouped("t1_tld", DOMAINS, measured.names["tld"], measured, figures))
    found |= dict(grouped("t1_depth", DEPTHS, measured.names["depth"], measured, figures))
    found |= dict(curves("all", figures))
    found |= dict(curves("changed once", figures[figures.changes == 1]))
    found |= dict(curves("changed often", figures[figures.changes >= OFTEN]))
    found |= dict(survival("all", figures))
    found |= dict(histograms(figures))
    return found


def of_changed(figures: PageFigures) -> PageFigures:
    """Leave shapes, and shares of words, only to pages that changed."""
    columns = {name: getattr(figures, name) for name in PageFigures.__dataclass_fields__}
    columns["shape"] = np.where(figures.changes > 0, figures.shape, "")
    for name in ("stay", "go"):
        columns[name] = np.where(figures.changes > 0, columns[name], np.nan)
    return PageFigures(**columns)


def totals(figures: PageFigures) -> Iterator[tuple[Key, Found]]:
    """Yield the first row of Table 1, and what the text says of all pages."""
    whole = group("all", figures)
    yield ("t1_all", "all", "never_changed"), Found(whole.never_changed, whole.compared)
    yield from of_group("t1_all", whole)


def of_group(table: str, row: Group) -> Iterator[tuple[Key, Found]]:
    """Yield the four means of a row of Table 1."""
    means = {
        "hours": row.interval_hours,
        "dice": row.dice,
        "knot_hours": row.knot_hours,
        "knot_dice": row.knot_dice,
    }
    for metric, mean in means.items():
        yield (table, row.name, metric), Found(mean.mean, mean.pages)


def grouped(
    table: str, names: Sequence[str], member: np.ndarray, measured: Measured, figures: PageFigures
) -> Iterator[tuple[Key, Found]]:
    """Yield the rows of Table 1 for some groups, and whether they differ."""
    for name in names:
        held = member == name
        yield from of_group(table, group(name, figures[held]))
        by_site = site_means(figures.interval_hours[held], measured.names["site"][held])
        yield (table, name, "hours_by_site"), Found(_mean(by_site), len(by_site))
    for figure, metric in (("interval_hours", "p_hours"), ("dice_mean", "p_dice")):
        values = getattr(figures, figure)
        known = np.isfinite(values)
        test = differ(figure, {name: values[known & (member == name)] for name in names})
        pages = int(np.count_nonzero(known & np.isin(member, names)))
        yield (table, "groups differ", metric), Found(test.p, pages)


def site_means(values: Floats, sites: np.ndarray) -> Floats:
    """Return the mean of each site that has any, so that large sites have one voice as others.

    >>> site_means(np.array([1.0, 3.0, 5.0]), np.array(["a", "a", "b"])).tolist()
    [2.0, 5.0]
    """
    known = np.isfinite(values)
    _, which = np.unique(sites[known], return_inverse=True)
    sums = np.bincount(which, values[known])
    return np.asarray(sums / np.bincount(which)) if len(which) else np.empty(0)


def by_part(measured: Measured) -> Figures:
    """Return Table 1's figures for each part of the real data, and its shares of curves."""
    figures, parts = of_changed(measured.figures), measured.names["part"]
    found: Figures = {}
    for part in sorted(set(parts.tolist())):
        row = group(part, figures[parts == part])
        found["t1_part", part, "never_changed"] = Found(row.never_changed, row.compared)
        found |= dict(of_group("t1_part", row))
        if row.shapes:
            found["t1_part", part, "knotted"] = Found(row.shapes[-1], row.curves)
    return found


def whole_spans(folder: Path) -> Figures:
    """Return what the watched days alone say of all pages, over all the time they were watched."""
    days = pl.scan_parquet(folder / "observations.parquet").filter(
        ~pl.col("part").is_in([*LEFT_OUT, *HOURLY])
    )
    pages = days.group_by("part", "page").agg(
        (pl.col("day").filter("changed").max() - pl.col("day").min()).dt.total_hours().alias("h"),
        pl.col("changed").sum().alias("changes"),
    )
    table = pages.collect()
    changed = table.filter(pl.col("changes") > 0)
    hours = float((changed["h"] / changed["changes"]).mean())
    never = 1 - len(changed) / len(table)
    return {
        ("t1_all", "whole span", "never_changed"): Found(never, len(table)),
        ("t1_all", "whole span", "hours"): Found(hours, len(changed)),
    }


def curves(name: str, figures: PageFigures) -> Iterator[tuple[Key, Found]]:
    """Yield the shares of flat, sloped and knotted curves, and where the knots are."""
    row = group(name, figures)
    for shape, share in zip(SHAPES, row.shapes, strict=False):
        yield ("curves", name, shape), Found(share, row.curves)
    knots = row.knot_hours.pages
    yield ("curves", name, "knot_hours_mean"), Found(row.knot_hours.mean, knots)
    yield ("curves", name, "knot_hours_median"), Found(row.knot_hours.median, knots)
    yield ("curves", name, "knot_dice_mean"), Found(row.knot_dice.mean, knots)
    yield ("curves", name, "knot_dice_median"), Found(row.knot_dice.median, knots)


def survival(name: str, figures: PageFigures) -> Iterator[tuple[Key, Found]]:
    """Yield Table 4, over the pages that changed."""
    row = group(name, figures[figures.changes > 0])
    for horizon, mean in zip(HORIZONS, row.survival, strict=True):
        yield ("t4", horizon, "mean"), Found(mean.mean, mean.pages)
    last = row.survival[-1]
    yield ("t4", HORIZONS[-1], "median"), Found(last.median, last.pages)
    shares = figures.survival[figures.changes > 0][:, -1]
    known = shares[np.isfinite(shares)]
    lost = float(np.mean(known < LITTLE_LEFT)) if len(known) else None
    yield ("t4", HORIZONS[-1], "less than half left"), Found(lost, len(known))


def histograms(figures: PageFigures) -> Iterator[tuple[Key, Found]]:
    """Yield the shares of pages between some bounds of Figure 3."""
    for metric, values, edges in (
        ("hours", figures.interval_hours, HOUR_BINS),
        ("dice", figures.dice_mean, DICE_BINS),
    ):
        known = values[np.isfinite(values)]
        counts, _ = np.histogram(known, edges)
        for low, high, count in zip(edges, edges[1:], counts.tolist(), strict=False):
            share = count / len(known) if len(known) else None
            yield ("fig3", f"{low:g} to {high:g}", metric), Found(share, len(known))


def sub_hour(table: Sequence[Interval], figures: PageFigures) -> Figures:
    """Return Table 2: shares of all pages, those of the hour over the whole five weeks."""
    pages = len(figures)
    found: Figures = {}
    for row in table:
        name = "instant" if row.minutes == 0 else f"{row.minutes} minutes"
        share = row.pages / pages
        found["t2", name, "any"] = Found(row.any * share, pages)
        found["t2", name, "all"] = Found(row.all * share, pages)
        found["t2", name, "dice_mean"] = Found(row.mean_dice, row.pages)
        found["t2", name, "dice_median"] = Found(row.median_dice, row.pages)
    often = figures.changes > NEARLY_EVERY * figures.compared
    found["t2", "60 minutes", "any"] = Found(float(np.mean(figures.changes > 0)), pages)
    found["t2", "60 minutes", "all"] = Found(float(np.mean(often)), pages)
    return found


def as_json(data: str, table: Sequence[Row]) -> str:
    """Return the whole as one JSON document."""
    return json.dumps({"name": "web_changes", "data": data, "rows": [asdict(row) for row in table]})


def as_text(table: Sequence[Row]) -> str:
    """Return the rows as a table to read."""
    head = f"{'table':<10}{'group':<24}{'metric':<20}{'paper':>10}{'world':>10}{'real':>10}{'n':>8}"
    lines = [
        f"{row.table:<10}{row.group[:23]:<24}{row.metric:<20}{written(row.paper):>10}"
        f"{written(row.world):>10}{written(row.real):>10}{row.n:>8}"
        for row in table
    ]
    return "\n".join([head, *lines])


def written(value: Value) -> str:
    """Write a figure in few characters; a dash stands for none.

    >>> written(None), written(0.7944), written(123.4), written("words")
    ('-', '.794', '123', 'words')
    """
    if value is None or isinstance(value, str):
        return value or "-"
    if abs(value) >= 20:
        return f"{value:.0f}"
    return f"{value:.3f}".removeprefix("0") if abs(value) < 1 else f"{value:.2f}"


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
