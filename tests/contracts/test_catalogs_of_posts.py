"""Every catalog: the posts of threads, each with the visit that found it."""

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.posts import StoredPost
from freshet.archive.catalog.rows import VisitEntry
from freshet.core.content.posts import Post
from tests.contracts.catalog_samples import DAY, NOW, add, new_page, new_visit

FIRST, SECOND = NOW.timestamp(), (NOW + DAY).timestamp()


def posts(*names: str, shift: float = 0.0) -> tuple[Post, ...]:
    """Return posts whose names are their identities, an hour before each other."""
    return tuple(
        Post(FIRST - 3600.0 * hours + shift, None if name == "b" else "Ann", name, name)
        for hours, name in enumerate(names)
    )


def test_a_post_keeps_the_time_and_the_visit_that_found_it(catalog: Catalog) -> None:
    (page,) = add(catalog, new_page("thread"))
    catalog.append_visits([VisitEntry(new_visit(page, 0), posts=posts("a", "b"))])
    catalog.append_visits([VisitEntry(new_visit(page, 1), posts=posts("c", "a", shift=9.0))])
    assert catalog.posts_of_page(page) == [
        StoredPost(FIRST - 3600.0, None, FIRST),
        StoredPost(FIRST, "Ann", FIRST),
        StoredPost(FIRST + 9.0, "Ann", SECOND),
    ]
    assert catalog.posts_of_page(page, latest=1) == [StoredPost(FIRST + 9.0, "Ann", SECOND)]


def test_posts_of_many_pages_are_read_as_columns(catalog: Catalog) -> None:
    a, b, imported = add(catalog, new_page("a"), new_page("b"), new_page(source="snap"))
    catalog.append_visits([
        VisitEntry(new_visit(page, 0), posts=posts("x", "y")) for page in (b, a, imported)
    ])
    columns = catalog.post_columns()
    assert columns.pages.tolist() == [a, a, b, b]
    assert columns.times.tolist() == [FIRST - 3600.0, FIRST] * 2
    assert columns.found.tolist() == [FIRST] * 4
    assert catalog.post_columns([imported]).pages.tolist() == [imported] * 2
    assert catalog.post_counts([a, b, imported, 999]) == {a: 2, b: 2, imported: 2}
    catalog.remove_pages([a], NOW)
    assert set(catalog.post_columns().pages.tolist()) == {b}
