"""More rows than memory holds: put in order, or found by number, in a temporary file."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing


class DiskIndex:
    """A table on disk that finds a value by its number; it is gone when it is closed."""

    def __init__(self, rows: Iterable[tuple[int, str]]) -> None:
        self._table = sqlite3.connect("")
        self._table.execute("CREATE TABLE row (id INTEGER, value TEXT)")
        with self._table:
            self._table.executemany("INSERT INTO row VALUES (?, ?)", rows)
        self._table.execute("CREATE INDEX row_id ON row (id)")

    def get(self, number: int) -> str | None:
        """Return the value of a number, or None where the table has none."""
        query = "SELECT value FROM row WHERE id = ?"
        found = self._table.execute(query, (number,)).fetchone()
        return str(found[0]) if found else None

    def close(self) -> None:
        """Let go of the table."""
        self._table.close()


def sort_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines in the order of their bytes, sorted on disk however many there are.

    >>> list(sort_lines([b"b", b"a"]))
    [b'a', b'b']
    """
    with closing(sqlite3.connect("")) as table:
        table.execute("CREATE TABLE line (text BLOB)")
        with table:
            table.executemany("INSERT INTO line VALUES (?)", ((line,) for line in lines))
        for (text,) in table.execute("SELECT text FROM line ORDER BY text"):
            yield text
