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
    Choice,
    Duel,
    Gap,
    Mean,
    Name,
    Point,
    Row,
    by_visit,
    rivals,
)
from experiments.gp4c.expected_figures import Expected
from experiments.gp4c.paper_figures import METRICS

NONE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
PLACE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
SPOKEN = {"changerate": "ChangeRate", "ndcg": "NDCG"}
METHODS = (
    *("rand", "age", "nad", "nad-cycle", "sad", "sad-cycle", "aad", "aad-cycle", "gad"),
    *("gad-cycle", "cg", "t * X", "gp-basic", "gp-all", "gp-all-cycle", "gp-extended"),
    "bayes-changes",
)
CEILINGS = ("known-rate", "known-rate-changes", "oracle-life", "oracle-change")
LEARNED = ("gp-basic", "gp-all", "gp-all-cycle")
COMPARED = (
    *((method, rival) for method in LEARNED for rival in rivals(method)),
    ("gp-all", "gp-basic"),
    ("gp-extended", "gp-all"),
    ("gp-extended", "bayes-changes"),
)
SURE, LEAST_SHOWN = 0.05, 0.0005
LONGEST_SHOWN = 300

Kind = TypeVar("Kind", bound=Row)
Lines = Iterator[Sequence[str]]


def filled(text: str, kept: Expected) -> str:
    """Return a document with its tables written anew."""

    def written_anew(found: re.Match[str]) -> str:
        return found[1] + "".join(f"{line}\n" for line in markdown(found[2], kept)) + found[3]

    return PLACE.sub(written_anew, text)


def markdown(name: str, kept: Expected) -> list[str]:
    """Return the lines of a table."""
    head, *body = (f"| {' | '.join(line)} |" for line in TABLES[name].lines(kept))
    return [head, f"|{'---|' * (head.count(' | ') + 1)}", *body]


def as_text(table: Sequence[Row]) -> str:
    """Return the tables of a run as they are printed, each below its title."""
    kept = Expected([], list(table))
    parts = [(TABLES[name].title, markdown(name, kept)) for name in TABLES if name != "traces"]
    return "\n\n".join("\n".join((title, *lines)) for title, lines in parts)


def traces_of(kept: Expected) -> list[str]:
    """Return the traces that there are figures of, in their order."""
    there = {row.trace for row in kept.rows}
    return [name for name in TRACES if name in there]


def figure(value: float | None, margin: float | None = None) -> str:
    """Write a share, with its margin where it has one.

    >>> figure(0.7163), figure(0.7163, 0.0033), figure(1.0), figure(None) == NONE
    ('.716', '.716 ± .003', '1.000', True)
    """
    if value is None:
        return NONE
    text = f"{value:.3f}".removeprefix("0")
    return text if margin is None else f"{text} ± {figure(margin)}"


def signed(value: float) -> str:
    """Write a difference of shares.

    >>> signed(0.041), signed(-0.0102) == MINUS + '.010'
    ('+.041', True)
    """
    return ("+" if value >= 0 else MINUS) + figure(abs(value))


def traces(kept: Expected) -> Lines:
    """Yield of which traces the figures are."""
    yield "trace", "pages", "searched with", "with extended names", "digest"
    for each in kept.traces:
        sizes = each.searched, each.extended or NONE
        yield each.name, f"{each.pages:,}", *sizes, f"`{each.digest[:12]}`"


def overall(metric: str, methods: Sequence[str], kept: Expected) -> Lines:
    """Yield Table 2 by one measure."""
    means = {(row.trace, row.method): row for row in of_kind(Mean, kept) if row.metric == metric}
    there = traces_of(kept)
    yield SPOKEN[metric], "paper", *there
    for method in methods:
        held = [means.get((trace, method)) for trace in there]
        first = next((row for row in held if row), None)
        paper = figure(first.paper, first.paper_margin) if first else NONE
        yield f"`{method}`", paper, *(figure(r.ours, r.margin) if r else NONE for r in held)


def above(table: str, compared: Sequence[tuple[str, str]], kept: Expected) -> Lines:
    """Yield how far methods are above others, in the mean of paired folds."""
    gaps = {
        (row.trace, row.method, row.against, row.metric): row
        for row in of_kind(Gap, kept)
        if row.table == table
    }
    columns = list(product(traces_of(kept), METRICS))
    yield "above", *(f"{trace}, {SPOKEN[metric]}" for trace, metric in columns)
    for method, rival in compared:
        held = (gaps.get((trace, method, rival, metric)) for trace, metric in columns)
        yield f"`{method}` above `{rival}`", *(_gap(row) if row else NONE for row in held)


def _gap(row: Gap) -> str:
    sure = row.p is not None and row.p < SURE and abs(row.ours) >= LEAST_SHOWN
    told = signed(row.ours) + (f" ± {figure(row.margin)}" if row.margin is not None else "")
    return f"**{told}**" if sure else told


def won_and_lost(kept: Expected) -> Lines:
    """Yield Table 3: victories and losses with the mean relative differences."""
    duels = {
        (row.trace, row.method, row.against, row.metric): row
        for row in of_kind(Duel, kept)
        if row.table == "t3"
    }
    there = traces_of(kept)
    yield "won : lost", "against", "paper", *there
    for metric, method in product(METRICS, LEARNED):
        for rival in rivals(method):
            held = [duels.get((trace, method, rival, metric)) for trace in there]
            first = next((row for row in held if row), None)
            paper = _paper_record(first) if first else NONE
            ours = (_record(row) if row else NONE for row in held)
            yield f"{SPOKEN[metric]}, `{method}`", f"`{rival}`", paper, *ours


def _paper_record(row: Duel) -> str:
    won, lost = (
        _counted(row.paper_won, row.paper_won_by),
        _counted(row.paper_lost, row.paper_lost_by),
    )
    return f"{won} : {lost}"


def _record(row: Duel) -> str:
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


def choosing(kept: Expected) -> Lines:
    """Yield how the ways to choose a formula did against each other (Figure 3)."""
    there = traces_of(kept)
    yield "`best` won : lost of cycles", *there
    duels = [row for row in of_kind(Duel, kept) if row.table == "selections"]
    for metric in METRICS:
        for selection in ("avg", "sum"):
            held = {
                row.trace: _record(row)
                for row in duels
                if row.metric == metric and row.against.endswith(selection)
            }
            yield (
                f"{SPOKEN[metric]}, against `{selection}`",
                *(held.get(trace, NONE) for trace in there),
            )


def by_budget(kept: Expected) -> Lines:
    """Yield Figure 5 as figures."""
    points = [row for row in of_kind(Point, kept) if row.table == "fig5"]
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
            yield trace, SPOKEN[metric], SPOKEN[fitness], *(held[each] for each in budgets)


def by_fitness(kept: Expected) -> Lines:
    """Yield how far formulas evolved for NDCG are above those evolved for ChangeRate."""
    gaps = [row for row in of_kind(Gap, kept) if row.table == "fitness"]
    budgets = list(dict.fromkeys(row.method.split()[-1] for row in gaps))
    yield "trace", "measure", *(budget.replace("%", " %") for budget in budgets)
    for trace, metric in product(TRACES, METRICS):
        held = [_gap(row) for row in gaps if (row.trace, row.metric) == (trace, metric)]
        if held:
            yield trace, SPOKEN[metric], *held


def formulas(table: str, kept: Expected) -> Lines:
    """Yield of each kind the shortest formula that was chosen in a fold."""
    yield "trace", "names", "for", "fold", "training", "validation", "test", "formula"
    rows = [row for row in of_kind(Choice, kept) if row.table == table]
    rows.sort(key=lambda row: (TRACES.index(row.trace), row.method, row.metric, row.length))
    shortest = {(row.trace, row.method, row.metric): row for row in reversed(rows)}
    for row in reversed(shortest.values()):
        text = row.formula
        shown = f"`{text}`" if len(text) <= LONGEST_SHOWN else f"{row.length} names and signs"
        yield (
            row.trace, _names_of(row.method), SPOKEN[row.metric], str(row.fold),
            *(figure(value) for value in (row.training, row.validation, row.ours)), shown,
        )  # fmt: skip


def known(kept: Expected) -> Lines:
    """Yield which names occur how often, and what the chosen formulas lose without them."""
    held = [row for row in of_kind(Name, kept) if row.method in {"gp-all", "gp-basic"}]
    names = list(dict.fromkeys(row.name for row in held if row.method == "gp-all"))
    yield "trace", "formulas", "for", *(f"`{name}`" for name in names)
    for key in dict.fromkeys((row.trace, row.method, row.metric) for row in held):
        mine = {row.name: row for row in held if (row.trace, row.method, row.metric) == key}
        trace, method, metric = key
        cells = (_worth(mine[name]) if name in mine else NONE for name in names)
        yield trace, _names_of(method), SPOKEN[metric], *cells


def _names_of(method: str) -> str:
    """Write which names formulas have.

    >>> _names_of("gp-all-cycle")
    'all, by cycle'
    """
    return method.removeprefix("gp-").replace("-cycle", ", by cycle")


def _worth(row: Name) -> str:
    share = f"{row.share:.0%}".replace("%", " %")
    return share if row.lost is None else f"{share} · {signed(row.lost)}"


def of_kind(kind: type[Kind], kept: Expected) -> list[Kind]:
    """Return the rows of a kind."""
    return [row for row in kept.rows if isinstance(row, kind)]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the title under which it is printed, and its lines, of what is kept."""

    title: str
    lines: Callable[[Expected], Lines]


BY_CLOCK = tuple((name, by_visit(name)) for name in METHODS if name != by_visit(name))
TABLES: Mapping[str, Table] = {
    "traces": Table("Traces", traces),
    "changerate": Table("Table 2: ChangeRate", partial(overall, "changerate", METHODS)),
    "ndcg": Table("Table 2: NDCG", partial(overall, "ndcg", METHODS)),
    "ceilings_changerate": Table("Ceilings: ChangeRate", partial(overall, "changerate", CEILINGS)),
    "ceilings_ndcg": Table("Ceilings: NDCG", partial(overall, "ndcg", CEILINGS)),
    "above": Table("Differences, fold by fold", partial(above, "gaps", COMPARED)),
    "won_and_lost": Table("Table 3: cycles won and lost", won_and_lost),
    "choosing": Table("Figure 3: which of the formulas kept", choosing),
    "by_budget": Table("Figure 5: formulas evolved at 5 %, crawling with less", by_budget),
    "by_fitness": Table("Figure 5: evolved for NDCG less evolved for ChangeRate", by_fitness),
    "clocks": Table("By cycle less by visit", partial(above, "clocks", BY_CLOCK)),
    "formulas": Table("The shortest formulas chosen", partial(formulas, "formulas")),
    "simple": Table("The shortest formulas nearly as good", partial(formulas, "simple")),
    "known": Table("Share of the formulas with a name, and its worth", known),
}
