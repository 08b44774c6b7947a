"""Read the stored versions of a page: its series of looks, its language model and its blocks."""

from collections.abc import Iterator
from functools import partial

from freshet.analysis.analysis_scope import WHOLE_HISTORY, AnalysisPeriod
from freshet.analysis.page_versions import PageVersions, read_page_versions
from freshet.core.types import Page, TermCounts, View
from freshet.measure.dynamics.structure.blocks import (
    BlockOutline,
    DomBlock,
    block_outline,
    blocks_of_outline,
)
from freshet.measure.dynamics.structure.dom_history import look_timeline
from freshet.measure.dynamics.structure.element_history import element_history
from freshet.measure.dynamics.terms.divergence import (
    LanguageModel,
    language_of_version,
    merge_all_languages,
)
from freshet.record.change_criteria import page_mask
from freshet.record.collection_reader import CollectionReader
from freshet.record.stored_page import read_visit_view
from freshet.view.tags import BLOCK, tag_meanings

MAX_LANGUAGE_PAGES = 60
SAMPLE_CHARS = 60
BLOCK_ELEMENTS = frozenset(name for name, bits in tag_meanings().items() if bits & BLOCK)


def read_series(
    reader: CollectionReader, page: Page, *, dom: bool, period: AnalysisPeriod = WHOLE_HISTORY
) -> PageVersions:
    """Return the looks at a page in a period as a series, with DOM rows if wanted."""
    read_snapshot = partial(reader.snapshots.read, url=page.url)
    mask = page_mask(reader, page)
    rows = period.rows(reader.catalog, page.id)
    return read_page_versions(rows, read_snapshot, reader.settings.limits, dom=dom, mask=mask)


def collection_language(
    reader: CollectionReader, page: Page, *, own_source: bool = False
) -> LanguageModel | None:
    """Return the language model of the collection, from the last versions of its pages.

    Up to sixty pages are read, spread over all, or with ``own_source`` over those of the page's
    source. None where there is no other page: then divergence is unknown.
    """
    versions = list(_page_terms(reader, page, page.source if own_source else None))
    return merge_all_languages(map(language_of_version, versions)) if len(versions) > 1 else None


def _page_terms(reader: CollectionReader, page: Page, source: str | None) -> Iterator[TermCounts]:
    """Yield the words of the last version of the page and then of other pages."""
    source_ids = (page_id.id for page_id in reader.catalog.pages(source=source))
    ids = [page_id for page_id in source_ids if page_id != page.id]
    step = max(1, -(-len(ids) // MAX_LANGUAGE_PAGES))
    wanted = [page.id, *ids[::step]]
    pages = reader.catalog.pages_by_id(wanted)
    looks = reader.catalog.last_looks(wanted)
    for page_id in wanted:
        view = read_visit_view(reader, pages[page_id], looks[page_id]) if page_id in looks else None
        if view is not None:
            yield view.terms


def outline_of_versions(versions: PageVersions) -> BlockOutline | None:
    """Return the blocks of a page over its looks; None where no version has DOM rows."""
    series = versions.dom_series
    if not len(series) or not series.has_dom.any():
        return None
    return block_outline(element_history(series, look_timeline(series), BLOCK_ELEMENTS))


def blocks_of_versions(versions: PageVersions, last_view: View | None) -> tuple[DomBlock, ...]:
    """Return the blocks of a page in document order, with their text in the last version."""
    outline = outline_of_versions(versions)
    return () if outline is None else blocks_with_text(outline, last_view)


def blocks_with_text(outline: BlockOutline, last_view: View | None) -> tuple[DomBlock, ...]:
    """Return the blocks of an outline, with their text in the last version."""
    return blocks_of_outline(outline, _BlockTextSampler(last_view))


class _BlockTextSampler:
    """Returns the start of a block's text in the last version."""

    def __init__(self, last_view: View | None) -> None:
        self._dom = last_view.dom if last_view else None
        self._text = last_view.text.encode() if last_view else b""
        paths = [] if self._dom is None else self._dom.full_path.tolist()
        self._rows = {path: row for row, path in enumerate(paths)}

    def __call__(self, path: int) -> str:
        row = self._rows.get(path)
        if row is None or self._dom is None:
            return ""
        begin, end = int(self._dom.start[row]), int(self._dom.end[row])
        words = self._text[begin:end][: 4 * SAMPLE_CHARS].decode("utf-8", "ignore").split()
        return " ".join(words)[:SAMPLE_CHARS]
