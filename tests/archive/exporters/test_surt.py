"""SURT keys of URLs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.archive.exporters.surt import surt


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org", "org,example)/"),
        ("https://www2.example.org/", "org,example)/"),
        ("http://user:secret@example.org:80/a", "org,example)/a"),
        ("https://example.org:8443/a", "org,example:8443)/a"),
        ("http://example.org/A/b/", "org,example)/a/b"),
        ("http://example.org//a///b", "org,example)/a/b"),
        ("http://example.org/?b=2&a=1&a=0", "org,example)/?a=0&a=1&b=2"),
        ("http://example.org/a?", "org,example)/a"),
        ("http://example.org/a#top", "org,example)/a"),
        ("http://example.org/%7Ea%20b/%C3%A9", "org,example)/~a%20b/%c3%a9"),
        ("http://example.org/a?x=%20&Y=Z", "org,example)/a?x=%20&y=z"),
        ("http://127.0.0.1:8080/a", "1,0,0,127:8080)/a"),
        ("http://bücher.example/", "example,xn--bcher-kva)/"),
        ("http://[2001:db8::1]/a", "2001:db8::1)/a"),
        (f"http://example.org/a?sid={'0' * 32}&b=1", "org,example)/a?b=1"),
        (f"http://example.org/a?b=1&PHPSESSID={'0' * 32}", "org,example)/a?&b=1"),
        ("http://example.org/a?sid=1", "org,example)/a?sid=1"),
        ("ota:Example/Terms of Service", "ota:example/terms%20of%20service"),
        ("no url", "no%20url"),
    ],
)
def test_the_key_of_a_url(url: str, key: str) -> None:
    assert surt(url) == key


@given(st.text())
def test_a_key_never_holds_white_space(path: str) -> None:
    assert len(surt("http://example.org/" + path).split()) == 1
    assert len(surt("x" + path).split()) == 1
