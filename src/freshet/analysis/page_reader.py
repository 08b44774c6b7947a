"""What the stored versions of one page tell: its looks in order, its words and its blocks."""

from collections.abc import Iterator
from functools import partial

from freshet.analysis.page_versions import PageVersions, read_page_versions
from freshet.core.types import Page, TermCounts, View
from freshet.measure.dynamics.structure.blocks import (
    BlockOutline,
    DomBlock,
    block_outline,
    blocks_of_outline,
)
from freshet.measure.dynamics.structure.dom_history import dom_history, look_timeline
from freshet.measure.dynamics.terms.divergence import (
    LanguageModel,
    language_of_version,
    merge_all_languages,
)
from freshet.record.change_criteria import page_mask
from freshet.record.files import CollectionFiles
from freshet.record.stored_page import read_visit_view
from freshet.view.dom import full_path
from freshet.view.tags import BLOCK, tag_meanings

MAX_NEIGHBOURS = 60
MAX_ROWS = 2_000_000
SAMPLE_CHARS = 60
BLOCK_ELEMENTS = frozenset(name for name, bits in tag_meanings().items() if bits & BLOCK)


def history_of(files: CollectionFiles, page: Page, *, dom: bool) -> PageVersions:
    """Return the looks at a page as a series, with DOM rows where they are wanted."""
    read = partial(files.snapshots.read, url=page.url)
    mask = page_mask(files, page)
    rows = files.catalog.history(page.id)
    return read_page_versions(rows, read, files.settings.limits, dom=dom, mask=mask)


def language_around(files: CollectionFiles, page: Page) -> LanguageModel | None:
    """Return the language around a page: that of its last version and of other pages'.

    Up to sixty pages of the same source are read, spread over all. None where the page is
    alone: then nothing tells its words from usual ones.
    """
    others = list(_neighbours(files, page))
    return merge_all_languages(map(language_of_version, others)) if len(others) > 1 else None


def _neighbours(files: CollectionFiles, page: Page) -> Iterator[TermCounts]:
    """Yield the words of the last versions of pages, the page itself the first of them."""
    near = (other.id for other in files.catalog.pages(source=page.source))
    ids = [other for other in near if other != page.id]
    step = max(1, -(-len(ids) // MAX_NEIGHBOURS))
    wanted = [page.id, *ids[::step]]
    known = files.catalog.pages_by_id(wanted)
    looks = files.catalog.last_looks(wanted)
    for other in wanted:
        view = read_visit_view(files, known[other], looks[other]) if other in looks else None
        if view is not None:
            yield view.terms


def outline_of_versions(found: PageVersions) -> BlockOutline | None:
    """Return the blocks of a page over its looks; None where no version has elements."""
    if not len(found.dom_series) or all(dom is None for dom in found.dom_series.doms):
        return None
    timeline = look_timeline(found.dom_series)
    return block_outline(dom_history(found.dom_series, timeline, MAX_ROWS), BLOCK_ELEMENTS)


def blocks_of_versions(found: PageVersions, last: View | None) -> tuple[DomBlock, ...]:
    """Return the blocks of a page in document order, shown by their text in the last version."""
    seen = outline_of_versions(found)
    return () if seen is None else blocks_with_text(seen, last)


def blocks_with_text(seen: BlockOutline, last: View | None) -> tuple[DomBlock, ...]:
    """Return the blocks of an outline, shown by their text in the last version."""
    return blocks_of_outline(seen, full_path, _BlockTextSampler(seen, last))


class _BlockTextSampler:
    """Gives the beginning of a block's text as the last version shows it."""

    def __init__(self, seen: BlockOutline, last: View | None) -> None:
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
