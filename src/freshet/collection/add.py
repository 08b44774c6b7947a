"""Add pages to a collection, many at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from freshet.core.errors import BadInput
from freshet.core.redaction import shown_url
from freshet.core.types import BadRow, PageKey
from freshet.record.store import CollectionStore
from freshet.view.formats import opml, sitemap
from freshet.view.url import web_page

COMMENT = "#"
NEARBY = 2_000
MOST_FAR_SEARCHES = 100


@dataclass(frozen=True, slots=True)
class ListedUrl:
    """A URL to be added, and where it was written: a file and a line, empty where in none.

    One that someone else wrote, as in a sitemap, is ``foreign``: a password in it is not ours.
    """

    url: str
    place: str = ""
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Added:
    """What became of the URLs that were to be added; notes are for whoever added them."""

    new: int
    known: int
    refused: tuple[BadRow, ...]
    notes: tuple[str, ...] = ()


def add_pages(
    collection: CollectionStore, urls: Sequence[str | ListedUrl], *, tags: tuple[str, ...]
) -> Added:
    """Add live pages; those that are there keep their history, and get the tags too.

    What is no http(s) URL is refused with its place and the reason; the others are added. A user
    name and password in a URL become settings of the page.
    """
    keys: dict[PageKey, str] = {}
    refused: list[BadRow] = []
    for item in urls:
        listed = item if isinstance(item, ListedUrl) else ListedUrl(item)
        try:
            keys[PageKey(web_page(listed.url))] = "" if listed.foreign else listed.url
        except ValueError as error:
            url = shown_url(listed.url)
            place = f"{listed.place}: {url}" if listed.place else url
            refused.append(BadRow(place, str(error)))
    new = collection.introduce(list(keys), tags)
    notes = [collection.keep_credentials(key, url) for key, url in keys.items()]
    return Added(new, len(keys) - new, tuple(refused), tuple(filter(None, notes)))


def urls_of_lines(text: str, *, name: str) -> list[ListedUrl]:
    """Return the lines of a list but for blank ones and comments, with their numbers.

    >>> [line] = urls_of_lines("# mine\\n https://a.org/ # daily\\n\\n", name="urls.txt")
    >>> line.url, line.place
    ('https://a.org/', 'urls.txt, line 2')
    """
    lines = ((number, _uncommented(line)) for number, line in enumerate(text.splitlines(), 1))
    return [ListedUrl(line, f"{name}, line {number}") for number, line in lines if line]


def urls_of_sitemap(text: str, *, name: str) -> list[ListedUrl]:
    """Return the pages that a stored sitemap, a file of that name, tells of."""
    if sitemap.is_index(text):
        raise BadInput(f"{name}: the sitemap only names further sitemaps; give those instead")
    return list(_located(sitemap.locations(text), text, name))


def urls_of_opml(text: str, *, name: str) -> list[ListedUrl]:
    """Return the pages and feeds that an OPML file of that name lists."""
    return list(_located(opml.urls(text), text, name))


def _uncommented(line: str) -> str:
    """Return a line without its comment: a # that begins it, or that follows a space.

    >>> _uncommented("https://a.org/#top # mine")
    'https://a.org/#top'
    """
    before = line if not line.lstrip().startswith(COMMENT) else ""
    return before.replace("\t", " ").partition(f" {COMMENT}")[0].strip()


def _located(urls: Sequence[str], text: str, name: str) -> Iterator[ListedUrl]:
    """Give URLs that were read from a markup file, in its order, the lines they begin in.

    They are looked for nearby first, and then up to the end, unless too many are spelt otherwise.
    """
    position, line, far_searches = 0, 1, MOST_FAR_SEARCHES
    for url in urls:
        start = _spelt(url, text, position, position + NEARBY)
        if start < 0 and far_searches:
            far_searches -= 1
            start = _spelt(url, text, position, len(text))
        if start < 0:
            yield ListedUrl(url, name, foreign=True)
            continue
        line += text.count("\n", position, start)
        position = start
        yield ListedUrl(url, f"{name}, line {line}", foreign=True)


def _spelt(url: str, text: str, start: int, end: int) -> int:
    """Return where a stretch of markup first spells a URL, -1 where it does not."""
    spellings = {url, escape(url), escape(url, {'"': "&quot;", "'": "&apos;"})}
    places = (text.find(spelling, start, end) for spelling in spellings)
    return min((place for place in places if place >= 0), default=-1)
