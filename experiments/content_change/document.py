"""Writes the tables of the document from the stored figures, so that they cannot differ.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->``; all other text is
left unchanged.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from experiments.content_change.expected_figures import StoredFigures

TABLE_PATTERN = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
NO_VALUE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"

Lines = Iterator[Sequence[str]]


def fill_tables(text: str, figures: StoredFigures) -> str:
    """Return a document with new tables."""

    def written_anew(match: re.Match[str]) -> str:
        lines = list(TABLES[match[2]](figures))
        rule = f"|{'---|' * len(lines[0])}"
        head, *body = (f"| {' | '.join(line)} |" for line in lines)
        return match[1] + "".join(f"{line}\n" for line in (head, rule, *body)) + match[3]

    return TABLE_PATTERN.sub(written_anew, text)


def source_lines(figures: StoredFigures) -> Lines:
    """Yield the pages of the runs."""
    yield "data", "pages", "hosts", "days", "versions"
    for record in figures.sources:
        counts = (record.pages, record.hosts, record.steps, record.versions)
        yield f"`{record.data}`", *(f"{count:,}" for count in counts)


def forecast_lines(data: str, label: str, figures: StoredFigures) -> Lines:
    """Yield the figures of all methods for one label."""
    yield "filter", "method", "experts", "pages", "accuracy", "balanced", "AUC", "log-loss"
    for row in sorted(figures.rows, key=lambda row: -row.filter):
        if (row.data, row.label) == (data, label):
            yield (
                f"{row.filter:.0%}".replace("%", " %"), row.method, row.selection or NO_VALUE,
                f"{row.pages:,}", percent(row.accuracy), percent(row.balanced_accuracy),
                share(row.auc), share(row.logloss),
            )  # fmt: skip


def comparison_lines(data: str, figures: StoredFigures) -> Lines:
    """Yield the paired tests."""
    yield "label", "filter", "method", "against", "points", "p", "hosts"
    for row in sorted(figures.comparisons, key=lambda row: (row.label, -row.filter)):
        if row.data == data:
            yield (
                row.label, f"{row.filter:.0%}".replace("%", " %"),
                f"{row.method} {row.selection}".strip(),
                f"{row.against} {row.against_selection}".strip(),
                signed(100 * row.difference), share(row.p), str(row.hosts),
            )  # fmt: skip


def percent(value: float) -> str:
    """Format a share in percent.

    >>> percent(0.70541)
    '70.5 %'
    """
    return f"{100 * value:.1f} %"


def share(value: float) -> str:
    """Format a share.

    >>> share(0.5944), share(1.0)
    ('.594', '1.000')
    """
    return f"{value:.3f}".removeprefix("0")


def signed(value: float) -> str:
    """Format a difference.

    >>> signed(1.34), signed(-0.2) == MINUS + "0.2"
    ('+1.3', True)
    """
    return f"{'+' if value >= 0 else MINUS}{abs(value):.1f}"


TABLES: Mapping[str, Callable[[StoredFigures], Lines]] = {
    "sources": source_lines,
    "world": partial(forecast_lines, "world", "any_text"),
    "world-tests": partial(comparison_lines, "world"),
    "any_text": partial(forecast_lines, "pages", "any_text"),
    "words10": partial(forecast_lines, "pages", "words10"),
    "l1": partial(forecast_lines, "pages", "l1"),
    "significant": partial(forecast_lines, "pages", "significant"),
    "tests": partial(comparison_lines, "pages"),
}
