"""Tables of figures: how a new run replaces older rows, and how they are printed and stored."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

FigureTables = Mapping[str, Sequence[Any]]


def merge_tables(
    stored: FigureTables, new: FigureTables, key_of: Callable[[str, Any], Hashable]
) -> dict[str, tuple[Any, ...]]:
    """Return the stored rows with those of a new result; rows with the same key are replaced.

    >>> merge_tables({"rows": ["a1", "b1"]}, {"rows": ["b2"]}, lambda table, row: row[0])
    {'rows': ('a1', 'b2')}
    """
    merged = {}
    for name, rows in new.items():
        keys = {key_of(name, row) for row in rows}
        others = (row for row in stored[name] if key_of(name, row) not in keys)
        merged[name] = (*others, *rows)
    return merged


def result_document(name: str, data: str, tables: FigureTables) -> str:
    """Return an experiment's JSON document; rows of other tables than ``rows`` name theirs."""
    rows = [
        asdict(row) if table == "rows" else {"table": table, **asdict(row)}
        for table, table_rows in tables.items()
        for row in table_rows
    ]
    return json.dumps({"name": name, "data": data, "rows": rows})


def read_tables(path: Path, row_types: Mapping[str, type[Any]]) -> dict[str, tuple[Any, ...]]:
    """Return the tables of a file; tables that it does not have are empty."""
    stored = json.loads(path.read_text("utf-8"))
    return {
        name: tuple(row_type(**row) for row in stored.get(name, ()))
        for name, row_type in row_types.items()
    }


def write_tables(path: Path, tables: FigureTables) -> None:
    """Write tables, a line for each row."""
    text = ",\n ".join(f'"{name}": {_lines(rows)}' for name, rows in tables.items())
    path.write_text(f"{{{text}}}\n", "utf-8")


def _lines(rows: Sequence[Any]) -> str:
    lines = ",\n  ".join(json.dumps(asdict(row)) for row in rows)
    return f"[\n  {lines}\n ]" if lines else "[]"
