"""What the blocks of a page are called, so that each can be told from the others."""

from collections import Counter
from collections.abc import Sequence

from freshet.measure.dynamics.structure.blocks import DomBlock

STEPS = 3


def block_names(blocks: Sequence[DomBlock]) -> list[str]:
    """Return what blocks are called in a picture: the end of their path, and their text.

    Where several would be called the same, as much more of their paths is told as sets them apart.
    """
    names = [_name(block, STEPS) for block in blocks]
    depths = [block.path.count("/") for block in blocks]
    for steps in range(STEPS + 1, max(depths, default=0) + 1):
        met = Counter(names)
        alike = [place for place, name in enumerate(names) if met[name] > 1]
        for place in alike:
            names[place] = _name(blocks[place], min(steps, depths[place]))
    return names


def _name(block: DomBlock, steps: int) -> str:
    path = block.path.strip("/").split("/")
    if steps <= STEPS:
        end = path[-1:] if block.sample else path[-STEPS:]
    else:
        end = [path[-steps], "…", *path[-STEPS + 1 :]]
    return ": ".join(filter(None, ("/".join(end), block.sample)))
