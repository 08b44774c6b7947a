"""What a crawl remembers between visits: leases on pages and the state of hosts."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, or_, select

from freshet.archive.catalog.rows import HostState
from freshet.archive.catalog.schema import hosts, leases
from freshet.archive.catalog.sql.store import Store, chunks, epoch, moment
from freshet.core.clock import to_epoch


class CrawlTables(Store):
    """The tables leases and hosts."""

    def lease(
        self, worker: str, page_ids: Sequence[int], now: datetime, until: datetime
    ) -> list[int]:
        """Lend pages to a worker until a time; return those that no other worker holds."""
        taken: set[int] = set()
        with self._writing.begin() as connection:
            for piece in chunks(list(dict.fromkeys(page_ids))):
                rows = [(page_id, worker, to_epoch(now), to_epoch(until)) for page_id in piece]
                insertion = self._upsert(leases).values(rows)
                new = insertion.excluded
                free = or_(leases.c.until <= to_epoch(now), leases.c.worker == worker)
                insertion = insertion.on_conflict_do_update(
                    index_elements=["page_id"],
                    set_={"worker": new.worker, "taken": new.taken, "until": new.until},
                    where=free,
                )
                taken |= set(connection.execute(insertion.returning(leases.c.page_id)).scalars())
        return [page_id for page_id in page_ids if page_id in taken]

    def release(self, worker: str, page_ids: Sequence[int] | None = None) -> None:
        """Take back pages from a worker; all of its pages when none are named."""
        held = delete(leases).where(leases.c.worker == worker)
        with self._writing.begin() as connection:
            if page_ids is None:
                connection.execute(held)
                return
            for piece in chunks(page_ids):
                connection.execute(held.where(leases.c.page_id.in_(piece)))

    def return_expired(self, now: datetime) -> list[int]:
        """Take back the pages whose lease has run out, and return them."""
        expired = delete(leases).where(leases.c.until <= to_epoch(now))
        with self._writing.begin() as connection:
            return sorted(connection.execute(expired.returning(leases.c.page_id)).scalars())

    def host(self, name: str) -> HostState | None:
        """Return what is remembered of a host, if anything is."""
        with self._engine.begin() as connection:
            row = connection.execute(select(hosts).where(hosts.c.host == name)).first()
        return None if row is None else _to_host(row)

    def set_host(self, state: HostState) -> None:
        """Replace what is remembered of a host."""
        row = {
            "next_allowed": epoch(state.next_allowed),
            "delay": state.delay,
            "failures": state.failures,
            "backoff_until": epoch(state.backoff_until),
            "robots": json.dumps(dict(state.robots)),
        }
        insertion = self._upsert(hosts).values(host=state.host, **row)
        with self._writing.begin() as connection:
            connection.execute(insertion.on_conflict_do_update(index_elements=["host"], set_=row))


def _to_host(row: Sequence[Any]) -> HostState:
    host, next_allowed, delay, failures, backoff_until, robots = row
    return HostState(
        host, moment(next_allowed), delay, failures, moment(backoff_until), json.loads(robots)
    )
