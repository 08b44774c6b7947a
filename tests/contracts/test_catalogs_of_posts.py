"""Every catalog: the posts of threads, each with the visit that found it."""

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.posts import StoredPost, ThreadNote
from freshet.archive.catalog.rows import ThreadLook, VisitEntry
from freshet.core.content.posts import Post
from tests.contracts.catalog_samples import DAY, NOW, add, new_page, new_visit

FIRST, SECOND = NOW.timestamp(), (NOW + DAY).timestamp()


def look(*names: str, shift: float = 0.0, next_page: str | None = None) -> ThreadLook:
    """Return a look at posts whose names are their identities, an hour before each other."""
    posts = tuple(
        Post(FIRST - 3600.0 * hours + shift, None if name == "b" else "Ann", name, name)
        for hours, name in enumerate(names)
    )
    return ThreadLook(posts, f"{len(posts)} posts", next_page)


def test_a_post_keeps_the_time_and_the_visit_that_found_it(catalog: Catalog) -> None:
    (page,) = add(catalog, new_page("thread"))
    catalog.append_visits([VisitEntry(new_visit(page, 0), thread=look("a", "b"))])
    catalog.append_visits([VisitEntry(new_visit(page, 1), thread=look("c", "a", shift=9.0))])
    first, second = (row.visit.id for row in catalog.history(page))
    posts = catalog.posts_of_page(page)
    assert posts == [
        StoredPost(FIRST - 3600.0, None, FIRST, "b", first),
        StoredPost(FIRST, "Ann", FIRST, "a", first),
        StoredPost(FIRST + 9.0, "Ann", SECOND, "c", second),
    ]
    assert catalog.posts_of_page(page, latest=1) == posts[-1:]


def test_posts_of_many_pages_are_read_as_columns(catalog: Catalog) -> None:
    a, b, imported = add(catalog, new_page("a"), new_page("b"), new_page(source="snap"))
    catalog.append_visits([
        VisitEntry(new_visit(page, 0), thread=look("x", "y")) for page in (b, a, imported)
    ])
    columns = catalog.post_columns()
    assert columns.pages.tolist() == [a, a, b, b]
    assert columns.times.tolist() == [FIRST - 3600.0, FIRST] * 2
    assert columns.identities[:2].tolist() == columns.identities[2:].tolist()
    assert catalog.post_columns([b, imported]).pages.tolist() == [b] * 2
    assert catalog.post_counts([a, b, imported, 999]) == {a: 2, b: 2, imported: 2}
    catalog.remove_pages([a], NOW)
    assert set(catalog.post_columns().pages.tolist()) == {b}


def test_the_last_look_says_where_a_thread_continues(catalog: Catalog) -> None:
    page, other = add(catalog, new_page("thread"), new_page("other"))
    assert catalog.thread_note(page) is None
    catalog.append_visits([VisitEntry(new_visit(page, 0), thread=look("a"))])
    assert catalog.next_pages() == {}
    later = look("a", "b", next_page="https://x.example/2")
    catalog.append_visits([
        VisitEntry(new_visit(page, 1), thread=later),
        VisitEntry(new_visit(other, 1), thread=ThreadLook((), "no posts")),
    ])
    assert catalog.thread_note(page) == ThreadNote("2 posts", "https://x.example/2")
    assert catalog.thread_note(other) == ThreadNote("no posts", None)
    assert catalog.next_pages() == {page: "https://x.example/2"}


def test_an_edited_post_without_an_identity_is_not_another_post(catalog: Catalog) -> None:
    (page,) = add(catalog, new_page("thread"))
    first = Post(FIRST, "Ann", "the river rises", "~1")
    edited = Post(FIRST, "Ann", "the river rises fast", "~2")
    same_minute = Post(FIRST, "Ann", "and falls", "~3")
    for day, shown in enumerate([
        (first,),
        (edited,),
        (edited, same_minute),
        (same_minute, edited),
    ]):
        catalog.append_visits([VisitEntry(new_visit(page, day), thread=ThreadLook(shown, "posts"))])
    found = sorted(post.found for post in catalog.posts_of_page(page))
    assert found == [FIRST, (NOW + 2 * DAY).timestamp()]


def test_posts_whose_ids_and_times_are_given_anew_are_known(catalog: Catalog) -> None:
    (page,) = add(catalog, new_page("thread"))
    # "1 hour ago" at every visit is a day later each time, and ids are random numbers.
    for day, names in enumerate([("Ann",), ("Ann", "Bob"), ("Ann", "Bob", "Cara")]):
        visited = (NOW + day * DAY).timestamp()
        shown = tuple(
            Post(visited - 86_400.0 * (day - number) - 3600.0, name, "so it is", f"#{day}{number}")
            for number, name in enumerate(names)
        )
        catalog.append_visits([VisitEntry(new_visit(page, day), thread=ThreadLook(shown, "posts"))])
    posts = catalog.posts_of_page(page)
    assert [post.author for post in posts] == ["Ann", "Bob", "Cara"]
    assert [post.found for post in posts] == [(NOW + day * DAY).timestamp() for day in range(3)]


def test_an_edited_post_has_its_present_text(catalog: Catalog) -> None:
    (page,) = add(catalog, new_page("thread"))
    for day, text in enumerate(["the river rises", "the river rises fast"]):
        shown = (Post(FIRST - 60.0, "Ann", text, "#1"),)
        catalog.append_visits([VisitEntry(new_visit(page, day), thread=ThreadLook(shown, "posts"))])
    (post,) = catalog.posts_of_page(page)
    assert (post.text, post.found) == ("the river rises fast", FIRST)


def test_ids_that_are_used_again_do_not_hide_new_posts(catalog: Catalog) -> None:
    (page,) = add(catalog, new_page("thread"))
    authors = ("Ann", "Bob", "Cara", "Dan")
    for day in range(3):
        # The page shows its two latest posts, always as number 1 and 2.
        shown = tuple(
            Post(
                FIRST + 86_400.0 * (day + number - 1) - 60.0,
                authors[day + number],
                f"so says {authors[day + number]}",
                f"#{number}",
            )
            for number in range(2)
        )
        catalog.append_visits([VisitEntry(new_visit(page, day), thread=ThreadLook(shown, "posts"))])
    assert [post.author for post in catalog.posts_of_page(page)] == list(authors)
