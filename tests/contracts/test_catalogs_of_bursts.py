"""Burst sampling in every catalog; one suite, run on each database."""

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import DailySpending, Lease, VisitEntry
from freshet.core.bursts import BurstKind, BurstProgress, BurstSample, PendingSample
from freshet.core.clock import from_epoch
from freshet.core.types import Outcome
from tests.contracts.catalog_samples import CHANGE, DAY, NOW, add, new_page, new_visit

TODAY = "2026-11-01"
LEASE = Lease(0, "one", NOW, NOW + DAY)
FIRST = BurstProgress(BurstKind.FAST, 5.0)
SECOND = BurstProgress(BurstKind.FAST, 125.5, 1, 5.5, False, 2, 1)
INSTANT = BurstProgress(BurstKind.INSTANT, 9.0, fast_start=5.5, finished_bursts=1)


def start(catalog: Catalog, *pending: PendingSample) -> list[int]:
    return catalog.start_samples(LEASE, pending, day=TODAY)


def visit(catalog: Catalog, page: int, number: int, outcome: Outcome = Outcome.OK) -> int:
    return catalog.append_visits([VisitEntry(new_visit(page, number, outcome), CHANGE)])[0]


class TestBurstProgress:
    def test_progress_is_read_back_as_it_was_set(self, catalog: Catalog) -> None:
        a, b, c = add(catalog, new_page("a"), new_page("b"), new_page("c"))
        catalog.set_burst_progress({a: SECOND, b: INSTANT})
        resting = BurstProgress(None, 7.0, pause_count=3)
        catalog.set_burst_progress({
            b: resting,
            c: BurstProgress(BurstKind.FAST, 1.0, 2, 0.5, changed_quickly=True),
        })
        assert catalog.burst_progress() == {
            a: SECOND,
            b: resting,
            c: BurstProgress(BurstKind.FAST, 1.0, 2, 0.5, changed_quickly=True),
        }

    def test_removed_and_imported_pages_have_no_progress(self, catalog: Catalog) -> None:
        a, b, c = add(catalog, new_page("a"), new_page("b"), new_page("c", source="old"))
        catalog.set_burst_progress(dict.fromkeys((a, b, c), SECOND))
        catalog.remove_pages([a], NOW)
        assert catalog.burst_progress() == {b: SECOND}
        catalog.remove_pages([b], NOW, purge=True)
        assert catalog.burst_progress() == {}

    def test_pages_are_in_a_burst_from_its_first_sample_to_its_last(self, catalog: Catalog) -> None:
        a, b, c = add(catalog, new_page("a"), new_page("b"), new_page("c"))
        catalog.set_burst_progress({a: SECOND, b: FIRST})
        assert catalog.count_pages_in_bursts(from_epoch(0)) == 1
        start(catalog, PendingSample(c, FIRST, 0.0))
        assert catalog.count_pages_in_bursts(from_epoch(0)) == 2
        assert catalog.count_pages_in_bursts(from_epoch(6)) == 1


class TestSamples:
    def test_starting_samples_leases_pages_and_books_requests(self, catalog: Catalog) -> None:
        a, b, c = add(catalog, new_page("a"), new_page("b"), new_page("c"))
        catalog.lease_pages("other", [b], NOW, NOW + DAY)
        started = start(
            catalog,
            PendingSample(a, FIRST, 0.0),
            PendingSample(b, FIRST, 0.0),
            PendingSample(c, INSTANT, 0.0, 2),
        )
        assert started == [a, c]
        assert [lease.page for lease in catalog.leases() if lease.worker == "one"] == [a, c]
        assert catalog.spending(TODAY) == DailySpending(3, 0, 3)
        assert catalog.burst_progress() == {a: FIRST, c: INSTANT}

    def test_a_visit_of_a_page_with_an_outstanding_sample_is_that_sample(
        self, catalog: Catalog
    ) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        visit(catalog, a, 0)
        start(catalog, PendingSample(a, FIRST, 0.0))
        first = visit(catalog, a, 1)
        visit(catalog, b, 1)
        visit(catalog, a, 2)
        catalog.set_burst_progress({a: SECOND})
        start(catalog, PendingSample(a, SECOND, 120.0))
        second = visit(catalog, a, 3, Outcome.TIMEOUT)
        assert catalog.burst_samples(a) == [
            BurstSample(first, a, first, BurstKind.FAST, 0.0),
            BurstSample(second, a, first, BurstKind.FAST, 120.0),
        ]
        assert catalog.burst_samples(b) == []
        assert catalog.pages_with_samples() == [a]
        assert catalog.leases() == []

    def test_the_next_burst_has_its_own_first_visit(self, catalog: Catalog) -> None:
        [a] = add(catalog)
        for number, progress in enumerate([FIRST, INSTANT, FIRST]):
            start(catalog, PendingSample(a, progress, 0.0, apart=progress is INSTANT))
            visit(catalog, a, number)
            catalog.set_burst_progress({a: SECOND})
        samples = catalog.burst_samples(a)
        assert [sample.first == sample.visit for sample in samples] == [True, True, True]
        assert [sample.apart for sample in samples] == [False, True, False]

    def test_two_requests_at_once_are_one_burst_and_the_lease_lasts_until_both_are_done(
        self, catalog: Catalog
    ) -> None:
        [a] = add(catalog)
        start(catalog, PendingSample(a, INSTANT, 0.0, request_count=2))
        first = visit(catalog, a, 0)
        assert [lease.page for lease in catalog.leases()] == [a]
        second = visit(catalog, a, 1)
        assert catalog.leases() == []
        assert [(s.visit, s.first) for s in catalog.burst_samples(a)] == [
            (first, first),
            (second, first),
        ]

    def test_two_requests_at_once_may_be_written_together(self, catalog: Catalog) -> None:
        [a] = add(catalog)
        start(catalog, PendingSample(a, INSTANT, 0.0, request_count=2))
        ids = catalog.append_visits([VisitEntry(new_visit(a, number)) for number in range(3)])
        assert [(s.visit, s.first) for s in catalog.burst_samples(a)] == [(ids[0], ids[0]),
                                                                    (ids[1], ids[0])]  # fmt: skip
        assert catalog.leases() == []

    def test_cancelled_samples_are_given_back_request_by_request(self, catalog: Catalog) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        start(
            catalog, PendingSample(a, INSTANT, 0.0, request_count=2), PendingSample(b, FIRST, 0.0)
        )
        catalog.cancel_samples("one", [a, b], day=TODAY)
        assert catalog.spending(TODAY) == DailySpending(1, 0, 1)
        assert [lease.page for lease in catalog.leases()] == [a]
        visit(catalog, a, 0)
        catalog.cancel_samples("one", [a, a, b], day=TODAY)
        assert catalog.spending(TODAY) == DailySpending(1, 0, 1)
        assert catalog.leases() == []
        visit(catalog, b, 0)
        assert [len(catalog.burst_samples(page)) for page in (a, b)] == [1, 0]

    def test_after_a_crash_no_sample_is_outstanding_and_all_stay_booked(
        self, catalog: Catalog
    ) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        start(
            catalog, PendingSample(a, INSTANT, 0.0, request_count=2), PendingSample(b, FIRST, 0.0)
        )
        assert catalog.cancel_all_samples() == {a: 2, b: 1}
        assert catalog.cancel_all_samples() == {}
        visit(catalog, a, 0)
        assert catalog.burst_samples(a) == []
        assert catalog.spending(TODAY).burst_requests == 3

    def test_samples_without_progress_set_since_are_unprocessed(self, catalog: Catalog) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        start(catalog, PendingSample(a, FIRST, 0.0), PendingSample(b, FIRST, 0.0))
        visit(catalog, a, 0)
        visit(catalog, b, 0)
        catalog.set_burst_progress({b: SECOND})
        [row] = catalog.unprocessed_samples()
        assert (row.visit.page, row.change) == (a, CHANGE)
        catalog.set_burst_progress({a: SECOND})
        assert catalog.unprocessed_samples() == []

    def test_purging_a_page_deletes_its_samples(self, catalog: Catalog) -> None:
        [a] = add(catalog)
        start(catalog, PendingSample(a, FIRST, 0.0))
        visit(catalog, a, 0)
        catalog.remove_pages([a], NOW)
        assert catalog.pages_with_samples() == []
        catalog.remove_pages([a], NOW, purge=True)
        assert catalog.burst_samples(a) == []
