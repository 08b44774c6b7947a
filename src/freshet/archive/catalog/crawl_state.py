"""The state of a crawl between visits: leases, spending, requested visits and hosts."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import astuple
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Delete, case, delete, exists, func, or_, select, update

from freshet.archive.catalog.database import (
    TableStore,
    optional_epoch,
    optional_time,
    split_chunks,
)
from freshet.archive.catalog.rows import HTTP_PORT_SUFFIX, DailySpending, HostState, Lease
from freshet.archive.catalog.schema import hosts, leases, meta, pages, spending
from freshet.core.budget import utc_day
from freshet.core.clock import from_epoch, to_epoch

REOPENED_KEY = "reopened host "
SPENDING_COLUMNS = ("requests", "apart", "samples", "exploratory")
_SPENDING = select(spending.c.day, *(spending.c[name] for name in SPENDING_COLUMNS))
_LIVE = (pages.c.source == "", pages.c.removed.is_(None))


class CrawlTables(TableStore):
    """The tables leases, spending and hosts, and which visits were requested."""

    def lease_pages(
        self,
        worker: str,
        page_ids: Sequence[int],
        now: datetime,
        until: datetime,
        *,
        day: str | None = None,
        exploratory_ids: Collection[int] = (),
    ) -> list[int]:
        """Lease pages to a worker until a time; return those that no other worker holds.

        With a day, one request is booked for each page that the worker did not hold before. Those
        of the exploratory pages are counted.
        """
        with self._write_engine.begin() as connection:
            held_before = _leased_pages(connection, worker, page_ids)
            leased = self._lease_pages(connection, Lease(0, worker, now, until), page_ids)
            if day is not None:
                new_leases = leased - held_before
                exploratory_count = len(new_leases.intersection(exploratory_ids))
                booking = DailySpending(len(new_leases), exploratory_requests=exploratory_count)
                self._book_requests(connection, day, booking)
        return [page_id for page_id in page_ids if page_id in leased]

    def _lease_pages(
        self, connection: Connection, lease: Lease, page_ids: Sequence[int]
    ) -> set[int]:
        """Lease pages on the terms of ``lease``; return those that its worker holds now."""
        leased: set[int] = set()
        start, end = to_epoch(lease.start), to_epoch(lease.end)
        for chunk in split_chunks(list(dict.fromkeys(page_ids))):
            rows = [(page_id, lease.worker, start, end) for page_id in chunk]
            insertion = self._dialect.insert(leases).values(rows)
            new = insertion.excluded
            insertion = insertion.on_conflict_do_update(
                index_elements=["page_id"],
                set_={"worker": new.worker, "taken": new.taken, "until": new.until},
                where=or_(leases.c.until <= start, leases.c.worker == lease.worker),
            )
            leased |= set(connection.execute(insertion.returning(leases.c.page_id)).scalars())
        return leased

    def release_pages(
        self,
        worker: str,
        page_ids: Sequence[int] | None = None,
        *,
        day: str | None = None,
        exploratory_ids: Collection[int] = (),
    ) -> None:
        """End the leases of a worker: those of the given pages, or all of them.

        With a day, the requests booked for pages that were leased on that day are given back.
        """
        of_worker = delete(leases).where(leases.c.worker == worker)
        deletions = [of_worker]
        if page_ids is not None:
            chunks = split_chunks(list(page_ids))
            deletions = [of_worker.where(leases.c.page_id.in_(chunk)) for chunk in chunks]
        with self._write_engine.begin() as connection:
            released = [
                lease for deletion in deletions for lease in _delete_leases(connection, deletion)
            ]
            if day is not None:
                booked = {lease.page for lease in released if utc_day(lease.start) == day}
                exploratory_count = len(booked.intersection(exploratory_ids))
                returned = DailySpending(-len(booked), exploratory_requests=-exploratory_count)
                self._book_requests(connection, day, returned)

    def leases(self) -> list[Lease]:
        """Return every lease, by page."""
        with self._read_engine.begin() as connection:
            return _to_leases(connection.execute(select(leases).order_by(leases.c.page_id)).all())

    def release_all_pages(self) -> list[int]:
        """End every lease and return the pages; only the holder of the archive's lock may do this.

        The requests stay booked: a dead worker may have sent them.
        """
        with self._write_engine.begin() as connection:
            return [lease.page for lease in _delete_leases(connection, delete(leases))]

    def book_requests(
        self,
        day: str,
        requests: int,
        other_requests: int = 0,
        burst_requests: int = 0,
        exploratory_requests: int = 0,
    ) -> None:
        """Add to the spending of a day; negative numbers give requests back."""
        booking = DailySpending(requests, other_requests, burst_requests, exploratory_requests)
        with self._write_engine.begin() as connection:
            self._book_requests(connection, day, booking)

    def _book_requests(self, connection: Connection, day: str, booking: DailySpending) -> None:
        amounts = dict(zip(SPENDING_COLUMNS, astuple(booking), strict=True))
        insertion = self._dialect.insert(spending).values(day=day, **amounts)
        sums = {name: spending.c[name] + insertion.excluded[name] for name in amounts}
        connection.execute(insertion.on_conflict_do_update(index_elements=["day"], set_=sums))

    def spending(self, day: str) -> DailySpending:
        """Return what was spent on a day."""
        with self._read_engine.begin() as connection:
            row = connection.execute(_SPENDING.where(spending.c.day == day)).first()
        return DailySpending() if row is None else DailySpending(*row[1:])

    def spending_since(self, day: str) -> dict[str, DailySpending]:
        """Return what was spent on a day and on each later one, by day."""
        query = _SPENDING.where(spending.c.day >= day).order_by(spending.c.day)
        with self._read_engine.begin() as connection:
            return {row[0]: DailySpending(*row[1:]) for row in connection.execute(query)}

    def request_visits(self, page_ids: Sequence[int], now: datetime) -> None:
        """Record that a person wants these pages visited now."""
        with self._write_engine.begin() as connection:
            for chunk in split_chunks(list(page_ids)):
                statement = update(pages).where(pages.c.id.in_(chunk), pages.c.asked.is_(None))
                connection.execute(statement.values(asked=to_epoch(now)))

    def requested_pages(self) -> list[int]:
        """Return the pages that a person wants visited, the longest waiting first."""
        query = select(pages.c.id).where(pages.c.asked.is_not(None), pages.c.removed.is_(None))
        with self._read_engine.begin() as connection:
            return list(connection.execute(query.order_by(pages.c.asked, pages.c.id)).scalars())

    def host_state(self, name: str) -> HostState | None:
        """Return the stored state of a host; None if there is none."""
        with self._read_engine.begin() as connection:
            row = connection.execute(select(hosts).where(hosts.c.host == name)).first()
        return None if row is None else _to_host(row)

    def host_states_of(self, names: Sequence[str]) -> dict[str, HostState]:
        """Return the stored states of some hosts, by name; those without one are left out."""
        states: dict[str, HostState] = {}
        with self._read_engine.begin() as connection:
            for chunk in split_chunks(names):
                for row in connection.execute(select(hosts).where(hosts.c.host.in_(chunk))):
                    states[row[0]] = _to_host(row)
        return states

    def host_states(self) -> list[HostState]:
        """Return the stored states of all hosts, by name."""
        with self._read_engine.begin() as connection:
            return [_to_host(row) for row in connection.execute(select(hosts).order_by("host"))]

    def set_host_states(self, states: Sequence[HostState]) -> None:
        """Replace the states of hosts; a host with a blank state is deleted."""
        insertion = self._dialect.insert(hosts)
        upsert = insertion.on_conflict_do_update(
            index_elements=["host"], set_=dict(insertion.excluded)
        )
        rows = [_host_columns(state) for state in states if not state.is_blank]
        with self._write_engine.begin() as connection:
            for chunk in split_chunks([state.host for state in states if state.is_blank]):
                connection.execute(delete(hosts).where(hosts.c.host.in_(chunk)))
            if rows:
                connection.execute(upsert, rows)

    def hosts_without_pages(self, *, idle_by: datetime | None = None) -> list[str]:
        """Return the stored hosts that have no live page, by name.

        A name with port 80 holds the robots.txt of a host's plain http pages. With ``idle_by``,
        only hosts that may be requested by then are returned.
        """
        name = hosts.c.host
        without_port = func.substr(name, 1, func.length(name) - len(HTTP_PORT_SUFFIX))
        owner = case((name.like(f"%{HTTP_PORT_SUFFIX}"), without_port), else_=name)
        has_page = exists().where(or_(pages.c.host == name, pages.c.host == owner), *_LIVE)
        query = select(name).where(~has_page).order_by(name)
        if idle_by is not None:
            seconds = to_epoch(idle_by)
            query = query.where(
                func.coalesce(hosts.c.next_allowed, 0) <= seconds,
                func.coalesce(hosts.c.backoff_until, 0) <= seconds,
            )
        with self._read_engine.begin() as connection:
            return list(connection.execute(query).scalars())

    def reopen_hosts(self, names: Sequence[str]) -> None:
        """Clear the back-off of hosts, and a robots.txt that could not be fetched.

        A running crawl holds its hosts in memory; it learns of this by ``take_reopened_hosts``.
        """
        note = self._dialect.insert(meta)
        note = note.on_conflict_do_update(index_elements=["key"], set_=dict(note.excluded))
        with self._write_engine.begin() as connection:
            for name in names:
                row = connection.execute(select(hosts).where(hosts.c.host == name)).first()
                if row is not None:
                    columns = _host_columns(_to_host(row).without_backoff())
                    connection.execute(update(hosts).where(hosts.c.host == name).values(columns))
                connection.execute(note, {"key": REOPENED_KEY + name, "value": ""})

    def take_reopened_hosts(self) -> list[str]:
        """Return the hosts that were reopened since the last call, by name."""
        is_reopened = meta.c.key.startswith(REOPENED_KEY, autoescape=True)
        with self._read_engine.begin() as connection:
            if connection.execute(select(meta.c.key).where(is_reopened).limit(1)).first() is None:
                return []
        deletion = delete(meta).where(is_reopened).returning(meta.c.key)
        with self._write_engine.begin() as connection:
            keys = connection.execute(deletion).scalars()
            return sorted(key.removeprefix(REOPENED_KEY) for key in keys)

    def count_host_pages(self, host: str) -> int:
        """Return how many live pages a host has; removed ones are left out."""
        query = select(func.count()).select_from(pages).where(pages.c.host == host, *_LIVE)
        with self._read_engine.begin() as connection:
            return connection.execute(query).scalar_one()


def end_leases(connection: Connection, page_ids: Iterable[int]) -> None:
    """End the leases of pages that were visited, and mark requested visits as done."""
    visited = list(dict.fromkeys(page_ids))
    if connection.execute(select(leases.c.page_id).limit(1)).first():
        for chunk in split_chunks(visited):
            connection.execute(delete(leases).where(leases.c.page_id.in_(chunk)))
    is_requested = pages.c.asked.is_not(None)
    if connection.execute(select(pages.c.id).where(is_requested).limit(1)).first():
        for chunk in split_chunks(visited):
            statement = update(pages).where(pages.c.id.in_(chunk), is_requested)
            connection.execute(statement.values(asked=None))


def _leased_pages(connection: Connection, worker: str, page_ids: Sequence[int]) -> set[int]:
    """Return which of some pages a worker holds."""
    query = select(leases.c.page_id).where(leases.c.worker == worker)
    return {
        page_id
        for chunk in split_chunks(list(page_ids))
        for page_id in connection.execute(query.where(leases.c.page_id.in_(chunk))).scalars()
    }


def _delete_leases(connection: Connection, deletion: Delete) -> list[Lease]:
    return _to_leases(sorted(connection.execute(deletion.returning(leases)).all()))


def _to_leases(rows: Sequence[Sequence[Any]]) -> list[Lease]:
    return [
        Lease(page, worker, from_epoch(start), from_epoch(end)) for page, worker, start, end in rows
    ]


def _host_columns(state: HostState) -> dict[str, Any]:
    return {
        "host": state.host,
        "next_allowed": optional_epoch(state.next_allowed),
        "delay": state.delay,
        "failures": state.failures,
        "backoff_until": optional_epoch(state.backoff_until),
        "robots": json.dumps(dict(state.robots)),
    }


def _to_host(row: Sequence[Any]) -> HostState:
    host, next_allowed, delay, failures, backoff_until, robots = row
    return HostState(
        host, optional_time(next_allowed), delay, failures, optional_time(backoff_until),
        json.loads(robots),
    )  # fmt: skip
