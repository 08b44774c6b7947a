"""Writes the tables of the document from the stored figures, so that they cannot differ.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->``; all other text is
left unchanged.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from experiments.wild.evaluation import WildRow
from experiments.wild.expected_figures import StoredFigures
from experiments.wild.variants import ablated_policies, compared_policies

NO_VALUE = "\N{EN DASH}"
TABLE_PATTERN = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)

Lines = Iterator[Sequence[str]]


def fill_tables(text: str, figures: StoredFigures) -> str:
    """Return a document with new tables."""

    def written_anew(match: re.Match[str]) -> str:
        lines = list(TABLES[match[2]](figures))
        rule = f"|{'---|' * len(lines[0])}"
        head, *body = (f"| {' | '.join(line)} |" for line in lines)
        return match[1] + "".join(f"{line}\n" for line in (head, rule, *body)) + match[3]

    return TABLE_PATTERN.sub(written_anew, text)


def share(value: float) -> str:
    """Format a share.

    >>> share(0.5944), share(1.0)
    ('.594', '1.000')
    """
    return f"{value:.3f}".removeprefix("0")


def trace_lines(figures: StoredFigures) -> Lines:
    """Yield the traces."""
    yield "trace", "first day", "days", "pages", "changed days of pages"
    for trace in figures.traces:
        yield (
            f"`{trace.name}`", trace.start, str(trace.days), f"{trace.pages:,}",
            f"{trace.changes:,}",
        )  # fmt: skip


def crawl_lines(trace: str, start: str, policies: Sequence[str], figures: StoredFigures) -> Lines:
    """Yield ChangeRate and freshness of policies by budget."""
    rows = {
        (row.policy, row.budget): row
        for row in figures.rows
        if (row.trace, row.start) == (trace, start)
    }
    budgets = sorted({budget for _, budget in rows})
    yield "policy", *(f"{budget:.0%}".replace("%", " %") for budget in budgets)
    for policy in policies:
        cells = [rows.get((policy, budget)) for budget in budgets]
        if any(cells):
            yield f"`{policy}`", *map(_cell, cells)


def replay_lines(figures: StoredFigures) -> Lines:
    """Yield the live replays."""
    yield (
        "policy", "budget", "pages", "requests", "not modified", "changes found", "freshness",
        "round-robin: changes", "freshness",
    )  # fmt: skip
    for result in figures.replays:
        yield (
            f"`{result.policy}`", result.budget, f"{result.pages:,}", f"{result.requests:,}",
            f"{result.not_modified:,}", f"{result.changes_found:,}", share(result.freshness),
            f"{result.round_robin_changes_found:,}", share(result.round_robin_freshness),
        )  # fmt: skip


def _cell(row: WildRow | None) -> str:
    return f"{share(row.changerate)} / {share(row.freshness)}" if row else NO_VALUE


def _crawl_table(trace: str, start: str) -> Callable[[StoredFigures], Lines]:
    names = [variant.name for variant in compared_policies()]
    return lambda figures: crawl_lines(trace, start, names, figures)


def _ablation_table(start: str) -> Callable[[StoredFigures], Lines]:
    names = [variant.name for variant in ablated_policies()]
    return lambda figures: crawl_lines("raw", start, names, figures)


TABLES: Mapping[str, Callable[[StoredFigures], Lines]] = {
    "traces": trace_lines,
    "replays": replay_lines,
    **{
        f"{trace}-{start}": _crawl_table(trace, start)
        for trace in ("raw", "raw-may", "raw-october", "raw-january", "generated")
        for start in ("warm", "cold")
    },
    **{f"ablation-{start}": _ablation_table(start) for start in ("warm", "cold")},
}
