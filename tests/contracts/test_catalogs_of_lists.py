"""Every catalog: lists of pages of any length, read a screen at a time."""

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.listing import ListedPageState, PageFilter, PageOrder
from freshet.archive.catalog.rows import HostPages, VisitEntry
from freshet.core.types import Change, Outcome
from tests.contracts.catalog_samples import DAY, NOW, VIEW, add, new_page, new_visit

CHANGED, SAME = Change(True, words=3), Change(False)


def listed(catalog: Catalog, order: PageOrder, limit: int, **fields: object) -> list[int]:
    """Return the ids of a whole list, read in parts."""
    page_filter = PageFilter(**fields)  # type: ignore[arg-type]
    ids: list[int] = []
    after: tuple[object, ...] = ()
    while part := catalog.listed_pages(page_filter, order, after=after, limit=limit):
        ids += [entry.page.id for entry in part]
        after = part[-1].key
    return ids


def test_a_list_read_in_parts_is_the_whole_list(catalog: Catalog) -> None:
    names = ("c", "a", "b", "d")
    ids = add(catalog, *map(new_page, names), new_page("a", source="snap"))
    for limit in (1, 2, 9):
        assert listed(catalog, PageOrder.ADDED, limit) == ids[::-1]
        by_url = [ids[1], ids[4], ids[2], ids[0], ids[3]]
        assert listed(catalog, PageOrder.URL, limit) == by_url


def test_lists_are_filtered(catalog: Catalog) -> None:
    a, b, other, removed = add(
        catalog, new_page("a_1"), new_page("ab1"), new_page("x", "b.example"), new_page("gone")
    )
    catalog.remove_pages([removed], NOW)
    catalog.pause_pages([b])
    catalog.tag_pages([a], "mine")
    catalog.append_visits([VisitEntry(new_visit(a, 0, Outcome.GONE))])
    assert listed(catalog, PageOrder.URL, 9, text="a_") == [a]
    assert listed(catalog, PageOrder.URL, 9, host="b.example") == [other]
    assert listed(catalog, PageOrder.URL, 9, tag="mine") == [a]
    assert listed(catalog, PageOrder.URL, 9, source="snap") == []
    assert listed(catalog, PageOrder.URL, 9, state=ListedPageState.PAUSED) == [b]
    assert listed(catalog, PageOrder.URL, 9, state=ListedPageState.ACTIVE) == [a, other]
    assert listed(catalog, PageOrder.URL, 9, state=ListedPageState.FAILING) == [a]


def test_changed_pages_come_once_the_last_change_first(catalog: Catalog) -> None:
    a, b, unchanged = add(catalog, new_page("a"), new_page("b"), new_page("c"))
    catalog.append_visits([VisitEntry(new_visit(page, 0)) for page in (a, b, unchanged)])
    catalog.append_visits([
        VisitEntry(new_visit(a, 1), CHANGED),
        VisitEntry(new_visit(b, 1), CHANGED),
        VisitEntry(new_visit(unchanged, 1), SAME),
        VisitEntry(new_visit(a, 2), CHANGED),
        VisitEntry(new_visit(b, 2), SAME),
    ])
    for limit in (1, 5):
        assert listed(catalog, PageOrder.CHANGED, limit) == [a, b]
    assert [visit.page for visit in catalog.latest_changes(limit=2)] == [a, b]
    catalog.append_visits([VisitEntry(new_visit(b, 3, Outcome.TIMEOUT))])
    failing = ListedPageState.FAILING
    assert listed(catalog, PageOrder.CHANGED, 5, state=failing) == [b]


def test_days_count_looks_and_changes(catalog: Catalog) -> None:
    (page,) = add(catalog)
    catalog.append_visits([
        VisitEntry(new_visit(page, 0)),
        VisitEntry(new_visit(page, 1), CHANGED),
        VisitEntry(new_visit(page, 2, Outcome.TIMEOUT)),
    ])
    days = [(day.day, day.looks, day.changes) for day in catalog.page_days([page], NOW)]
    assert days == [(NOW.date(), 1, 0), ((NOW + DAY).date(), 1, 1)]
    assert len(catalog.page_days([page], NOW + DAY)) == 1
    activity = [(day.visits, day.looks, day.changes) for day in catalog.daily_activity(NOW)]
    assert activity == [(1, 1, 0), (1, 1, 1), (1, 0, 0)]


def test_visits_are_read_from_where_a_reader_stopped(catalog: Catalog) -> None:
    (page,) = add(catalog)
    first, second = catalog.append_visits([
        VisitEntry(new_visit(page, 0), view=VIEW),
        VisitEntry(new_visit(page, 1, Outcome.CAPTCHA, why="asks for proof")),
    ])
    assert [visit.id for visit in catalog.visits_after(0, limit=9)] == [first, second]
    (visit,) = catalog.visits_after(first, limit=9)
    assert (visit.outcome, visit.why, visit.changed) == (Outcome.CAPTCHA, "asks for proof", None)
    assert catalog.visits_after(0, limit=1)[0].id == first


def test_titles_masks_hosts_and_bytes_are_told(catalog: Catalog) -> None:
    a, b = add(catalog, new_page("a"), new_page("b", "b.example"))
    catalog.append_visits([
        VisitEntry(new_visit(a, 0, size=70), view=VIEW),
        VisitEntry(new_visit(a, 1, size=50), view=VIEW),
        VisitEntry(new_visit(b, 1)),
    ])
    catalog.add_mask_version(b, {}, NOW)
    assert catalog.titles([a, b]) == {a: "News"}
    assert catalog.has_mask([a, b]) == {b}
    assert catalog.listed_hosts("", limit=9) == [
        HostPages("a.example", 1),
        HostPages("b.example", 1),
    ]
    assert catalog.listed_hosts("", after="a.example", limit=9) == [HostPages("b.example", 1)]
    assert catalog.listed_hosts("b.", limit=9) == [HostPages("b.example", 1)]
    assert catalog.received_bytes() == 120
