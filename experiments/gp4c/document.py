"""Writes the tables of the document from the stored figures, so that they cannot differ."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TypeVar

from experiments.document_tables import markdown_lines, replace_tables
from experiments.gp4c import other_fitness, planting
from experiments.gp4c.data import TRACES
from experiments.gp4c.evaluation import (
    ChosenFormulaRow,
    DifferenceRow,
    FigurePoint,
    MeanRow,
    ResultRow,
    VariableRow,
    WinLossRow,
    by_visit,
    compared_rules,
)
from experiments.gp4c.expected_figures import ExpectedFigures
from experiments.gp4c.paper_figures import METRICS, PAPER_SELECTION_WINS
from experiments.gp4c.stability import FIRST_CYCLES, LeadRow, SameChoiceRow, StabilityRow

NO_VALUE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
METRIC_LABELS = {"changerate": "ChangeRate", "ndcg": "NDCG"}
METHODS = (
    *("rand", "age", "nad", "nad-cycle", "sad", "sad-cycle", "aad", "aad-cycle", "gad"),
    *("gad-cycle", "cg", "t * X", "gp-basic", "gp-all", "gp-all-cycle", "gp-extended"),
    "bayes-changes",
)
ORACLE_METHODS = ("known-rate", "known-rate-changes", "oracle-life", "oracle-change")
LEARNED_METHODS = ("gp-basic", "gp-all", "gp-all-cycle")
COMPARED_METHODS = (
    *((method, baseline) for method in LEARNED_METHODS for baseline in compared_rules(method)),
    ("gp-all", "gp-basic"),
    ("gp-extended", "gp-all"),
    ("gp-extended", "bayes-changes"),
)
SIGNIFICANT, LEAST_SHOWN = 0.05, 0.0005
LONGEST_SHOWN = 300

RowType = TypeVar("Kind", bound=ResultRow)
Lines = Iterator[Sequence[str]]


def fill_tables(text: str, figures: ExpectedFigures) -> str:
    """Return a document with new tables."""
    return replace_tables(text, lambda name: TABLES[name].lines(figures))


def markdown(name: str, figures: ExpectedFigures) -> list[str]:
    """Return the lines of a table."""
    return markdown_lines(TABLES[name].lines(figures))


def as_text(table: Sequence[ResultRow]) -> str:
    """Return all tables of a run for printing, each below its title."""
    figures = ExpectedFigures([], list(table))
    names = [name for name in TABLES if name not in {"traces", "other_fitness", "planting"}]
    tables = [(TABLES[name].title, markdown(name, figures)) for name in names]
    return "\n\n".join("\n".join((title, *lines)) for title, lines in tables)


def traces_of(figures: ExpectedFigures) -> list[str]:
    """Return the traces that have figures, in order."""
    names = {row.trace for row in figures.rows}
    return [name for name in TRACES if name in names]


def figure(value: float | None, margin: float | None = None) -> str:
    """Format a share, with its margin if there is one.

    >>> figure(0.7163), figure(0.7163, 0.0033), figure(1.0), figure(None) == NO_VALUE
    ('.716', '.716 ± .003', '1.000', True)
    """
    if value is None:
        return NO_VALUE
    text = f"{value:.3f}".removeprefix("0")
    return text if margin is None else f"{text} ± {figure(margin)}"


def signed_figure(value: float) -> str:
    """Format a difference of shares.

    >>> signed_figure(0.041), signed_figure(-0.0102) == MINUS + '.010'
    ('+.041', True)
    """
    return ("+" if value >= 0 else MINUS) + figure(abs(value))


def traces(figures: ExpectedFigures) -> Lines:
    """Yield the traces of the figures."""
    yield "trace", "pages", "searched with", "with extended variables", "digest"
    for trace in figures.traces:
        sizes = trace.searched, trace.extended or NO_VALUE
        yield trace.name, f"{trace.pages:,}", *sizes, f"`{trace.digest[:12]}`"


def overall(metric: str, methods: Sequence[str], figures: ExpectedFigures) -> Lines:
    """Yield Table 2 by one metric."""
    means = {
        (row.trace, row.method): row for row in of_kind(MeanRow, figures) if row.metric == metric
    }
    traces = traces_of(figures)
    yield METRIC_LABELS[metric], "paper", *traces
    for method in methods:
        rows = [means.get((trace, method)) for trace in traces]
        first_row = next((row for row in rows if row), None)
        paper = figure(first_row.paper, first_row.paper_margin) if first_row else NO_VALUE
        yield f"`{method}`", paper, *(figure(r.ours, r.margin) if r else NO_VALUE for r in rows)


def difference_lines(
    table: str, compared: Sequence[tuple[str, str]], figures: ExpectedFigures
) -> Lines:
    """Yield the mean paired differences of methods over folds."""
    differences = {
        (row.trace, row.method, row.against, row.metric): row
        for row in of_kind(DifferenceRow, figures)
        if row.table == table
    }
    columns = list(product(traces_of(figures), METRICS))
    yield "above", *(f"{trace}, {METRIC_LABELS[metric]}" for trace, metric in columns)
    for method, baseline in compared:
        rows = (differences.get((trace, method, baseline, metric)) for trace, metric in columns)
        yield (
            f"`{method}` above `{baseline}`",
            *(_format_difference(row) if row else NO_VALUE for row in rows),
        )


def _format_difference(row: DifferenceRow) -> str:
    is_significant = row.p is not None and row.p < SIGNIFICANT and abs(row.ours) >= LEAST_SHOWN
    text = signed_figure(row.ours) + (f" ± {figure(row.margin)}" if row.margin is not None else "")
    return f"**{text}**" if is_significant else text


def won_and_lost(figures: ExpectedFigures) -> Lines:
    """Yield Table 3: cycles won and lost with the mean relative differences."""
    wins = {
        (row.trace, row.method, row.against, row.metric): row
        for row in of_kind(WinLossRow, figures)
        if row.table == "t3"
    }
    traces = traces_of(figures)
    yield "won : lost", "against", "paper", *traces
    for metric, method in product(METRICS, LEARNED_METHODS):
        for baseline in compared_rules(method):
            rows = [wins.get((trace, method, baseline, metric)) for trace in traces]
            first_row = next((row for row in rows if row), None)
            paper = _format_paper_wins(first_row) if first_row else NO_VALUE
            ours = (_format_wins(row) if row else NO_VALUE for row in rows)
            yield f"{METRIC_LABELS[metric]}, `{method}`", f"`{baseline}`", paper, *ours


def _format_paper_wins(row: WinLossRow) -> str:
    won, lost = (
        _format_count(row.paper_won, row.paper_won_by),
        _format_count(row.paper_lost, row.paper_lost_by),
    )
    return f"{won} : {lost}"


def _format_wins(row: WinLossRow) -> str:
    cycles = row.won + row.lost + row.tied
    return (
        f"{_format_count(row.won, row.won_by)} : {_format_count(row.lost, row.lost_by)} of {cycles}"
    )


def _format_count(count: int | None, by: float | None) -> str:
    """Format the number of cycles won or lost, and the mean difference.

    >>> _format_count(9, 0.0354), _format_count(0, None)
    ('9 (+3.5 %)', '0')
    """
    if by is None:
        return str(count)
    return f"{count} ({'+' if by >= 0 else MINUS}{abs(by):.1%})".replace("%", " %")


def selection_methods(figures: ExpectedFigures) -> Lines:
    """Yield the comparison of the selection methods (Figure 3)."""
    traces = traces_of(figures)
    yield "`best` won : lost of cycles", "paper", *traces
    wins = [row for row in of_kind(WinLossRow, figures) if row.table == "selections"]
    for metric in METRICS:
        for selection in ("avg", "sum"):
            records = {
                row.trace: _format_wins(row)
                for row in wins
                if row.metric == metric and row.against.endswith(selection)
            }
            paper = "{} : {}".format(*PAPER_SELECTION_WINS[metric, selection])
            yield (
                f"{METRIC_LABELS[metric]}, against `{selection}`",
                paper,
                *(records.get(trace, NO_VALUE) for trace in traces),
            )


def same_choices(figures: ExpectedFigures) -> Lines:
    """Yield in how many folds and cycles the selection methods agree."""
    traces = traces_of(figures)
    rows = of_kind(SameChoiceRow, figures)
    yield "the same as `best`", *traces
    for metric, selection in product(METRICS, ("avg", "sum")):
        cells = {
            row.trace: f"{row.same_folds} of {row.folds} formulas, "
            f"{row.equal_cycles} of {row.cycles} cycles"
            for row in rows
            if (row.metric, row.selection) == (metric, selection)
        }
        label = f"{METRIC_LABELS[metric]}, `{selection}`"
        yield label, *(cells.get(trace, NO_VALUE) for trace in traces)


def stability(figures: ExpectedFigures) -> Lines:
    """Yield how far training, validation, test and folds lie apart."""
    yield "trace", "formulas", "measure", "test", "validation", "across folds"
    for row in of_kind(StabilityRow, figures):
        shares = (row.to_test, row.to_validation, row.across)
        yield (
            row.trace, f"`{row.method}`", METRIC_LABELS[row.metric],
            *(f"{share:.1%}".replace("%", " %") for share in shares),
        )  # fmt: skip


def lead(figures: ExpectedFigures) -> Lines:
    """Yield the cycles in which a rule is better than the formulas."""
    yield (
        "trace",
        "formulas",
        "measure",
        "last cycle below",
        "last cycle lost",
        "below after the 6th",
    )
    for row in of_kind(LeadRow, figures):
        last_cycles = (str(last or NO_VALUE) for last in (row.last_below, row.last_lost))
        below_later = f"{row.below_later} of {row.cycles - FIRST_CYCLES}"
        yield row.trace, f"`{row.method}`", METRIC_LABELS[row.metric], *last_cycles, below_later


def by_budget(figures: ExpectedFigures) -> Lines:
    """Yield the figures of Figure 5."""
    points = [row for row in of_kind(FigurePoint, figures) if row.table == "fig5"]
    budgets = sorted({row.at for row in points})
    yield (
        "trace",
        "measure",
        "evolved for",
        *(f"{budget:.0%}".replace("%", " %") for budget in budgets),
    )
    for trace, metric, fitness in product(TRACES, METRICS, METRICS):
        cells = {
            row.at: figure(row.ours, row.margin)
            for row in points
            if (row.trace, row.metric) == (trace, metric) and row.method.endswith(fitness)
        }
        if cells:
            yield (
                trace,
                METRIC_LABELS[metric],
                METRIC_LABELS[fitness],
                *(cells[at] for at in budgets),
            )


def by_fitness(figures: ExpectedFigures) -> Lines:
    """Yield the differences of formulas evolved for NDCG and for ChangeRate."""
    differences = [row for row in of_kind(DifferenceRow, figures) if row.table == "fitness"]
    budgets = list(dict.fromkeys(row.method.split()[-1] for row in differences))
    yield "trace", "measure", *(budget.replace("%", " %") for budget in budgets)
    for trace, metric in product(TRACES, METRICS):
        cells = [
            _format_difference(row)
            for row in differences
            if (row.trace, row.metric) == (trace, metric)
        ]
        if cells:
            yield trace, METRIC_LABELS[metric], *cells


def formulas(table: str, figures: ExpectedFigures) -> Lines:
    """Yield the shortest selected formula of each kind."""
    yield "trace", "variables", "for", "fold", "training", "validation", "test", "formula"
    rows = [row for row in of_kind(ChosenFormulaRow, figures) if row.table == table]
    rows.sort(key=lambda row: (TRACES.index(row.trace), row.method, row.metric, row.length))
    shortest = {(row.trace, row.method, row.metric): row for row in reversed(rows)}
    for row in reversed(shortest.values()):
        text = row.formula
        formula_text = f"`{text}`" if len(text) <= LONGEST_SHOWN else f"{row.length} tokens"
        yield (
            row.trace, _variable_set_name(row.method), METRIC_LABELS[row.metric], str(row.fold),
            *(figure(value) for value in (row.training, row.validation, row.ours)), formula_text,
        )  # fmt: skip


def variables(figures: ExpectedFigures) -> Lines:
    """Yield the share of formulas with each variable, and its worth."""
    rows = [row for row in of_kind(VariableRow, figures) if row.method in {"gp-all", "gp-basic"}]
    names = list(dict.fromkeys(row.name for row in rows if row.method == "gp-all"))
    yield "trace", "formulas", "for", *(f"`{name}`" for name in names)
    for key in dict.fromkeys((row.trace, row.method, row.metric) for row in rows):
        rows_by_name = {row.name: row for row in rows if (row.trace, row.method, row.metric) == key}
        trace, method, metric = key
        cells = (
            _format_worth(rows_by_name[name]) if name in rows_by_name else NO_VALUE
            for name in names
        )
        yield trace, _variable_set_name(method), METRIC_LABELS[metric], *cells


def _variable_set_name(method: str) -> str:
    """Format the terminal set of a method.

    >>> _variable_set_name("gp-all-cycle")
    'all, by cycle'
    """
    return method.removeprefix("gp-").replace("-cycle", ", by cycle")


def _format_worth(row: VariableRow) -> str:
    share = f"{row.share:.0%}".replace("%", " %")
    return share if row.lost is None else f"{share} · {signed_figure(row.lost)}"


def of_kind(kind: type[RowType], figures: ExpectedFigures) -> list[RowType]:
    """Return the rows of a type."""
    return [row for row in figures.rows if isinstance(row, kind)]


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """A table of the document: its title when printed, and a function that yields its lines."""

    title: str
    lines: Callable[[ExpectedFigures], Lines]


BY_CLOCK = tuple((name, by_visit(name)) for name in METHODS if name != by_visit(name))
TABLES: Mapping[str, DocumentTable] = {
    "traces": DocumentTable("Traces", traces),
    "changerate": DocumentTable("Table 2: ChangeRate", partial(overall, "changerate", METHODS)),
    "ndcg": DocumentTable("Table 2: NDCG", partial(overall, "ndcg", METHODS)),
    "oracles_changerate": DocumentTable(
        "Oracles: ChangeRate", partial(overall, "changerate", ORACLE_METHODS)
    ),
    "oracles_ndcg": DocumentTable("Oracles: NDCG", partial(overall, "ndcg", ORACLE_METHODS)),
    "above": DocumentTable(
        "Differences, fold by fold", partial(difference_lines, "gaps", COMPARED_METHODS)
    ),
    "won_and_lost": DocumentTable("Table 3: cycles won and lost", won_and_lost),
    "choosing": DocumentTable("Figure 3: selection methods", selection_methods),
    "same_choices": DocumentTable("Figure 3: where the selections agree", same_choices),
    "stability": DocumentTable(
        "Largest differences from training, and across the folds", stability
    ),
    "lead": DocumentTable("Cycles in which the best rule is better", lead),
    "by_budget": DocumentTable("Figure 5: formulas evolved at 5 %, crawling with less", by_budget),
    "by_fitness": DocumentTable(
        "Figure 5: evolved for NDCG minus evolved for ChangeRate", by_fitness
    ),
    "other_fitness": DocumentTable(
        "Formulas evolved for other measures",
        lambda figures: other_fitness.table_lines(other_fitness.read_rows()),
    ),
    "planting": DocumentTable(
        "Formulas with `chance`", lambda figures: planting.table_lines(planting.read_rows())
    ),
    "clocks": DocumentTable(
        "By cycle minus by visit", partial(difference_lines, "clocks", BY_CLOCK)
    ),
    "formulas": DocumentTable("The shortest selected formulas", partial(formulas, "formulas")),
    "simple": DocumentTable(
        "The shortest formulas that are nearly as good", partial(formulas, "simple")
    ),
    "known": DocumentTable("Share of the formulas with a variable, and its worth", variables),
}
