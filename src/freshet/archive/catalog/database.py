"""Database access that all parts of the catalog share: transactions, chunks and bulk statements."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Boolean, Column, Connection, Engine, Select, Table, insert

from freshet.archive.catalog.schema import counters
from freshet.archive.catalog.sqlite import SqliteDialect
from freshet.core.clock import from_epoch, to_epoch

T = TypeVar("T")

# An IN list of this length is short enough for any database, and long enough to be quick.
CHUNK_SIZE = 500
BITS = {True: 1, False: 0}


class BulkInsert:
    """Inserts many rows, given as columns, by statements that are compiled once.

    Columns without any value are left out, and booleans are sent as numbers where the database
    stores them so: Python's sqlite3 takes longer to send None or True than a number.
    """

    def __init__(self, table: Table, engine: Engine) -> None:
        self._table = table
        self._names = [column.name for column in table.columns]
        self._dialect = engine.dialect
        self._statements: dict[tuple[str, ...], str] = {}

    def run(self, connection: Connection, columns: Mapping[str, Sequence[Any]]) -> None:
        """Insert rows, given as one sequence of values per column."""
        # A compiled INSERT names its columns in the order of the table.
        ordered = ((name, columns[name]) for name in self._names if name in columns)
        filled = {
            name: self._driver_values(name, values)
            for name, values in ordered
            if _has_value(values)
        }
        if filled:
            rows = list(zip(*filled.values(), strict=True))
            connection.exec_driver_sql(self._statement(tuple(filled)), rows)

    def _driver_values(self, name: str, values: Sequence[Any]) -> Iterable[Any]:
        is_boolean = isinstance(self._table.c[name].type, Boolean)
        if is_boolean and not self._dialect.supports_native_boolean:
            return map(BITS.get, values)
        return values

    def _statement(self, names: tuple[str, ...]) -> str:
        if names not in self._statements:
            compiled = insert(self._table).compile(dialect=self._dialect, column_keys=list(names))
            self._statements[names] = str(compiled)
        return self._statements[names]


def _has_value(values: Sequence[Any]) -> bool:
    """Whether any value is not None; fast where the first one is not."""
    return bool(values) and (values[0] is not None or values.count(None) < len(values))


class KeyLookup:
    """A query for many keys at once; its IN list is compiled once per length."""

    def __init__(self, query: Select[Any], key: Column[Any], engine: Engine) -> None:
        self._query = query
        self._key = key
        self._dialect = engine.dialect
        self._statements: dict[int, str] = {}

    def run(self, connection: Connection, keys: Sequence[Any], *parameters: Any) -> Iterator[Any]:
        """Yield the rows of any of the keys; ``parameters`` are those that come before the keys."""
        for chunk in split_chunks(keys):
            statement = self._statement(len(chunk))
            yield from connection.exec_driver_sql(statement, (*parameters, *chunk))

    def _statement(self, length: int) -> str:
        if length not in self._statements:
            query = self._query.where(self._key.in_([None] * length))
            compiled = query.compile(
                dialect=self._dialect, compile_kwargs={"render_postcompile": True}
            )
            self._statements[length] = str(compiled)
        return self._statements[length]


class TableStore:
    """One database: an engine to read, an engine to write, and what is specific to its dialect.

    Errors of the database are raised as Freshet's own (see ``connect`` of the dialect's module).
    """

    def __init__(self, engine: Engine, dialect: SqliteDialect) -> None:
        self._dialect = dialect
        self._read_engine = engine
        self._write_engine = engine.execution_options(writes=True)

    def _reserve_ids(self, connection: Connection, counter: str, count: int) -> range:
        """Take the next ``count`` numbers of a counter; no number is given out twice."""
        insertion = self._dialect.insert(counters).values(name=counter, last=count)
        last = connection.execute(
            insertion.on_conflict_do_update(
                index_elements=["name"], set_={"last": counters.c.last + count}
            ).returning(counters.c.last)
        ).scalar_one()
        return range(last - count + 1, last + 1)


def split_chunks(items: Sequence[T], size: int = CHUNK_SIZE) -> Iterator[Sequence[T]]:
    """Cut a sequence into chunks of at most ``size`` items.

    >>> [list(chunk) for chunk in split_chunks([1, 2, 3], 2)]
    [[1, 2], [3]]
    """
    return (items[start : start + size] for start in range(0, len(items), size))


def optional_epoch(time: datetime | None) -> float | None:
    """Convert a time, or None, to epoch seconds."""
    return None if time is None else to_epoch(time)


def optional_time(seconds: float | None) -> datetime | None:
    """Convert epoch seconds, or None, to a time."""
    return None if seconds is None else from_epoch(seconds)
