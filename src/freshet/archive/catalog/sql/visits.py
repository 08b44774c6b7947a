"""Visits and what was learnt from each, appended in one transaction and never doubled."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from sqlalchemy import (
    Connection,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)

from freshet.archive.catalog.rows import ArchiveFile, VisitEntry
from freshet.archive.catalog.schema import changes, facts, files, link_events, pages, visits
from freshet.archive.catalog.sql.columns import (
    change_columns,
    fact_columns,
    link_columns,
    location_columns,
    visit_columns,
)
from freshet.archive.catalog.sql.reading import VISIT_QUERY, read_visit
from freshet.archive.catalog.sql.rounds import record_samples
from freshet.archive.catalog.sql.store import BulkInsert, KeyLookup, TableStore, split_chunks
from freshet.core.errors import UsageError
from freshet.core.types import RecordLocation, Visit

RECORD_ORDER = (visits.c.offset, visits.c.id)
MOVE = (
    update(visits)
    .where(visits.c.id == bindparam("visit"))
    .values({name: bindparam(name) for name in ("file_id", "offset", "length")})
)
VISITS_AT_ONCE = 1000


class VisitTables(TableStore):
    """The tables visits, changes, facts, link_events and files, as they are written."""

    @cached_property
    def _insert_visits(self) -> BulkInsert:
        return BulkInsert(visits, self._engine)

    @cached_property
    def _insert_changes(self) -> BulkInsert:
        return BulkInsert(changes, self._engine)

    @cached_property
    def _insert_facts(self) -> BulkInsert:
        return BulkInsert(facts, self._engine)

    @cached_property
    def _insert_links(self) -> BulkInsert:
        return BulkInsert(link_events, self._engine)

    @cached_property
    def _ids_of_uids(self) -> KeyLookup:
        return KeyLookup(select(visits.c.uid, visits.c.id), visits.c.uid, self._engine)

    @cached_property
    def _sources_of_uids(self) -> KeyLookup:
        query = select(visits.c.uid, pages.c.source).join_from(visits, pages)
        return KeyLookup(query, visits.c.uid, self._engine)

    @cached_property
    def _ids_of_names(self) -> KeyLookup:
        return KeyLookup(select(files.c.name, files.c.id), files.c.name, self._engine)

    def stored_uids(self, uids: Sequence[bytes]) -> set[bytes]:
        """Return those uids whose visits are in the catalog."""
        with self._engine.begin() as connection:
            return {uid for uid, _ in self._ids_of_uids.run(connection, uids)}

    def sources_by_uid(self, uids: Sequence[bytes]) -> dict[bytes, str]:
        """Return the source of the page of each visit that is in the catalog, by the uid."""
        with self._engine.begin() as connection:
            return dict(self._sources_of_uids.run(connection, uids))

    def append_visits(self, entries: Sequence[VisitEntry], *, all_new: bool = False) -> list[int]:
        """Write visits and all that belongs to them at once; return their ids in order.

        A visit whose uid is already there is left as it is, and its id returned; ``all_new`` says
        that the caller has looked and none is. A page that was visited is no longer lent to a
        worker, nor asked for.
        """
        uids = [entry.visit.uid for entry in entries]
        compared = [entry.since for entry in entries if isinstance(entry.since, bytes)]
        asked = compared if all_new else [*uids, *compared]
        with self._writing.begin() as connection:
            ids: dict[bytes, int] = dict(self._ids_of_uids.run(connection, asked))
            fresh = _first_of_each([entry for entry in entries if entry.visit.uid not in ids])
            if fresh:
                numbers = self._reserve(connection, "visits", len(fresh))
                ids.update(zip(fresh, numbers, strict=True))
                self._write(connection, list(fresh.values()), ids)
                visited = [(ids[uid], entry.visit.page) for uid, entry in fresh.items()]
                record_samples(connection, visited)
        return [ids[uid] for uid in uids]

    def _write(
        self, connection: Connection, entries: Sequence[VisitEntry], ids: Mapping[bytes, int]
    ) -> None:
        named = {entry.visit.location.file for entry in entries if entry.visit.location}
        file_ids = self._file_ids(connection, named)
        self._insert_visits.run(connection, visit_columns(entries, ids, file_ids))
        self._write_findings(connection, entries, ids)

    def _write_findings(
        self, connection: Connection, entries: Sequence[VisitEntry], ids: Mapping[bytes, int]
    ) -> None:
        self._insert_changes.run(connection, change_columns(entries, ids))
        self._insert_facts.run(connection, fact_columns(entries, ids))
        self._insert_links.run(connection, link_columns(entries, ids))

    def replace_changes(self, entries: Sequence[VisitEntry]) -> None:
        """Replace what was measured of visits already there; views and links only where given."""
        ids = {entry.visit.uid: _known_id(entry.visit) for entry in entries}
        viewed = [ids[entry.visit.uid] for entry in entries if entry.view]
        linked = [ids[entry.visit.uid] for entry in entries if entry.links]
        with self._writing.begin() as connection:
            _forget(connection, changes, list(ids.values()))
            _forget(connection, facts, viewed)
            _forget(connection, link_events, linked)
            compared = [entry.since for entry in entries if isinstance(entry.since, bytes)]
            ids |= dict(self._ids_of_uids.run(connection, compared))
            self._write_findings(connection, entries, ids)

    def set_locations(self, locations: Mapping[int, RecordLocation | None]) -> None:
        """Say where the records of visits lie now; None when their bytes are no longer kept."""
        with self._writing.begin() as connection:
            named = {location.file for location in locations.values() if location}
            file_ids = self._file_ids(connection, named)
            places = location_columns(list(locations.values()), file_ids)
            moved = {"visit": list(locations), **places}
            rows = [dict(zip(moved, row, strict=True)) for row in zip(*moved.values(), strict=True)]
            if rows:
                connection.execute(MOVE, rows)

    def archive_files(self) -> list[ArchiveFile]:
        """Return the files of the archive in the order in which they were added."""
        query = select(files.c.id, files.c.name, files.c.source).order_by(files.c.id)
        with self._engine.begin() as connection:
            return [ArchiveFile(*row) for row in connection.execute(query)]

    def archive_file_ends(self) -> dict[str, int]:
        """Return for each file that rows point to where the last of their records ends."""
        end = func.max(visits.c.offset + visits.c.length)
        joined = visits.join(files, files.c.id == visits.c.file_id)
        query = select(files.c.name, end).select_from(joined).group_by(files.c.name)
        with self._engine.begin() as connection:
            return {name: int(last) for name, last in connection.execute(query)}

    def visits_with_payload(self, digest: bytes, size: int) -> list[Visit]:
        """Return all visits, of any page, that brought these bytes and whose records are kept."""
        same = VISIT_QUERY.where(visits.c.digest == digest, visits.c.size == size)
        query = same.where(visits.c.file_id.is_not(None)).order_by(visits.c.id)
        with self._engine.begin() as connection:
            return [read_visit(row) for row in connection.execute(query)]

    def visits_in_file(self, name: str) -> Iterator[Visit]:
        """Yield the visits whose records lie in a file, in the order of their offsets."""
        query = (
            VISIT_QUERY.where(files.c.name == name).order_by(*RECORD_ORDER).limit(VISITS_AT_ONCE)
        )
        last = (-1, 0)
        while True:
            with self._engine.begin() as connection:
                rows = connection.execute(query.where(tuple_(*RECORD_ORDER) > last)).all()
            found = [read_visit(row) for row in rows]
            yield from found
            if len(found) < VISITS_AT_ONCE:
                return
            last = rows[-1].offset, rows[-1].id

    def _file_ids(self, connection: Connection, names: Collection[str]) -> dict[str, int]:
        wanted = sorted(names)
        ids = dict(self._ids_of_names.run(connection, wanted))
        for name in wanted:
            if name not in ids:
                added = insert(files).values(name=name, source="")
                ids[name] = connection.execute(added.returning(files.c.id)).scalar_one()
        return ids


def _first_of_each(entries: Sequence[VisitEntry]) -> dict[bytes, VisitEntry]:
    first: dict[bytes, VisitEntry] = {}
    for entry in entries:
        first.setdefault(entry.visit.uid, entry)
    return first


def _forget(connection: Connection, table: Table, visit_ids: Sequence[int]) -> None:
    for piece in split_chunks(visit_ids):
        connection.execute(delete(table).where(table.c.visit_id.in_(piece)))


def _known_id(visit: Visit) -> int:
    if visit.id is None:
        raise UsageError(f"visit {visit.uid.hex()} has no id; read it from the catalog first")
    return visit.id
