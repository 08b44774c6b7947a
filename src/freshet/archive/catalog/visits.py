"""Visits and their measured changes, appended in one transaction and never twice."""

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

from freshet.archive.catalog.bursts import record_samples
from freshet.archive.catalog.database import BulkInsert, KeyLookup, split_chunks
from freshet.archive.catalog.posts import PostTables
from freshet.archive.catalog.rows import ArchiveFile, VisitEntry
from freshet.archive.catalog.schema import changes, facts, files, link_events, pages, visits
from freshet.archive.catalog.visit_rows import (
    VISIT_QUERY,
    change_columns,
    link_columns,
    location_columns,
    read_visit,
    view_columns,
    visit_columns,
)
from freshet.core.errors import UsageError
from freshet.core.types import RecordLocation, Visit

RECORD_ORDER = (visits.c.offset, visits.c.id)
SET_LOCATION = (
    update(visits)
    .where(visits.c.id == bindparam("visit"))
    .values({name: bindparam(name) for name in ("file_id", "offset", "length")})
)
VISITS_PER_BATCH = 1000


class VisitTables(PostTables):
    """The tables visits, changes, facts, link_events and files, as they are written."""

    @cached_property
    def _insert_visits(self) -> BulkInsert:
        return BulkInsert(visits, self._read_engine)

    @cached_property
    def _insert_changes(self) -> BulkInsert:
        return BulkInsert(changes, self._read_engine)

    @cached_property
    def _insert_views(self) -> BulkInsert:
        return BulkInsert(facts, self._read_engine)

    @cached_property
    def _insert_links(self) -> BulkInsert:
        return BulkInsert(link_events, self._read_engine)

    @cached_property
    def _visit_id_by_uid(self) -> KeyLookup:
        return KeyLookup(select(visits.c.uid, visits.c.id), visits.c.uid, self._read_engine)

    @cached_property
    def _source_by_uid(self) -> KeyLookup:
        query = select(visits.c.uid, pages.c.source).join_from(visits, pages)
        return KeyLookup(query, visits.c.uid, self._read_engine)

    @cached_property
    def _file_id_by_name(self) -> KeyLookup:
        return KeyLookup(select(files.c.name, files.c.id), files.c.name, self._read_engine)

    def stored_uids(self, uids: Sequence[bytes]) -> set[bytes]:
        """Return those of the uids whose visits are in the catalog."""
        with self._read_engine.begin() as connection:
            return {uid for uid, _ in self._visit_id_by_uid.run(connection, uids)}

    def sources_by_uid(self, uids: Sequence[bytes]) -> dict[bytes, str]:
        """Return the source of the page of each visit that is in the catalog."""
        with self._read_engine.begin() as connection:
            return dict(self._source_by_uid.run(connection, uids))

    def append_visits(self, entries: Sequence[VisitEntry], *, all_new: bool = False) -> list[int]:
        """Write visits and everything that belongs to them; return their ids in order.

        A visit whose uid is already stored is left as it is, and its id returned. ``all_new`` says
        that the caller has checked that none is stored. A page that was visited is no longer leased
        to a worker, and its visit no longer requested.
        """
        uids = [entry.visit.uid for entry in entries]
        compared_uids = [entry.since for entry in entries if isinstance(entry.since, bytes)]
        lookup_uids = compared_uids if all_new else [*uids, *compared_uids]
        with self._write_engine.begin() as connection:
            ids: dict[bytes, int] = dict(self._visit_id_by_uid.run(connection, lookup_uids))
            new: dict[bytes, VisitEntry] = {}
            for entry in entries:
                if entry.visit.uid not in ids:
                    new.setdefault(entry.visit.uid, entry)
            if new:
                numbers = self._reserve_ids(connection, "visits", len(new))
                ids.update(zip(new, numbers, strict=True))
                self._write_visits(connection, list(new.values()), ids)
                record_samples(connection, [(ids[uid], new[uid].visit.page) for uid in new])
        return [ids[uid] for uid in uids]

    def _write_visits(
        self, connection: Connection, entries: Sequence[VisitEntry], ids: Mapping[bytes, int]
    ) -> None:
        names = {entry.visit.location.file for entry in entries if entry.visit.location}
        file_ids = self._file_ids(connection, names)
        self._insert_visits.run(connection, visit_columns(entries, ids, file_ids))
        self._write_measurements(connection, entries, ids)

    def _write_measurements(
        self, connection: Connection, entries: Sequence[VisitEntry], ids: Mapping[bytes, int]
    ) -> None:
        self._insert_changes.run(connection, change_columns(entries, ids))
        self._insert_views.run(connection, view_columns(entries, ids))
        self._insert_links.run(connection, link_columns(entries, ids))
        self._write_threads(connection, entries, ids)

    def replace_changes(self, entries: Sequence[VisitEntry]) -> None:
        """Replace the changes of stored visits; their views and links only where given."""
        ids = {entry.visit.uid: _visit_id(entry.visit) for entry in entries}
        viewed = [ids[entry.visit.uid] for entry in entries if entry.view]
        linked = [ids[entry.visit.uid] for entry in entries if entry.links]
        with self._write_engine.begin() as connection:
            _delete_rows(connection, changes, list(ids.values()))
            _delete_rows(connection, facts, viewed)
            _delete_rows(connection, link_events, linked)
            compared_uids = [entry.since for entry in entries if isinstance(entry.since, bytes)]
            ids |= dict(self._visit_id_by_uid.run(connection, compared_uids))
            self._write_measurements(connection, entries, ids)

    def set_locations(self, locations: Mapping[int, RecordLocation | None]) -> None:
        """Set where the records of visits are; None if their bytes are no longer stored."""
        with self._write_engine.begin() as connection:
            names = {location.file for location in locations.values() if location}
            file_ids = self._file_ids(connection, names)
            columns = location_columns(list(locations.values()), file_ids)
            columns = {"visit": list(locations), **columns}
            rows = [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ]
            if rows:
                connection.execute(SET_LOCATION, rows)

    def archive_files(self) -> list[ArchiveFile]:
        """Return the files of the archive in the order in which they were added."""
        query = select(files.c.id, files.c.name, files.c.source).order_by(files.c.id)
        with self._read_engine.begin() as connection:
            return [ArchiveFile(*row) for row in connection.execute(query)]

    def archive_file_ends(self) -> dict[str, int]:
        """Return where the last record that a visit points to ends, by file name."""
        end = func.max(visits.c.offset + visits.c.length)
        joined = visits.join(files, files.c.id == visits.c.file_id)
        query = select(files.c.name, end).select_from(joined).group_by(files.c.name)
        with self._read_engine.begin() as connection:
            return {name: int(last) for name, last in connection.execute(query)}

    def visits_with_payload(self, digest: bytes, size: int) -> list[Visit]:
        """Return all visits, of any page, that brought these bytes and whose records are stored."""
        same = VISIT_QUERY.where(visits.c.digest == digest, visits.c.size == size)
        query = same.where(visits.c.file_id.is_not(None)).order_by(visits.c.id)
        with self._read_engine.begin() as connection:
            return [read_visit(row) for row in connection.execute(query)]

    def visits_in_file(self, name: str) -> Iterator[Visit]:
        """Yield the visits whose records are in a file, in the order of their offsets."""
        query = VISIT_QUERY.where(files.c.name == name).order_by(*RECORD_ORDER)
        query = query.limit(VISITS_PER_BATCH)
        last = (-1, 0)
        while True:
            with self._read_engine.begin() as connection:
                rows = connection.execute(query.where(tuple_(*RECORD_ORDER) > last)).all()
            yield from map(read_visit, rows)
            if len(rows) < VISITS_PER_BATCH:
                return
            last = rows[-1].offset, rows[-1].id

    def _file_ids(self, connection: Connection, names: Collection[str]) -> dict[str, int]:
        """Return the ids of archive files; files that are missing are added."""
        ordered = sorted(names)
        ids = dict(self._file_id_by_name.run(connection, ordered))
        for name in ordered:
            if name not in ids:
                row = insert(files).values(name=name, source="")
                ids[name] = connection.execute(row.returning(files.c.id)).scalar_one()
        return ids


def _delete_rows(connection: Connection, table: Table, visit_ids: Sequence[int]) -> None:
    for chunk in split_chunks(visit_ids):
        connection.execute(delete(table).where(table.c.visit_id.in_(chunk)))


def _visit_id(visit: Visit) -> int:
    if visit.id is None:
        raise UsageError(f"visit {visit.uid.hex()} has no id; read it from the catalog first")
    return visit.id
