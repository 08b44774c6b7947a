"""Feeds against feedparser's collection: never a crash, and a floor under what is read alike.

Each file states in an ``Expect:`` line what feedparser makes of it. The conditions that compare the
title or link of the feed or of an entry with a literal are read by ast, never evaluated. The rest
is base64 of Atom 0.3 (12 titles), bases that only an HTTP header names (2 links), a title of Media
RSS and two titles with malicious markup.
"""

import ast
import os
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from freshet.view.formats import feeds
from freshet.view.formats.xml import html_to_text
from freshet.view.url import absolute_url, canonical_url

ARCHIVE = next((Path(os.environ["FRESHET_DATA"]) / "conformance" / "feeds").glob("*.tar.gz"))
DECLARED = re.compile(rb"""encoding=["']([\w-]+)["']""")
EXPECT = re.compile(r"Expect:\s*(.*)")
URL = "http://example.org/"

Condition = tuple[str, int, object]


@cache
def files() -> dict[str, str]:
    with tarfile.open(ARCHIVE) as archive:
        bodies = {
            member.name: opened.read()
            for member in archive
            if member.isfile() and (opened := archive.extractfile(member))
        }
    return {name: characters(body) for name, body in bodies.items()}


def characters(body: bytes) -> str:
    declared = DECLARED.search(body[:200])
    try:
        return body.decode(declared[1].decode() if declared else "utf-8")
    except (LookupError, UnicodeDecodeError):
        return body.decode("latin-1")


def conditions(text: str) -> Iterator[Condition]:
    match = EXPECT.search(text)
    try:
        tree = ast.parse(match[1].strip() if match else "", mode="eval")
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            yield from comparison(ast.unparse(node.left), node.comparators[0])


def comparison(left: str, right: ast.expr) -> Iterator[Condition]:
    match = re.fullmatch(r"(?:(feed)|entries\[(\d)\])\['(title|link)'\]", left)
    if match and isinstance(right, ast.Constant) and match[3] + (match[1] or "") != "linkfeed":
        yield match[3], -1 if match[1] else int(match[2]), right.value


def is_met(text: str, condition: Condition) -> bool:
    attribute, index, value = condition
    feed_entries = feeds.entries(text, URL)
    if index >= len(feed_entries):
        return False
    if attribute == "link":
        return feed_entries[index].url == (canonical_url(absolute_url(URL, str(value)) or "") or "")
    title = feeds.read(text, URL).title if index < 0 else feed_entries[index].title
    return title == html_to_text(str(value))


def test_no_feed_of_the_collection_is_too_strange_to_read() -> None:
    assert len(files()) == 1851
    for text in files().values():
        feeds.read(text, URL).text.encode()
        feeds.is_feed(text)


def test_titles_and_links_agree_with_feedparser() -> None:
    stated, met = Counter[str](), Counter[str]()
    for text in files().values():
        for condition in conditions(text):
            stated[condition[0]] += 1
            met[condition[0]] += is_met(text, condition)
    assert stated == {"title": 147, "link": 16}
    assert met["title"] >= 132
    assert met["link"] >= 14
