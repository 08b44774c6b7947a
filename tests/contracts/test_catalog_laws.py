"""Properties that hold for every catalog, whatever is stored in it."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import LinkDelta, VisitEntry
from tests.contracts.catalog_samples import (
    CATALOGS,
    CHANGE,
    DAY,
    NOW,
    add_another,
    new_visit,
)

NUMBER_LISTS = st.lists(st.integers(0, 30), max_size=20)
LINKS = st.frozensets(st.sampled_from(["x:1", "x:2", "x:3", "x:4"]))


@pytest.fixture(scope="module", params=CATALOGS)
def shared(request: pytest.FixtureRequest) -> Iterator[Catalog]:
    with TemporaryDirectory() as folder, CATALOGS[request.param](Path(folder)) as opened:
        yield opened


@given(NUMBER_LISTS, NUMBER_LISTS)
@settings(max_examples=30, deadline=None)
def test_a_visit_that_is_appended_twice_is_stored_once(
    shared: Catalog, first_numbers: list[int], second_numbers: list[int]
) -> None:
    page = add_another(shared)
    entries = [
        [VisitEntry(new_visit(page, number), CHANGE) for number in numbers]
        for numbers in (first_numbers, second_numbers)
    ]
    first_ids, second_ids = map(shared.append_visits, entries)
    assert shared.append_visits(entries[0]) == first_ids
    ids = dict(zip(first_numbers, first_ids, strict=True))
    ids |= dict(zip(second_numbers, second_ids, strict=True))
    assert {row.visit.id for row in shared.history(page)} == set(ids.values())
    assert len(shared.history(page)) == len({*first_numbers, *second_numbers})


@given(NUMBER_LISTS)
@settings(max_examples=30, deadline=None)
def test_a_history_is_in_time_order_whatever_the_order_of_writing(
    shared: Catalog, numbers: list[int]
) -> None:
    page = add_another(shared)
    shared.append_visits([VisitEntry(new_visit(page, number)) for number in numbers])
    times = [row.visit.time for row in shared.history(page)]
    assert times == [NOW + number * DAY for number in sorted(set(numbers))]


@given(st.lists(LINKS, min_size=1, max_size=8))
@settings(max_examples=30, deadline=None)
def test_link_deltas_add_up_to_the_links_of_each_look(
    shared: Catalog, looks: list[frozenset[str]]
) -> None:
    page = add_another(shared)
    before = [frozenset[str](), *looks]
    deltas = [
        LinkDelta(tuple(now - then), tuple(then - now))
        for then, now in zip(before, looks, strict=False)
    ]
    ids = shared.append_visits([
        VisitEntry(new_visit(page, n), links=delta) for n, delta in enumerate(deltas)
    ])
    assert [shared.links_at(page, NOW + n * DAY) for n in range(len(looks))] == looks
    assert shared.links_at(page) == looks[-1]
    assert shared.links_ever_seen(page) == frozenset().union(*looks)
    deltas_by_visit = shared.link_deltas(page)
    assert list(deltas_by_visit) == ids
    assert deltas_by_visit == {visit: shared.link_delta(visit) for visit in ids}
    assert list(shared.link_deltas(page, since=NOW + DAY)) == ids[1:]
