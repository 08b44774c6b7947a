"""The state of a crawl in every catalog; one suite, run on each database."""

from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from freshet.archive.catalog import planning
from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import (
    CacheValidators,
    DailySpending,
    HostState,
    InactivePages,
    Lease,
    VisitEntry,
)
from freshet.core.content.measured_looks import concatenate_looks
from freshet.core.types import Change, Outcome
from tests.contracts.catalog_samples import (
    CATALOGS,
    CHANGE,
    DAY,
    NOW,
    VIEW,
    add,
    new_page,
    new_visit,
)

TODAY = "2026-11-01"
TOMORROW = "2026-11-02"


class TestLeases:
    def test_a_page_is_leased_to_one_worker_at_a_time(self, catalog: Catalog) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        assert catalog.lease_pages("one", [a], NOW, NOW + DAY) == [a]
        assert catalog.lease_pages("two", [a, b], NOW, NOW + DAY) == [b]
        assert catalog.lease_pages("one", [a], NOW, NOW + 2 * DAY) == [a]
        catalog.release_pages("two")
        catalog.release_pages("one", [a])
        assert catalog.lease_pages("three", [a, b], NOW, NOW + DAY) == [a, b]

    def test_an_expired_lease_can_be_taken_over(self, catalog: Catalog) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        catalog.lease_pages("dead", [a], NOW, NOW + DAY)
        catalog.lease_pages("alive", [b], NOW, NOW + 3 * DAY)
        assert catalog.lease_pages("new", [a, b], NOW + DAY, NOW + 2 * DAY) == [a]
        assert catalog.lease_pages("newer", [a, b], NOW + 2 * DAY, NOW + 3 * DAY) == [a]

    def test_all_leases_are_listed_and_released(self, catalog: Catalog) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        catalog.lease_pages("one", [b, a], NOW, NOW + DAY)
        assert catalog.leases() == [Lease(page, "one", NOW, NOW + DAY) for page in (a, b)]
        assert catalog.release_all_pages() == [a, b]
        assert catalog.leases() == catalog.release_all_pages() == []

    def test_a_visit_ends_the_lease_of_its_page(self, catalog: Catalog) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        catalog.lease_pages("one", [a, b], NOW, NOW + DAY)
        catalog.append_visits([VisitEntry(new_visit(a, 0, Outcome.TIMEOUT))])
        assert [lease.page for lease in catalog.leases()] == [b]
        catalog.lease_pages("one", [a], NOW, NOW + DAY)
        catalog.append_visits([VisitEntry(new_visit(a, 0, Outcome.TIMEOUT))])
        assert [lease.page for lease in catalog.leases()] == [a, b]


class TestSpending:
    def test_booked_requests_add_up_by_day(self, catalog: Catalog) -> None:
        assert catalog.spending(TODAY) == DailySpending(0, 0)
        catalog.book_requests(TODAY, 3, other_requests=1)
        catalog.book_requests(TODAY, -1)
        catalog.book_requests(TOMORROW, 7)
        assert catalog.spending(TODAY) == DailySpending(2, 1)
        assert catalog.spending(TOMORROW) == DailySpending(7, 0)

    def test_a_lease_books_one_request_for_each_page(self, catalog: Catalog) -> None:
        a, b, c = add(catalog, new_page("a"), new_page("b"), new_page("c"))
        catalog.lease_pages("other", [c], NOW, NOW + DAY)
        assert catalog.lease_pages("one", [a, b, c, a], NOW, NOW + DAY, day=TODAY) == [a, b, a]
        assert catalog.spending(TODAY).requests == 2
        catalog.lease_pages("one", [a], NOW, NOW + 2 * DAY, day=TODAY)
        assert catalog.spending(TODAY).requests == 2
        assert catalog.lease_pages("one", [c], NOW + DAY, NOW + 2 * DAY, day=TOMORROW) == [c]
        assert catalog.spending(TOMORROW).requests == 1

    def test_released_pages_give_back_their_requests(self, catalog: Catalog) -> None:
        a, b, c = add(catalog, new_page("a"), new_page("b"), new_page("c"))
        catalog.lease_pages("one", [a, b, c], NOW, NOW + DAY, day=TODAY)
        catalog.release_pages("one", [a], day=TODAY)
        catalog.release_pages("one", [a], day=TODAY)
        assert catalog.spending(TODAY).requests == 2
        catalog.release_pages("one", day=TODAY)
        assert catalog.spending(TODAY).requests == 0

    def test_exploratory_requests_are_booked_and_given_back_with_their_leases(
        self, catalog: Catalog
    ) -> None:
        a, b, c = add(catalog, new_page("a"), new_page("b"), new_page("c"))
        catalog.lease_pages("other", [c], NOW, NOW + DAY)
        catalog.lease_pages("one", [a, b, c], NOW, NOW + DAY, day=TODAY, exploratory_ids={a, b, c})
        assert catalog.spending(TODAY) == DailySpending(2, exploratory_requests=2)
        catalog.release_pages("one", [a], day=TODAY, exploratory_ids={a, b})
        catalog.release_pages("one", [b], day=TOMORROW, exploratory_ids={a, b})
        assert catalog.spending(TODAY) == DailySpending(1, exploratory_requests=1)
        assert catalog.spending(TOMORROW) == DailySpending()

    def test_pages_that_a_worker_holds_already_are_booked_as_exploratory_once(
        self, catalog: Catalog
    ) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        catalog.lease_pages("one", [a], NOW, NOW + DAY, day=TODAY, exploratory_ids={a})
        catalog.lease_pages("one", [a, b], NOW, NOW + DAY, day=TODAY, exploratory_ids={a, b})
        assert catalog.spending(TODAY) == DailySpending(2, exploratory_requests=2)

    def test_spending_is_returned_from_a_day_on(self, catalog: Catalog) -> None:
        catalog.book_requests(TOMORROW, 1, 2, 3, 4)
        catalog.book_requests(TODAY, 5)
        assert catalog.spending_since(TODAY) == {
            TODAY: DailySpending(5),
            TOMORROW: DailySpending(1, 2, 3, 4),
        }
        assert list(catalog.spending_since(TOMORROW)) == [TOMORROW]

    def test_releasing_pages_leased_on_an_earlier_day_gives_nothing_back(
        self, catalog: Catalog
    ) -> None:
        ids = add(catalog, new_page("a"), new_page("b"))
        catalog.lease_pages("one", ids, NOW, NOW + DAY, day=TODAY)
        catalog.release_pages("one", day=TOMORROW)
        assert catalog.spending(TOMORROW).requests == 0
        assert catalog.spending(TODAY).requests == 2

    def test_requests_of_dead_workers_stay_booked(self, catalog: Catalog) -> None:
        catalog.lease_pages("dead", add(catalog), NOW, NOW + DAY, day=TODAY)
        catalog.release_all_pages()
        assert catalog.spending(TODAY).requests == 1


class TestRequestedVisits:
    def test_requested_pages_are_in_the_order_of_the_requests(self, catalog: Catalog) -> None:
        a, b, c, d = add(catalog, *(new_page(name) for name in "abcd"))
        catalog.request_visits([c], NOW)
        catalog.request_visits([a, c, d], NOW + DAY)
        catalog.remove_pages([d], NOW)
        assert catalog.requested_pages() == [c, a]
        assert b not in catalog.requested_pages()

    def test_a_visit_fulfils_the_request(self, catalog: Catalog) -> None:
        a, b = ids = add(catalog, new_page("a"), new_page("b"))
        catalog.request_visits(ids, NOW)
        catalog.append_visits([VisitEntry(new_visit(a, 0))])
        assert catalog.requested_pages() == [b]


class TestHosts:
    def test_host_states_are_stored(self, catalog: Catalog) -> None:
        assert catalog.host_state("a.example") is None
        state = HostState("a.example", NOW, 2.5, 3, NOW + DAY, {"crawl_delay": 5})
        for new_state in (HostState("a.example", failures=1), state):
            catalog.set_host_states([new_state])
            assert catalog.host_state("a.example") == new_state

    def test_a_reopened_host_keeps_its_delay_and_is_reported_once(self, catalog: Catalog) -> None:
        failed = {"failing_since": 1.0, "status": 503}
        catalog.set_host_states([
            HostState("a.example", NOW, 2.5, 3, NOW + DAY, failed),
            HostState("b.example", NOW, failures=3, robots={"failing_since": None, "status": 200}),
        ])
        catalog.reopen_hosts(["b.example", "a.example", "unknown_%.example"])
        assert catalog.host_states() == [
            HostState("a.example", NOW, 2.5),
            HostState("b.example", NOW, robots={"failing_since": None, "status": 200}),
        ]
        assert catalog.take_reopened_hosts() == ["a.example", "b.example", "unknown_%.example"]
        assert catalog.take_reopened_hosts() == []

    def test_a_host_with_a_blank_state_is_deleted(self, catalog: Catalog) -> None:
        catalog.set_host_states([HostState("a.example", NOW), HostState("b.example", NOW)])
        catalog.set_host_states([HostState("a.example"), HostState("c.example")])
        assert [state.host for state in catalog.host_states()] == ["b.example"]

    def test_hosts_without_live_pages_are_listed(self, catalog: Catalog) -> None:
        names = ["a.example", "a.example:80", "b.example", "c.example", "c.example:80", "d.example"]
        live, removed = add(
            catalog, new_page("a"), new_page("b", "b.example"),
            new_page("c", "c.example", source="snap"),
        )[:2]  # fmt: skip
        catalog.remove_pages([removed], NOW)
        catalog.set_host_states([HostState(name, NOW) for name in names])
        catalog.set_host_states([HostState("d.example", NOW, backoff_until=NOW + DAY)])
        assert catalog.hosts_without_pages() == names[2:]
        assert catalog.hosts_without_pages(idle_by=NOW) == names[2:5]
        assert catalog.hosts_without_pages(idle_by=NOW - DAY) == []
        assert catalog.count_host_pages(catalog.pages_by_id([live])[live].host) == 1
        assert catalog.count_host_pages("b.example") == 0

    def test_many_host_states_are_replaced_at_once(self, catalog: Catalog) -> None:
        catalog.set_host_states([HostState("b.example", failures=2)])
        states = [HostState("a.example", NOW), HostState("b.example", delay=1.5)]
        catalog.set_host_states(states)
        catalog.set_host_states([])
        assert catalog.host_states() == states


class TestPlanning:
    def test_live_pages_come_as_columns(self, catalog: Catalog) -> None:
        a, b, c, d = add(
            catalog, new_page("a"), new_page("b", source="snap"), new_page("c", "c.example"),
            new_page("d"),
        )  # fmt: skip
        catalog.pause_pages([c])
        catalog.remove_pages([d], NOW)
        (columns,) = catalog.live_page_columns()
        assert (list(columns.ids), list(columns.paused)) == ([a, c], [False, True])
        assert list(columns.hosts) == list(columns.sites) == ["a.example", "c.example"]
        assert list(columns.directories) == ["a.example/", "c.example/"]
        assert [list(batch.ids) for batch in catalog.live_page_columns(after_id=a)] == [[c]]
        assert list(catalog.live_page_columns(after_id=c)) == []
        assert b not in columns.ids

    def test_many_pages_come_in_batches(
        self, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(planning, "PAGES_PER_BATCH", 2)
        ids = add(catalog, *(new_page(str(number)) for number in range(5)))
        assert [page for batch in catalog.live_page_columns() for page in batch.ids] == ids
        assert [len(batch) for batch in catalog.live_page_columns()] == [2, 2, 1]

    def test_paused_and_removed_live_pages_are_inactive(self, catalog: Catalog) -> None:
        a, b, c, d = add(
            catalog, new_page("a"), new_page("b"), new_page("c"), new_page("d", source="snap")
        )
        catalog.pause_pages([a, b, d])
        catalog.remove_pages([b, c, d], NOW)
        assert catalog.inactive_pages() == InactivePages(frozenset({a}), frozenset({b, c}))

    def test_importance_is_returned_for_pages_that_set_it(self, catalog: Catalog) -> None:
        a, b, c, d = add(catalog, *(new_page(name) for name in "abcd"))
        for tag, importance in {"x": 2, "y": 3.5}.items():
            catalog.tag_pages([a, b], tag)
            catalog.set_tag_settings(tag, {"importance": importance})
        catalog.set_page_settings(b, {"importance": 9, "proxy": ""})
        catalog.set_page_settings(c, {"counts_as": "links"})
        catalog.set_page_settings(d, {"importance": 4})
        catalog.remove_pages([d], NOW)
        assert catalog.importance_by_page() == {a: 3.5, b: 9.0}

    def test_active_hours_are_returned_for_pages_that_set_them(self, catalog: Catalog) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        catalog.tag_pages([a, b], "office")
        catalog.set_tag_settings("office", {"active_hours": "08:00-18:00"})
        catalog.set_page_settings(b, {"active_hours": "", "importance": 2})
        assert catalog.active_hours_by_page() == {a: "08:00-18:00", b: ""}

    def test_live_pages_without_visits_are_listed(self, catalog: Catalog) -> None:
        a, b, c, d = add(
            catalog, new_page("a"), new_page("b"), new_page("c"), new_page("d", source="snap")
        )
        catalog.append_visits([VisitEntry(new_visit(a, 0, Outcome.TIMEOUT))])
        catalog.remove_pages([c], NOW)
        assert catalog.unvisited_pages() == [b]
        assert d not in catalog.unvisited_pages()

    def test_visits_that_settings_refused_are_ignored(self, catalog: Catalog) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        catalog.append_visits([
            VisitEntry(new_visit(a, 0, Outcome.REFUSED)),
            VisitEntry(new_visit(b, 0)),
            VisitEntry(new_visit(b, 1, Outcome.REFUSED)),
        ])
        assert catalog.unvisited_pages() == [a]
        (batch,) = catalog.live_visit_tables()
        assert (batch.pages.tolist(), batch.times.tolist()) == ([b], [NOW.timestamp()])

    @pytest.mark.parametrize("batch_size", [1, 3, 100])
    def test_visits_of_live_pages_come_as_columns_by_page_and_time(
        self, catalog: Catalog, monkeypatch: pytest.MonkeyPatch, batch_size: int
    ) -> None:
        monkeypatch.setattr(planning, "VISITS_PER_BATCH", batch_size)
        a, b, imported = add(catalog, new_page("a"), new_page("b"), new_page(source="snap"))
        catalog.append_visits([
            VisitEntry(new_visit(a, 2, Outcome.TIMEOUT)),
            VisitEntry(new_visit(b, 0), Change(False)),
            VisitEntry(new_visit(a, 1), CHANGE),
            VisitEntry(new_visit(imported, 0), CHANGE),
            VisitEntry(new_visit(a, 0)),
            VisitEntry(new_visit(b, 1, Outcome.REPORTED), Change(True, new_external=4)),
        ])
        batches = list(catalog.live_visit_tables())
        pages, times, looks, measured, changed, new_links = (
            np.concatenate([getattr(batch, name) for batch in batches]).tolist()
            for name in ("pages", "times", "looks", "measured", "changed", "new_links")
        )
        assert pages == [a, a, a, b, b]
        assert times == [(NOW + number * DAY).timestamp() for number in (0, 1, 2, 0, 1)]
        assert looks == [True, True, False, True, True]
        assert measured == [False, True, False, True, True]
        assert changed == [False, True, False, False, True]
        # Links that the page never had before count, if that is known.
        assert new_links == [-1, CHANGE.never_seen, -1, -1, 4]

    @pytest.mark.parametrize("batch_size", [1, 100])
    def test_looks_come_with_texts_and_sizes_of_changes(
        self, catalog: Catalog, monkeypatch: pytest.MonkeyPatch, batch_size: int
    ) -> None:
        monkeypatch.setattr(planning, "VISITS_PER_BATCH", batch_size)
        a, b, imported = add(catalog, new_page("a"), new_page("b"), new_page(source="snap"))
        catalog.append_visits([
            VisitEntry(new_visit(a, 2, Outcome.TIMEOUT)),
            VisitEntry(new_visit(imported, 0), Change(False)),
            VisitEntry(new_visit(a, 1), CHANGE, view=VIEW),
            VisitEntry(new_visit(b, 0)),
        ])
        last = catalog.last_visit_id()
        assert catalog.looks_after_visit(last - 1, until_visit=last).pages.tolist() == [b]
        assert len(catalog.looks_after_visit(last, until_visit=last)) == 0
        assert len(catalog.looks_after_visit(last - 1, until_visit=last - 1)) == 0
        assert sum(map(len, catalog.look_tables(until_visit=last - 1))) == 2
        looks = concatenate_looks(list(catalog.look_tables()))
        assert looks.pages.tolist() == [a, b, imported]
        assert looks.measured.tolist() == [True, False, True]
        assert looks.changed.tolist() == [True, False, False]
        assert looks.text_hashes.tolist() == [2**64 - 1, 0, 0]
        unknown = float("nan")
        for column, expected in (
            (looks.times, [(NOW + DAY).timestamp(), NOW.timestamp(), NOW.timestamp()]),
            (looks.words, [12, unknown, unknown]),
            (looks.dice, [0.5, unknown, unknown]),
            (looks.new_links, [3, unknown, unknown]),
            (looks.total_words, [70, unknown, unknown]),
        ):
            assert column.tolist() == pytest.approx(expected, nan_ok=True)
        never_seen = concatenate_looks(list(catalog.look_tables(never_seen_links=True)))
        assert never_seen.new_links[0] == CHANGE.never_seen
        assert never_seen.total_words[0] == looks.total_words[0]
        totals = catalog.link_totals()
        link_count = VIEW.facts.links_internal + VIEW.facts.links_external
        assert (totals.pages.tolist(), totals.links.tolist()) == ([a], [link_count])
        assert sum(map(len, catalog.look_tables(only_live=True))) == 2
        (columns,) = catalog.all_page_columns()
        assert (columns.ids, set(columns.hosts)) == ((a, b, imported), {"a.example"})

    def test_only_visits_written_after_a_given_one_are_returned(self, catalog: Catalog) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        [_, last] = catalog.append_visits([
            VisitEntry(new_visit(a, 3)),
            VisitEntry(new_visit(b, 3)),
        ])
        assert list(catalog.live_visit_tables(after_visit_id=last)) == []
        catalog.append_visits([VisitEntry(new_visit(b, 1)), VisitEntry(new_visit(a, 5))])
        (batch,) = catalog.live_visit_tables(after_visit_id=last)
        assert batch.pages.tolist() == [a, b]

    def test_validators_are_those_of_the_last_look_with_content(self, catalog: Catalog) -> None:
        a, b, c, d = add(catalog, *(new_page(name) for name in "abcd"))
        redirected = {"status": 200, "final_url": "https://a.example/new"}
        unchanged = Outcome.NOT_MODIFIED
        catalog.append_visits([
            VisitEntry(new_visit(a, 0, status=200), etag='"old"'),
            VisitEntry(new_visit(a, 1, unchanged)),
            VisitEntry(new_visit(a, 2, **redirected), etag='"new"', last_modified="Sun"),
            VisitEntry(new_visit(a, 3, unchanged)),
            VisitEntry(new_visit(a, 4, Outcome.TIMEOUT)),
            VisitEntry(new_visit(a, 5, unchanged)),
            VisitEntry(new_visit(b, 0, status=200), last_modified="Mon"),
            VisitEntry(new_visit(c, 0, status=200)),
            VisitEntry(new_visit(d, 0, status=206), etag='"part"'),
        ])
        assert catalog.cache_validators([a, b, c, d, 99]) == {
            a: CacheValidators('"new"', "Sun", "https://a.example/new", 2),
            b: CacheValidators(None, "Mon"),
        }

    def test_a_304_replaces_the_validators_that_it_names(self, catalog: Catalog) -> None:
        (a,) = add(catalog, new_page("a"))
        unchanged = Outcome.NOT_MODIFIED
        catalog.append_visits([
            VisitEntry(new_visit(a, 0, unchanged), etag='"before"'),
            VisitEntry(new_visit(a, 1, status=200), etag='"0"', last_modified="Sun"),
            VisitEntry(new_visit(a, 2, unchanged), etag='"1"'),
            VisitEntry(new_visit(a, 3, unchanged), etag='"2"'),
            VisitEntry(new_visit(a, 4, unchanged)),
        ])
        assert catalog.cache_validators([a]) == {a: CacheValidators('"2"', "Sun", None, 3)}


class TestSharing:
    def test_the_data_version_differs_after_writes_of_others_only(
        self, catalog: Catalog, tmp_path: Path
    ) -> None:
        add(catalog)
        before = catalog.data_version()
        add(catalog, new_page("b"))
        assert catalog.data_version() == before
        with CATALOGS["sqlite"](tmp_path) as second_connection:
            add(second_connection, new_page("c"))
        assert catalog.data_version() != before

    def test_a_catalog_opened_in_one_thread_is_used_in_another(self, catalog: Catalog) -> None:
        pages = add(catalog)
        before = catalog.data_version()
        results: list[object] = []

        def work() -> None:
            results.extend(catalog.append_visits([VisitEntry(new_visit(pages[0], 0))]))
            results.append(catalog.data_version())

        thread = Thread(target=work)
        thread.start()
        thread.join()
        assert results == [1, before]
        assert len(catalog.history(pages[0])) == 1
