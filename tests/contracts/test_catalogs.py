"""The behaviour of every catalog; one suite, run on each database."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from freshet.archive.catalog import history
from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import (
    ArchiveFile,
    DailyGrowth,
    ImportRecord,
    LinkDelta,
    PageTotals,
    VisitEntry,
)
from freshet.core.errors import NotFoundError, UsageError
from freshet.core.types import BadRow, Change, Outcome, PageKey, RecordLocation
from tests.contracts.catalog_samples import (
    CHANGE,
    DAY,
    NOW,
    VIEW,
    add,
    new_page,
    new_visit,
)


class TestPages:
    def test_ids_come_in_the_order_of_the_pages(self, catalog: Catalog) -> None:
        a, b, again = add(catalog, new_page("a"), new_page("b"), new_page("a"))
        assert a == again != b
        assert add(catalog, new_page("c"), new_page("b"))[1] == b
        assert catalog.add_pages([], NOW).ids == []

    def test_new_pages_are_reported(self, catalog: Catalog) -> None:
        [a] = add(catalog, new_page("a"))
        added = catalog.add_pages([new_page("b"), new_page("a"), new_page("b")], NOW)
        b = added.ids[0]
        assert added.ids == [b, a, b]
        assert added.new_ids == {b}
        assert catalog.add_pages([new_page("b")], NOW).new_ids == frozenset()

    def test_the_same_url_of_another_source_is_another_page(self, catalog: Catalog) -> None:
        live, imported = add(catalog, new_page(), new_page(source="snap"))
        assert live != imported
        assert catalog.page(PageKey("https://a.example/", "snap")).id == imported

    def test_adding_a_page_again_does_not_change_it(self, catalog: Catalog) -> None:
        ids = add(catalog)
        catalog.pause_pages(ids)
        catalog.add_pages([replace(new_page(), site="other.example")], NOW + DAY)
        page = catalog.page(new_page().key)
        assert (page.added, page.paused, page.site) == (NOW, True, "a.example")

    def test_the_error_for_an_unknown_page_names_its_url(self, catalog: Catalog) -> None:
        with pytest.raises(NotFoundError, match=r"freshet add https://a\.example/"):
            catalog.page(new_page().key)

    def test_pages_are_chosen_by_tag_host_and_source(self, catalog: Catalog) -> None:
        a, b, c = add(catalog, new_page("a"), new_page("b", "b.example"), new_page(source="snap"))
        catalog.tag_pages([a, b], "news")
        assert [page.id for page in catalog.pages(tag="news")] == [a, b]
        assert [page.id for page in catalog.pages(host="b.example")] == [b]
        assert [page.id for page in catalog.pages(source="snap")] == [c]
        assert [page.id for page in catalog.pages(after_id=a, limit=1)] == [b]

    def test_pages_are_returned_by_id_removed_ones_too(self, catalog: Catalog) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        catalog.tag_pages([a], "news")
        catalog.remove_pages([b], NOW)
        pages = catalog.pages_by_id([b, a, 99])
        assert {page_id: page.id for page_id, page in pages.items()} == {a: a, b: b}
        assert pages[a] == catalog.page(new_page("a").key)

    def test_thousands_of_pages_are_streamed_once_each(self, catalog: Catalog) -> None:
        ids = add(catalog, *(new_page(str(number)) for number in range(2100)))
        assert [page.id for page in catalog.pages()] == ids
        assert len(list(catalog.pages(limit=1500))) == 1500

    def test_tags_are_added_and_removed(self, catalog: Catalog) -> None:
        ids = add(catalog)
        for tag in ("news", "daily", "news"):
            catalog.tag_pages(ids, tag)
        assert catalog.page(new_page().key).tags == ("daily", "news")
        catalog.untag_pages(ids, "daily")
        assert catalog.page(new_page().key).tags == ("news",)

    def test_a_removed_page_keeps_its_history_and_can_return(self, catalog: Catalog) -> None:
        ids = add(catalog)
        catalog.append_visits([VisitEntry(new_visit(ids[0], 0))])
        catalog.remove_pages(ids, NOW)
        assert list(catalog.pages()) == []
        assert len(catalog.history(catalog.page(new_page().key).id)) == 1
        catalog.restore_pages(ids)
        assert [page.id for page in catalog.pages()] == ids

    def test_of_very_many_links_the_last_ones_are_returned(
        self, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (page,) = add(catalog)
        catalog.append_visits([
            VisitEntry(new_visit(page, number), links=LinkDelta((f"x:{number}", f"y:{number}")))
            for number in range(6)
        ])
        assert len(catalog.links_ever_seen(page)) == 12
        monkeypatch.setattr(history, "MAX_SEEN_LINKS", 4)
        assert catalog.links_ever_seen(page) == {"x:4", "y:4", "x:5", "y:5"}

    def test_a_purged_page_leaves_nothing(self, catalog: Catalog) -> None:
        page, second_page = add(catalog, new_page("a"), new_page("b"))
        entry = VisitEntry(new_visit(page, 0), CHANGE, view=VIEW, links=LinkDelta(("x:1",)))
        catalog.append_visits([entry, VisitEntry(new_visit(second_page, 0))])
        catalog.lease_pages("w", [page], NOW, NOW + DAY)
        catalog.remove_pages([page], NOW, purge=True)
        assert catalog.links_ever_seen(page) == frozenset()
        counts = catalog.counts()
        assert (counts.pages, counts.removed, counts.visits, counts.changes) == (1, 0, 1, 0)
        assert add(catalog, new_page("a"))[0] not in {page, second_page}

    def test_settings_are_stored_per_page_and_per_tag(self, catalog: Catalog) -> None:
        (page,) = add(catalog)
        assert catalog.page_settings(page) == catalog.tag_settings("news") == {}
        catalog.set_page_settings(page, {"counts_as": "links", "every": 1.5})
        for counts_as in ("text", "words:3"):
            catalog.set_tag_settings("news", {"counts_as": counts_as})
        assert catalog.page_settings(page) == {"counts_as": "links", "every": 1.5}
        assert catalog.tag_settings("news") == {"counts_as": "words:3"}
        with pytest.raises(NotFoundError, match="page 99"):
            catalog.page_settings(99)


class TestVisits:
    def test_every_field_of_an_entry_is_read_back(self, catalog: Catalog) -> None:
        (page,) = add(catalog)
        location = RecordLocation("a.warc.gz", 12, 34)
        visit = new_visit(
            page, 1, status=200, size=900, digest=b"d" * 20, media_type="text/html",
            location=location, final_url="https://a.example/new", time=NOW.replace(microsecond=7),
            why="empty without JavaScript",
        )  # fmt: skip
        change = replace(CHANGE, new_links=("x:1",), removed_links=("x:2", "x:3"))
        links = LinkDelta(("x:1",), ("x:2", "x:3"))
        entry = VisitEntry(visit, change, 5, VIEW, links, etag='"e"', last_modified="Sun")
        (visit_id,) = catalog.append_visits([entry])
        (row,) = catalog.history(page)
        assert row.visit == replace(visit, id=visit_id)
        assert (row.change, row.since, row.removed_links) == (CHANGE, 5, 2)
        assert (row.view, row.etag, row.last_modified) == (VIEW, '"e"', "Sun")
        assert catalog.link_delta(visit_id) == links

    def test_a_visit_without_a_change_is_read_back_without_one(self, catalog: Catalog) -> None:
        (page,) = add(catalog)
        bare, full = new_visit(page, 0, Outcome.TIMEOUT), new_visit(page, 1)
        ids = catalog.append_visits([VisitEntry(bare), VisitEntry(full, CHANGE, view=VIEW)])
        assert catalog.link_delta(ids[0]) is None
        first, second = catalog.history(page)
        assert (first.change, first.view, first.visit) == (None, None, replace(bare, id=ids[0]))
        assert (second.change, second.view) == (CHANGE, VIEW)

    def test_a_change_may_be_measured_against_its_own_batch(self, catalog: Catalog) -> None:
        (page,) = add(catalog)
        first, second = new_visit(page, 0), new_visit(page, 1)
        ids = catalog.append_visits([
            VisitEntry(first),
            VisitEntry(second, CHANGE, since=first.uid),
        ])
        assert catalog.history(page)[1].since == ids[0]
        with pytest.raises(NotFoundError, match="append that one first"):
            catalog.append_visits([VisitEntry(new_visit(page, 2), CHANGE, since=b"?" * 16)])

    def test_only_stored_uids_are_returned(self, catalog: Catalog) -> None:
        (page,) = add(catalog)
        catalog.append_visits([VisitEntry(new_visit(page, 0))])
        assert catalog.stored_uids([new_visit(page, n).uid for n in (0, 1)]) == {
            new_visit(page, 0).uid
        }

    def test_the_sources_of_visits_are_returned_by_uid(self, catalog: Catalog) -> None:
        live, imported = add(catalog, new_page(), new_page(source="warc"))
        visits = [new_visit(live, 0), new_visit(imported, 0)]
        catalog.append_visits([VisitEntry(visit) for visit in visits])
        uids = [visit.uid for visit in visits]
        assert catalog.sources_by_uid([*uids, b"?" * 16]) == dict(
            zip(uids, ["", "warc"], strict=True)
        )

    def test_of_two_visits_with_one_uid_the_first_is_stored(self, catalog: Catalog) -> None:
        (page,) = add(catalog)
        catalog.append_visits([
            VisitEntry(new_visit(page, 0, status=status)) for status in (200, 500)
        ])
        assert [row.visit.status for row in catalog.history(page)] == [200]

    def test_measuring_again_replaces_the_change(self, catalog: Catalog) -> None:
        (page,) = add(catalog)
        catalog.append_visits([
            VisitEntry(new_visit(page, 0), CHANGE, view=VIEW, links=LinkDelta(("x:1",)))
        ])
        (row,) = catalog.history(page)
        catalog.replace_changes([VisitEntry(row.visit, Change(False, mask=4))])
        (again,) = catalog.history(page)
        assert (again.change, again.view) == (Change(False, mask=4), VIEW)
        assert catalog.links_at(page) == {"x:1"}
        newer = replace(VIEW, title="Newer")
        catalog.replace_changes([VisitEntry(row.visit, view=newer, links=LinkDelta(("x:2",)))])
        (last,) = catalog.history(page)
        assert (last.change, last.view) == (None, newer)
        assert catalog.links_at(page) == {"x:2"}
        with pytest.raises(UsageError, match="has no id"):
            catalog.replace_changes([VisitEntry(new_visit(page, 0))])

    def test_purged_visits_are_gone_and_their_ids_not_reused(self, catalog: Catalog) -> None:
        (page,) = add(catalog)
        ids = catalog.append_visits([VisitEntry(new_visit(page, n), CHANGE) for n in range(2)])
        catalog.remove_pages([page], NOW, purge=True)
        assert catalog.history(page) == []
        (again,) = add(catalog)
        assert catalog.append_visits([VisitEntry(new_visit(again, 5))])[0] > max(ids)

    def test_files_list_their_records_in_order(self, catalog: Catalog) -> None:
        (page,) = add(catalog)
        locations = [RecordLocation("a.warc.gz", offset, 10) for offset in range(12_000, 0, -10)]
        catalog.append_visits([
            VisitEntry(new_visit(page, number, location=location))
            for number, location in enumerate(locations)
        ])
        assert catalog.archive_files() == [ArchiveFile(1, "a.warc.gz", "")]
        assert [visit.location for visit in catalog.visits_in_file("a.warc.gz")] == locations[::-1]
        assert list(catalog.visits_in_file("b.warc.gz")) == []
        assert catalog.archive_file_ends() == {"a.warc.gz": 12_010}

    def test_the_locations_of_records_are_changed_and_removed(self, catalog: Catalog) -> None:
        (page,) = add(catalog)
        location, new_location = (
            RecordLocation("a.warc.gz", 0, 9),
            RecordLocation("b.warc.gz", 5, 9),
        )
        same = [new_visit(page, n, digest=b"d" * 20, size=3, location=location) for n in range(2)]
        ids = catalog.append_visits([VisitEntry(visit) for visit in same])
        assert catalog.first_visit_with_payload(b"d" * 20, 4) is None
        catalog.set_locations({ids[0]: None, ids[1]: new_location})
        first = catalog.first_visit_with_payload(b"d" * 20, 3)
        assert first == replace(same[1], id=ids[1], location=new_location)
        assert catalog.history(page)[0].visit.location is None

    def test_all_visits_with_the_same_payload_are_returned(self, catalog: Catalog) -> None:
        a, b = add(catalog, new_page("a"), new_page("b"))
        location = RecordLocation("a.warc.gz", 0, 9)
        stored = [
            new_visit(page, n, digest=b"d" * 20, size=3, location=location)
            for n, page in enumerate((a, b))
        ]
        without_record = new_visit(a, 2, digest=b"d" * 20, size=3)
        longer = new_visit(a, 3, digest=b"d" * 20, size=4, location=location)
        catalog.append_visits([VisitEntry(visit) for visit in (*stored, without_record, longer)])
        same = catalog.visits_with_payload(b"d" * 20, 3)
        assert [visit.uid for visit in same] == [visit.uid for visit in stored]

    def test_an_intact_catalog_has_no_integrity_problems(self, catalog: Catalog) -> None:
        assert catalog.integrity_problems() == []


class TestLooks:
    def test_the_last_look_is_the_latest_with_content(self, catalog: Catalog) -> None:
        a, b, never = add(catalog, new_page("a"), new_page("b"), new_page("c"))
        outcomes = [Outcome.OK, Outcome.OK, Outcome.NOT_MODIFIED, Outcome.GONE]
        catalog.append_visits([
            VisitEntry(new_visit(a, n, outcome)) for n, outcome in enumerate(outcomes)
        ])
        catalog.append_visits([
            VisitEntry(new_visit(b, 0), CHANGE),
            VisitEntry(new_visit(never, 0, Outcome.GONE)),
        ])
        latest = catalog.last_looks([a, b, never, a])
        assert {page: row.visit.time for page, row in latest.items()} == {a: NOW + DAY, b: NOW}
        assert latest[b].change == CHANGE
        assert catalog.last_looks([a], with_content=False)[a].visit.time == NOW + 2 * DAY
        assert catalog.last_looks([a, b], {a: NOW, b: NOW - DAY}) == {a: catalog.history(a)[0]}

    def test_a_history_is_limited_by_time_and_number(self, catalog: Catalog) -> None:
        (page,) = add(catalog)
        catalog.append_visits([VisitEntry(new_visit(page, number)) for number in range(5)])
        times = [row.visit.time for row in catalog.history(page, since=NOW + DAY, limit=2)]
        assert times == [NOW + 3 * DAY, NOW + 4 * DAY]
        assert len(catalog.history(page, since=NOW + DAY, until=NOW + 2 * DAY)) == 2


class TestTotals:
    def test_counts_distinguish_looks_from_visits(self, catalog: Catalog) -> None:
        a, b, gone = add(catalog, new_page("a"), new_page("b"), new_page("c"))
        catalog.pause_pages([b])
        catalog.remove_pages([gone], NOW)
        stored = new_visit(a, 0, location=RecordLocation("a.warc.gz", 0, 90))
        reported = new_visit(a, 1, Outcome.REPORTED)
        catalog.append_visits(
            [VisitEntry(stored, CHANGE), VisitEntry(reported, Change(False)),
             VisitEntry(new_visit(b, 2, Outcome.GONE))]
        )  # fmt: skip
        counts = catalog.counts()
        assert (counts.pages, counts.paused, counts.removed) == (2, 1, 1)
        assert (counts.visits, counts.looks, counts.changes) == (3, 2, 1)
        assert (counts.files, counts.stored_bytes) == (1, 90)

    def test_growth_is_by_utc_day(self, catalog: Catalog) -> None:
        (page,) = add(catalog)
        last = datetime(2026, 11, 1, 23, 59, 59, 900_000, tzinfo=UTC)
        midnight = datetime(2026, 11, 2, tzinfo=UTC)
        catalog.append_visits([
            VisitEntry(new_visit(page, 0, time=last)),
            VisitEntry(new_visit(page, 1, time=midnight)),
            VisitEntry(
                new_visit(page, 2, time=midnight, location=RecordLocation("a.warc.gz", 0, 90))
            ),
        ])
        assert catalog.daily_growth() == [
            DailyGrowth(date(2026, 11, 1), 1, 0), DailyGrowth(date(2026, 11, 2), 2, 90),
        ]  # fmt: skip

    def test_failing_pages_are_those_whose_last_visit_showed_no_content(
        self, catalog: Catalog
    ) -> None:
        a, b, c, d = add(catalog, *(new_page(name) for name in "abcd"))
        catalog.append_visits(
            [VisitEntry(new_visit(a, 0)), VisitEntry(new_visit(a, 1, Outcome.TIMEOUT)),
             VisitEntry(new_visit(b, 0, Outcome.GONE)), VisitEntry(new_visit(b, 1)),
             VisitEntry(new_visit(c, 0, Outcome.ROBOTS))]
        )  # fmt: skip
        catalog.tag_pages([c, d], "front")
        assert [page.id for page in catalog.failing_pages()] == [a, c]
        assert [page.tags for page in catalog.failing_pages(tag="front")] == [("front",)]
        catalog.pause_pages([a])
        assert [page.id for page in catalog.failing_pages(source="")] == [c]

    def test_each_page_has_its_totals(self, catalog: Catalog) -> None:
        a, _ = add(catalog, new_page("a"), new_page("b"))
        catalog.append_visits(
            [VisitEntry(new_visit(a, 0), CHANGE), VisitEntry(new_visit(a, 1), Change(False)),
             VisitEntry(new_visit(a, 2, Outcome.TIMEOUT))]
        )  # fmt: skip
        first, second = catalog.page_totals(catalog.pages())
        assert (first.page.id, first.visits, first.looks, first.changes) == (a, 3, 2, 1)
        assert (first.last_look, first.last_change) == (NOW + DAY, NOW)
        assert second == PageTotals(catalog.page(new_page("b").key), 0, 0, 0, None, None)


class TestImports:
    def test_an_import_is_recorded_with_its_bad_rows(self, catalog: Catalog) -> None:
        number = catalog.start_import("csv", "trace.csv", "snap", NOW)
        bad = [BadRow("line 3", "no time"), BadRow("line 9", "no page")]
        catalog.add_bad_rows(number, bad)
        catalog.finish_import(number, NOW + DAY, {"visits": 7})
        (done,) = catalog.imports()
        assert done == ImportRecord(
            number, "csv", "trace.csv", "snap", NOW, NOW + DAY, {"visits": 7}
        )
        assert catalog.bad_rows(number) == bad

    def test_notes_are_replaced(self, catalog: Catalog) -> None:
        assert catalog.read_note("clock") is None
        for value in ("1", "2"):
            catalog.write_note("clock", value)
        assert catalog.read_note("clock") == "2"
