"""Single real pages in full, for the tables and figures that the paper shows of single pages."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.web_changes import data
from experiments.web_changes.evaluation import Figures, Found
from experiments.web_changes.experiment import looks_at, summary
from freshet.analysis.page_reader import outline_of
from freshet.analysis.page_study import Study
from freshet.analysis.page_traits import curve_of
from freshet.analysis.page_versions import History
from freshet.core.clock import from_epoch
from freshet.core.types import Page
from freshet.measure.dynamics.structure.blocks import Habit, blocks
from freshet.measure.dynamics.structure.co_change import bound_blocks
from freshet.measure.dynamics.terms.divergence import Language
from freshet.measure.dynamics.terms.term_table import GOES, STAYS, split, telling_at, term_table
from freshet.measure.statistics.burst_table import Pairs, rounds_table
from freshet.view.dom import full_path
from freshet.view.url import place

TOP = 8
HALF_HOURLY = ("bbc_front", "hn_front")
PAGES = (
    ("bbc_front", "https://www.bbc.com/"),
    ("hn_front", "https://news.ycombinator.com/"),
    ("cdr_home", "https://www.christiandailyreporter.com/"),
    ("gh_trending", "https://github.com/trending/python"),
    ("ota_contrib_snap", "https://deliveroo.ie/privacy"),
)
# The two pages of Table 3: headlines of a news page, and a daily list of programs with a line each.
WORDED = ("https://www.bbc.com/", "https://github.com/trending/python")


@dataclass(frozen=True, slots=True)
class Portrait:
    """A page, and which of its words are telling at the first look."""

    study: Study
    telling: tuple[str, ...]
    passing: frozenset[str]


def portraits(folder: Path, seed: int, language: Language) -> list[Portrait]:
    """Look at a few real pages in full."""
    found = []
    for batch in data.batches(folder, seed):
        wanted = {(window.part, window.page) for window in batch.windows} & set(PAGES)
        if wanted:
            pages = {(page.part, page.page): page for page in data.watched(batch)}
            found += [portrait(batch, pages[key], language) for key in sorted(wanted)]
    return sorted(found, key=lambda one: [url for _, url in PAGES].index(one.study.page.url))


def portrait(batch: data.Batch, page: data.Watched, language: Language) -> Portrait:
    """Return all that is measured of one page."""
    terms = term_table(page.texts, language)
    words = data.spelling(batch, page.page)
    seen = outline_of(History(page.texts, page.documents, len(page.texts)))
    study = Study(
        page=described(page),
        looks=looks_at(page.texts),
        summary=summary(page),
        curve=curve_of(page.texts, page.page),
        terms=terms,
        split=split(terms, top=TOP),
        words=words,
        alone=False,
        outline=seen,
        blocks=blocks(seen, full_path) if seen else (),
        together=bound_blocks(seen) if seen else (),
        left_out="",
    )
    rows = telling_at(terms)
    passing = rows[terms.staying_power[rows] < GOES]
    return Portrait(study, tuple(study.spelt(rows)), frozenset(study.spelt(passing)))


def described(page: data.Watched) -> Page:
    """Return a page as pictures name it."""
    where = place(page.page)
    added = from_epoch(float(page.texts.times[0]))
    return Page(0, page.page, page.part, where.host, where.site, where.directory, added)


def portrait_tables(found: list[Portrait]) -> Figures:
    """Return Table 3 and what Figures 2, 4, 5, 6 and 7 show, as figures of single pages."""
    figures = half_hourly(found)
    for one in found:
        figures |= _changes(one.study) | _curve(one.study) | _words(one.study)
        figures |= _blocks(one.study)
        if one.study.page.url in WORDED:
            figures |= _terms(one)
    return figures


def half_hourly(found: list[Portrait]) -> Figures:
    """Return what successive versions of pages seen every half hour say of Table 2: Dice alone.

    Their versions are told only where they differ, so no share of changes is known.
    """
    looks = [(number, one.study.looks) for number, one in enumerate(found)
             if one.study.page.source in HALF_HOURLY]  # fmt: skip
    pairs = [
        (number, seconds, changed == 1, alike, False)
        for number, seen in looks
        for seconds, changed, alike in zip(
            np.diff(seen.times), seen.changed[1:], seen.dice[1:], strict=True
        )
    ]
    figures: Figures = {}
    for row in rounds_table(Pairs.of(pairs)):
        if row.minutes >= 16:
            name = f"{row.minutes} minutes"
            figures["t2", name, "dice_mean"] = Found(row.mean_dice, row.pages)
            figures["t2", name, "dice_median"] = Found(row.median_dice, row.pages)
    return figures


def _changes(study: Study) -> Figures:
    """Return what the scatter of a page's changes shows."""
    url, looks = study.page.url, study.looks
    between = np.diff(looks.version_times) / 3600
    return {
        ("fig2", url, "changes"): Found(float(study.summary.changes), 1),
        ("fig2", url, "hours_median"): Found(_median(between), 1),
        ("fig2", url, "dice_mean"): Found(study.summary.dice_mean, 1),
    }


def _curve(study: Study) -> Figures:
    url, curve = study.page.url, study.curve
    knot = curve.knot
    return {
        ("fig4", url, "shape"): Found(curve.shape, 1),
        ("fig4", url, "knot_hours"): Found(knot.hours if knot else None, 1),
        ("fig4", url, "knot_dice"): Found(knot.dice if knot else None, 1),
    }


def _words(study: Study) -> Figures:
    """Return how many words a page had, and how well they stay."""
    url, power = study.page.url, study.terms.staying_power
    return {
        ("fig5", url, "words"): Found(float(len(study.terms)), 1),
        ("fig6", url, "stay"): Found(float(np.mean(power > STAYS)), 1),
        ("fig6", url, "between"): Found(float(np.mean((power >= GOES) & (power <= STAYS))), 1),
        ("fig6", url, "go"): Found(float(np.mean(power < GOES)), 1),
    }


def _blocks(study: Study) -> Figures:
    """Return how the blocks of a page live."""
    held = [block.habit for block in study.blocks]
    if not held:
        return {}
    return {
        ("fig7", study.page.url, str(habit)): Found(held.count(habit) / len(held), 1)
        for habit in Habit
    }


def _terms(one: Portrait) -> Figures:
    """Return the lists of Table 3; words that soon pass are in asterisks."""
    study, parted = one.study, one.study.split
    telling = [f"*{word}*" if word in one.passing else word for word in one.telling]
    url = study.page.url
    return {
        ("t3", url, "telling at the first look"): Found(" ".join(telling), 1),
        ("t3", url, "stay, high divergence"): Found(" ".join(study.spelt(parted.stay_high)), 1),
        ("t3", url, "stay, low divergence"): Found(" ".join(study.spelt(parted.stay_low)), 1),
    }


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None
