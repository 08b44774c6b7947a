"""OPML: lists of feeds and pages from feed readers."""

from freshet.view.formats.xml import NO_LIMIT, parse_xml

URL_ATTRIBUTES = ("htmlurl", "xmlurl", "url")


def outline_urls(text: str) -> list[str]:
    """Return the URL of every outline: its page if it has one, else its feed.

    >>> outline_urls('<opml><body><outline text="a" xmlUrl="https://a.org/feed"/></body></opml>')
    ['https://a.org/feed']
    """
    elements = parse_xml(text, max_elements=NO_LIMIT).walk()
    outlines = (element.attributes for element in elements if element.name == "outline")
    urls = (next(filter(None, map(outline.get, URL_ATTRIBUTES)), None) for outline in outlines)
    return [url for url in urls if url]
