"""OPML: lists of feeds and pages as feed readers exchange them."""

from freshet.view.formats.xml import NO_LIMIT, parse_xml

ADDRESSES = ("htmlurl", "xmlurl", "url")


def outline_urls(text: str) -> list[str]:
    """Return the address of every outline: its page where it names one, else its feed.

    >>> outline_urls('<opml><body><outline text="a" xmlUrl="https://a.org/feed"/></body></opml>')
    ['https://a.org/feed']
    """
    outlines = (
        element
        for element in parse_xml(text, max_elements=NO_LIMIT).walk()
        if element.name == "outline"
    )
    named = ([item.attributes.get(name) for name in ADDRESSES] for item in outlines)
    return [next(filter(None, found)) for found in named if any(found)]
