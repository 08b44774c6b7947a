"""The texts of a page's blocks at each look.

A block is identified by the shape of its line, or by its location: the path of the element that
contains just that line, or the words at its start.
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
    """The lines of a page at several looks, by shape and by location."""

    def __init__(self, pages: Sequence[PageLines]) -> None:
        self.pages = pages

    @cached_property
    def _lines(self) -> dict[str, dict[int, list[PageLine]]]:
        """Return the lines of every block by look."""
        lines_by_block: dict[str, dict[int, list[PageLine]]] = {}
        for look_index, page in enumerate(self.pages):
            for line in page:
                for key in (line.shape, line.location):
                    lines_by_block.setdefault(key, {}).setdefault(look_index, []).append(line)
        lines_by_block.pop("", None)
        return lines_by_block

    @cached_property
    def _shown(self) -> list[frozenset[str]]:
        return [frozenset(line.text for line in page) for page in self.pages]

    def texts(self, key: str) -> BlockTexts:
        """Return the texts of a block at each look."""
        lines = self._lines.get(key, {})
        look_indices = range(len(self.pages))
        return [
            tuple(line.text for line in lines.get(look_index, ())) for look_index in look_indices
        ]

    def path(self, key: str) -> str:
        """Return the path of the element that always held a block; empty where there is none."""
        paths = {line.path for lines in self._lines.get(key, {}).values() for line in lines}
        return next(iter(paths)) if len(paths) == 1 else ""

    def paths_without_indices(self, key: str) -> set[str]:
        """Return the paths of a block, without indices."""
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
        """Return the locations of lines, except of those that ever had one of these shapes."""
        return [
            key
            for key, lines in self._lines.items()
            if not is_shape(key)
            and not any(
                line.shape in except_shapes for look_lines in lines.values() for line in look_lines
            )
        ]

    def rotates(self, key: str) -> bool:
        """Return whether texts of a block leave the page and return."""
        texts = {text for look_texts in self.texts(key) for text in look_texts}
        returning = sum(len(text_runs(text, self._shown)) > 1 for text in texts)
        return returning >= MIN_RETURNING_TEXTS

    def differing_lines(self, old: int, new: int) -> list[PageLine]:
        """Return the lines that one of two looks has more often than the other."""
        return [
            *_only_in(self.pages[old], self.pages[new]),
            *_only_in(self.pages[new], self.pages[old]),
        ]

    def differing_blocks(self, old: int, new: int) -> list[str]:
        """Return the blocks that differ between two looks."""
        removed = _only_in(self.pages[old], self.pages[new])
        added = _only_in(self.pages[new], self.pages[old])
        shapes = {line.shape for line in removed} & {line.shape for line in added}
        removed, added = (
            [line for line in lines if line.shape not in shapes] for lines in (removed, added)
        )
        locations = {line.location for line in removed} & {line.location for line in added} - {""}
        unmatched = [line for line in (*removed, *added) if line.location not in locations]
        locations |= {line.location for line in unmatched if line.location}
        return [*sorted(locations), *sorted(shapes | {line.shape for line in unmatched})]


def is_shape(key: str) -> bool:
    """Return whether a block is identified by its shape."""
    return key.startswith(" ")


def count_differences(texts: BlockTexts) -> int:
    """Return how often a block differed between consecutive looks that had it."""
    return sum(
        old != new for old, new in pairwise([look_texts for look_texts in texts if look_texts])
    )


def _only_in(page: PageLines, other_page: PageLines) -> list[PageLine]:
    remaining = Counter(line.text for line in other_page)
    only = []
    for line in page:
        remaining[line.text] -= 1
        if remaining[line.text] < 0:
            only.append(line)
    return only
