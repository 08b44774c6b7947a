"""Content of pages: every version is generated from its number, so none is stored.

Every change creates new content (stories, a post, a price, a paragraph, some rows) that stays until
newer content fills the page.
"""

from collections.abc import Callable

from freshet.core.content.posts import Post
from freshet.world.page_version import OWN_HOST, PageBlock, PageVersion
from freshet.world.vocabulary import make_paragraph, make_phrase

ContentWriter = Callable[[PageVersion, int], list[PageBlock]]

FIXED_CONTENT = 1 << 31
TABLE_PERIOD = 3
GOODS_PER_CHANGE = 3
FIRST_NUMBER = 1000
STRIDE = 5


def stories(version: PageVersion, size: int) -> list[PageBlock]:
    """List the stories of the latest changes, newest first, each with a link and a teaser."""
    blocks = _fixed_blocks(version)
    for change in range(version.number, version.number - size, -1):
        rng = version.rng(change)
        for number in range(1 + rng.randrange(3)):
            headline = make_phrase(rng, version.topic, rng.randint(5, 9))
            path = _sibling_path(version, f"{FIRST_NUMBER + change}-{number}-{_slug(headline)}")
            teaser = f"{version.change_date(change)}: {make_paragraph(rng, version.topic, 24)}"
            blocks.append(PageBlock("item", headline, path, teaser))
    return blocks


def articles(version: PageVersion, size: int) -> list[PageBlock]:
    """List the latest long texts, newest first, some with a link to another host."""
    blocks = _fixed_blocks(version)
    for change in range(version.number, version.number - size, -1):
        rng = version.rng(change)
        headline = make_phrase(rng, version.topic, rng.randint(4, 8))
        blocks.append(PageBlock("heading", headline, _sibling_path(version, _slug(headline))))
        blocks.append(PageBlock("paragraph", f"Written on {version.change_date(change)}"))
        blocks += [PageBlock("paragraph", make_paragraph(rng, version.topic, 60)) for _ in range(3)]
        blocks.append(_link_line(version, change))
    return blocks


def thread(version: PageVersion, size: int) -> list[PageBlock]:
    """List the latest posts of a thread, oldest first, and the number of posts."""
    first = version.rng(FIXED_CONTENT).randint(size, 3 * size)
    blocks = _fixed_blocks(version)
    blocks.append(PageBlock("paragraph", f"{first + version.number} posts in this thread"))
    for change in range(version.number - size + 1, version.number + 1):
        rng = version.rng(change)
        writer = make_phrase(rng, version.topic, 1)
        text = make_paragraph(rng, version.topic, rng.randint(12, 60))
        time = version.change_time(change).timestamp()
        post = Post(time, writer, text, f"post-{first + change}")
        line = f"{writer}, {version.change_date(change)}: {text}"
        blocks.append(PageBlock("post", line, post=post))
    return blocks


def goods(version: PageVersion, size: int) -> list[PageBlock]:
    """List things for sale: each change sets one price, every third change adds a thing."""
    newest = version.number // GOODS_PER_CHANGE
    blocks = _fixed_blocks(version)
    for number in range(newest, newest - size, -1):
        rng = version.rng(number)
        name = make_phrase(rng, version.topic, rng.randint(2, 4))
        price = rng.randint(200, 9000) + 37 * ((version.number + number) // size % 500)
        path = _sibling_path(version, f"{FIRST_NUMBER + number}-{_slug(name)}")
        blocks.append(PageBlock("item", f"{name}, {price // 100}.{price % 100:02}", path))
    return blocks


def chapters(version: PageVersion, size: int) -> list[PageBlock]:
    """List paragraphs that are rewritten one by one, in an order that jumps through the page.

    The order reaches every paragraph if the size is not a multiple of the stride.
    """
    blocks = _fixed_blocks(version)
    blocks.append(PageBlock("paragraph", f"Last revised {version.change_date(version.number)}"))
    for position in range(size):
        rewritten = version.number - (version.number - STRIDE * position) % size
        if position % 4 == 0:
            blocks.append(
                PageBlock(
                    "heading", make_phrase(version.rng(FIXED_CONTENT, position), version.topic, 3)
                )
            )
        rng = version.rng(rewritten, position + 1)
        blocks.append(PageBlock("paragraph", make_paragraph(rng, version.topic, 55)))
    return blocks


def table(version: PageVersion, size: int) -> list[PageBlock]:
    """List rows of numbers; every change updates a third of them."""
    blocks = _fixed_blocks(version)
    blocks.append(PageBlock("paragraph", f"After round {FIRST_NUMBER + version.number}"))
    for position in range(size):
        name = make_phrase(version.rng(FIXED_CONTENT, position), version.topic, 2)
        updated = version.number - (version.number - position) % TABLE_PERIOD
        rng = version.rng(updated, position + 1)
        cells = (name, *(str(rng.randint(0, 9999)) for _ in range(4)))
        blocks.append(PageBlock("row", "\t".join(cells)))
    return blocks


def _fixed_blocks(version: PageVersion) -> list[PageBlock]:
    """Return the content that every version of a page shows."""
    rng = version.rng(FIXED_CONTENT)
    return [
        PageBlock("heading", f"About {make_phrase(rng, version.topic, 3).lower()}"),
        PageBlock("paragraph", make_paragraph(rng, version.topic, 70)),
    ]


def _link_line(version: PageVersion, change: int) -> PageBlock:
    """Return a line that links to the front page of a random host, possibly this one."""
    rng = version.rng(change, 1)
    host = rng.randrange(version.host_count) if rng.random() < 0.5 else OWN_HOST
    return PageBlock("item", f"See {make_phrase(rng, version.topic, 2).lower()}", "/", host=host)


def _sibling_path(version: PageVersion, name: str) -> str:
    """Return a path beside the page."""
    return f"{version.path.rpartition('/')[0]}/{name}"


def _slug(text: str) -> str:
    return text.lower().replace(" ", "-")
