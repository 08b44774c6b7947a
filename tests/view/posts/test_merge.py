"""Posts of several pages and visits put together."""

from freshet.core.content.posts import Post
from freshet.view.posts.merge import content_identity, merge_posts

NOW = 1_000.0


def hashed(time: float, author: str, text: str) -> Post:
    return Post(time, author, text, content_identity(time, author, text))


FIRST, SECOND, THIRD = (
    Post(10.0, "ann", "one", "#p1"),
    Post(20.0, "bob", "two", "#p2"),
    Post(30.0, "cara", "three", "#p3"),
)


def test_pages_that_overlap_have_each_post_once() -> None:
    assert merge_posts([FIRST, SECOND], [SECOND, THIRD], NOW) == (FIRST, SECOND, THIRD)


def test_a_deleted_post_stays_known() -> None:
    assert merge_posts([FIRST, SECOND, THIRD], [FIRST, THIRD], NOW) == (FIRST, SECOND, THIRD)


def test_a_placeholder_keeps_time_and_author() -> None:
    placeholder = Post(20.0, None, "[deleted]", "#p2")
    assert merge_posts([FIRST, SECOND], [placeholder], NOW)[1] == Post(
        20.0, "bob", "[deleted]", "#p2"
    )


def test_an_edited_post_keeps_its_time() -> None:
    edited = Post(99.0, "ann", "one, edited", "#p1")
    assert merge_posts([FIRST], [edited], NOW) == (Post(10.0, "ann", "one, edited", "#p1"),)


def test_an_edited_post_without_an_id_is_known_by_time_and_author() -> None:
    before, after = hashed(10.0, "ann", "one"), hashed(10.0, "ann", "one, edited")
    assert merge_posts([before], [after], NOW) == (
        Post(10.0, "ann", "one, edited", before.identity),
    )


def test_two_posts_of_the_same_time_and_author_stay_two() -> None:
    posts = [hashed(10.0, "ann", "one"), hashed(10.0, "ann", "two")]
    assert len(merge_posts(posts, posts, NOW)) == 2
    assert len(merge_posts(posts[:1], posts, NOW)) == 2


def test_pages_that_number_their_posts_from_one_do_not_mix() -> None:
    other = Post(200.0, "dan", "first of page two", "#p1")
    assert [post.time for post in merge_posts([FIRST], [other], NOW)] == [10.0, 200.0]


def test_merging_is_stable() -> None:
    merged = merge_posts([FIRST], [Post(200.0, "dan", "first of page two", "#p1"), SECOND], NOW)
    assert merge_posts(merged, merged, NOW) == merged
