"""Which of the shown posts are known already."""

from freshet.core.content.post_matching import PostRecord, match_posts

HOUR, DAY = 3600.0, 86_400.0
NOW = 100 * DAY


def record(
    identity: str, hours_ago: float, author: str | None = "ann", text: str = "hello"
) -> PostRecord:
    """Return a post; an identity with a tilde is a hash."""
    is_named = not identity.startswith("~")
    return PostRecord(identity, NOW - hours_ago * HOUR, author, text, is_named)


def test_posts_with_new_ids_and_relative_times_are_known_by_author_and_text() -> None:
    known = [
        record("a1", 50, text="the river rises"),
        record("a2", 49, "bob", "it does"),
        record("a3", 26, text="and falls"),
    ]
    # "2 days ago" and "1 day ago": each visit moves the times, and ids are given anew.
    shown = [
        record("b1", 48, text="the river rises"),
        record("b2", 48, "bob", "it does"),
        record("b3", 24, text="and falls"),
        record("b4", 1, "bob", "at last"),
    ]
    assert match_posts(known, shown, NOW) == [0, 1, 2, None]


def test_the_same_words_again_are_a_new_post() -> None:
    known = [record("~x", 50, text="bump")]
    assert match_posts(
        known, [record("~x", 48, text="bump"), record("~x/2", 1, text="bump")], NOW
    ) == [
        0,
        None,
    ]
    # Also if the page does not show the first one any more.
    assert match_posts(known, [record("~x", 1, text="bump")], NOW) == [None]


def test_equal_posts_are_counted() -> None:
    known = [record("a", 5, text="+1"), record("b", 5, text="+1")]
    shown = [record(name, 5, text="+1") for name in ("c", "d", "e")]
    assert sorted(match_posts(known, shown, NOW), key=str) == [0, 1, None]


def test_a_new_post_of_a_page_with_lasting_ids_may_repeat_another() -> None:
    known = [record("p1", 5, text="+1"), record("p2", 4, "bob")]
    # The first one was deleted, and its author has posted the same again.
    shown = [record("p2", 4, "bob"), record("p3", 3, text="+1")]
    assert match_posts(known, shown, NOW) == [1, None]


def test_an_id_that_another_post_has_now_is_not_the_known_one() -> None:
    known = [record("c1", 5, "ann", "one"), record("c2", 4, "bob", "two")]
    shown = [record("c1", 4, "bob", "two"), record("c2", 1, "cara", "three")]
    # Both ids are shown, but for other posts: a window of the latest posts that numbers its own.
    assert match_posts(known, shown, NOW) == [1, None]


def test_an_id_that_another_post_without_an_author_has_now_is_not_the_known_one() -> None:
    known = [record("c1", 5, None, "one"), record("c2", 4, None, "two")]
    shown = [record("c1", 4, None, "two"), record("c2", 1, None, "three")]
    assert match_posts(known, shown, NOW) == [1, None]


def test_an_edited_post_without_an_author_is_known_by_its_id_and_time() -> None:
    known = [record("c1", 5, None, "one"), record("c2", 4, None, "two")]
    shown = [record("c1", 5, None, "one, edited"), record("c2", 4, None, "two")]
    assert match_posts(known, shown, NOW) == [0, 1]


def test_a_post_whose_text_was_not_kept_is_known_by_its_hash() -> None:
    known = [PostRecord("~h", NOW - HOUR, "ann", None)]
    assert match_posts(known, [record("~h", 1)], NOW) == [0]


def test_an_edited_post_is_known_by_its_second_and_author() -> None:
    known = [record("~1", 5, text="one"), record("~2", 4, "bob", "two")]
    shown = [record("~3", 5, text="one, edited"), record("~4", 4, "bob", "two, edited")]
    assert match_posts(known, shown, NOW) == [0, 1]


def test_fifty_thousand_equal_posts_are_matched_at_once() -> None:
    known = [record(f"a{n}", 5, text="") for n in range(50_000)]
    shown = [record(f"b{n}", 5, text="") for n in range(50_001)]
    assert match_posts(known, shown, NOW).count(None) == 1


def test_one_lasting_id_among_ids_given_anew_does_not_double_the_posts() -> None:
    known = [record("op", 50, text="the river rises")]
    known += [record(f"a{n}", 40 - n, "bob", f"answer {n}") for n in range(5)]
    shown = [record("op", 48, text="the river rises")]
    shown += [record(f"b{n}", 39 - n, "bob", f"answer {n}") for n in range(5)]
    assert match_posts(known, shown, NOW) == [0, 1, 2, 3, 4, 5]


def test_posts_whose_texts_were_not_kept_are_known_by_their_authors() -> None:
    known = [
        PostRecord("a1", NOW - 30 * HOUR, "ann", None),
        PostRecord("a2", NOW - 20 * HOUR, "bob", None),
    ]
    shown = [record("b1", 29, "ann", "one"), record("b2", 20, "bob", "two")]
    assert match_posts(known, shown, NOW) == [0, 1]
