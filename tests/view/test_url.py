"""Canonical URLs, page addresses, and links resolved against a page."""

import ada_url
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from freshet.core.types import INTERNAL, SAME_HOST, SAME_SCHEME
from freshet.view.url import (
    LinkResolver,
    PageAddress,
    canonical_url,
    page_address,
    registrable_domain,
    site_of_host,
    without_credentials,
)

PAGE = "https://www.example.org/news/today.html?page=2"

HREFS = st.text(alphabet="ab./:?#%2eE@\\-_ \té~'[]|", max_size=30)
SPELLINGS = st.one_of(
    HREFS,
    HREFS.map("/".__add__),
    HREFS.map("https://a.org/".__add__),
    HREFS.map("http://".__add__),
    st.text(),
)


def by_ada(page: str, href: str) -> str | None:
    try:
        url = ada_url.join_url(page, href).partition("#")[0]
    except ValueError:
        return None
    return without_credentials(url) if url.startswith(("http://", "https://")) else None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://EXAMPLE.org:80", "http://example.org/"),
        ("https://example.org/a#b", "https://example.org/a"),
        ("https://example.org/a?b=1#c", "https://example.org/a?b=1"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("ota:Google Ads/Privacy Policy.md#x", "ota:Google Ads/Privacy Policy.md"),
        ("not a url", None),
        ("http://[::1", None),
        ("", None),
        ("http://example.org/\ud800", None),
        ("ftp://example.org/", None),
        ("file:///etc/passwd", None),
        ("mailto:me@example.org", None),
        ("javascript:void(0)", None),
    ],
)
def test_a_page_has_one_canonical_url(url: str, expected: str | None) -> None:
    assert canonical_url(url) == expected


@given(SPELLINGS)
@example("ota:a #b")
def test_the_canonical_form_is_its_own_canonical_form(url: str) -> None:
    once = canonical_url(url)
    assert once is None or canonical_url(once) == once


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org/", ("example.org", "example.org", "example.org/")),
        ("http://a.b.co.uk/x/y/z?q=/w", ("a.b.co.uk", "b.co.uk", "a.b.co.uk/x/y/")),
        ("http://u:p@h.example.org/x", ("h.example.org", "example.org", "h.example.org/")),
        ("http://127.0.0.1:8000/a/", ("127.0.0.1:8000", "127.0.0.1", "127.0.0.1:8000/a/")),
        ("http://[::1]:8000/a", ("[::1]:8000", "[::1]", "[::1]:8000/")),
        ("http://[::1]/", ("[::1]", "[::1]", "[::1]/")),
        ("http://localhost/", ("localhost", "localhost", "localhost/")),
        ("ota:A/B/C.md", ("A", "A", "A/B/")),
    ],
)
def test_the_address_of_a_page_has_host_site_and_directory(
    url: str, expected: tuple[str, str, str]
) -> None:
    assert page_address(url) == PageAddress(*expected)


def test_a_public_suffix_is_its_own_site() -> None:
    assert registrable_domain("github.io") is None
    assert site_of_host("github.io") == "github.io"
    assert site_of_host("a.github.io") == "a.github.io"


def test_a_trailing_dot_stays_on_the_same_site() -> None:
    assert site_of_host("www.example.org.") == "example.org"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("/a", ("https://www.example.org/a", INTERNAL | SAME_HOST | SAME_SCHEME)),
        ("b?c#d", ("https://www.example.org/news/b?c", INTERNAL | SAME_HOST | SAME_SCHEME)),
        ("", (PAGE, INTERNAL | SAME_HOST | SAME_SCHEME)),
        ("//shop.example.org", ("https://shop.example.org/", INTERNAL | SAME_SCHEME)),
        ("http://www.example.org/", ("http://www.example.org/", INTERNAL | SAME_HOST)),
        ("https://www.example.org:81/", ("https://www.example.org:81/", INTERNAL | SAME_SCHEME)),
        ("https://example.com/x", ("https://example.com/x", SAME_SCHEME)),
        ("http://example.com/x", ("http://example.com/x", 0)),
    ],
)  # fmt: skip
def test_a_link_is_compared_with_its_page(href: str, expected: tuple[str, int]) -> None:
    assert LinkResolver(PAGE).resolve(href) == expected


def test_a_base_element_moves_links_but_not_the_page() -> None:
    base = LinkResolver(PAGE, "https://cdn.example.net/root/")
    assert base.resolve("x") == ("https://cdn.example.net/root/x", SAME_SCHEME)
    assert base.resolve(PAGE) == (PAGE, INTERNAL | SAME_HOST | SAME_SCHEME)


def test_a_base_element_that_cannot_be_parsed_is_passed_over() -> None:
    assert LinkResolver(PAGE, "http://[").resolve("/x") == LinkResolver(PAGE).resolve("/x")


def test_only_absolute_links_resolve_on_a_page_without_an_address() -> None:
    base = LinkResolver("ota:A/B.md")
    assert base.resolve("/x") is None
    assert base.resolve("https://example.org/x") == ("https://example.org/x", 0)


@pytest.mark.parametrize(
    "href",
    ["javascript:void(0)", "data:text/html,x", "mailto:a@b", "tel:1", "\ud800", "http://[", "http://"],
)  # fmt: skip
def test_other_schemes_are_no_links(href: str) -> None:
    assert LinkResolver(PAGE).resolve(href) is None


@pytest.mark.parametrize(
    "href", ["a" * 3_000_000, "/" + "a/" * 200_000, "\0", " \n/x ", "data:," + "x" * 100_000]
)
def test_hostile_links_never_raise(href: str) -> None:
    resolved = LinkResolver(PAGE).resolve(href)
    assert resolved is None or resolved[0].startswith("https://www.example.org/")


@given(SPELLINGS)
@example("/a/../b")
@example("/.")
@example("/a/%2e%2E/b")
@example("//b.org/c")
@example("/a//b")
@example("https://a.org//b/./c")
@example("https://a.1/b")
@example("https://xn--a.org/")
@example("https://a.org/?a'b")
def test_every_spelling_resolves_as_ada_would(href: str) -> None:
    resolved = LinkResolver(PAGE).resolve(href)
    assert (resolved and resolved[0]) == by_ada(PAGE, href)


@given(st.from_regex(r"\A(https?://[a-z0-9.-]{1,12})?/[!-~]{0,20}\Z"))
def test_plain_spellings_resolve_as_ada_would(href: str) -> None:
    resolved = LinkResolver(PAGE).resolve(href)
    assert (resolved and resolved[0]) == by_ada(PAGE, href)
