"""OPML: lists of feeds and pages from feed readers."""

from freshet.view.formats.xml import NO_LIMIT, parse_xml

URL_ATTRIBUTES = ("htmlurl", "xmlurl", "url")


def outline_urls(text: str) -> list[str]:
    """Return the URL of every outline: its page if it has one, else its feed.

    >>> outline_urls('<opml><body><outline text="a" xmlUrl="https://a.org/feed"/></body></opml>')
    ['https://a.org/feed']
    """
    outlines = (
        element
        for element in parse_xml(text, max_elements=NO_LIMIT).walk()
        if element.name == "outline"
    )
    attribute_values = (
        [outline.attributes.get(name) for name in URL_ATTRIBUTES] for outline in outlines
    )
    return [next(filter(None, values)) for values in attribute_values if any(values)]
