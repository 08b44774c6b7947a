"""Every catalog: links of many pages over time, and pages that were found as new links."""

import pytest

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.found_pages import MAX_WAIT, FoundCounts, FoundPage, WaitingLink
from freshet.archive.catalog.rows import LinkDelta, VisitEntry
from freshet.core.types import Change, Outcome
from tests.contracts.catalog_samples import DAY, NOW, VIEW, add, new_page, new_visit

X, Y, Z = (f"https://x.example/{name}" for name in "xyz")


def test_link_histories_have_whole_pages_up_to_a_time(catalog: Catalog) -> None:
    a, removed, imported = add(catalog, new_page("a"), new_page("b"), new_page(source="snap"))
    catalog.append_visits([
        VisitEntry(new_visit(a, 0), links=LinkDelta((X,))),
        VisitEntry(new_visit(removed, 0), links=LinkDelta((X,))),
        VisitEntry(new_visit(imported, 1), links=LinkDelta((Y,))),
        VisitEntry(new_visit(a, 1), links=LinkDelta((Y,), (X,))),
        VisitEntry(new_visit(a, 2), links=LinkDelta((Z,))),
    ])
    catalog.remove_pages([removed], NOW)
    assert (catalog.page_count(), catalog.page_count(source="snap")) == (2, 1)
    assert catalog.first_look_time() == NOW.timestamp()
    assert catalog.first_look_time(source="snap") == (NOW + DAY).timestamp()
    (histories,) = catalog.link_histories(until=(NOW + DAY).timestamp())
    assert histories.ids.tolist() == [a, imported]
    assert histories.look_pages.tolist() == [a, a, imported]
    events = [(event.page, event.added, event.removed) for event in histories.events]
    assert events == [(a, (X,), ()), (a, (Y,), (X,)), (imported, (Y,), ())]
    assert list(catalog.link_histories(until=0.0, source="none")) == []


def test_new_links_are_those_of_compared_visits_of_live_pages(catalog: Catalog) -> None:
    page, imported = add(catalog, new_page("a"), new_page(source="snap"))
    change = Change(True, new_internal=0, new_external=1)
    first, second, _ = catalog.append_visits([
        VisitEntry(new_visit(page, 0), view=VIEW, links=LinkDelta((X,))),
        VisitEntry(new_visit(page, 1), change, view=VIEW, links=LinkDelta((Y,))),
        VisitEntry(new_visit(imported, 1), change, view=VIEW, links=LinkDelta((Z,))),
    ])
    (visit,) = catalog.new_link_visits(None, after_visit_id=0, since=NOW)
    assert (visit.visit, visit.page, visit.is_feed, visit.links) == (second, page, False, (Y,))
    assert catalog.new_link_visits([page], after_visit_id=first, since=NOW) == [visit]
    assert catalog.new_link_visits([imported], after_visit_id=0, since=NOW) == []
    assert catalog.new_link_visits(None, after_visit_id=second, since=NOW) == []
    assert catalog.new_link_visits(None, after_visit_id=0, since=NOW + 2 * DAY) == []
    (turnover,) = catalog.link_turnovers(page, 4)
    assert (turnover.time, turnover.new) == ((NOW + DAY).timestamp(), 1)


def test_found_pages_are_added_once_with_their_tag_and_origin(catalog: Catalog) -> None:
    origin, known = add(catalog, new_page("list"), new_page("known"))
    found = [FoundPage(new_page(name), origin, "found", 1) for name in ("known", "new", "new")]
    (page,) = catalog.add_found_pages(found, 7, NOW)
    assert catalog.add_found_pages(found, 9, NOW + DAY) == []
    assert catalog.pages_by_id([page])[page].tags == ("found",)
    assert catalog.pages_by_id([known])[known].tags == ()
    assert catalog.found_on(page) == new_page("list").key.url
    assert catalog.found_on(known) is None
    assert catalog.find_depths([page, known]) == {page: 1}
    assert catalog.found_counts(NOW) == {"found": FoundCounts(1, 1, 1, 1)}
    assert catalog.found_counts(NOW + DAY, tag="found") == {"found": FoundCounts(1, 0, 1, 0)}
    catalog.append_visits([VisitEntry(new_visit(page, 0, outcome=Outcome.ROBOTS))])
    assert catalog.found_counts(NOW) == {"found": FoundCounts(1, 1, 0, 0)}
    catalog.remove_pages([page], NOW, purge=True)
    assert catalog.found_counts(NOW) == {}


def test_links_wait_in_order_until_they_are_found_or_given_up(catalog: Catalog) -> None:
    (origin,) = add(catalog, new_page("list"))
    x, y, z = (WaitingLink(url, origin, "found", 1) for url in (X, Y, Z))
    catalog.add_found_pages([], 1, NOW, [x, y])
    catalog.add_found_pages([], 2, NOW + DAY, [z, x])
    assert catalog.waiting_links("found", 9) == [z, x, y]
    assert catalog.waiting_links("found", 1) == [z]
    assert catalog.waiting_counts(NOW + DAY) == {"found": 1}
    catalog.add_found_pages([FoundPage(new_page("found"), origin, "found", 1)], 3, NOW)
    catalog.give_up_waiting_links([x], now=NOW)
    assert catalog.waiting_links("found", 9) == [z, y]
    catalog.give_up_waiting_links([], now=NOW + MAX_WAIT + DAY / 2)
    assert catalog.waiting_links("found", 9) == [z]
    catalog.give_up_waiting_links_of([origin])
    assert catalog.waiting_counts(NOW) == {}


def test_only_so_many_links_of_a_tag_wait(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("freshet.archive.catalog.found_pages.MAX_WAITING_PER_TAG", 2)
    (origin,) = add(catalog, new_page("list"))
    links = [WaitingLink(url, origin, tag, 1) for tag in "ab" for url in (X, Y, Z)]
    catalog.add_found_pages([], 1, NOW, links)
    assert catalog.waiting_counts(NOW) == {"a": 2, "b": 2}
