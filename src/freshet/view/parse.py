"""A snapshot becomes a View: the one way into this stage."""

from dataclasses import replace

from xxhash import xxh3_64_intdigest

from freshet.core.types import Facts, Kind, Snapshot, View
from freshet.view import charset, words
from freshet.view.bounds import Limits, bounded
from freshet.view.formats import feeds, plain_text, sitemap
from freshet.view.formats.document import Reading
from freshet.view.formats.html import Parsed, parse
from freshet.view.language import language_of
from freshet.view.links import links_of
from freshet.view.sniff import kind_of
from freshet.view.url import Base

_DEFAULT = Limits()


def look(snapshot: Snapshot, *, dom: bool = False, limits: Limits = _DEFAULT) -> View:
    """Return the view of a snapshot, whatever its bytes are; it never fails.

    >>> look(Snapshot("http://x.org/", b"<title>Rain</title><p>It rains")).text
    'It rains'
    """
    kind = kind_of(snapshot.body, snapshot.media_type)
    text, label, whole = decoded(snapshot, kind, limits)
    if kind == Kind.HTML:
        parsed = parse(text, dom=dom, limits=limits)
    else:
        reading = _read(text, kind, snapshot.url, limits)
        reading = replace(reading, hrefs=reading.hrefs[: limits.links])
        whole = whole and not reading.truncated
        parsed = Parsed(reading, _text_hash(reading.text))
    return _view(snapshot, kind, label, parsed, not whole)


def decoded(snapshot: Snapshot, kind: Kind, limits: Limits) -> tuple[str, str, bool]:
    """Return the text that is read, its charset, and whether that is all of the body."""
    body = snapshot.body[: limits.body_bytes]
    whole = len(body) == len(snapshot.body)
    if kind == Kind.BINARY:
        return "", "", True
    text, label = charset.read(body, snapshot.header("content-type"))
    if kind != Kind.HTML:
        return text, label, whole
    ascii_tags = not label.startswith("utf-16")
    source = body if ascii_tags else text.encode()
    safe = bounded(source, limits)
    if len(safe) < len(source):
        text = safe.decode(label if ascii_tags else "utf-8", "replace")
    return text, label, whole and len(safe) == len(source)


def _read(text: str, kind: Kind, url: str, limits: Limits) -> Reading:
    """Return the reading of a document that is not HTML."""
    if kind == Kind.BINARY:
        return Reading("", "")
    if kind == Kind.FEED:
        return feeds.read(text, url)
    if kind == Kind.SITEMAP:
        return sitemap.read(text, url)
    return plain_text.read(text, kind, links=limits.links)


def _view(snapshot: Snapshot, kind: Kind, label: str, parsed: Parsed, truncated: bool) -> View:
    """Return the view of what was read: links resolved, words counted, hashes taken."""
    reading = parsed.reading
    terms = words.count(reading.text)
    links = links_of(reading.hrefs, Base(snapshot.url, parsed.base))
    language = language_of(reading.language, reading.text)
    facts = Facts(
        len(snapshot.body), len(reading.text), terms.total, len(terms), links.internal,
        links.external, parsed.elements, parsed.depth, truncated,
    )  # fmt: skip
    return View(
        snapshot.url, kind, label, reading.title, language, reading.text, terms, links,
        facts, xxh3_64_intdigest(snapshot.body), parsed.text_hash,
        parsed.structure_hash, parsed.dom,
    )  # fmt: skip


def _text_hash(text: str) -> int:
    return xxh3_64_intdigest(" ".join(text.split()).encode("utf-8", "replace"))
