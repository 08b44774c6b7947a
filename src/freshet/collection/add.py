"""Adds pages to a collection, many at a time, also from lists, sitemaps and OPML files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from freshet.core.errors import BadInputError
from freshet.core.redaction import redact_url
from freshet.core.types import BadRow, PageKey
from freshet.record.collection_store import CollectionStore
from freshet.view.formats import opml, sitemap
from freshet.view.url import canonical_web_url

COMMENT_MARK = "#"
NEARBY_CHARS = 2_000
MAX_FAR_SEARCHES = 100


@dataclass(frozen=True, slots=True)
class ListedUrl:
    """A URL to be added, and its origin: a file and a line, empty if it comes from no file.

    A URL that somebody else wrote, as in a sitemap, is ``is_foreign``; a password in it is dropped.
    """

    url: str
    origin: str = ""
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class AddSummary:
    """The numbers of new, known and restored pages, the URLs refused, and notes for the user.

    Restored pages had been removed; they are not among the known ones.
    """

    new: int
    known: int
    restored: int
    refused: tuple[BadRow, ...]
    notes: tuple[str, ...] = ()


def add_pages(
    collection: CollectionStore, urls: Sequence[str | ListedUrl], *, tags: tuple[str, ...]
) -> AddSummary:
    """Add live pages; pages that exist already keep their history and get the tags too.

    A text that is no http(s) URL is refused with its origin and the reason; the others are added. A
    user name and password in a URL become settings of the page.
    """
    keys: dict[PageKey, str] = {}
    refused: list[BadRow] = []
    for item in urls:
        listed = item if isinstance(item, ListedUrl) else ListedUrl(item)
        try:
            keys[PageKey(canonical_web_url(listed.url))] = "" if listed.is_foreign else listed.url
        except ValueError as error:
            url = redact_url(listed.url)
            origin = f"{listed.origin}: {url}" if listed.origin else url
            refused.append(BadRow(origin, str(error)))
    new, restored = collection.register_pages(list(keys), tags)
    notes = [collection.save_credentials(key, url) for key, url in keys.items()]
    known = len(keys) - new - restored
    return AddSummary(new, known, restored, tuple(refused), tuple(filter(None, notes)))


def parse_url_list(text: str, *, name: str) -> list[ListedUrl]:
    """Return the URLs of a list with their line numbers; blank lines and comments are skipped.

    >>> [line] = parse_url_list("# mine\\n https://a.org/ # daily\\n\\n", name="urls.txt")
    >>> line.url, line.origin
    ('https://a.org/', 'urls.txt, line 2')
    """
    lines = ((number, _strip_comment(line)) for number, line in enumerate(text.splitlines(), 1))
    return [ListedUrl(line, f"{name}, line {number}") for number, line in lines if line]


def parse_sitemap_urls(text: str, *, name: str) -> list[ListedUrl]:
    """Return the pages of a sitemap; ``name`` is the name of its file."""
    if sitemap.is_index(text):
        raise BadInputError(f"{name}: the sitemap only names further sitemaps; give those instead")
    return list(_with_lines(sitemap.written_locations(text), text, name))


def parse_opml_urls(text: str, *, name: str) -> list[ListedUrl]:
    """Return the pages and feeds of an OPML file; ``name`` is the name of the file."""
    return list(_with_lines(opml.outline_urls(text), text, name))


def _strip_comment(line: str) -> str:
    """Return a line without its comment, which begins with # at its start or after a space.

    >>> _strip_comment("https://a.org/#top # mine")
    'https://a.org/#top'
    """
    if line.lstrip().startswith(COMMENT_MARK):
        return ""
    return line.replace("\t", " ").partition(f" {COMMENT_MARK}")[0].strip()


def _with_lines(urls: Sequence[str], text: str, name: str) -> Iterator[ListedUrl]:
    """Yield the URLs of a markup file, in its order, with the line of each.

    A URL is searched for nearby first and then up to the end of the file; the second search is
    given up after many failures.
    """
    position, line, far_searches = 0, 1, MAX_FAR_SEARCHES
    for url in urls:
        start = _find_url(url, text, position, position + NEARBY_CHARS)
        if start < 0 and far_searches:
            far_searches -= 1
            start = _find_url(url, text, position, len(text))
        if start < 0:
            yield ListedUrl(url, name, is_foreign=True)
            continue
        line += text.count("\n", position, start)
        position = start
        yield ListedUrl(url, f"{name}, line {line}", is_foreign=True)


def _find_url(url: str, text: str, start: int, end: int) -> int:
    """Return the first position of a URL in a range of markup, escaped or not; -1 if none."""
    spellings = {url, escape(url), escape(url, {'"': "&quot;", "'": "&apos;"})}
    positions = (text.find(spelling, start, end) for spelling in spellings)
    return min((position for position in positions if position >= 0), default=-1)
