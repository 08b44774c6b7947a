"""Links to the other pages of a thread."""

import pytest

from freshet.view.posts.page_links import ThreadPageLinks, find_page_links
from freshet.view.posts.page_nodes import read_nodes


def links_of(html: str, url: str) -> ThreadPageLinks:
    return find_page_links(read_nodes(f"<html><body>{html}</body></html>"), url)


@pytest.mark.parametrize(
    ("url", "hrefs"),
    [
        ("http://x.org/showthread.php?t=5", ["showthread.php?t=5&page=2", "?t=5&page=3"]),
        ("http://x.org/threads/glue.5/", ["page-2", "page-3"]),
        ("http://x.org/t/glue", ["/t/glue/2", "/t/glue/3"]),
        ("http://x.org/glue/page/2/", ["/glue/", "/glue/page/3/"]),
        ("http://x.org/topic5.html?start=0", ["?start=20", "?start=40"]),
    ],
)
def test_numbered_pages_of_the_same_thread_are_found(url: str, hrefs: list[str]) -> None:
    html = "".join(f'<a href="{href}">{number}</a>' for number, href in enumerate(hrefs, 2))
    assert len(links_of(html, url).pages) == 2


def test_numbers_that_lead_elsewhere_are_not_pages() -> None:
    html = '<a href="/other?page=2">2</a><a href="#p3">3</a><a href="mailto:x@y.org">4</a>'
    assert not links_of(html, "http://x.org/threads/5")


def test_rel_and_words_name_the_next_and_the_last_page() -> None:
    html = '<link rel="next" href="?page=2"><a href="?page=9">Last &raquo;</a>'
    links = links_of(html, "http://x.org/threads/5")
    assert links.next_page == "http://x.org/threads/5?page=2"
    assert links.last_page == "http://x.org/threads/5?page=9"


def test_a_base_element_counts() -> None:
    html = '<base href="http://x.org/forum/"><a href="topic?t=5&page=2">2</a>'
    links = links_of(html, "http://x.org/forum/topic?t=5")
    assert links.pages == ("http://x.org/forum/topic?t=5&page=2",)
