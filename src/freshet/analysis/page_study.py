"""One page looked at in full: its figures, its curve, its words and its blocks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freshet.analysis.figure_collector import fit_rates
from freshet.analysis.page_measurement import looks_in_history
from freshet.analysis.page_reader import (
    blocks_with_text,
    history_of,
    language_around,
    outline_of_versions,
)
from freshet.analysis.page_traits import page_curve, page_traits
from freshet.archive.catalog.rows import HistoryRow
from freshet.core.clock import to_epoch
from freshet.core.types import IndexArray, Outcome, Page, View
from freshet.engine.result_cache import Columns
from freshet.measure.dynamics.curve.change_curve import ChangeCurve
from freshet.measure.dynamics.structure.blocks import (
    BlockOutline,
    DomBlock,
    lifespan_shades,
    row_lifespans,
)
from freshet.measure.dynamics.structure.co_change import CoChangingBlocks, co_changing_blocks
from freshet.measure.dynamics.terms.term_table import TermSplit, TermTable, split_terms, term_table
from freshet.measure.statistics.page_summary import LookTable, PageChangeSummary, summarise_page
from freshet.record.change_criteria import page_mask
from freshet.record.store import CollectionStore
from freshet.record.stored_page import StoredPage
from freshet.view.heatmap import lifespan_titles, render_heatmap
from freshet.view.words import vocabulary

MAX_PAGES, MAX_LOOKS = 400, 100_000


@dataclass(frozen=True, slots=True)
class PageStudy:
    """How one page changes.

    ``words`` spells the words that are shown, by their ids; of a page that is ``has_no_neighbours`` nothing
    tells how telling they are. ``outline`` is None where no version has elements; ``co_changing``
    are blocks, by their place among ``blocks``, that always change at the same times.
    ``missing_note`` says what of the history could not be used. Where the page is ``is_masked``, looks,
    curve and words are without what its mask hides; elements and blocks are of the whole page.
    """

    page: Page
    looks: LookTable
    summary: PageChangeSummary
    curve: ChangeCurve
    terms: TermTable
    split: TermSplit
    words: Mapping[int, str]
    has_no_neighbours: bool
    outline: BlockOutline | None
    blocks: tuple[DomBlock, ...]
    co_changing: tuple[CoChangingBlocks, ...]
    missing_note: str
    is_masked: bool = False

    def spell_words(self, rows: IndexArray) -> list[str]:
        """Return words by their rows in the table; those that cannot be spelt are left out."""
        found = (self.words.get(word) for word in self.terms.ids[rows].tolist())
        return [word for word in found if word is not None]


def study_page(collection: CollectionStore, page: StoredPage) -> PageStudy:
    """Look at one page in full."""
    rows = collection.catalog.history(page.id)
    found, looks = history_of(collection, page, dom=True), looks_in_history(rows)
    language, curve = language_around(collection, page), page_curve(found.series, page.url)
    terms = term_table(found.series, language)
    parted = split_terms(terms)
    seen = outline_of_versions(found)
    last = collection.catalog.last_looks([page.id]).get(page.id)
    view = page.view_of_visit(last, dom=True) if last else None
    return PageStudy(
        page=page,
        looks=looks,
        summary=summarise_page(
            looks,
            rate=_rate(collection, page, looks),
            traits=page_traits(found, page.url, curve),
        ),
        curve=curve,
        terms=terms,
        split=parted,
        words=_words(page.view_of_visit, rows, terms, _shown(terms, parted)),
        has_no_neighbours=language is None,
        outline=seen,
        blocks=blocks_with_text(seen, view) if seen else (),
        co_changing=co_changing_blocks(seen) if seen else (),
        missing_note=found.missing_note,
        is_masked=bool(page_mask(collection, page).rules),
    )


def lifespan_heatmap(page: StoredPage, found: PageStudy) -> str:
    """Return the last version of a page as HTML, its blocks tinted by how long they stay."""
    snapshot, view = page.snapshot(-1), page.view(-1, dom=True)
    if view.dom is None or found.outline is None:
        return render_heatmap(snapshot, np.empty(0))
    lives = row_lifespans(found.outline, view.dom)
    tints = lifespan_shades(lives, found.outline.structure)
    return render_heatmap(snapshot, tints, lifespan_titles(lives))


def _rate(collection: CollectionStore, page: Page, looks: LookTable) -> float | None:
    """Return how often the page changes in a day, by what its looks have shown.

    Other pages tell what is usual, as in the analysis of them all: up to so many of them, spread
    over the collection.
    """
    if not looks.compared:
        return None
    held = {page.id: (_columns(page, looks), [page])}
    total = len(looks)
    for other in _others(collection, page):
        found = looks_in_history(collection.catalog.history(other.id))
        held[other.id] = (_columns(other, found), [other])
        total += len(found)
        if total > MAX_LOOKS:
            break
    ids = sorted(held)
    return float(fit_rates([held[number] for number in ids])[ids.index(page.id)])


def _others(collection: CollectionStore, page: Page) -> Sequence[Page]:
    """Return other pages of the collection, spread over all of them where there are many."""
    ids = [other.id for other in collection.catalog.pages() if other.id != page.id]
    chosen = ids[:: max(1, -(-len(ids) // MAX_PAGES))]
    known = collection.catalog.pages_by_id(chosen)
    return [known[number] for number in chosen]


def _columns(page: Page, looks: LookTable) -> Columns:
    return {
        "page": np.array([page.id], np.int64),
        "look_row": np.zeros(len(looks), np.int32),
        "look_time": looks.times,
        "look_changed": looks.changed,
    }


def _shown(terms: TermTable, parted: TermSplit) -> IndexArray:
    """Return the rows of words that are spelt: those of the picture and of the lists."""
    lists = (parted.stay_high, parted.stay_low, parted.go_high, parted.go_low)
    return np.unique(np.concatenate([terms.spans.rows, *lists]))


def _words(
    read: Callable[[HistoryRow], View | None],
    rows: Sequence[HistoryRow],
    terms: TermTable,
    shown: IndexArray,
) -> dict[int, str]:
    """Spell words by reading the version in which each was first there, each version once."""
    looks = [row for row in rows if row.visit.outcome is Outcome.OK]
    times = np.array([to_epoch(row.visit.time) for row in looks])
    at = np.searchsorted(times, terms.first[shown], side="right") - 1
    spelt: dict[int, str] = {}
    for place in np.unique(at[at >= 0]).tolist():
        wanted = set(terms.ids[shown[at == place]].tolist())
        view = read(looks[place])
        known = vocabulary(view.text) if view is not None else {}
        spelt |= {word: known[word] for word in wanted & known.keys()}
    return spelt
