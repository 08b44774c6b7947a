"""What differs at every visit and is no change: times, counters, advertisements, tokens."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from freshet.core.clock import from_epoch
from freshet.world.page_version import Block, Scene
from freshet.world.vocabulary import phrase

SUGGESTIONS = 12
_SUGGESTED = 1 << 30


@dataclass(frozen=True, slots=True)
class Noise:
    """Blocks that one visit brings, put at the start, in the middle or at the end of a page."""

    place: float
    blocks: Callable[[Random, Scene, float], list[Block]]


def mixed_in(
    names: tuple[str, ...], content: list[Block], scene: Scene, epoch: float, rng: Random
) -> list[Block]:
    """Return the blocks of a page with those that a visit brings."""
    blocks = list(content)
    for name in names:
        noise = NOISES[name]
        at = round(noise.place * len(blocks))
        blocks[at:at] = noise.blocks(rng, scene, epoch)
    return blocks


def token(rng: Random) -> str:
    """Return what a form or script carries against forgery: in the markup, never in the text."""
    return f"{rng.getrandbits(96):024x}"


def _stamp(rng: Random, _scene: Scene, epoch: float) -> list[Block]:
    made = f"{from_epoch(epoch):%d %B %Y %H:%M:%S} UTC"
    return [Block("paragraph", f"Page made on {made} in {rng.uniform(0.002, 0.4):.5f} seconds")]


def _visitors(rng: Random, _scene: Scene, epoch: float) -> list[Block]:
    online, number = rng.randint(3, 900), int(epoch % 1e7) + rng.randint(0, 500)
    return [Block("paragraph", f"You are visitor number {number}; {online} users are online")]


def _advert(rng: Random, scene: Scene, _epoch: float) -> list[Block]:
    text = f"Advertisement: {phrase(rng, scene.topic, 6)}!"
    return [Block("advert", text, f"/out?to={rng.getrandbits(32):08x}")]


def _suggested(rng: Random, scene: Scene, _epoch: float) -> list[Block]:
    chosen = rng.sample(range(SUGGESTIONS), 3)
    titles = [phrase(scene.rng(_SUGGESTED, number), scene.topic, 4) for number in chosen]
    links = [f"/suggested/{number}" for number in chosen]
    return [Block("item", title, link) for title, link in zip(titles, links, strict=True)]


NOISES: Mapping[str, Noise] = {
    "stamp": Noise(1.0, _stamp),
    "visitors": Noise(1.0, _visitors),
    "advert-above": Noise(0.0, _advert),
    "advert-between": Noise(0.5, _advert),
    "suggested": Noise(1.0, _suggested),
}
