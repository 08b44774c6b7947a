"""What every family of tables stands on: transactions, batches, and rows inserted fast."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, TypeVar

from sqlalchemy import Boolean, Column, Connection, Engine, Select, Table, insert
from sqlalchemy.dialects import postgresql, sqlite

from freshet.archive.catalog import schema
from freshet.core.clock import from_epoch, to_epoch

T = TypeVar("T")

# One IN list holds few enough values for any database, and enough to be quick.
CHUNK_SIZE = 500
BITS = {True: 1, False: 0}


class BulkInsert:
    """Inserts of many rows, given as columns, by statements that are compiled once.

    Columns that no row fills are left out and truth values are sent as numbers where the database
    keeps them so: Python's sqlite3 takes longer to send None or True than a number.
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
        filled = {name: self._sent(name, values) for name, values in ordered if _filled(values)}
        if filled:
            rows = list(zip(*filled.values(), strict=True))
            connection.exec_driver_sql(self._statement(tuple(filled)), rows)

    def _sent(self, name: str, values: Sequence[Any]) -> Iterable[Any]:
        if self._dialect.supports_native_boolean or not self._is_truth(name):
            return values
        return map(BITS.get, values)

    def _is_truth(self, name: str) -> bool:
        return isinstance(self._table.c[name].type, Boolean)

    def _statement(self, names: tuple[str, ...]) -> str:
        if names not in self._statements:
            compiled = insert(self._table).compile(dialect=self._dialect, column_keys=list(names))
            self._statements[names] = str(compiled)
        return self._statements[names]


def _filled(values: Sequence[Any]) -> bool:
    """Say whether some value is not None, quickly where the first one is not."""
    return bool(values) and (values[0] is not None or values.count(None) < len(values))


class KeyLookup:
    """A query for many keys at once, whose IN list is compiled once per length."""

    def __init__(self, query: Select[Any], key: Column[Any], engine: Engine) -> None:
        self._query = query
        self._key = key
        self._dialect = engine.dialect
        self._statements: dict[int, str] = {}

    def run(self, connection: Connection, keys: Sequence[Any], *others: Any) -> Iterator[Any]:
        """Yield the rows of any of the keys; ``others`` fill the query's own places before them."""
        for piece in split_chunks(keys):
            yield from connection.exec_driver_sql(self._statement(len(piece)), (*others, *piece))

    def _statement(self, length: int) -> str:
        if length not in self._statements:
            query = self._query.where(self._key.in_([None] * length))
            in_full = {"render_postcompile": True}
            compiled = query.compile(dialect=self._dialect, compile_kwargs=in_full)
            self._statements[length] = str(compiled)
        return self._statements[length]


class TableStore:
    """Transactions on one database; errors leave it as Freshet's own (see the backends)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @cached_property
    def _writing(self) -> Engine:
        return self._engine.execution_options(writes=True)

    def _upsert(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        if self._engine.dialect.name == "postgresql":
            return postgresql.insert(table)
        return sqlite.insert(table)

    def _reserve(self, connection: Connection, name: str, count: int) -> range:
        """Take the next ``count`` numbers of a counter; they are never given out twice."""
        first = self._upsert(schema.counters).values(name=name, last=count)
        last = connection.execute(
            first.on_conflict_do_update(
                index_elements=["name"], set_={"last": schema.counters.c.last + count}
            ).returning(schema.counters.c.last)
        ).scalar_one()
        return range(last - count + 1, last + 1)


def split_chunks(items: Sequence[T], size: int = CHUNK_SIZE) -> Iterator[Sequence[T]]:
    """Cut a sequence into pieces of at most ``size``.

    >>> [list(piece) for piece in split_chunks([1, 2, 3], 2)]
    [[1, 2], [3]]
    """
    return (items[start : start + size] for start in range(0, len(items), size))


def optional_epoch(moment: datetime | None) -> float | None:
    """Turn a time that may be missing into epoch seconds."""
    return None if moment is None else to_epoch(moment)


def optional_time(seconds: float | None) -> datetime | None:
    """Turn epoch seconds that may be missing into a time."""
    return None if seconds is None else from_epoch(seconds)
