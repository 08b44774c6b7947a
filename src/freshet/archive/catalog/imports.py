"""The list of imports, and notes on the whole collection."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update

from freshet.archive.catalog.database import TableStore, optional_time
from freshet.archive.catalog.rows import ImportRecord
from freshet.archive.catalog.schema import bad_rows, imports, meta
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.types import BadRow


class ImportTables(TableStore):
    """The tables imports, bad_rows and meta."""

    def start_import(self, kind: str, path: str, source: str, now: datetime) -> int:
        """Record that an import begins, and return its number."""
        row = insert(imports).values(
            kind=kind, path=path, source=source, started=to_epoch(now), counts="{}"
        )
        with self._write_engine.begin() as connection:
            return int(connection.execute(row.returning(imports.c.id)).scalar_one())

    def add_bad_rows(self, import_id: int, rows: Sequence[BadRow]) -> None:
        """Store the rows that an import could not read, with the reasons."""
        values = [{"import_id": import_id, "place": row.place, "why": row.why} for row in rows]
        with self._write_engine.begin() as connection:
            if values:
                connection.execute(insert(bad_rows), values)

    def finish_import(self, import_id: int, now: datetime, counts: Mapping[str, int]) -> None:
        """Record that an import is complete, and how much it added."""
        values = {"finished": to_epoch(now), "counts": json.dumps(dict(counts))}
        with self._write_engine.begin() as connection:
            connection.execute(update(imports).where(imports.c.id == import_id).values(values))

    def imports(self) -> list[ImportRecord]:
        """Return all imports, oldest first."""
        with self._read_engine.begin() as connection:
            rows = connection.execute(select(imports).order_by(imports.c.id)).all()
        return [_to_import(row) for row in rows]

    def bad_rows(self, import_id: int) -> list[BadRow]:
        """Return the rows that an import could not read."""
        query = select(bad_rows.c.place, bad_rows.c.why).where(bad_rows.c.import_id == import_id)
        with self._read_engine.begin() as connection:
            return [BadRow(*row) for row in connection.execute(query.order_by(bad_rows.c.id))]

    def read_note(self, key: str) -> str | None:
        """Return a note on the whole collection; None if there is none with that key."""
        with self._read_engine.begin() as connection:
            return connection.execute(select(meta.c.value).where(meta.c.key == key)).scalar()

    def write_note(self, key: str, value: str) -> None:
        """Add or replace a note on the whole collection."""
        row = self._dialect.insert(meta).values(key=key, value=value)
        with self._write_engine.begin() as connection:
            connection.execute(
                row.on_conflict_do_update(index_elements=["key"], set_={"value": value})
            )


def _to_import(row: Sequence[Any]) -> ImportRecord:
    import_id, kind, path, source, started, finished, counts = row
    return ImportRecord(
        import_id, kind, path, source, from_epoch(started), optional_time(finished),
        json.loads(counts),
    )  # fmt: skip
