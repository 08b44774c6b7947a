"""What holds for every catalog, whatever is put into it."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import (
    LinkDelta,
    VisitEntry,
)
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
def test_appending_again_doubles_nothing(shared: Catalog, some: list[int], more: list[int]) -> None:
    page = add_another(shared)
    entries = [
        [VisitEntry(new_visit(page, number), CHANGE) for number in part] for part in (some, more)
    ]
    first, second = map(shared.append_visits, entries)
    assert shared.append_visits(entries[0]) == first
    ids = dict(zip(some, first, strict=True)) | dict(zip(more, second, strict=True))
    assert {row.visit.id for row in shared.history(page)} == set(ids.values())
    assert len(shared.history(page)) == len({*some, *more})


@given(NUMBER_LISTS)
@settings(max_examples=30, deadline=None)
def test_a_history_is_in_time_order_however_it_came(shared: Catalog, numbers: list[int]) -> None:
    page = add_another(shared)
    shared.append_visits([VisitEntry(new_visit(page, number)) for number in numbers])
    times = [row.visit.time for row in shared.history(page)]
    assert times == [NOW + number * DAY for number in sorted(set(numbers))]


@given(st.lists(LINKS, min_size=1, max_size=8))
@settings(max_examples=30, deadline=None)
def test_link_events_fold_to_the_links_of_each_look(
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
    told = shared.link_deltas(page)
    assert list(told) == ids
    assert told == {visit: shared.link_delta(visit) for visit in ids}
    assert list(shared.link_deltas(page, since=NOW + DAY)) == ids[1:]
