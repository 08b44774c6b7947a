"""Writes the tables of a document anew; all other text is left unchanged.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->``.
"""

import re
from collections.abc import Callable, Iterable, Sequence

TABLE_PATTERN = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)

TableLines = Iterable[Sequence[str]]
NO_VALUE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"


def replace_tables(text: str, lines_of: Callable[[str], TableLines]) -> str:
    """Return a document with new tables; ``lines_of`` returns the cells of a table by its name.

    >>> text = "<!-- table: days -->\\n<!-- end of table -->"
    >>> print(replace_tables(text, lambda name: [["page", name], ["a", "3"]]))
    <!-- table: days -->
    | page | days |
    |---|---|
    | a | 3 |
    <!-- end of table -->
    """

    def new_table(match: re.Match[str]) -> str:
        lines = markdown_lines(lines_of(match[2]))
        return match[1] + "".join(f"{line}\n" for line in lines) + match[3]

    return TABLE_PATTERN.sub(new_table, text)


def share_text(value: float) -> str:
    """Return a share, or another number with three decimals.

    >>> share_text(0.5944), share_text(1.0), share_text(-0.25) == MINUS + ".250"
    ('.594', '1.000', True)
    """
    text = f"{abs(value):.3f}".removeprefix("0")
    return f"{MINUS}{text}" if value < 0 and text != ".000" else text


def markdown_lines(lines: TableLines) -> list[str]:
    """Return a table in Markdown, given its lines as cells; the first line is the head."""
    head, *body = lines
    return [_row(head), f"|{'---|' * len(head)}", *map(_row, body)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
