"""The stored figures of the back-tests, and the tables that the document shows of them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from experiments.document_tables import replace_tables, share_text
from experiments.schedule.sections import BUDGETS, FIGURES, SECTIONS, PolicyFigures

EXPECTED = Path(__file__).with_name("expected.json")
HEADINGS = ("ChangeRate", "weighted", "freshness", "weighted")


def read_figures(path: Path = EXPECTED) -> list[PolicyFigures]:
    """Return the stored figures."""
    if not path.exists():
        return []
    return [PolicyFigures(**row) for row in json.loads(path.read_text("utf-8"))["rows"]]


def save_figures(rows: Sequence[PolicyFigures], path: Path = EXPECTED) -> None:
    """Store figures in place of earlier ones of the same sections."""
    new_sections = {row.section for row in rows}
    kept = [row for row in read_figures(path) if row.section not in new_sections]
    all_rows = sorted([*kept, *rows], key=lambda row: list(SECTIONS).index(row.section))
    lines = ",\n".join(f"  {json.dumps(asdict(row))}" for row in all_rows)
    path.write_text(f'{{"rows": [\n{lines}\n ]}}\n', "utf-8")


def table_lines(name: str, rows: Sequence[PolicyFigures]) -> Iterator[Sequence[str]]:
    """Yield the cells of a table named after a section and a budget, such as ``living-5``."""
    section, percent = name.rsplit("-", 1)
    yield "policy", *HEADINGS
    for row in rows:
        if row.section == section and row.budget == int(percent) / 100:
            yield f"`{row.policy}`", *(share_text(getattr(row, figure)) for figure in FIGURES)


def fill_tables(text: str, rows: Sequence[PolicyFigures]) -> str:
    """Return a document with new tables."""
    return replace_tables(text, lambda name: table_lines(name, rows))


def table_names() -> list[str]:
    """Return the names of all tables."""
    return [f"{section}-{round(100 * budget)}" for section in SECTIONS for budget in BUDGETS]
