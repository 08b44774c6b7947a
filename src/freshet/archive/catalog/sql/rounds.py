"""How far pages are in their rounds, and which visits were samples of which round."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
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

from freshet.archive.catalog.rows import HistoryRow, Lease
from freshet.archive.catalog.schema import leases, pages, rounds, samples, visits
from freshet.archive.catalog.sql.crawling import CrawlTables, end_leases
from freshet.archive.catalog.sql.pages import restrict_to_live
from freshet.archive.catalog.sql.reading import HISTORY_QUERY, read_history_row
from freshet.core.bursts import BurstKind, BurstProgress, BurstSample, PendingSample
from freshet.core.clock import to_epoch

COURSE_FIELDS = tuple(field.name for field in fields(BurstProgress))
COURSE_COLUMNS = tuple(rounds.c[name] for name in COURSE_FIELDS)
SAMPLE_FIELDS = ("page_id", "first", "kind", "offset", "apart")
SAMPLE_COLUMNS = (samples.c.visit_id, *(samples.c[name] for name in SAMPLE_FIELDS))
MOVED = ("out", "first", "last")
# The value stands in the statement itself: only so is the index on such rows used.
IS_OUT = rounds.c.out > literal_column("0")
OUT = select(rounds).where(IS_OUT)
LIVE_COURSES = restrict_to_live(
    select(rounds.c.page_id, *COURSE_COLUMNS).join(pages, pages.c.id == rounds.c.page_id), source=""
)
TAKEN = (
    update(rounds)
    .where(rounds.c.page_id == bindparam("page"))
    .values({name: bindparam(f"new_{name}") for name in MOVED})
)


class BurstTables(CrawlTables):
    """The tables rounds and samples."""

    def burst_progress(self) -> dict[int, BurstProgress]:
        """Return how far pages are in their rounds, of live pages that had any."""
        with self._engine.begin() as connection:
            rows = connection.execute(LIVE_COURSES).all()
        return {page: _to_course(values) for page, *values in rows}

    def set_burst_progress(self, courses: Mapping[int, BurstProgress]) -> None:
        """Replace how far pages are in their rounds, all that their samples showed considered."""
        with self._writing.begin() as connection:
            for page, course in courses.items():
                self._set(connection, page, {**_columns(course), "last": None})

    def start_samples(
        self, lease: Lease, samplings: Sequence[PendingSample], *, day: str
    ) -> list[int]:
        """Lend pages as a lease says, book their requests, and note which samples are out.

        Return the pages that were lent: those that no other worker holds.
        """
        with self._writing.begin() as connection:
            held = self._lend(connection, lease, [sampling.page for sampling in samplings])
            sent = [sampling for sampling in samplings if sampling.page in held]
            for sampling in sent:
                way = {
                    "offset": sampling.offset,
                    "apart": sampling.apart,
                    "out": sampling.request_count,
                }
                self._set(connection, sampling.page, {**_columns(sampling.progress), **way})
            requests = sum(sampling.request_count for sampling in sent)
            self._book(connection, day, requests, samples=requests)
        return [sampling.page for sampling in sent]

    def cancel_samples(self, worker: str, page_ids: Sequence[int], *, day: str) -> None:
        """Take back samples whose requests never went out, and give back what was booked for them.

        A page is named once for each request; it stays lent as long as another of them is out.
        """
        given_back = 0
        with self._writing.begin() as connection:
            out = {row.page_id: row.out for row in connection.execute(OUT)}
            for page, count in Counter(page_ids).items():
                back = min(count, out.get(page, 0))
                given_back += back
                left = {"out": out.get(page, 0) - back}
                connection.execute(update(rounds).where(rounds.c.page_id == page).values(left))
                if not left["out"]:
                    mine = leases.c.worker == worker
                    connection.execute(delete(leases).where(leases.c.page_id == page, mine))
            self._book(connection, day, -given_back, samples=-given_back)

    def cancel_all_samples(self) -> dict[int, int]:
        """Take back every sample, as after a crash; return how many requests were out by page.

        The requests stay booked: a dead worker may have made them.
        """
        with self._writing.begin() as connection:
            out = {row.page_id: row.out for row in connection.execute(OUT)}
            if out:
                connection.execute(update(rounds).where(IS_OUT).values(out=0))
        return out

    def unprocessed_samples(self) -> list[HistoryRow]:
        """Return the last samples of pages whose courses were not set since."""
        last = select(rounds.c.last).where(rounds.c.last.is_not(None))
        query = HISTORY_QUERY.where(visits.c.id.in_(last)).order_by(visits.c.id)
        with self._engine.begin() as connection:
            return [read_history_row(row) for row in connection.execute(query)]

    def burst_samples(self, page_id: int) -> list[BurstSample]:
        """Return the visits of a page that were samples, in the order of their times."""
        query = select(*SAMPLE_COLUMNS).join(visits, visits.c.id == samples.c.visit_id)
        ordered = query.where(samples.c.page_id == page_id).order_by(visits.c.time, visits.c.id)
        with self._engine.begin() as connection:
            return [_to_sample(row) for row in connection.execute(ordered)]

    def pages_with_samples(self) -> list[int]:
        """Return the pages that had samples, by id; removed ones left out."""
        query = select(samples.c.page_id).join(pages, pages.c.id == samples.c.page_id).distinct()
        there = query.where(pages.c.removed.is_(None)).order_by(samples.c.page_id)
        with self._engine.begin() as connection:
            return list(connection.execute(there).scalars())

    def count_pages_in_bursts(self, since: datetime) -> int:
        """Return how many live pages are between the first and the last sample of a round.

        Rounds whose next sample was due before a time are no longer under way.
        """
        query = select(func.count()).join_from(rounds, pages, pages.c.id == rounds.c.page_id)
        going = restrict_to_live(query, source="").where(or_(rounds.c.step > 0, IS_OUT))
        going = going.where(rounds.c.due >= to_epoch(since))
        with self._engine.begin() as connection:
            return int(connection.execute(going).scalar_one())

    def _set(self, connection: Connection, page: int, values: Mapping[str, Any]) -> None:
        """Write what is given of a page's row; a round that is yet to begin has no first visit."""
        row = {"page_id": page, "offset": 0.0, "apart": False, "out": 0, **values}
        changed = {**values, **({"first": None} if values["step"] == 0 else {})}
        insertion = self._upsert(rounds).values(row)
        connection.execute(
            insertion.on_conflict_do_update(index_elements=["page_id"], set_=changed)
        )


def record_samples(connection: Connection, visited: Sequence[tuple[int, int]]) -> None:
    """Note which of new visits, given by id and page, were samples; then settle their pages.

    A page of which another request is out stays lent.
    """
    out = {row.page_id: row._asdict() for row in connection.execute(OUT)}
    taken: dict[int, dict[str, Any]] = {}
    for visit, page in visited:
        if page in out and out[page]["out"] > 0:
            row = out[page]
            row |= {"out": row["out"] - 1, "first": row["first"] or visit, "last": visit}
            taken[visit] = {name: row[name] for name in SAMPLE_FIELDS}
    if taken:
        connection.execute(insert(samples), [{"visit_id": v, **row} for v, row in taken.items()])
        sampled = {row["page_id"] for row in taken.values()}
        connection.execute(TAKEN, [_moved(out[page]) for page in sorted(sampled)])
    still_out = {page for page, row in out.items() if row["out"] > 0}
    end_leases(connection, (page for _, page in visited if page not in still_out))


def _moved(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"page": row["page_id"], **{f"new_{name}": row[name] for name in MOVED}}


def _columns(course: BurstProgress) -> dict[str, Any]:
    kind = None if course.kind is None else course.kind.value
    return {**dict(zip(COURSE_FIELDS, astuple(course), strict=True)), "kind": kind}


def _to_course(values: Sequence[Any]) -> BurstProgress:
    kind, *rest = values
    return BurstProgress(None if kind is None else BurstKind(kind), *rest)


def _to_sample(row: Sequence[Any]) -> BurstSample:
    visit, page, first, kind, offset, apart = row
    return BurstSample(visit, page, first, BurstKind(kind), offset, apart)
