"""One page looked at in full: its figures, its curve, its words and its blocks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freshet.analysis.figure_collector import learn_rates
from freshet.analysis.page_measurement import looks_among
from freshet.analysis.page_reader import blocks_in, history_of, language_around, outline_of
from freshet.analysis.page_traits import curve_of, traits_of
from freshet.archive.catalog.rows import HistoryRow
from freshet.core.clock import to_epoch
from freshet.core.types import Indices, Outcome, Page, View
from freshet.engine.result_cache import Columns
from freshet.measure.dynamics.curve.change_curve import Curve
from freshet.measure.dynamics.structure.blocks import Block, Outline, row_lifespans, shades
from freshet.measure.dynamics.structure.co_change import Bound, bound_blocks
from freshet.measure.dynamics.terms.term_table import Split, TermTable, split, term_table
from freshet.measure.statistics.page_summary import Looks, PageSummary, summarise
from freshet.record.change_criteria import gauges
from freshet.record.store import CollectionStore
from freshet.record.stored_page import StoredPage
from freshet.view.heatmap import lifespan_titles, tint
from freshet.view.words import vocabulary

MOST_PAGES, MOST_LOOKS = 400, 100_000


@dataclass(frozen=True, slots=True)
class Study:
    """How one page changes.

    ``words`` spells the words that are shown, by their ids; of a page that is ``alone`` nothing
    tells how telling they are. ``outline`` is None where no version has elements; ``together``
    are blocks, by their place among ``blocks``, that always change at the same times.
    ``left_out`` says what of the history could not be used. Where the page is ``masked``, looks,
    curve and words are without what its mask hides; elements and blocks are of the whole page.
    """

    page: Page
    looks: Looks
    summary: PageSummary
    curve: Curve
    terms: TermTable
    split: Split
    words: Mapping[int, str]
    alone: bool
    outline: Outline | None
    blocks: tuple[Block, ...]
    together: tuple[Bound, ...]
    left_out: str
    masked: bool = False

    def spelt(self, rows: Indices) -> list[str]:
        """Return words by their rows in the table; those that cannot be spelt are left out."""
        found = (self.words.get(word) for word in self.terms.ids[rows].tolist())
        return [word for word in found if word is not None]


def study(collection: CollectionStore, page: StoredPage) -> Study:
    """Look at one page in full."""
    rows = collection.catalog.history(page.id)
    found, looks = history_of(collection, page, dom=True), looks_among(rows)
    language, curve = language_around(collection, page), curve_of(found.series, page.url)
    terms = term_table(found.series, language)
    parted = split(terms)
    seen = outline_of(found)
    last = collection.catalog.last_looks([page.id]).get(page.id)
    view = page.view_of(last, dom=True) if last else None
    return Study(
        page=page,
        looks=looks,
        summary=summarise(
            looks,
            rate=_rate(collection, page, looks),
            traits=traits_of(found, page.url, curve),
        ),
        curve=curve,
        terms=terms,
        split=parted,
        words=_words(page.view_of, rows, terms, _shown(terms, parted)),
        alone=language is None,
        outline=seen,
        blocks=blocks_in(seen, view) if seen else (),
        together=bound_blocks(seen) if seen else (),
        left_out=found.told,
        masked=bool(gauges(collection.catalog, collection.settings, [page.id])[page.id].mask.rules),
    )


def tinted(page: StoredPage, found: Study) -> str:
    """Return the last version of a page as HTML, its blocks tinted by how long they stay."""
    snapshot, view = page.snapshot(-1), page.view(-1, dom=True)
    if view.dom is None or found.outline is None:
        return tint(snapshot, np.empty(0))
    lives = row_lifespans(found.outline, view.dom)
    tints = shades(lives, found.outline.structure)
    return tint(snapshot, tints, lifespan_titles(lives))


def _rate(collection: CollectionStore, page: Page, looks: Looks) -> float | None:
    """Return how often the page changes in a day, by what its looks have shown.

    Other pages tell what is usual, as in the analysis of them all: up to so many of them, spread
    over the collection.
    """
    if not looks.compared:
        return None
    held = {page.id: (_columns(page, looks), [page])}
    total = len(looks)
    for other in _others(collection, page):
        found = looks_among(collection.catalog.history(other.id))
        held[other.id] = (_columns(other, found), [other])
        total += len(found)
        if total > MOST_LOOKS:
            break
    ids = sorted(held)
    return float(learn_rates([held[number] for number in ids])[ids.index(page.id)])


def _others(collection: CollectionStore, page: Page) -> Sequence[Page]:
    """Return other pages of the collection, spread over all of them where there are many."""
    ids = [other.id for other in collection.catalog.pages() if other.id != page.id]
    chosen = ids[:: max(1, -(-len(ids) // MOST_PAGES))]
    known = collection.catalog.pages_by_id(chosen)
    return [known[number] for number in chosen]


def _columns(page: Page, looks: Looks) -> Columns:
    return {
        "page": np.array([page.id], np.int64),
        "look_row": np.zeros(len(looks), np.int32),
        "look_time": looks.times,
        "look_changed": looks.changed,
    }


def _shown(terms: TermTable, parted: Split) -> Indices:
    """Return the rows of words that are spelt: those of the picture and of the lists."""
    lists = (parted.stay_high, parted.stay_low, parted.go_high, parted.go_low)
    return np.unique(np.concatenate([terms.spans.rows, *lists]))


def _words(
    read: Callable[[HistoryRow], View | None],
    rows: Sequence[HistoryRow],
    terms: TermTable,
    shown: Indices,
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
