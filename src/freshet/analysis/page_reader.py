"""What the stored versions of one page tell: its looks in order, its words and its blocks."""

from collections.abc import Iterator
from functools import partial

from freshet.analysis.page_versions import History, history
from freshet.core.types import Page, Terms, View
from freshet.measure.dynamics.structure.blocks import Block, Outline, blocks, outline
from freshet.measure.dynamics.structure.dom_history import look_timeline, serialise
from freshet.measure.dynamics.terms.divergence import Language, language_of, merge_all
from freshet.record.change_criteria import gauges
from freshet.record.files import CollectionFiles
from freshet.record.stored_page import view_of_visit
from freshet.view.dom import full_path
from freshet.view.tags import BLOCK, meanings

MOST_NEIGHBOURS = 60
MOST_ROWS = 2_000_000
SAMPLE_CHARS = 60
BLOCKS = frozenset(name for name, bits in meanings().items() if bits & BLOCK)


def history_of(files: CollectionFiles, page: Page, *, dom: bool) -> History:
    """Return the looks at a page as a series, with DOM rows where they are wanted."""
    read = partial(files.snapshots.of, url=page.url)
    mask = gauges(files.catalog, files.settings, [page.id])[page.id].mask
    rows = files.catalog.history(page.id)
    return history(rows, read, files.settings.limits, dom=dom, mask=mask)


def language_around(files: CollectionFiles, page: Page) -> Language | None:
    """Return the language around a page: that of its last version and of other pages'.

    Up to sixty pages of the same source are read, spread over all. None where the page is
    alone: then nothing tells its words from usual ones.
    """
    others = list(_neighbours(files, page))
    return merge_all(map(language_of, others)) if len(others) > 1 else None


def _neighbours(files: CollectionFiles, page: Page) -> Iterator[Terms]:
    """Yield the words of the last versions of pages, the page itself the first of them."""
    near = (other.id for other in files.catalog.pages(source=page.source))
    ids = [other for other in near if other != page.id]
    step = max(1, -(-len(ids) // MOST_NEIGHBOURS))
    wanted = [page.id, *ids[::step]]
    known = files.catalog.pages_by_id(wanted)
    looks = files.catalog.last_looks(wanted)
    for other in wanted:
        view = view_of_visit(files, known[other], looks[other]) if other in looks else None
        if view is not None:
            yield view.terms


def outline_of(found: History) -> Outline | None:
    """Return the blocks of a page over its looks; None where no version has elements."""
    if not len(found.structure) or all(dom is None for dom in found.structure.doms):
        return None
    timeline = look_timeline(found.structure)
    return outline(serialise(found.structure, timeline, MOST_ROWS), BLOCKS)


def blocks_of(found: History, last: View | None) -> tuple[Block, ...]:
    """Return the blocks of a page in document order, shown by their text in the last version."""
    seen = outline_of(found)
    return () if seen is None else blocks_in(seen, last)


def blocks_in(seen: Outline, last: View | None) -> tuple[Block, ...]:
    """Return the blocks of an outline, shown by their text in the last version."""
    return blocks(seen, full_path, _Samples(seen, last))


class _Samples:
    """Gives the beginning of a block's text as the last version shows it."""

    def __init__(self, seen: Outline, last: View | None) -> None:
        self._doms = seen.structure.doms
        self._dom = last.dom if last else None
        self._text = last.text.encode() if last else b""
        paths = [] if self._dom is None else self._dom.full_path.tolist()
        self._rows = {path: row for row, path in enumerate(paths)}

    def __call__(self, version: int, row: int) -> str:
        dom = self._doms[version]
        place = None if dom is None else self._rows.get(int(dom.full_path[row]))
        if place is None or self._dom is None:
            return ""
        begin, end = int(self._dom.start[place]), int(self._dom.end[place])
        words = self._text[begin:end][: 4 * SAMPLE_CHARS].decode("utf-8", "ignore").split()
        return " ".join(words)[:SAMPLE_CHARS]
