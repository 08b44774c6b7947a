"""Add pages to a collection, many at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from freshet.core.errors import BadInputError
from freshet.core.redaction import redact_url
from freshet.core.types import BadRow, PageKey
from freshet.record.store import CollectionStore
from freshet.view.formats import opml, sitemap
from freshet.view.url import canonical_web_url

COMMENT_MARK = "#"
NEARBY_CHARS = 2_000
MAX_FAR_SEARCHES = 100


@dataclass(frozen=True, slots=True)
class ListedUrl:
    """A URL to be added, and where it was written: a file and a line, empty where in none.

    One that someone else wrote, as in a sitemap, is ``is_foreign``: a password in it is not ours.
    """

    url: str
    place: str = ""
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class AddSummary:
    """What became of the URLs that were to be added; notes are for whoever added them."""

    new: int
    known: int
    refused: tuple[BadRow, ...]
    notes: tuple[str, ...] = ()


def add_pages(
    collection: CollectionStore, urls: Sequence[str | ListedUrl], *, tags: tuple[str, ...]
) -> AddSummary:
    """Add live pages; those that are there keep their history, and get the tags too.

    What is no http(s) URL is refused with its place and the reason; the others are added. A user
    name and password in a URL become settings of the page.
    """
    keys: dict[PageKey, str] = {}
    refused: list[BadRow] = []
    for item in urls:
        listed = item if isinstance(item, ListedUrl) else ListedUrl(item)
        try:
            keys[PageKey(canonical_web_url(listed.url))] = "" if listed.is_foreign else listed.url
        except ValueError as error:
            url = redact_url(listed.url)
            place = f"{listed.place}: {url}" if listed.place else url
            refused.append(BadRow(place, str(error)))
    new = collection.register_pages(list(keys), tags)
    notes = [collection.save_credentials(key, url) for key, url in keys.items()]
    return AddSummary(new, len(keys) - new, tuple(refused), tuple(filter(None, notes)))


def parse_url_list(text: str, *, name: str) -> list[ListedUrl]:
    """Return the lines of a list but for blank ones and comments, with their numbers.

    >>> [line] = parse_url_list("# mine\\n https://a.org/ # daily\\n\\n", name="urls.txt")
    >>> line.url, line.place
    ('https://a.org/', 'urls.txt, line 2')
    """
    lines = ((number, _uncommented(line)) for number, line in enumerate(text.splitlines(), 1))
    return [ListedUrl(line, f"{name}, line {number}") for number, line in lines if line]


def parse_sitemap_urls(text: str, *, name: str) -> list[ListedUrl]:
    """Return the pages that a stored sitemap, a file of that name, tells of."""
    if sitemap.is_index(text):
        raise BadInputError(f"{name}: the sitemap only names further sitemaps; give those instead")
    return list(_located(sitemap.written_locations(text), text, name))


def parse_opml_urls(text: str, *, name: str) -> list[ListedUrl]:
    """Return the pages and feeds that an OPML file of that name lists."""
    return list(_located(opml.outline_urls(text), text, name))


def _uncommented(line: str) -> str:
    """Return a line without its comment: a # that begins it, or that follows a space.

    >>> _uncommented("https://a.org/#top # mine")
    'https://a.org/#top'
    """
    before = line if not line.lstrip().startswith(COMMENT_MARK) else ""
    return before.replace("\t", " ").partition(f" {COMMENT_MARK}")[0].strip()


def _located(urls: Sequence[str], text: str, name: str) -> Iterator[ListedUrl]:
    """Give URLs that were read from a markup file, in its order, the lines they begin in.

    They are looked for nearby first, and then up to the end, unless too many are spelt otherwise.
    """
    position, line, far_searches = 0, 1, MAX_FAR_SEARCHES
    for url in urls:
        start = _spelt(url, text, position, position + NEARBY_CHARS)
        if start < 0 and far_searches:
            far_searches -= 1
            start = _spelt(url, text, position, len(text))
        if start < 0:
            yield ListedUrl(url, name, is_foreign=True)
            continue
        line += text.count("\n", position, start)
        position = start
        yield ListedUrl(url, f"{name}, line {line}", is_foreign=True)


def _spelt(url: str, text: str, start: int, end: int) -> int:
    """Return where a stretch of markup first spells a URL, -1 where it does not."""
    spellings = {url, escape(url), escape(url, {'"': "&quot;", "'": "&apos;"})}
    places = (text.find(spelling, start, end) for spelling in spellings)
    return min((place for place in places if place >= 0), default=-1)
