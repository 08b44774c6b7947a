"""Writes the tables of the document from the stored figures, so that they cannot differ.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->``; all other text is
left unchanged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from experiments.document_tables import NO_VALUE, replace_tables, share_text
from experiments.outlinks.evaluation import OutlinkRow
from experiments.outlinks.expected_figures import StoredFigures
from experiments.outlinks.problems import SPLITS
from experiments.outlinks.required_figures import bound_lines

SHOWN = {
    "nl": ("f1", "balanced_accuracy", "auc", "average_precision", "area", "per_fetch"),
    "lcr": ("r2", "mae", "spearman", "area"),
    "nnl": ("r2", "mae", "spearman", "area", "per_fetch"),
}
TITLES = {
    "f1": "F1", "balanced_accuracy": "balanced", "auc": "AUC", "average_precision": "AP",
    "area": "area", "per_fetch": "links per fetch", "r2": "R²", "mae": "MAE",
    "spearman": "Spearman",
}  # fmt: skip
PAPER_WEEKS = {
    "internal": ((2.7, 13.5), (2.8, 13.7), (3.0, 14.1), (2.2, 12.6), (2.5, 14.5), (3.0, 14.2),
                 (2.3, 12.4), (2.6, 16.0), (2.7, 14.6)),
    "external": ((0.4, 3.7), (0.4, 3.4), (0.5, 3.9), (0.3, 3.1), (0.4, 3.5), (0.5, 4.0),
                 (0.3, 2.9), (0.4, 3.2), (0.4, 3.1)),
}  # fmt: skip
Lines = Iterator[Sequence[str]]


def fill_tables(text: str, figures: StoredFigures) -> str:
    """Return a document with new tables."""
    return replace_tables(text, lambda name: TABLES[name](figures))


def source_lines(figures: StoredFigures) -> Lines:
    """Yield the pages of the runs."""
    yield "data", "pages", "sites", "weeks"
    for record in figures.sources:
        yield f"`{record.data}`", f"{record.pages:,}", f"{record.sites:,}", str(record.weeks)


def week_lines(figures: StoredFigures) -> Lines:
    """Yield Table 2: mean and deviation of new links, of the paper and of both data."""
    yield (
        "links", "interval", "paper: mean", "deviation", "world: mean", "deviation", "none",
        "pages: mean", "deviation", "none", "site-wide",
    )  # fmt: skip
    for links, paper in PAPER_WEEKS.items():
        for index, (mean, deviation) in enumerate(paper):
            world = _week_cells(figures, "world", links, index)
            pages = _week_cells(figures, "pages", links, index)
            yield links, str(index + 1), f"{mean}", f"{deviation}", *world[:3], *pages


def _week_cells(figures: StoredFigures, data: str, links: str, index: int) -> Sequence[str]:
    rows = [row for row in figures.result.weeks if (row.data, row.links) == (data, links)]
    if index >= len(rows):
        return (NO_VALUE,) * 4
    row = rows[index]
    return (
        f"{row.mean:.2f}",
        f"{row.deviation:.1f}",
        share_text(row.none_share),
        share_text(row.site_wide),
    )


def model_lines(data: str, target: str, figures: StoredFigures) -> Lines:
    """Yield the figures of all models for a target."""
    measures = SHOWN[target]
    yield "split", "links", "model", "features", *(TITLES[name] for name in measures), "pages"
    rows = [row for row in figures.result.rows if (row.data, row.target) == (data, target)]
    for row in sorted(rows, key=lambda row: (SPLITS.index(row.split), row.links != "internal")):
        yield (
            row.split, row.links, row.model, row.features or NO_VALUE,
            *(_cell(row, name) for name in measures), f"{row.pages:,}",
        )  # fmt: skip


def figure_lines(figure: str, data: str, links: str, figures: StoredFigures) -> Lines:
    """Yield a figure as a table: a line for each series, a column for each place."""
    points = [
        point
        for point in figures.result.points
        if (point.figure, point.data, point.links) == (figure, data, links)
    ]
    places = list(dict.fromkeys(point.at for point in points))
    yield "", *places
    for series in dict.fromkeys(point.series for point in points):
        values = {point.at: share_text(point.value) for point in points if point.series == series}
        yield series, *(values.get(place, NO_VALUE) for place in places)


def importance_lines(figure: str, data: str, figures: StoredFigures) -> Lines:
    """Yield the most important features."""
    yield "links", "feature", "loss"
    for point in figures.result.points:
        if (point.figure, point.data) == (figure, data):
            yield point.links, f"`{point.at}`", share_text(point.value)


def crawl_lines(figures: StoredFigures) -> Lines:
    """Yield new links per fetch by each policy."""
    rows = figures.result.crawls
    policies = list(dict.fromkeys(row.policy for row in rows))
    yield "data", "links", "pages", *policies
    for data, links in dict.fromkeys((row.data, row.links) for row in rows):
        line = {row.policy: row for row in rows if (row.data, row.links) == (data, links)}
        pages = f"{next(iter(line.values())).pages:,}"
        cells = (f"{line[name].per_fetch:.3f}" if name in line else NO_VALUE for name in policies)
        yield f"`{data}`", links, pages, *cells


def _cell(row: OutlinkRow, name: str) -> str:
    value = getattr(row, name)
    if value is None:
        return NO_VALUE
    if name == "per_fetch":
        return f"{value:.2f}"
    deviation = getattr(row, f"{name}_deviation", None)
    if deviation is None:
        return share_text(value)
    return f"{share_text(value)} ± {share_text(deviation)}"


TABLES: Mapping[str, Callable[[StoredFigures], Lines]] = {
    "sources": source_lines,
    "bars": bound_lines,
    "weeks": week_lines,
    **{
        f"{data}-{target}": partial(model_lines, data, target)
        for data in ("pages", "world")
        for target in SHOWN
    },
    **{
        f"fig{figure}-{data}-{links}": partial(figure_lines, figure, data, links)
        for figure in ("3", "4", "9", "10", "12", "14")
        for data in ("pages", "world")
        for links in ("internal", "external")
    },
    **{
        f"fig{figure}-{data}": partial(importance_lines, figure, data)
        for figure in ("11", "13")
        for data in ("pages", "world")
    },
    "crawls": crawl_lines,
}
