"""Measures pages, real or generated, in batches by an engine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from experiments.web_changes import data
from experiments.web_changes.data import ObservedPage
from experiments.web_changes.hourly import (
    START,
    HourlyPage,
    hourly_series,
    hourly_web,
    look_times,
)
from freshet.analysis.page_traits import page_traits
from freshet.analysis.page_versions import PageVersions
from freshet.core.progress import ProgressCallback
from freshet.core.types import Snapshot, TermCounts
from freshet.core.version_series import VersionSeries, build_series
from freshet.engine.local import LocalEngine
from freshet.engine.result_cache import Columns
from freshet.measure.change.similarity import dice
from freshet.measure.dynamics.terms.divergence import (
    EMPTY_LANGUAGE,
    LanguageModel,
    language_of_version,
    merge_all_languages,
    merge_languages,
    most_frequent_words,
)
from freshet.measure.statistics.burst_table import LookPairs
from freshet.measure.statistics.groups import path_depth, top_level_domain
from freshet.measure.statistics.page_summary import (
    LookTable,
    PageChangeSummary,
    PageFigures,
    concatenate_figures,
    figures_from_columns,
    summaries_to_columns,
    summarise_page,
)
from freshet.view.parse import parse_snapshot
from freshet.world.change_processes import HOUR

PAGE_BATCH = 100
MAX_WORDS = 400_000
NAMES = ("part", "page", "site", "tld", "depth", "visitors", "category")
PAIR_COLUMNS = ("pages", "seconds", "changed", "dice")
LIVELY_SHARE = 0.8
BURST_COUNT, BURST_OFFSETS = 8, (120.0, 960.0, 1920.0, 3600.0)

Pair = tuple[int, float, bool, float, bool]


@dataclass(frozen=True, slots=True)
class MeasuredPages:
    """Figures of many pages as columns, and the names of the pages.

    ``language`` is that of all real pages' first versions; ``pairs`` are the looks of sub-hour
    bursts, which only the generated world has.
    """

    names: Mapping[str, np.ndarray]
    figures: PageFigures
    language: LanguageModel
    pairs: LookPairs

    def __len__(self) -> int:
        return len(self.figures)

    @property
    def daily(self) -> "MeasuredPages":
        """Return the pages with daily looks."""
        is_daily = ~np.isin(self.names["part"], data.HOURLY_PARTS)
        names = {name: column[is_daily] for name, column in self.names.items()}
        return replace(self, names=names, figures=self.figures[is_daily])


def measure_real_pages(
    folder: Path, seed: int, engine: LocalEngine, progress: ProgressCallback
) -> MeasuredPages:
    """Measure the real pages of a folder."""
    batches = [batch.columns() for batch in data.window_batches(folder, seed)]
    total = len(batches)
    results = engine.map(measure_real_batch, batches, total=total, progress=progress)
    return gather_results(results)


def measure_generated_pages(
    pages: int, seed: int, engine: LocalEngine, progress: ProgressCallback
) -> MeasuredPages:
    """Measure the pages of a generated world."""
    firsts = range(0, pages, PAGE_BATCH)
    batches = [{"pages": np.array([pages]), "seed": np.array([seed]), "first": np.array([first])}
               for first in firsts]  # fmt: skip
    results = engine.map(measure_world_batch, batches, total=len(batches), progress=progress)
    return gather_results(results)


def gather_results(results: Iterable[Columns]) -> MeasuredPages:
    """Combine the results of batches."""
    names: dict[str, list[np.ndarray]] = {name: [] for name in NAMES}
    figures, total_language = [], EMPTY_LANGUAGE
    pairs: list[Columns] = []
    for columns in results:
        for name in NAMES:
            names[name].append(columns[name])
        figures.append(figures_from_columns(columns))
        language = LanguageModel(columns["words"], columns["counts"], int(columns["total"][0]))
        total_language = most_frequent_words(merge_languages(total_language, language), MAX_WORDS)
        pairs.append(columns)
    all_names = {name: np.concatenate(columns) for name, columns in names.items()}
    return MeasuredPages(
        all_names, concatenate_figures(figures), total_language, concatenate_pairs(pairs)
    )


def concatenate_pairs(parts: Sequence[Columns]) -> LookPairs:
    """Concatenate the pairs of several batches."""
    columns = {
        name: np.concatenate([batch[f"pair_{name}"] for batch in parts]) for name in PAIR_COLUMNS
    }
    return LookPairs(**columns, apart=np.zeros(len(columns["pages"]), np.bool_))


def measure_real_batch(columns: Columns) -> Columns:
    """Measure a batch of real pages; called by an engine."""
    batch = data.batch_from_columns(columns)
    pages = list(data.read_pages(batch))
    summaries = [summarise_page_history(page) for page in pages]
    language = merge_all_languages(language_of_version(page.texts.terms[0]) for page in pages)
    return result_columns(pages, summaries, most_frequent_words(language, MAX_WORDS), ())


def measure_world_batch(columns: Columns) -> Columns:
    """Measure a batch of generated pages; called by an engine."""
    pages, seed, first = (int(columns[name][0]) for name in ("pages", "seed", "first"))
    within = range(first, min(first + PAGE_BATCH, pages))
    pages_made = list(hourly_web(pages, seed, within=within))
    observed = [observe_page(page) for page in pages_made]
    summaries = [summarise_page_history(page) for page in observed]
    lively = [
        (number, page)
        for number, page, page_summary in zip(within, pages_made, summaries, strict=True)
        if page_summary.changes > LIVELY_SHARE * page_summary.compared
    ]
    pairs = [pair for number, page in lively for pair in burst_pairs(number, page)]
    return result_columns(observed, summaries, EMPTY_LANGUAGE, pairs)


def burst_pairs(number: int, page: HourlyPage) -> list[Pair]:
    """Look at a page in fast bursts and, if it changed within two minutes, in instant ones.

    A burst begins a minute after a full hour. Its first look is the reference of all others,
    including one an hour later. Eight bursts lie four hours apart (section 4.1.2).
    """
    begins = [START + 60.0 + shift * 4 * HOUR for shift in range(BURST_COUNT)]
    fast = [
        look_pair(number, offset, page.terms(begin), page.terms(begin + offset))
        for begin in begins
        for offset in BURST_OFFSETS
    ]
    if not any(changed for _, seconds, changed, *_ in fast if seconds == BURST_OFFSETS[0]):
        return fast
    return fast + [
        look_pair(number, 0.0, page.terms(begin), page.terms(begin, 1)) for begin in begins
    ]


def look_pair(number: int, seconds: float, first: TermCounts, second: TermCounts) -> Pair:
    """Compare two looks at a page that are so many seconds apart."""
    similarity = dice(first, second)
    return number, seconds, similarity < 1, similarity, False


def result_columns(
    pages: Sequence[ObservedPage],
    summaries: Sequence[PageChangeSummary],
    language: LanguageModel,
    pairs: Sequence[Pair],
) -> Columns:
    """Return figures as engine columns."""
    looks = LookPairs.from_rows(pairs)
    return (
        {name: np.array([getattr(page, name) for page in pages]) for name in NAMES}
        | summaries_to_columns(summaries)
        | {f"pair_{name}": getattr(looks, name) for name in PAIR_COLUMNS}
        | {"words": language.ids, "counts": language.counts, "total": np.array([language.total])}
    )


def observe_page(page: HourlyPage) -> ObservedPage:
    """Return a generated page with its hourly looks.

    There are DOM rows for every distinct number of boxes and returning elements; nothing else of
    its structure changes.
    """
    times = look_times()
    counts = np.array([(page.boxes(hour), page.returning(hour)) for hour in range(len(times))])
    _, firsts, shown = np.unique(-counts, axis=0, return_index=True, return_inverse=True)
    views = [parse_snapshot(Snapshot(page.url, page.html(float(times[first])).encode()), dom=True)
             for first in firsts]  # fmt: skip
    documents = build_series(
        times, shown.ravel(), [view.terms for view in views], [view.dom for view in views]
    )
    site = page.url.split("/")[2]
    return ObservedPage(
        "world",
        page.url,
        site,
        top_level_domain(page.url),
        path_depth(page.url),
        hourly_series(page),
        documents,
        page.visitors,
        page.category,
    )


def summarise_page_history(page: ObservedPage) -> PageChangeSummary:
    """Return a page's figures."""
    history = PageVersions(page.texts, page.documents, len(page.texts))
    return summarise_page(look_results(page.texts), traits=page_traits(history, page.page))


def look_results(texts: VersionSeries) -> LookTable:
    """Return the result of each look: whether the text changed, and its Dice."""
    changed = np.diff(texts.version_indices, prepend=texts.version_indices[:1]) != 0
    dice_values = np.full(len(texts), np.nan)
    for index in np.flatnonzero(changed):
        dice_values[index] = dice(
            texts.terms[texts.version_indices[index - 1]], texts.terms[texts.version_indices[index]]
        )
    change_marks = changed.astype(np.int8)
    change_marks[:1] = -1
    unknown = np.full(len(texts), -1, np.int8)
    return LookTable(
        texts.times, change_marks, unknown, change_marks, unknown, unknown, unknown, dice_values
    )
