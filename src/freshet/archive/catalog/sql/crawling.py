"""What a crawl remembers between visits: leases, spending, requests by persons, hosts."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Delete, case, delete, exists, func, or_, select, update

from freshet.archive.catalog.rows import HTTP_PORT_SUFFIX, DailySpending, HostState, Lease
from freshet.archive.catalog.schema import hosts, leases, meta, pages, spending
from freshet.archive.catalog.sql.store import (
    TableStore,
    optional_epoch,
    optional_time,
    split_chunks,
)
from freshet.core.clock import from_epoch, to_epoch

REOPENED = "reopened host "
_LIVE = (pages.c.source == "", pages.c.removed.is_(None))


class CrawlTables(TableStore):
    """The tables leases, spending and hosts, and which pages were asked for."""

    def lease_pages(
        self,
        worker: str,
        page_ids: Sequence[int],
        now: datetime,
        until: datetime,
        *,
        day: str | None = None,
    ) -> list[int]:
        """Lend pages to a worker until a time; return those that no other worker holds.

        With a day, one request is booked for each page that the worker did not hold before.
        """
        with self._writing.begin() as connection:
            held = _count(connection, worker)
            taken = self._lend(connection, Lease(0, worker, now, until), page_ids)
            if day is not None:
                self._book(connection, day, _count(connection, worker) - held)
        return [page_id for page_id in page_ids if page_id in taken]

    def _lend(
        self, connection: Connection, lease: Lease, page_ids: Sequence[int]
    ) -> set[int]:  # fmt: skip
        """Lend pages as the lease says; return those that its worker has now."""
        taken: set[int] = set()
        now, until = to_epoch(lease.start), to_epoch(lease.end)
        for piece in split_chunks(list(dict.fromkeys(page_ids))):
            insertion = self._upsert(leases).values([(p, lease.worker, now, until) for p in piece])
            new = insertion.excluded
            insertion = insertion.on_conflict_do_update(
                index_elements=["page_id"],
                set_={"worker": new.worker, "taken": new.taken, "until": new.until},
                where=or_(leases.c.until <= now, leases.c.worker == lease.worker),
            )
            taken |= set(connection.execute(insertion.returning(leases.c.page_id)).scalars())
        return taken

    def release_pages(
        self, worker: str, page_ids: Sequence[int] | None = None, *, day: str | None = None
    ) -> None:
        """Take back pages from a worker, all of its pages when none are named.

        With a day, the requests booked for those of them that were lent on it are given back.
        """
        held = delete(leases).where(leases.c.worker == worker)
        parts = [held] if page_ids is None else _of_pages(held, page_ids)
        with self._writing.begin() as connection:
            released = [lease for part in parts for lease in _deleted(connection, part)]
            if day is not None:
                self._book(connection, day, -sum(_is_of(lease, day) for lease in released))

    def leases(self) -> list[Lease]:
        """Return every lease, by page."""
        with self._engine.begin() as connection:
            return _to_leases(connection.execute(select(leases).order_by(leases.c.page_id)).all())

    def release_all_pages(self) -> list[int]:
        """Take back every page, as who holds the archive's lock may do, and return them.

        Their requests stay booked: a dead worker may have made them.
        """
        with self._writing.begin() as connection:
            return [lease.page for lease in _deleted(connection, delete(leases))]

    def book_requests(
        self, day: str, requests: int, other_requests: int = 0, burst_requests: int = 0
    ) -> None:
        """Add to what was spent on a day; less than nothing gives back."""
        with self._writing.begin() as connection:
            self._book(connection, day, requests, other_requests, burst_requests)

    def _book(
        self, connection: Connection, day: str, requests: int, apart: int = 0, samples: int = 0
    ) -> None:
        amounts = {"requests": requests, "apart": apart, "samples": samples}
        first = self._upsert(spending).values(day=day, **amounts)
        more = {name: spending.c[name] + first.excluded[name] for name in amounts}
        connection.execute(first.on_conflict_do_update(index_elements=["day"], set_=more))

    def spending(self, day: str) -> DailySpending:
        """Return what was spent on a day."""
        amounts = (spending.c.requests, spending.c.apart, spending.c.samples)
        with self._engine.begin() as connection:
            row = connection.execute(select(*amounts).where(spending.c.day == day)).first()
        return DailySpending() if row is None else DailySpending(*row)

    def request_visits(self, page_ids: Sequence[int], now: datetime) -> None:
        """Note that a person wants these pages visited now."""
        with self._writing.begin() as connection:
            for piece in split_chunks(list(page_ids)):
                wanted = update(pages).where(pages.c.id.in_(piece), pages.c.asked.is_(None))
                connection.execute(wanted.values(asked=to_epoch(now)))

    def requested_pages(self) -> list[int]:
        """Return the pages that a person wants visited, the longest waiting first."""
        query = select(pages.c.id).where(pages.c.asked.is_not(None), pages.c.removed.is_(None))
        with self._engine.begin() as connection:
            return list(connection.execute(query.order_by(pages.c.asked, pages.c.id)).scalars())

    def host_state(self, name: str) -> HostState | None:
        """Return what is remembered of a host, if anything is."""
        with self._engine.begin() as connection:
            row = connection.execute(select(hosts).where(hosts.c.host == name)).first()
        return None if row is None else _to_host(row)

    def host_states(self) -> list[HostState]:
        """Return what is remembered of all hosts, by name."""
        with self._engine.begin() as connection:
            return [_to_host(row) for row in connection.execute(select(hosts).order_by("host"))]

    def set_host_states(self, states: Sequence[HostState]) -> None:
        """Replace what is remembered of hosts, many at once; those with a blank state are gone."""
        insertion = self._upsert(hosts)
        replacing = insertion.on_conflict_do_update(
            index_elements=["host"], set_=dict(insertion.excluded)
        )
        rows = [_from_host(state) for state in states if not state.is_blank]
        with self._writing.begin() as connection:
            for piece in split_chunks([state.host for state in states if state.is_blank]):
                connection.execute(delete(hosts).where(hosts.c.host.in_(piece)))
            if rows:
                connection.execute(replacing, rows)

    def hosts_without_pages(self, *, idle_by: datetime | None = None) -> list[str]:
        """Return the remembered hosts that no live page lies on, by name.

        A name with port 80 has the robots.txt of a host's plain pages. With a time, only hosts come
        that could be asked by then.
        """
        name = hosts.c.host
        plain = func.substr(name, 1, func.length(name) - len(HTTP_PORT_SUFFIX))
        owner = case((name.like(f"%{HTTP_PORT_SUFFIX}"), plain), else_=name)
        there = exists().where(or_(pages.c.host == name, pages.c.host == owner), *_LIVE)
        query = select(name).where(~there).order_by(name)
        if idle_by is not None:
            by = to_epoch(idle_by)
            query = query.where(
                func.coalesce(hosts.c.next_allowed, 0) <= by,
                func.coalesce(hosts.c.backoff_until, 0) <= by,
            )
        with self._engine.begin() as connection:
            return list(connection.execute(query).scalars())

    def reopen_hosts(self, names: Sequence[str]) -> None:
        """Clear the back-off of hosts and what failed of their robots.txt.

        A crawl that runs holds its hosts in memory; it takes this up by ``take_reopened_hosts``.
        """
        note = self._upsert(meta)
        note = note.on_conflict_do_update(index_elements=["key"], set_=dict(note.excluded))
        with self._writing.begin() as connection:
            for name in names:
                row = connection.execute(select(hosts).where(hosts.c.host == name)).first()
                if row is not None:
                    values = _from_host(_to_host(row).without_backoff())
                    connection.execute(update(hosts).where(hosts.c.host == name).values(values))
                connection.execute(note, {"key": REOPENED + name, "value": ""})

    def take_reopened_hosts(self) -> list[str]:
        """Return the hosts that were reopened since this was last asked, by name."""
        noted = meta.c.key.startswith(REOPENED, autoescape=True)
        with self._engine.begin() as connection:
            if connection.execute(select(meta.c.key).where(noted).limit(1)).first() is None:
                return []
        with self._writing.begin() as connection:
            keys = connection.execute(delete(meta).where(noted).returning(meta.c.key)).scalars()
            return sorted(key.removeprefix(REOPENED) for key in keys)

    def count_host_pages(self, host: str) -> int:
        """Return how many live pages lie on a host; removed ones left out."""
        query = select(func.count()).select_from(pages).where(pages.c.host == host, *_LIVE)
        with self._engine.begin() as connection:
            return connection.execute(query).scalar_one()


def end_leases(connection: Connection, page_ids: Iterable[int]) -> None:
    """Take back the leases of pages that were visited, and what persons asked of them."""
    wanted = list(dict.fromkeys(page_ids))
    if connection.execute(select(leases.c.page_id).limit(1)).first():
        for piece in split_chunks(wanted):
            connection.execute(delete(leases).where(leases.c.page_id.in_(piece)))
    is_asked = pages.c.asked.is_not(None)
    if connection.execute(select(pages.c.id).where(is_asked).limit(1)).first():
        for piece in split_chunks(wanted):
            answered = update(pages).where(pages.c.id.in_(piece), is_asked)
            connection.execute(answered.values(asked=None))


def _count(connection: Connection, worker: str) -> int:
    query = select(func.count()).select_from(leases).where(leases.c.worker == worker)
    return connection.execute(query).scalar_one()


def _of_pages(held: Delete, page_ids: Sequence[int]) -> list[Delete]:
    return [held.where(leases.c.page_id.in_(piece)) for piece in split_chunks(list(page_ids))]


def _deleted(connection: Connection, held: Delete) -> list[Lease]:
    return _to_leases(sorted(connection.execute(held.returning(leases)).all()))


def _is_of(lease: Lease, day: str) -> bool:
    return f"{lease.start:%Y-%m-%d}" == day


def _to_leases(rows: Sequence[Sequence[Any]]) -> list[Lease]:
    return [
        Lease(page, worker, from_epoch(taken), from_epoch(until))
        for page, worker, taken, until in rows
    ]


def _from_host(state: HostState) -> dict[str, Any]:
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
        host,
        optional_time(next_allowed),
        delay,
        failures,
        optional_time(backoff_until),
        json.loads(robots),
    )
