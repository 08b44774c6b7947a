"""What is measured of every page, real or generated, by the same measures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from experiments.web_changes import data
from experiments.web_changes.data import Watched
from experiments.web_changes.hourly import (
    START,
    HourlyPage,
    hourly_series,
    hourly_web,
    look_times,
)
from freshet.analysis.page_traits import traits_of
from freshet.analysis.page_versions import History
from freshet.core.progress import Progress
from freshet.core.types import Snapshot, Terms
from freshet.core.version_series import Series
from freshet.engine.base import Engine
from freshet.engine.result_cache import Columns
from freshet.measure.change.similarity import dice
from freshet.measure.dynamics.terms.divergence import (
    NO_LANGUAGE,
    Language,
    language_of,
    merge,
    merge_all,
    most_used,
)
from freshet.measure.statistics.burst_table import Pairs
from freshet.measure.statistics.groups import depth, tld
from freshet.measure.statistics.page_summary import (
    Looks,
    PageFigures,
    PageSummary,
    figures_of,
    joined,
    summarise,
    to_columns,
)
from freshet.view.parse import look
from freshet.world.change_processes import HOUR

PAGES_AT_ONCE = 100
MOST_WORDS = 400_000
NAMES = ("part", "page", "site", "tld", "depth")
PAIRED = ("pages", "seconds", "changed", "dice")
NEARLY_EVERY = 0.8
ROUNDS, OFFSETS = 8, (120.0, 960.0, 1920.0, 3600.0)

Pair = tuple[int, float, bool, float, bool]


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of many pages as columns, and what tells which page each row is.

    ``language`` is that of all real pages' first versions; ``pairs`` are the looks of sub-hour
    rounds, which only the generated world has.
    """

    names: Mapping[str, np.ndarray]
    figures: PageFigures
    language: Language
    pairs: Pairs

    def __len__(self) -> int:
        return len(self.figures)

    @property
    def daily(self) -> "Measured":
        """Return the pages that are looked at once a day, without those seen every half hour."""
        held = ~np.isin(self.names["part"], data.HOURLY)
        names = {name: column[held] for name, column in self.names.items()}
        return replace(self, names=names, figures=self.figures[held])


def real(folder: Path, seed: int, engine: Engine, progress: Progress) -> Measured:
    """Measure the real pages of a folder."""
    batches = [batch.columns() for batch in data.batches(folder, seed)]
    total = len(batches)
    found = engine.map(measure_real, batches, total=total, progress=progress)
    return gathered(found)


def generated(pages: int, seed: int, engine: Engine, progress: Progress) -> Measured:
    """Measure the pages of a generated world."""
    firsts = range(0, pages, PAGES_AT_ONCE)
    batches = [{"pages": np.array([pages]), "seed": np.array([seed]), "first": np.array([first])}
               for first in firsts]  # fmt: skip
    found = engine.map(measure_world, batches, total=len(batches), progress=progress)
    return gathered(found)


def gathered(found: Iterable[Columns]) -> Measured:
    """Put the results of batches together."""
    names: dict[str, list[np.ndarray]] = {name: [] for name in NAMES}
    figures, languages = [], NO_LANGUAGE
    pairs: list[Columns] = []
    for columns in found:
        for name in NAMES:
            names[name].append(columns[name])
        figures.append(figures_of(columns))
        part = Language(columns["words"], columns["counts"], int(columns["total"][0]))
        languages = most_used(merge(languages, part), MOST_WORDS)
        pairs.append(columns)
    whole = {name: np.concatenate(columns) for name, columns in names.items()}
    return Measured(whole, joined(figures), languages, joined_pairs(pairs))


def joined_pairs(parts: Sequence[Columns]) -> Pairs:
    """Return the pairs of several batches one after another."""
    held = {name: np.concatenate([part[f"pair_{name}"] for part in parts]) for name in PAIRED}
    return Pairs(**held, apart=np.zeros(len(held["pages"]), np.bool_))


def measure_real(columns: Columns) -> Columns:
    """Measure a batch of real pages; an engine calls it."""
    batch = data.batch_of(columns)
    pages = list(data.watched(batch))
    summaries = [summary(page) for page in pages]
    language = merge_all(language_of(page.texts.terms[0]) for page in pages)
    return result(pages, summaries, most_used(language, MOST_WORDS), ())


def measure_world(columns: Columns) -> Columns:
    """Measure a batch of generated pages; an engine calls it."""
    pages, seed, first = (int(columns[name][0]) for name in ("pages", "seed", "first"))
    within = range(first, min(first + PAGES_AT_ONCE, pages))
    made = list(hourly_web(pages, seed, within=within))
    seen = [as_watched(page) for page in made]
    summaries = [summary(page) for page in seen]
    lively = [
        (number, page)
        for number, page, found in zip(within, made, summaries, strict=True)
        if found.changes > NEARLY_EVERY * found.compared
    ]
    pairs = [pair for number, page in lively for pair in rounds(number, page)]
    return result(seen, summaries, NO_LANGUAGE, pairs)


def rounds(number: int, page: HourlyPage) -> list[Pair]:
    """Look at a page in fast rounds and, if it then changed within two minutes, in instant ones.

    A round begins a minute after a full hour and takes its first look as the reference of all
    others, one an hour later among them; eight rounds lie four hours apart (section 4.1.2).
    """
    begins = [START + 60.0 + shift * 4 * HOUR for shift in range(ROUNDS)]
    fast = [
        paired(number, offset, page.terms(begin), page.terms(begin + offset))
        for begin in begins
        for offset in OFFSETS
    ]
    if not any(changed for _, seconds, changed, *_ in fast if seconds == OFFSETS[0]):
        return fast
    return fast + [paired(number, 0.0, page.terms(begin), page.terms(begin, 1)) for begin in begins]


def paired(number: int, seconds: float, first: Terms, second: Terms) -> Pair:
    """Return what two looks at a page, so many seconds apart, say."""
    alike = dice(first, second)
    return number, seconds, alike < 1, alike, False


def result(
    pages: Sequence[Watched],
    summaries: Sequence[PageSummary],
    language: Language,
    pairs: Sequence[Pair],
) -> Columns:
    """Return figures as an engine gives them back."""
    looks = Pairs.of(pairs)
    return (
        {name: np.array([getattr(page, name) for page in pages]) for name in NAMES}
        | to_columns(summaries)
        | {f"pair_{name}": getattr(looks, name) for name in PAIRED}
        | {"words": language.ids, "counts": language.counts, "total": np.array([language.total])}
    )


def as_watched(page: HourlyPage) -> Watched:
    """Return a generated page as its hourly looks show it.

    Its DOM rows are those of every number of boxes that it has: nothing else of its structure
    changes.
    """
    times = look_times()
    boxes = np.array([page.boxes(hour) for hour in range(len(times))])
    _, firsts, shown = np.unique(-boxes, return_index=True, return_inverse=True)
    views = [look(Snapshot(page.url, page.html(float(times[first])).encode()), dom=True)
             for first in firsts]  # fmt: skip
    documents = Series(
        times, shown.astype(np.int32), tuple(view.terms for view in views),
        tuple(view.dom for view in views),
    )  # fmt: skip
    site = page.url.split("/")[2]
    return Watched(
        "world", page.url, site, tld(page.url), depth(page.url), hourly_series(page), documents
    )


def summary(page: Watched) -> PageSummary:
    """Return a page's figures."""
    history = History(page.texts, page.documents, len(page.texts))
    return summarise(looks_at(page.texts), traits=traits_of(history, page.page))


def looks_at(texts: Series) -> Looks:
    """Return what each look found: whether the text was another one, and how alike it was."""
    changed = np.diff(texts.shown, prepend=texts.shown[:1]) != 0
    alike = np.full(len(texts), np.nan)
    for at in np.flatnonzero(changed):
        alike[at] = dice(texts.terms[texts.shown[at - 1]], texts.terms[texts.shown[at]])
    marks = changed.astype(np.int8)
    marks[:1] = -1
    unknown = np.full(len(texts), -1, np.int8)
    return Looks(texts.times, marks, unknown, marks, unknown, unknown, unknown, alike)
