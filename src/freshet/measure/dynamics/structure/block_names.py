"""Short names of the blocks of a page, each distinct from the others."""

from collections import Counter
from collections.abc import Sequence

from freshet.measure.dynamics.structure.blocks import DomBlock

STEPS = 3


def block_names(blocks: Sequence[DomBlock]) -> list[str]:
    """Return the names of blocks for a chart: the end of their path, and their text.

    Where several names are equal, more of the paths is shown.
    """
    names = [_name(block, STEPS) for block in blocks]
    depths = [block.path.count("/") for block in blocks]
    for steps in range(STEPS + 1, max(depths, default=0) + 1):
        name_counts = Counter(names)
        duplicates = [index for index, name in enumerate(names) if name_counts[name] > 1]
        for index in duplicates:
            names[index] = _name(blocks[index], min(steps, depths[index]))
    return names


def _name(block: DomBlock, steps: int) -> str:
    path = block.path.strip("/").split("/")
    if steps <= STEPS:
        end = path[-1:] if block.sample else path[-STEPS:]
    else:
        end = [path[-steps], "…", *path[-STEPS + 1 :]]
    return ": ".join(filter(None, ("/".join(end), block.sample)))
