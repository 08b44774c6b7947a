"""Noise that differs at every visit: times, counters, advertisements, tokens."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from freshet.core.clock import from_epoch
from freshet.world.page_version import PageBlock, PageVersion
from freshet.world.vocabulary import make_phrase

SUGGESTIONS = 12
_SUGGESTED = 1 << 30


@dataclass(frozen=True, slots=True)
class NoiseSource:
    """Blocks that a visit adds, at the start, in the middle or at the end of a page."""

    position: float
    blocks: Callable[[Random, PageVersion, float], list[PageBlock]]


def insert_noise(
    names: tuple[str, ...], content: list[PageBlock], scene: PageVersion, epoch: float, rng: Random
) -> list[PageBlock]:
    """Return the blocks of a page with the noise of a visit."""
    blocks = list(content)
    for name in names:
        noise = NOISE_SOURCES[name]
        index = round(noise.position * len(blocks))
        blocks[index:index] = noise.blocks(rng, scene, epoch)
    return blocks


def random_token(rng: Random) -> str:
    """Return a random token for a form or script; it appears in the markup, never in the text."""
    return f"{rng.getrandbits(96):024x}"


def _stamp(rng: Random, _scene: PageVersion, epoch: float) -> list[PageBlock]:
    render_time = f"{from_epoch(epoch):%d %B %Y %H:%M:%S} UTC"
    return [
        PageBlock(
            "paragraph", f"Page made on {render_time} in {rng.uniform(0.002, 0.4):.5f} seconds"
        )
    ]


def _visitors(rng: Random, _scene: PageVersion, epoch: float) -> list[PageBlock]:
    online, number = rng.randint(3, 900), int(epoch % 1e7) + rng.randint(0, 500)
    return [PageBlock("paragraph", f"You are visitor number {number}; {online} users are online")]


def _advert(rng: Random, scene: PageVersion, _epoch: float) -> list[PageBlock]:
    text = f"Advertisement: {make_phrase(rng, scene.topic, 6)}!"
    return [PageBlock("advert", text, f"/out?to={rng.getrandbits(32):08x}")]


def _suggested(rng: Random, scene: PageVersion, _epoch: float) -> list[PageBlock]:
    chosen = rng.sample(range(SUGGESTIONS), 3)
    titles = [make_phrase(scene.rng(_SUGGESTED, number), scene.topic, 4) for number in chosen]
    links = [f"/suggested/{number}" for number in chosen]
    return [PageBlock("item", title, link) for title, link in zip(titles, links, strict=True)]


NOISE_SOURCES: Mapping[str, NoiseSource] = {
    "stamp": NoiseSource(1.0, _stamp),
    "visitors": NoiseSource(1.0, _visitors),
    "advert-above": NoiseSource(0.0, _advert),
    "advert-between": NoiseSource(0.5, _advert),
    "suggested": NoiseSource(1.0, _suggested),
}
