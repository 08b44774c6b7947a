"""Packed link lists are unpacked to the same sets."""

from hypothesis import given
from hypothesis import strategies as st

from freshet.archive.catalog.packed_links import pack_links, unpack_links

URLS = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(URLS))
def test_unpacking_gives_the_distinct_links_sorted(urls: list[str]) -> None:
    assert unpack_links(pack_links(urls)) == tuple(sorted(set(urls)))


def test_no_links_take_no_bytes() -> None:
    assert pack_links([]) == b""
    assert unpack_links(b"") == ()


def test_links_of_one_site_shrink() -> None:
    urls = [f"https://news.example/2026/november/story-{number}" for number in range(100)]
    assert len(pack_links(urls)) < len("\n".join(urls)) / 4
