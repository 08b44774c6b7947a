"""Sort and index more rows than fit into memory, in a temporary SQLite file."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing


class DiskIndex:
    """A temporary table on disk that maps numbers to values; closing it deletes it."""

    def __init__(self, rows: Iterable[tuple[int, str]]) -> None:
        self._table = sqlite3.connect("")
        self._table.execute("CREATE TABLE row (id INTEGER, value TEXT)")
        with self._table:
            self._table.executemany("INSERT INTO row VALUES (?, ?)", rows)
        self._table.execute("CREATE INDEX row_id ON row (id)")

    def get(self, number: int) -> str | None:
        """Return the value of a number, or None if there is none."""
        query = "SELECT value FROM row WHERE id = ?"
        row = self._table.execute(query, (number,)).fetchone()
        return str(row[0]) if row else None

    def close(self) -> None:
        """Delete the table."""
        self._table.close()


def sort_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines sorted by their bytes; the sort happens on disk.

    >>> list(sort_lines([b"b", b"a"]))
    [b'a', b'b']
    """
    with closing(sqlite3.connect("")) as table:
        table.execute("CREATE TABLE line (text BLOB)")
        with table:
            table.executemany("INSERT INTO line VALUES (?)", ((line,) for line in lines))
        for (text,) in table.execute("SELECT text FROM line ORDER BY text"):
            yield text
