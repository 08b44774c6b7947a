"""Burst sampling: the progress of pages in their bursts, and which visits were samples."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from freshet.archive.catalog.crawl_state import CrawlTables, end_leases
from freshet.archive.catalog.pages import restrict_to_live
from freshet.archive.catalog.rows import DailySpending, HistoryRow, Lease
from freshet.archive.catalog.schema import leases, pages, rounds, samples, visits
from freshet.archive.catalog.visit_rows import HISTORY_QUERY, read_history_row
from freshet.core.bursts import BurstKind, BurstProgress, BurstSample, PendingSample
from freshet.core.clock import to_epoch

# The columns of the fields of BurstProgress, in their order.
PROGRESS_NAMES = ("kind", "due", "step", "began", "is_quick", "finished", "pauses")
PROGRESS_COLUMNS = tuple(rounds.c[name] for name in PROGRESS_NAMES)
SAMPLE_FIELDS = ("page_id", "first", "kind", "offset", "apart")
SAMPLE_COLUMNS = (samples.c.visit_id, *(samples.c[name] for name in SAMPLE_FIELDS))
SAMPLE_STATE = ("out", "first", "last")
# The value is part of the statement: the index on such rows is used only then.
HAS_OUTSTANDING = rounds.c.out > literal_column("0")
OUTSTANDING = select(rounds).where(HAS_OUTSTANDING)
LIVE_PROGRESS = restrict_to_live(
    select(rounds.c.page_id, *PROGRESS_COLUMNS).join(pages, pages.c.id == rounds.c.page_id),
    source="",
)
SET_SAMPLE_STATE = (
    update(rounds)
    .where(rounds.c.page_id == bindparam("page"))
    .values({name: bindparam(f"new_{name}") for name in SAMPLE_STATE})
)


class BurstTables(CrawlTables):
    """The tables rounds and samples.

    A visit of a page with outstanding samples is one of them. It is recorded as a sample in the
    transaction that writes the visit, so that a crash cannot separate the two.
    """

    def burst_progress(self) -> dict[int, BurstProgress]:
        """Return the progress of each live page that had bursts."""
        with self._read_engine.begin() as connection:
            rows = connection.execute(LIVE_PROGRESS).all()
        return {page: _to_progress(values) for page, *values in rows}

    def set_burst_progress(self, progress_by_page: Mapping[int, BurstProgress]) -> None:
        """Replace the progress of pages; all their samples so far count as processed."""
        with self._write_engine.begin() as connection:
            for page, progress in progress_by_page.items():
                self._set_burst_row(connection, page, {**_columns(progress), "last": None})

    def start_samples(
        self, lease: Lease, pending: Sequence[PendingSample], *, day: str
    ) -> list[int]:
        """Lease pages for samples, book their requests, and store which samples are outstanding.

        Return the leased pages: those that no other worker holds.
        """
        with self._write_engine.begin() as connection:
            leased = self._lease_pages(connection, lease, [sample.page for sample in pending])
            started = [sample for sample in pending if sample.page in leased]
            for sample in started:
                state = {
                    "offset": sample.offset, "apart": sample.apart, "out": sample.request_count,
                }  # fmt: skip
                self._set_burst_row(connection, sample.page, {**_columns(sample.progress), **state})
            requests = sum(sample.request_count for sample in started)
            self._book_requests(connection, day, DailySpending(requests, 0, requests))
        return [sample.page for sample in started]

    def cancel_samples(self, worker: str, page_ids: Sequence[int], *, day: str) -> None:
        """Cancel samples whose requests were never sent, and give back the booked requests.

        A page is named once for each request; it stays leased while another request is outstanding.
        """
        cancelled = 0
        with self._write_engine.begin() as connection:
            outstanding = {row.page_id: row.out for row in connection.execute(OUTSTANDING)}
            for page, count in Counter(page_ids).items():
                before = outstanding.get(page, 0)
                after = before - min(count, before)
                cancelled += before - after
                connection.execute(update(rounds).where(rounds.c.page_id == page).values(out=after))
                if not after:
                    own = leases.c.worker == worker
                    connection.execute(delete(leases).where(leases.c.page_id == page, own))
            self._book_requests(connection, day, DailySpending(-cancelled, 0, -cancelled))

    def cancel_all_samples(self) -> dict[int, int]:
        """Cancel every sample, as after a crash; return the outstanding requests by page.

        The requests stay booked: a dead worker may have sent them.
        """
        with self._write_engine.begin() as connection:
            outstanding = {row.page_id: row.out for row in connection.execute(OUTSTANDING)}
            if outstanding:
                connection.execute(update(rounds).where(HAS_OUTSTANDING).values(out=0))
        return outstanding

    def unprocessed_samples(self) -> list[HistoryRow]:
        """Return the last samples of pages whose progress was not set since."""
        last = select(rounds.c.last).where(rounds.c.last.is_not(None))
        query = HISTORY_QUERY.where(visits.c.id.in_(last)).order_by(visits.c.id)
        with self._read_engine.begin() as connection:
            return [read_history_row(row) for row in connection.execute(query)]

    def burst_samples(self, page_id: int) -> list[BurstSample]:
        """Return the visits of a page that were samples, in time order."""
        query = select(*SAMPLE_COLUMNS).join(visits, visits.c.id == samples.c.visit_id)
        query = query.where(samples.c.page_id == page_id).order_by(visits.c.time, visits.c.id)
        with self._read_engine.begin() as connection:
            return [_to_sample(row) for row in connection.execute(query)]

    def pages_with_samples(self) -> list[int]:
        """Return the pages that had samples, by id; removed ones are left out."""
        query = select(samples.c.page_id).join(pages, pages.c.id == samples.c.page_id).distinct()
        query = query.where(pages.c.removed.is_(None)).order_by(samples.c.page_id)
        with self._read_engine.begin() as connection:
            return list(connection.execute(query).scalars())

    def count_pages_in_bursts(self, since: datetime) -> int:
        """Count the live pages between the first and the last sample of a burst.

        A burst whose next sample was due before ``since`` is no longer under way.
        """
        query = select(func.count()).join_from(rounds, pages, pages.c.id == rounds.c.page_id)
        query = restrict_to_live(query, source="").where(or_(rounds.c.step > 0, HAS_OUTSTANDING))
        query = query.where(rounds.c.due >= to_epoch(since))
        with self._read_engine.begin() as connection:
            return int(connection.execute(query).scalar_one())

    def _set_burst_row(self, connection: Connection, page: int, values: Mapping[str, Any]) -> None:
        """Write some columns of a page's row; a burst that has not begun has no first visit."""
        row = {"page_id": page, "offset": 0.0, "apart": False, "out": 0, **values}
        updated = {**values, **({"first": None} if values["step"] == 0 else {})}
        insertion = self._dialect.insert(rounds).values(row)
        connection.execute(
            insertion.on_conflict_do_update(index_elements=["page_id"], set_=updated)
        )


def record_samples(connection: Connection, visited: Sequence[tuple[int, int]]) -> None:
    """Record which new visits, given as (visit id, page id), were samples; then end the leases.

    A page with another outstanding request stays leased.
    """
    outstanding = {row.page_id: row._asdict() for row in connection.execute(OUTSTANDING)}
    sample_rows: list[dict[str, Any]] = []
    for visit, page in visited:
        if page in outstanding and outstanding[page]["out"] > 0:
            row = outstanding[page]
            row |= {"out": row["out"] - 1, "first": row["first"] or visit, "last": visit}
            sample_rows.append({"visit_id": visit, **{name: row[name] for name in SAMPLE_FIELDS}})
    if sample_rows:
        connection.execute(insert(samples), sample_rows)
        sampled = sorted({row["page_id"] for row in sample_rows})
        connection.execute(SET_SAMPLE_STATE, [_sample_state(outstanding[page]) for page in sampled])
    still_out = {page for page, row in outstanding.items() if row["out"] > 0}
    end_leases(connection, (page for _, page in visited if page not in still_out))


def _sample_state(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"page": row["page_id"], **{f"new_{name}": row[name] for name in SAMPLE_STATE}}


def _columns(progress: BurstProgress) -> dict[str, Any]:
    kind = None if progress.kind is None else progress.kind.value
    return {**dict(zip(PROGRESS_NAMES, astuple(progress), strict=True)), "kind": kind}


def _to_progress(values: Sequence[Any]) -> BurstProgress:
    kind, *others = values
    return BurstProgress(None if kind is None else BurstKind(kind), *others)


def _to_sample(row: Sequence[Any]) -> BurstSample:
    visit, page, first, kind, offset, apart = row
    return BurstSample(visit, page, first, BurstKind(kind), offset, apart)
