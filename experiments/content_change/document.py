"""Writes the tables of the document from the stored figures, so that they cannot differ.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->``; all other text is
left unchanged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from experiments.content_change.evaluation import ComparisonRow, ForecastRow
from experiments.content_change.expected_figures import StoredFigures
from experiments.content_change.planted_leader import PLANTED
from experiments.content_change.protocol import SELECTIONS
from experiments.content_change.required_figures import (
    BOUNDS,
    P_VALUE,
    FigureBound,
    bounded_figures,
)
from experiments.content_change.sweeps import EXPERT_COUNT, TRAINING_SIZE
from experiments.document_tables import MINUS, NO_VALUE, replace_tables, share_text

SHOWN_SELECTION = "xcorr"

AT_LEAST, AT_MOST = "\N{GREATER-THAN OR EQUAL TO}", "\N{LESS-THAN OR EQUAL TO}"
MEASURES = {
    "accuracy": "accuracy",
    "auc": "AUC",
    "logloss": "log-loss",
    "difference": "accuracy against",
    "p": "p against",
}

Lines = Iterator[Sequence[str]]


def fill_tables(text: str, figures: StoredFigures) -> str:
    """Return a document with new tables."""
    return replace_tables(text, lambda name: TABLES[name](figures))


def source_lines(figures: StoredFigures) -> Lines:
    """Yield the pages of the runs."""
    yield "data", "pages", "hosts", "days", "versions"
    for record in figures.sources:
        counts = (record.pages, record.hosts, record.steps, record.versions)
        yield f"`{record.data}`", *(f"{count:,}" for count in counts)


def bound_lines(figures: StoredFigures) -> Lines:
    """Yield what is required, the figure here, and whether it is met."""
    yield "data", "label", "filter", "method", "figure", "required", "ours", "met"
    for bound, row in bounded_figures(BOUNDS, figures.result):
        against = f"{bound.against} {bound.against_selection}".strip()
        sign = AT_MOST if bound.is_upper else AT_LEAST
        yield (
            bound.data, bound.label, whole_percent(bound.filter),
            f"{bound.method} {bound.selection}".strip(),
            f"{MEASURES[bound.measure]} {against}".strip(),
            f"{sign} {_shown(bound, bound.bound)}{' (goal)' if bound.goal else ''}",
            _bounded_value(bound, row), "yes" if bound.is_met(row) else "**no**",
        )  # fmt: skip


def _shown(bound: FigureBound, value: float) -> str:
    return points(value) if bound.measure == "difference" else share_text(value)


def _bounded_value(bound: FigureBound, row: ForecastRow | ComparisonRow) -> str:
    """Return the figure as text; a p-value has the difference that it belongs to."""
    text = _shown(bound, bound.value(row))
    if bound.measure == P_VALUE and isinstance(row, ComparisonRow):
        return f"{text} ({points(row.difference)})"
    return text


def paper_lines(figures: StoredFigures) -> Lines:
    """Yield the accuracies of the paper beside those here, for any text change (30 % filter)."""
    yield "table", "method", "experts", "paper", "real pages", "generated pages"
    rows = {(r.data, r.label, r.filter, r.method, r.selection): r for r in figures.result.rows}
    for value in figures.paper:
        key = "any_text", 0.3, value.method, value.selection
        ours = (rows.get((data, *key)) for data in ("pages", "world"))
        yield (
            str(value.table), value.method, value.selection or NO_VALUE, percent(value.accuracy),
            *(percent(row.accuracy) if row else NO_VALUE for row in ours),
        )  # fmt: skip


def forecast_lines(data: str, label: str, figures: StoredFigures) -> Lines:
    """Yield the figures of all methods for one label."""
    yield "filter", "method", "experts", "pages", "accuracy", "balanced", "AUC", "log-loss"
    for row in sorted(figures.result.rows, key=lambda row: (-row.filter, _rank(row.selection))):
        if (row.data, row.label) == (data, label):
            yield (
                whole_percent(row.filter), row.method, row.selection or NO_VALUE,
                f"{row.pages:,}", percent(row.accuracy), percent(row.balanced_accuracy),
                share_text(row.auc), share_text(row.logloss),
            )  # fmt: skip


def comparison_lines(data: str, figures: StoredFigures) -> Lines:
    """Yield the paired tests."""
    yield "label", "filter", "method", "against", "points", "p", "hosts"
    for row in sorted(
        figures.result.comparisons,
        key=lambda row: (row.label, -row.filter, _rank(row.selection)),
    ):
        if row.data == data:
            yield (
                row.label, whole_percent(row.filter),
                f"{row.method} {row.selection}".strip(),
                f"{row.against} {row.against_selection}".strip(),
                signed(100 * row.difference), share_text(row.p), str(row.hosts),
            )  # fmt: skip


def sweep_lines(data: str, sweep: str, figures: StoredFigures) -> Lines:
    """Yield the accuracy of each method at each value of a sweep."""
    rows = [row for row in figures.result.sweeps if (row.data, row.sweep) == (data, sweep)]
    values = sorted({row.value for row in rows})
    yield "method", "experts", *map(str, values)
    for method, selection in dict.fromkeys((row.method, row.selection) for row in rows):
        accuracies = {
            row.value: percent(row.accuracy)
            for row in rows
            if (row.method, row.selection) == (method, selection)
        }
        cells = (accuracies.get(value, NO_VALUE) for value in values)
        yield method, selection or NO_VALUE, *cells


def crawl_lines(data: str, figures: StoredFigures) -> Lines:
    """Yield the freshness of the crawls."""
    yield "method", "freshness", "between seeds", "last third", "visits with a change"
    for row in figures.result.crawls:
        if row.data == data:
            yield (
                row.method, percent(row.freshness), f"± {100 * row.spread:.1f}",
                percent(row.late_freshness), percent(row.found_share),
            )  # fmt: skip


def group_lines(data: str, figures: StoredFigures) -> Lines:
    """Yield the gains of groups of pages, for the relation that the paper prefers."""
    yield "pages", "number", "hosts", "over 2D", "p", "over random", "p", "repeated"
    for row in figures.result.page_groups:
        if (row.data, row.selection) == (data, SHOWN_SELECTION):
            yield (
                row.group, str(row.pages), str(row.hosts),
                signed(100 * row.gain), share_text(row.p),
                signed(100 * row.gain_over_random), share_text(row.p_over_random),
                signed(row.repeat, 2),
            )  # fmt: skip


def relation_lines(data: str, figures: StoredFigures) -> Lines:
    """Yield the gains of all pages for each relation."""
    yield "experts", "over 2D", "p", "over random", "p", "repeated"
    for row in sorted(figures.result.page_groups, key=lambda row: _rank(row.selection)):
        if (row.data, row.group) == (data, "all"):
            yield (
                row.selection, signed(100 * row.gain), share_text(row.p),
                signed(100 * row.gain_over_random), share_text(row.p_over_random),
                signed(row.repeat, 2),
            )  # fmt: skip


def gain_lines(data: str, figures: StoredFigures) -> Lines:
    """Yield the pages with the largest and the smallest gains."""
    yield "rank", "host", "changes", "weight", "over 2D", "over random"
    for row in figures.result.page_gains:
        if (row.data, row.selection) == (data, SHOWN_SELECTION):
            yield (
                str(row.rank), row.host, str(row.changes), share_text(row.weight),
                signed(100 * row.gain), signed(100 * row.gain_over_random),
            )  # fmt: skip


def _rank(selection: str) -> int:
    """Return the place of a selection in tables; methods without experts come first."""
    return [*SELECTIONS].index(selection) + 1 if selection in SELECTIONS else 0


def whole_percent(value: float) -> str:
    """Format a filter.

    >>> whole_percent(0.3)
    '30 %'
    """
    return f"{value:.0%}".replace("%", " %")


def percent(value: float) -> str:
    """Format a share in percent.

    >>> percent(0.70541)
    '70.5 %'
    """
    return f"{100 * value:.1f} %"


def points(value: float) -> str:
    """Format a difference of two shares.

    >>> points(0.015)
    '+1.5 points'
    """
    return f"{signed(100 * value)} points"


def signed(value: float, digits: int = 1) -> str:
    """Format a difference.

    >>> signed(1.34), signed(-0.2) == MINUS + "0.2"
    ('+1.3', True)
    """
    return f"{'+' if value >= 0 else MINUS}{abs(value):.{digits}f}"


TABLES: Mapping[str, Callable[[StoredFigures], Lines]] = {
    "sources": source_lines,
    "bounds": bound_lines,
    "paper": paper_lines,
    "world": partial(forecast_lines, "world", "any_text"),
    "world-tests": partial(comparison_lines, "world"),
    "any_text": partial(forecast_lines, "pages", "any_text"),
    "words10": partial(forecast_lines, "pages", "words10"),
    "l1": partial(forecast_lines, "pages", "l1"),
    "significant": partial(forecast_lines, "pages", "significant"),
    "new_outlink": partial(forecast_lines, "pages", "new_outlink"),
    "relevant": partial(forecast_lines, "pages", "relevant"),
    "tests": partial(comparison_lines, "pages"),
    "planted": partial(forecast_lines, PLANTED, "any_text"),
    "world-training-sizes": partial(sweep_lines, "world", TRAINING_SIZE),
    "world-expert-counts": partial(sweep_lines, "world", EXPERT_COUNT),
    "training-sizes": partial(sweep_lines, "pages", TRAINING_SIZE),
    "expert-counts": partial(sweep_lines, "pages", EXPERT_COUNT),
    "crawls": partial(crawl_lines, "pages"),
    "groups": partial(group_lines, "pages"),
    "relations": partial(relation_lines, "pages"),
    "gains": partial(gain_lines, "pages"),
}
