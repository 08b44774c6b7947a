"""What pages show: every version is made from its number alone, so that none has to be kept.

Every change makes something new (stories, a post, a price, a paragraph, some rows) that stays
until a page of its size has no more room for it.
"""

from collections.abc import Callable

from freshet.world.page_version import OWN_HOST, PageBlock, PageVersion
from freshet.world.vocabulary import make_paragraph, make_phrase

ContentWriter = Callable[[PageVersion, int], list[PageBlock]]

FIXED_CONTENT = 1 << 31
TABLE_PERIOD = 3
GOODS_PER_CHANGE = 3
FIRST_NUMBER = 1000
STRIDE = 5


def stories(scene: PageVersion, size: int) -> list[PageBlock]:
    """Show the stories of the latest changes, newest first, each with a link and a teaser."""
    blocks = _standing(scene)
    for change in range(scene.version, scene.version - size, -1):
        rng = scene.rng(change)
        for number in range(1 + rng.randrange(3)):
            headline = make_phrase(rng, scene.topic, rng.randint(5, 9))
            path = _below(scene, f"{FIRST_NUMBER + change}-{number}-{_slug(headline)}")
            teaser = f"{scene.change_date(change)}: {make_paragraph(rng, scene.topic, 24)}"
            blocks.append(PageBlock("item", headline, path, teaser))
    return blocks


def articles(scene: PageVersion, size: int) -> list[PageBlock]:
    """Show the latest long texts, newest first, now and then with a link to another host."""
    blocks = _standing(scene)
    for change in range(scene.version, scene.version - size, -1):
        rng = scene.rng(change)
        headline = make_phrase(rng, scene.topic, rng.randint(4, 8))
        blocks.append(PageBlock("heading", headline, _below(scene, _slug(headline))))
        blocks.append(PageBlock("paragraph", f"Written on {scene.change_date(change)}"))
        blocks += [PageBlock("paragraph", make_paragraph(rng, scene.topic, 60)) for _ in range(3)]
        blocks.append(_reference(scene, change))
    return blocks


def thread(scene: PageVersion, size: int) -> list[PageBlock]:
    """Show the latest posts of a thread, oldest first, and how many there are."""
    first = scene.rng(FIXED_CONTENT).randint(size, 3 * size)
    blocks = _standing(scene)
    blocks.append(PageBlock("paragraph", f"{first + scene.version} posts in this thread"))
    for change in range(scene.version - size + 1, scene.version + 1):
        rng = scene.rng(change)
        writer = make_phrase(rng, scene.topic, 1)
        text = make_paragraph(rng, scene.topic, rng.randint(12, 60))
        blocks.append(PageBlock("post", f"{writer}, {scene.change_date(change)}: {text}"))
    return blocks


def goods(scene: PageVersion, size: int) -> list[PageBlock]:
    """Show a list of things for sale: each change sets one price anew, every third adds a thing."""
    newest = scene.version // GOODS_PER_CHANGE
    blocks = _standing(scene)
    for number in range(newest, newest - size, -1):
        rng = scene.rng(number)
        name = make_phrase(rng, scene.topic, rng.randint(2, 4))
        price = rng.randint(200, 9000) + 37 * ((scene.version + number) // size % 500)
        path = _below(scene, f"{FIRST_NUMBER + number}-{_slug(name)}")
        blocks.append(PageBlock("item", f"{name}, {price // 100}.{price % 100:02}", path))
    return blocks


def chapters(scene: PageVersion, size: int) -> list[PageBlock]:
    """Show paragraphs that are rewritten one by one, in an order that leaps through the page.

    The order reaches every paragraph where the size is no multiple of the stride.
    """
    blocks = _standing(scene)
    blocks.append(PageBlock("paragraph", f"Last revised {scene.change_date(scene.version)}"))
    for place in range(size):
        rewritten = scene.version - (scene.version - STRIDE * place) % size
        if place % 4 == 0:
            blocks.append(
                PageBlock("heading", make_phrase(scene.rng(FIXED_CONTENT, place), scene.topic, 3))
            )
        rng = scene.rng(rewritten, place + 1)
        blocks.append(PageBlock("paragraph", make_paragraph(rng, scene.topic, 55)))
    return blocks


def table(scene: PageVersion, size: int) -> list[PageBlock]:
    """Show rows of numbers, of which every change sets a third anew."""
    blocks = _standing(scene)
    blocks.append(PageBlock("paragraph", f"After round {FIRST_NUMBER + scene.version}"))
    for place in range(size):
        name = make_phrase(scene.rng(FIXED_CONTENT, place), scene.topic, 2)
        updated = scene.version - (scene.version - place) % TABLE_PERIOD
        rng = scene.rng(updated, place + 1)
        cells = (name, *(str(rng.randint(0, 9999)) for _ in range(4)))
        blocks.append(PageBlock("row", "\t".join(cells)))
    return blocks


def _standing(scene: PageVersion) -> list[PageBlock]:
    """Return what every version of a page shows."""
    rng = scene.rng(FIXED_CONTENT)
    return [
        PageBlock("heading", f"About {make_phrase(rng, scene.topic, 3).lower()}"),
        PageBlock("paragraph", make_paragraph(rng, scene.topic, 70)),
    ]


def _reference(scene: PageVersion, change: int) -> PageBlock:
    """Return a line that links to the front page of some host, this one included."""
    rng = scene.rng(change, 1)
    host = rng.randrange(scene.host_count) if rng.random() < 0.5 else OWN_HOST
    return PageBlock("item", f"See {make_phrase(rng, scene.topic, 2).lower()}", "/", host=host)


def _below(scene: PageVersion, name: str) -> str:
    """Return a path beside the page."""
    return f"{scene.path.rpartition('/')[0]}/{name}"


def _slug(text: str) -> str:
    return text.lower().replace(" ", "-")
