"""Full analysis of one page: its figures, curve, words and blocks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freshet.analysis.analysis_scope import WHOLE_HISTORY, AnalysisPeriod
from freshet.analysis.change_rates import fit_rates
from freshet.analysis.page_measurement import looks_in_history
from freshet.analysis.page_reader import (
    blocks_with_text,
    collection_language,
    outline_of_versions,
    read_series,
)
from freshet.analysis.page_traits import page_curve, page_traits
from freshet.archive.catalog.rows import HistoryRow
from freshet.core.clock import to_epoch
from freshet.core.types import IndexArray, Outcome, Page, View
from freshet.draw.page_heatmap import lifespan_scale_ends, lifespan_titles, render_heatmap
from freshet.measure.dynamics.curve.change_curve import ChangeCurve
from freshet.measure.dynamics.structure.blocks import (
    BlockOutline,
    DomBlock,
    lifespan_shades,
    rows_of_blocks,
)
from freshet.measure.dynamics.structure.co_change import CoChangingBlocks, co_changing_blocks
from freshet.measure.dynamics.structure.lifespan_groups import (
    SimilarLifespans,
    similar_lifespans,
)
from freshet.measure.dynamics.terms.term_table import TermSplit, TermTable, split_terms, term_table
from freshet.measure.statistics.page_summary import LookTable, PageChangeSummary, summarise_page
from freshet.record.change_criteria import page_mask
from freshet.record.collection_store import CollectionStore
from freshet.record.stored_page import StoredPage
from freshet.view.words import vocabulary

MAX_PAGES, MAX_LOOKS = 400, 100_000


@dataclass(frozen=True, slots=True)
class PageStudy:
    """How one page changes.

    ``words`` spells the shown words by their ids. With ``has_no_neighbours`` their divergence is
    unknown. ``outline`` is None where no version has DOM rows. ``co_changing`` are blocks, by their
    index in ``blocks``, that always change at the same times, ``similar`` those whose texts stay
    about as long. ``missing_note`` says which part of the history could not be used. With
    ``is_masked``, looks, curve and words are without the hidden text; elements and blocks are of
    the whole page.
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
    similar: tuple[SimilarLifespans, ...]
    missing_note: str
    is_masked: bool = False

    def spell_words(self, rows: IndexArray) -> list[str]:
        """Return the words of these rows of the table; words without a spelling are left out."""
        spellings = (self.words.get(word) for word in self.terms.ids[rows].tolist())
        return [word for word in spellings if word is not None]


def study_page(
    collection: CollectionStore,
    page: StoredPage,
    *,
    period: AnalysisPeriod = WHOLE_HISTORY,
    language_source: bool = False,
) -> PageStudy:
    """Analyse one page in full, over its whole history or a period of it.

    Words are compared with the whole collection, or with ``language_source`` with the page's own
    source.
    """
    rows = period.rows(collection.catalog, page.id)
    versions = read_series(collection, page, dom=True, period=period)
    looks, curve = (
        looks_in_history(rows),
        page_curve(versions.series, page.url, whole=period.is_limited),
    )
    language = collection_language(collection, page, own_source=language_source)
    terms = term_table(versions.series, language)
    split = split_terms(terms)
    outline = outline_of_versions(versions)
    last = collection.catalog.last_looks([page.id]).get(page.id)
    view = page.view_of_visit(last, dom=True) if last else None
    return PageStudy(
        page=page,
        looks=looks,
        summary=summarise_page(
            looks,
            rate=_change_rate(collection, page, looks),
            traits=page_traits(versions, page.url, curve=curve),
        ),
        curve=curve,
        terms=terms,
        split=split,
        words=_spell_words(page.view_of_visit, rows, terms, _shown_words(terms, split)),
        has_no_neighbours=language is None,
        outline=outline,
        blocks=blocks_with_text(outline, view) if outline else (),
        co_changing=co_changing_blocks(outline) if outline else (),
        similar=similar_lifespans(outline) if outline else (),
        missing_note=versions.missing_note,
        is_masked=bool(page_mask(collection, page).rules),
    )


def lifespan_heatmap(page: StoredPage, study: PageStudy) -> str:
    """Return the last version of a page as HTML, its blocks coloured by their lifespan."""
    snapshot, view = page.snapshot(-1), page.view(-1, dom=True)
    if view.dom is None or study.outline is None:
        return render_heatmap(snapshot, np.empty(0))
    structure, table = study.outline.structure, study.outline.table
    blocks = rows_of_blocks(study.outline, view.dom)
    lifespans = np.append(table["lifespan"], np.nan)[blocks]
    titles = lifespan_titles(
        lifespans,
        np.append(table["page_lifespan"], np.nan)[blocks],
        np.append(table["run_length"], np.nan)[blocks],
        np.append(table["is_constant"], False)[blocks],
    )
    return render_heatmap(
        snapshot,
        lifespan_shades(lifespans, structure),
        titles,
        scale_ends=lifespan_scale_ends(lifespans, structure.timeline.known_span),
    )


def _change_rate(collection: CollectionStore, page: Page, looks: LookTable) -> float | None:
    """Return the changes a day of a page, by its looks.

    The prior is fitted to other pages too, as in the analysis of a collection: to a limited number
    of pages, spread over the collection.
    """
    if not looks.compared:
        return None
    pages, tables = {page.id: page}, {page.id: looks}
    for other_page in _other_pages(collection, page):
        pages[other_page.id] = other_page
        tables[other_page.id] = looks_in_history(collection.catalog.history(other_page.id))
        if sum(map(len, tables.values())) > MAX_LOOKS:
            break
    ids = sorted(pages)
    rates = fit_rates(
        [pages[page_id] for page_id in ids],
        np.repeat(ids, [len(tables[page_id]) for page_id in ids]),
        np.concatenate([tables[page_id].times for page_id in ids]),
        np.concatenate([tables[page_id].changed for page_id in ids]),
    )
    return float(rates[ids.index(page.id)])


def _other_pages(collection: CollectionStore, page: Page) -> Sequence[Page]:
    """Return other pages of the collection, spread evenly over very many."""
    ids = [candidate.id for candidate in collection.catalog.pages() if candidate.id != page.id]
    chosen_ids = ids[:: max(1, -(-len(ids) // MAX_PAGES))]
    pages = collection.catalog.pages_by_id(chosen_ids)
    return [pages[page_id] for page_id in chosen_ids]


def _shown_words(terms: TermTable, split: TermSplit) -> IndexArray:
    """Return the rows of words that need a spelling: those of the chart and of the lists."""
    lists = (split.stay_high, split.stay_low, split.go_high, split.go_low)
    return np.unique(np.concatenate([terms.spans.rows, *lists]))


def _spell_words(
    read_view: Callable[[HistoryRow], View | None],
    rows: Sequence[HistoryRow],
    terms: TermTable,
    rows_to_spell: IndexArray,
) -> dict[int, str]:
    """Spell words by the version in which each was first present; read each version once."""
    looks = [row for row in rows if row.visit.outcome is Outcome.OK]
    times = np.array([to_epoch(row.visit.time) for row in looks])
    look_of_word = np.searchsorted(times, terms.first[rows_to_spell], side="right") - 1
    spelled: dict[int, str] = {}
    for look_index in np.unique(look_of_word[look_of_word >= 0]).tolist():
        wanted = set(terms.ids[rows_to_spell[look_of_word == look_index]].tolist())
        view = read_view(looks[look_index])
        spellings = vocabulary(view.text) if view is not None else {}
        spelled |= {word: spellings[word] for word in wanted & spellings.keys()}
    return spelled
