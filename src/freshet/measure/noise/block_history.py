"""The blocks of a page over its looks: what each showed at every one of them.

A block is known by the shape of its line, or by its place: the path of the element that holds just
that line, or the words with which it begins.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from freshet.measure.noise.line_pattern import has_number
from freshet.measure.noise.page_lines import PageLine, PageLines, path_without_indices
from freshet.measure.noise.persistence import MIN_RETURNING_TEXTS, text_runs

BlockTexts = list[tuple[str, ...]]


class BlockHistory:
    """The lines of a page at several looks, found again by shape and by place."""

    def __init__(self, pages: Sequence[PageLines]) -> None:
        self.pages = pages

    @cached_property
    def _lines(self) -> dict[str, dict[int, list[PageLine]]]:
        """Return the lines of every block by the look that shows them."""
        found: dict[str, dict[int, list[PageLine]]] = {}
        for place, page in enumerate(self.pages):
            for line in page:
                for key in (line.shape, line.location):
                    found.setdefault(key, {}).setdefault(place, []).append(line)
        found.pop("", None)
        return found

    @cached_property
    def _shown(self) -> list[frozenset[str]]:
        return [frozenset(line.text for line in page) for page in self.pages]

    def texts(self, key: str) -> BlockTexts:
        """Return what a block showed at each look."""
        lines = self._lines.get(key, {})
        places = range(len(self.pages))
        return [tuple(line.text for line in lines.get(place, ())) for place in places]

    def path(self, key: str) -> str:
        """Return the path of the element that always held a block; empty where none did."""
        paths = {line.path for lines in self._lines.get(key, {}).values() for line in lines}
        return next(iter(paths)) if len(paths) == 1 else ""

    def paths_without_indices(self, key: str) -> set[str]:
        """Return the paths without places at which a block was."""
        return {
            path_without_indices(line.path)
            for lines in self._lines.get(key, {}).values()
            for line in lines
        }

    def numbered_shapes(self, max_lines: int) -> list[str]:
        """Return the shapes with numbers that at most so many lines of a look have."""
        return [
            key
            for key, lines in self._lines.items()
            if has_number(key) and is_shape(key) and max(map(len, lines.values())) <= max_lines
        ]

    def locations(self, *, except_shapes: set[str]) -> list[str]:
        """Return the places of lines; not of those that ever had one of these shapes."""
        return [
            key
            for key, lines in self._lines.items()
            if not is_shape(key)
            and not any(line.shape in except_shapes for each in lines.values() for line in each)
        ]

    def rotates(self, key: str) -> bool:
        """Say whether texts of a block leave the page and come back, as those of a choice do."""
        texts = {text for each in self.texts(key) for text in each}
        back = sum(len(text_runs(text, self._shown)) > 1 for text in texts)
        return back >= MIN_RETURNING_TEXTS

    def differing_lines(self, old: int, new: int) -> list[PageLine]:
        """Return the lines that only one of two looks has, or has more often."""
        return [
            *_only_in(self.pages[old], self.pages[new]),
            *_only_in(self.pages[new], self.pages[old]),
        ]

    def differing_blocks(self, old: int, new: int) -> list[str]:
        """Return what differs between two looks: shapes or places that both have, else either."""
        gone = _only_in(self.pages[old], self.pages[new])
        come = _only_in(self.pages[new], self.pages[old])
        shapes = {line.shape for line in gone} & {line.shape for line in come}
        gone, come = (
            [line for line in lines if line.shape not in shapes] for lines in (gone, come)
        )
        places = {line.location for line in gone} & {line.location for line in come} - {""}
        alone = [line for line in (*gone, *come) if line.location not in places]
        places |= {line.location for line in alone if line.location}
        return [*sorted(places), *sorted(shapes | {line.shape for line in alone})]


def is_shape(key: str) -> bool:
    """Say whether a block is known by its shape."""
    return key.startswith(" ")


def count_differences(texts: BlockTexts) -> int:
    """Return how often a block differed from one look that had it to the next."""
    return sum(old != new for old, new in pairwise([each for each in texts if each]))


def _only_in(these: PageLines, those: PageLines) -> list[PageLine]:
    left = Counter(line.text for line in those)
    only = []
    for line in these:
        left[line.text] -= 1
        if left[line.text] < 0:
            only.append(line)
    return only
