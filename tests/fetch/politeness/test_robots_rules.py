"""What a robots.txt says to us."""

import pytest

from freshet.fetch.politeness.robots_rules import (
    MAX_PARSED_CHARS,
    MAX_ROBOTS_BYTES,
    ParsedRules,
    decode_robots,
    select_rules,
)

HERE = "https://example.org"


def allows(text: str, path: str) -> bool:
    return ParsedRules().allows(select_rules(text, "Freshet"), HERE + path)


@pytest.mark.parametrize(
    ("agent", "is_ours"),
    [
        ("Freshet", True), ("FRESHET", True), ("freshet/0.1", True), ("Freshet bot", True),
        ("fresh", False), ("Freshets", False), ("Freshet-News", False), ("My Freshet", False),
    ],
)  # fmt: skip
def test_a_group_is_ours_by_the_whole_product_token(agent: str, is_ours: bool) -> None:
    assert allows(f"User-agent: {agent}\nDisallow: /", "/a") is not is_ours


def test_our_groups_are_joined_and_those_for_everyone_left_out() -> None:
    text = (
        "User-agent: *\nDisallow: /\n\nUser-agent: Freshet\nDisallow: /a\n\n"
        "User-agent: other\nUser-agent: freshet\nCrawl-delay: 4\nDisallow: /b"
    )
    assert [allows(text, path) for path in ("/a", "/b", "/c")] == [False, False, True]
    assert ParsedRules().delay(select_rules(text, "Freshet")) == 4


def test_an_empty_line_does_not_end_a_group() -> None:
    assert not allows("User-agent: Freshet\n\nUser-agent: *\nDisallow: /", "/a")


def test_a_group_without_rules_opens_everything() -> None:
    assert allows("User-agent: *\nDisallow: /\n\nUser-agent: Freshet\nDisallow:", "/a")


def test_lines_that_mean_nothing_do_not_end_a_group() -> None:
    assert not allows("User-agent: Freshet\nNoindex: /x\nUser-agent: b\nDisallow: /", "/a")
    assert not allows("User-agent: *\nSitemap: /s.xml\nDisallow: /", "/a")


def test_the_longest_match_wins_and_allow_on_a_tie() -> None:
    text = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /c\nAllow: /c\nDisallow: *.gif$"
    wanted = {"/a/x": False, "/a/b/x": True, "/c": True, "/x.gif": False, "/x.gif?y": True}
    assert {path: allows(text, path) for path in wanted} == wanted


@pytest.mark.parametrize("delay", ["-1", "nan", "inf", "soon", ""])
def test_an_absurd_delay_is_none(delay: str) -> None:
    rules = select_rules(f"User-agent: *\nCrawl-delay: {delay}", "Freshet")
    assert ParsedRules().delay(rules) is None


def test_an_html_page_closes_nothing() -> None:
    page = "<!doctype html><title>Not found</title>\n<p>User agents\n<p>Disallow: /</p>"
    assert allows(page, "/a")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_read_in_its_encoding(encoding: str) -> None:
    body = "User-agent: *\nDisallow: /ü".encode(encoding)
    assert not allows(decode_robots(body), "/%C3%BC")


def test_bytes_that_are_no_text_do_no_harm() -> None:
    assert not allows(decode_robots(b"\xff\xff\nUser-agent: *\nDisallow: /a"), "/a")


def test_what_is_beyond_the_limit_is_not_read_nor_half_a_line() -> None:
    start = b"User-agent: *\nDisallow: /a\n"
    long = start + b"#" * (MAX_ROBOTS_BYTES - len(start) - 12) + b"\nDisallow: /private"
    assert allows(decode_robots(long), "/p")
    assert not allows(decode_robots(long), "/a")
    assert decode_robots(b"x" * (MAX_ROBOTS_BYTES + 1)) == ""


def test_a_rulebook_keeps_little_and_answers_the_same() -> None:
    book = ParsedRules()
    texts = [f"User-agent: *\nDisallow: /{'x' * 400_000}{number}" for number in range(4)]
    assert all(book.allows(text, HERE + "/") for text in texts * 2)
    assert sum(map(len, book._parsed)) <= MAX_PARSED_CHARS
