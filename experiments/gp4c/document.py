"""The tables of the document, written from the figures that are kept, so that they cannot differ.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->``; all other words are
left as they are.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TypeVar

from experiments.gp4c.data import TRACES
from experiments.gp4c.evaluation import (
    ChosenFormulaRow,
    DifferenceRow,
    FigurePoint,
    MeanRow,
    ResultRow,
    TerminalRow,
    WinLossRow,
    by_visit,
    rivals,
)
from experiments.gp4c.expected_figures import ExpectedFigures
from experiments.gp4c.paper_figures import METRICS

NO_VALUE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
TABLE_PATTERN = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
METRIC_LABELS = {"changerate": "ChangeRate", "ndcg": "NDCG"}
METHODS = (
    *("rand", "age", "nad", "nad-cycle", "sad", "sad-cycle", "aad", "aad-cycle", "gad"),
    *("gad-cycle", "cg", "t * X", "gp-basic", "gp-all", "gp-all-cycle", "gp-extended"),
    "bayes-changes",
)
ORACLE_METHODS = ("known-rate", "known-rate-changes", "oracle-life", "oracle-change")
LEARNED = ("gp-basic", "gp-all", "gp-all-cycle")
COMPARED = (
    *((method, rival) for method in LEARNED for rival in rivals(method)),
    ("gp-all", "gp-basic"),
    ("gp-extended", "gp-all"),
    ("gp-extended", "bayes-changes"),
)
SIGNIFICANT, LEAST_SHOWN = 0.05, 0.0005
LONGEST_SHOWN = 300

Kind = TypeVar("Kind", bound=ResultRow)
Lines = Iterator[Sequence[str]]


def fill_tables(text: str, kept: ExpectedFigures) -> str:
    """Return a document with its tables written anew."""

    def written_anew(found: re.Match[str]) -> str:
        return found[1] + "".join(f"{line}\n" for line in markdown(found[2], kept)) + found[3]

    return TABLE_PATTERN.sub(written_anew, text)


def markdown(name: str, kept: ExpectedFigures) -> list[str]:
    """Return the lines of a table."""
    head, *body = (f"| {' | '.join(line)} |" for line in TABLES[name].lines(kept))
    return [head, f"|{'---|' * (head.count(' | ') + 1)}", *body]


def as_text(table: Sequence[ResultRow]) -> str:
    """Return the tables of a run as they are printed, each below its title."""
    kept = ExpectedFigures([], list(table))
    parts = [(TABLES[name].title, markdown(name, kept)) for name in TABLES if name != "traces"]
    return "\n\n".join("\n".join((title, *lines)) for title, lines in parts)


def traces_of(kept: ExpectedFigures) -> list[str]:
    """Return the traces that there are figures of, in their order."""
    there = {row.trace for row in kept.rows}
    return [name for name in TRACES if name in there]


def figure(value: float | None, margin: float | None = None) -> str:
    """Write a share, with its margin where it has one.

    >>> figure(0.7163), figure(0.7163, 0.0033), figure(1.0), figure(None) == NO_VALUE
    ('.716', '.716 ± .003', '1.000', True)
    """
    if value is None:
        return NO_VALUE
    text = f"{value:.3f}".removeprefix("0")
    return text if margin is None else f"{text} ± {figure(margin)}"


def signed_figure(value: float) -> str:
    """Write a difference of shares.

    >>> signed_figure(0.041), signed_figure(-0.0102) == MINUS + '.010'
    ('+.041', True)
    """
    return ("+" if value >= 0 else MINUS) + figure(abs(value))


def traces(kept: ExpectedFigures) -> Lines:
    """Yield of which traces the figures are."""
    yield "trace", "pages", "searched with", "with extended names", "digest"
    for each in kept.traces:
        sizes = each.searched, each.extended or NO_VALUE
        yield each.name, f"{each.pages:,}", *sizes, f"`{each.digest[:12]}`"


def overall(metric: str, methods: Sequence[str], kept: ExpectedFigures) -> Lines:
    """Yield Table 2 by one measure."""
    means = {(row.trace, row.method): row for row in of_kind(MeanRow, kept) if row.metric == metric}
    there = traces_of(kept)
    yield METRIC_LABELS[metric], "paper", *there
    for method in methods:
        held = [means.get((trace, method)) for trace in there]
        first = next((row for row in held if row), None)
        paper = figure(first.paper, first.paper_margin) if first else NO_VALUE
        yield f"`{method}`", paper, *(figure(r.ours, r.margin) if r else NO_VALUE for r in held)


def difference_lines(
    table: str, compared: Sequence[tuple[str, str]], kept: ExpectedFigures
) -> Lines:
    """Yield how far methods are above others, in the mean of paired folds."""
    gaps = {
        (row.trace, row.method, row.against, row.metric): row
        for row in of_kind(DifferenceRow, kept)
        if row.table == table
    }
    columns = list(product(traces_of(kept), METRICS))
    yield "above", *(f"{trace}, {METRIC_LABELS[metric]}" for trace, metric in columns)
    for method, rival in compared:
        held = (gaps.get((trace, method, rival, metric)) for trace, metric in columns)
        yield f"`{method}` above `{rival}`", *(_gap(row) if row else NO_VALUE for row in held)


def _gap(row: DifferenceRow) -> str:
    sure = row.p is not None and row.p < SIGNIFICANT and abs(row.ours) >= LEAST_SHOWN
    told = signed_figure(row.ours) + (f" ± {figure(row.margin)}" if row.margin is not None else "")
    return f"**{told}**" if sure else told


def won_and_lost(kept: ExpectedFigures) -> Lines:
    """Yield Table 3: victories and losses with the mean relative differences."""
    duels = {
        (row.trace, row.method, row.against, row.metric): row
        for row in of_kind(WinLossRow, kept)
        if row.table == "t3"
    }
    there = traces_of(kept)
    yield "won : lost", "against", "paper", *there
    for metric, method in product(METRICS, LEARNED):
        for rival in rivals(method):
            held = [duels.get((trace, method, rival, metric)) for trace in there]
            first = next((row for row in held if row), None)
            paper = _paper_record(first) if first else NO_VALUE
            ours = (_record(row) if row else NO_VALUE for row in held)
            yield f"{METRIC_LABELS[metric]}, `{method}`", f"`{rival}`", paper, *ours


def _paper_record(row: WinLossRow) -> str:
    won, lost = (
        _counted(row.paper_won, row.paper_won_by),
        _counted(row.paper_lost, row.paper_lost_by),
    )
    return f"{won} : {lost}"


def _record(row: WinLossRow) -> str:
    cycles = row.won + row.lost + row.tied
    return f"{_counted(row.won, row.won_by)} : {_counted(row.lost, row.lost_by)} of {cycles}"


def _counted(count: int | None, by: float | None) -> str:
    """Write how many cycles were won or lost, and by how much in the mean.

    >>> _counted(9, 0.0354), _counted(0, None)
    ('9 (+3.5 %)', '0')
    """
    if by is None:
        return str(count)
    return f"{count} ({'+' if by >= 0 else MINUS}{abs(by):.1%})".replace("%", " %")


def choosing(kept: ExpectedFigures) -> Lines:
    """Yield how the ways to choose a formula did against each other (Figure 3)."""
    there = traces_of(kept)
    yield "`best` won : lost of cycles", *there
    duels = [row for row in of_kind(WinLossRow, kept) if row.table == "selections"]
    for metric in METRICS:
        for selection in ("avg", "sum"):
            held = {
                row.trace: _record(row)
                for row in duels
                if row.metric == metric and row.against.endswith(selection)
            }
            yield (
                f"{METRIC_LABELS[metric]}, against `{selection}`",
                *(held.get(trace, NO_VALUE) for trace in there),
            )


def by_budget(kept: ExpectedFigures) -> Lines:
    """Yield Figure 5 as figures."""
    points = [row for row in of_kind(FigurePoint, kept) if row.table == "fig5"]
    budgets = sorted({row.at for row in points})
    yield (
        "trace",
        "measure",
        "evolved for",
        *(f"{budget:.0%}".replace("%", " %") for budget in budgets),
    )
    for trace, metric, fitness in product(TRACES, METRICS, METRICS):
        held = {
            row.at: figure(row.ours, row.margin)
            for row in points
            if (row.trace, row.metric) == (trace, metric) and row.method.endswith(fitness)
        }
        if held:
            yield (
                trace,
                METRIC_LABELS[metric],
                METRIC_LABELS[fitness],
                *(held[each] for each in budgets),
            )


def by_fitness(kept: ExpectedFigures) -> Lines:
    """Yield how far formulas evolved for NDCG are above those evolved for ChangeRate."""
    gaps = [row for row in of_kind(DifferenceRow, kept) if row.table == "fitness"]
    budgets = list(dict.fromkeys(row.method.split()[-1] for row in gaps))
    yield "trace", "measure", *(budget.replace("%", " %") for budget in budgets)
    for trace, metric in product(TRACES, METRICS):
        held = [_gap(row) for row in gaps if (row.trace, row.metric) == (trace, metric)]
        if held:
            yield trace, METRIC_LABELS[metric], *held


def formulas(table: str, kept: ExpectedFigures) -> Lines:
    """Yield of each kind the shortest formula that was chosen in a fold."""
    yield "trace", "names", "for", "fold", "training", "validation", "test", "formula"
    rows = [row for row in of_kind(ChosenFormulaRow, kept) if row.table == table]
    rows.sort(key=lambda row: (TRACES.index(row.trace), row.method, row.metric, row.length))
    shortest = {(row.trace, row.method, row.metric): row for row in reversed(rows)}
    for row in reversed(shortest.values()):
        text = row.formula
        shown = f"`{text}`" if len(text) <= LONGEST_SHOWN else f"{row.length} names and signs"
        yield (
            row.trace, _names_of(row.method), METRIC_LABELS[row.metric], str(row.fold),
            *(figure(value) for value in (row.training, row.validation, row.ours)), shown,
        )  # fmt: skip


def terminals(kept: ExpectedFigures) -> Lines:
    """Yield which names occur how often, and what the chosen formulas lose without them."""
    held = [row for row in of_kind(TerminalRow, kept) if row.method in {"gp-all", "gp-basic"}]
    names = list(dict.fromkeys(row.name for row in held if row.method == "gp-all"))
    yield "trace", "formulas", "for", *(f"`{name}`" for name in names)
    for key in dict.fromkeys((row.trace, row.method, row.metric) for row in held):
        mine = {row.name: row for row in held if (row.trace, row.method, row.metric) == key}
        trace, method, metric = key
        cells = (_worth(mine[name]) if name in mine else NO_VALUE for name in names)
        yield trace, _names_of(method), METRIC_LABELS[metric], *cells


def _names_of(method: str) -> str:
    """Write which names formulas have.

    >>> _names_of("gp-all-cycle")
    'all, by cycle'
    """
    return method.removeprefix("gp-").replace("-cycle", ", by cycle")


def _worth(row: TerminalRow) -> str:
    share = f"{row.share:.0%}".replace("%", " %")
    return share if row.lost is None else f"{share} · {signed_figure(row.lost)}"


def of_kind(kind: type[Kind], kept: ExpectedFigures) -> list[Kind]:
    """Return the rows of a kind."""
    return [row for row in kept.rows if isinstance(row, kind)]


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """A table: the title under which it is printed, and its lines, of what is kept."""

    title: str
    lines: Callable[[ExpectedFigures], Lines]


BY_CLOCK = tuple((name, by_visit(name)) for name in METHODS if name != by_visit(name))
TABLES: Mapping[str, DocumentTable] = {
    "traces": DocumentTable("Traces", traces),
    "changerate": DocumentTable("Table 2: ChangeRate", partial(overall, "changerate", METHODS)),
    "ndcg": DocumentTable("Table 2: NDCG", partial(overall, "ndcg", METHODS)),
    "ceilings_changerate": DocumentTable(
        "Ceilings: ChangeRate", partial(overall, "changerate", ORACLE_METHODS)
    ),
    "ceilings_ndcg": DocumentTable("Ceilings: NDCG", partial(overall, "ndcg", ORACLE_METHODS)),
    "above": DocumentTable(
        "Differences, fold by fold", partial(difference_lines, "gaps", COMPARED)
    ),
    "won_and_lost": DocumentTable("Table 3: cycles won and lost", won_and_lost),
    "choosing": DocumentTable("Figure 3: which of the formulas kept", choosing),
    "by_budget": DocumentTable("Figure 5: formulas evolved at 5 %, crawling with less", by_budget),
    "by_fitness": DocumentTable(
        "Figure 5: evolved for NDCG less evolved for ChangeRate", by_fitness
    ),
    "clocks": DocumentTable(
        "By cycle less by visit", partial(difference_lines, "clocks", BY_CLOCK)
    ),
    "formulas": DocumentTable("The shortest formulas chosen", partial(formulas, "formulas")),
    "simple": DocumentTable("The shortest formulas nearly as good", partial(formulas, "simple")),
    "known": DocumentTable("Share of the formulas with a name, and its worth", terminals),
}
