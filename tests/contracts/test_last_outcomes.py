"""Every catalog counts live pages by host and outcome of their last visit."""

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import HostOutcomeCount, VisitEntry
from freshet.core.types import Outcome
from tests.contracts.catalog_samples import NOW, add, new_page, new_visit


def test_only_the_last_visit_of_a_page_counts(catalog: Catalog) -> None:
    a, b = add(catalog, new_page("a"), new_page("b"))
    add(catalog, new_page("c", host="b.example"))
    visits = [new_visit(a, 1), new_visit(a, 2, Outcome.GONE), new_visit(b, 3, Outcome.GONE)]
    catalog.append_visits([VisitEntry(visit) for visit in visits])
    assert catalog.last_outcome_counts() == [
        HostOutcomeCount("a.example", Outcome.GONE, 2),
        HostOutcomeCount("b.example", None, 1),
    ]


def test_paused_removed_and_imported_pages_are_left_out(catalog: Catalog) -> None:
    paused, removed, _ = add(catalog, *(new_page(name) for name in "abc"))
    add(catalog, new_page("d", source="old"))
    catalog.pause_pages([paused])
    catalog.remove_pages([removed], NOW)
    assert catalog.last_outcome_counts() == [HostOutcomeCount("a.example", None, 1)]
