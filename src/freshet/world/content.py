"""What pages show: every version is made from its number alone, so that none has to be kept.

Every change makes something new (stories, a post, a price, a paragraph, some rows) that stays
until a page of its size has no more room for it.
"""

from collections.abc import Callable

from freshet.world.page_version import NOWHERE, Block, Scene
from freshet.world.vocabulary import paragraph, phrase

Show = Callable[[Scene, int], list[Block]]

STANDING = 1 << 31
ROUNDS = 3
GOODS_PER_CHANGE = 3
FIRST_NUMBER = 1000
STRIDE = 5


def stories(scene: Scene, size: int) -> list[Block]:
    """Show the stories of the latest changes, newest first, each with a link and a teaser."""
    blocks = _standing(scene)
    for change in range(scene.version, scene.version - size, -1):
        rng = scene.rng(change)
        for number in range(1 + rng.randrange(3)):
            headline = phrase(rng, scene.topic, rng.randint(5, 9))
            path = _below(scene, f"{FIRST_NUMBER + change}-{number}-{_slug(headline)}")
            teaser = f"{scene.date(change)}: {paragraph(rng, scene.topic, 24)}"
            blocks.append(Block("item", headline, path, teaser))
    return blocks


def articles(scene: Scene, size: int) -> list[Block]:
    """Show the latest long texts, newest first, now and then with a link to another host."""
    blocks = _standing(scene)
    for change in range(scene.version, scene.version - size, -1):
        rng = scene.rng(change)
        headline = phrase(rng, scene.topic, rng.randint(4, 8))
        blocks.append(Block("heading", headline, _below(scene, _slug(headline))))
        blocks.append(Block("paragraph", f"Written on {scene.date(change)}"))
        blocks += [Block("paragraph", paragraph(rng, scene.topic, 60)) for _ in range(3)]
        blocks.append(_reference(scene, change))
    return blocks


def thread(scene: Scene, size: int) -> list[Block]:
    """Show the latest posts of a thread, oldest first, and how many there are."""
    first = scene.rng(STANDING).randint(size, 3 * size)
    blocks = _standing(scene)
    blocks.append(Block("paragraph", f"{first + scene.version} posts in this thread"))
    for change in range(scene.version - size + 1, scene.version + 1):
        rng = scene.rng(change)
        writer = phrase(rng, scene.topic, 1)
        text = paragraph(rng, scene.topic, rng.randint(12, 60))
        blocks.append(Block("post", f"{writer}, {scene.date(change)}: {text}"))
    return blocks


def goods(scene: Scene, size: int) -> list[Block]:
    """Show a list of things for sale: each change sets one price anew, every third adds a thing."""
    newest = scene.version // GOODS_PER_CHANGE
    blocks = _standing(scene)
    for number in range(newest, newest - size, -1):
        rng = scene.rng(number)
        name = phrase(rng, scene.topic, rng.randint(2, 4))
        price = rng.randint(200, 9000) + 37 * ((scene.version + number) // size % 500)
        path = _below(scene, f"{FIRST_NUMBER + number}-{_slug(name)}")
        blocks.append(Block("item", f"{name}, {price // 100}.{price % 100:02}", path))
    return blocks


def chapters(scene: Scene, size: int) -> list[Block]:
    """Show paragraphs that are rewritten one by one, in an order that leaps through the page.

    The order reaches every paragraph where the size is no multiple of the stride.
    """
    blocks = _standing(scene)
    blocks.append(Block("paragraph", f"Last revised {scene.date(scene.version)}"))
    for place in range(size):
        rewritten = scene.version - (scene.version - STRIDE * place) % size
        if place % 4 == 0:
            blocks.append(Block("heading", phrase(scene.rng(STANDING, place), scene.topic, 3)))
        rng = scene.rng(rewritten, place + 1)
        blocks.append(Block("paragraph", paragraph(rng, scene.topic, 55)))
    return blocks


def table(scene: Scene, size: int) -> list[Block]:
    """Show rows of numbers, of which every change sets a third anew."""
    blocks = _standing(scene)
    blocks.append(Block("paragraph", f"After round {FIRST_NUMBER + scene.version}"))
    for place in range(size):
        name = phrase(scene.rng(STANDING, place), scene.topic, 2)
        updated = scene.version - (scene.version - place) % ROUNDS
        rng = scene.rng(updated, place + 1)
        cells = (name, *(str(rng.randint(0, 9999)) for _ in range(4)))
        blocks.append(Block("row", "\t".join(cells)))
    return blocks


def _standing(scene: Scene) -> list[Block]:
    """Return what every version of a page shows."""
    rng = scene.rng(STANDING)
    return [
        Block("heading", f"About {phrase(rng, scene.topic, 3).lower()}"),
        Block("paragraph", paragraph(rng, scene.topic, 70)),
    ]


def _reference(scene: Scene, change: int) -> Block:
    """Return a line that links to the front page of some host, this one included."""
    rng = scene.rng(change, 1)
    host = rng.randrange(scene.hosts) if rng.random() < 0.5 else NOWHERE
    return Block("item", f"See {phrase(rng, scene.topic, 2).lower()}", "/", host=host)


def _below(scene: Scene, name: str) -> str:
    """Return a path beside the page."""
    return f"{scene.path.rpartition('/')[0]}/{name}"


def _slug(text: str) -> str:
    return text.lower().replace(" ", "-")
