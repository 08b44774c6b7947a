"""Single real pages in full, for the tables and figures that the paper shows of single pages."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.web_changes import data
from experiments.web_changes.evaluation import Figures, FigureValue
from experiments.web_changes.experiment import look_results, summarise_page_history
from freshet.analysis.page_reader import outline_of_versions
from freshet.analysis.page_study import PageStudy
from freshet.analysis.page_traits import page_curve
from freshet.analysis.page_versions import PageVersions
from freshet.core.clock import from_epoch
from freshet.core.types import Page
from freshet.measure.dynamics.structure.blocks import BlockBehaviour, blocks_of_outline
from freshet.measure.dynamics.structure.co_change import co_changing_blocks
from freshet.measure.dynamics.terms.divergence import LanguageModel
from freshet.measure.dynamics.terms.term_table import (
    HIGH_STAYING_POWER,
    LOW_STAYING_POWER,
    distinctive_words,
    split_terms,
    term_table,
)
from freshet.measure.statistics.burst_table import LookPairs, burst_table
from freshet.view.dom import full_path
from freshet.view.url import page_address

TOP_WORDS = 8
HALF_HOURLY_PARTS = ("bbc_front", "hn_front")
PAGES = (
    ("bbc_front", "https://www.bbc.com/"),
    ("hn_front", "https://news.ycombinator.com/"),
    ("cdr_home", "https://www.christiandailyreporter.com/"),
    ("gh_trending", "https://github.com/trending/python"),
    ("ota_contrib_snap", "https://deliveroo.ie/privacy"),
)
# The two pages of Table 3: headlines of a news page, and a daily list of programs with a line each.
WORD_TABLE_URLS = ("https://www.bbc.com/", "https://github.com/trending/python")


@dataclass(frozen=True, slots=True)
class PageReport:
    """A page, and which of its words are telling at the first look."""

    study: PageStudy
    telling: tuple[str, ...]
    passing: frozenset[str]


def report_pages(folder: Path, seed: int, language: LanguageModel) -> list[PageReport]:
    """Look at a few real pages in full."""
    found = []
    for batch in data.window_batches(folder, seed):
        wanted = {(window.part, window.page) for window in batch.windows} & set(PAGES)
        if wanted:
            pages = {(page.part, page.page): page for page in data.read_pages(batch)}
            found += [report_page(batch, pages[key], language) for key in sorted(wanted)]
    return sorted(found, key=lambda one: [url for _, url in PAGES].index(one.study.page.url))


def report_page(
    batch: data.WindowBatch, page: data.ObservedPage, language: LanguageModel
) -> PageReport:
    """Return all that is measured of one page."""
    terms = term_table(page.texts, language)
    words = data.words_by_term(batch, page.page)
    seen = outline_of_versions(PageVersions(page.texts, page.documents, len(page.texts)))
    study = PageStudy(
        page=describe_page(page),
        looks=look_results(page.texts),
        summary=summarise_page_history(page),
        curve=page_curve(page.texts, page.page),
        terms=terms,
        split=split_terms(terms, top=TOP_WORDS),
        words=words,
        has_no_neighbours=False,
        outline=seen,
        blocks=blocks_of_outline(seen, full_path) if seen else (),
        co_changing=co_changing_blocks(seen) if seen else (),
        missing_note="",
    )
    rows = distinctive_words(terms)
    passing = rows[terms.staying_power[rows] < LOW_STAYING_POWER]
    return PageReport(study, tuple(study.spell_words(rows)), frozenset(study.spell_words(passing)))


def describe_page(page: data.ObservedPage) -> Page:
    """Return a page as pictures name it."""
    where = page_address(page.page)
    added = from_epoch(float(page.texts.times[0]))
    return Page(0, page.page, page.part, where.host, where.site, where.directory, added)


def report_tables(found: list[PageReport]) -> Figures:
    """Return Table 3 and what Figures 2, 4, 5, 6 and 7 show, as figures of single pages."""
    figures = half_hourly_figures(found)
    for one in found:
        figures |= _changes(one.study) | _curve(one.study) | _words(one.study)
        figures |= _blocks(one.study)
        if one.study.page.url in WORD_TABLE_URLS:
            figures |= _terms(one)
    return figures


def half_hourly_figures(found: list[PageReport]) -> Figures:
    """Return what successive versions of pages seen every half hour say of Table 2: Dice alone.

    Their versions are told only where they differ, so no share of changes is known.
    """
    looks = [(number, one.study.looks) for number, one in enumerate(found)
             if one.study.page.source in HALF_HOURLY_PARTS]  # fmt: skip
    pairs = [
        (number, seconds, changed == 1, alike, False)
        for number, seen in looks
        for seconds, changed, alike in zip(
            np.diff(seen.times), seen.changed[1:], seen.dice[1:], strict=True
        )
    ]
    figures: Figures = {}
    for row in burst_table(LookPairs.from_rows(pairs)):
        if row.minutes >= 16:
            name = f"{row.minutes} minutes"
            figures["t2", name, "dice_mean"] = FigureValue(row.mean_dice, row.pages)
            figures["t2", name, "dice_median"] = FigureValue(row.median_dice, row.pages)
    return figures


def _changes(study: PageStudy) -> Figures:
    """Return what the scatter of a page's changes shows."""
    url, looks = study.page.url, study.looks
    between = np.diff(looks.version_times) / 3600
    return {
        ("fig2", url, "changes"): FigureValue(float(study.summary.changes), 1),
        ("fig2", url, "hours_median"): FigureValue(_median(between), 1),
        ("fig2", url, "dice_mean"): FigureValue(study.summary.dice_mean, 1),
    }


def _curve(study: PageStudy) -> Figures:
    url, curve = study.page.url, study.curve
    knot = curve.knot
    return {
        ("fig4", url, "shape"): FigureValue(curve.shape, 1),
        ("fig4", url, "knot_hours"): FigureValue(knot.hours if knot else None, 1),
        ("fig4", url, "knot_dice"): FigureValue(knot.dice if knot else None, 1),
    }


def _words(study: PageStudy) -> Figures:
    """Return how many words a page had, and how well they stay."""
    url, power = study.page.url, study.terms.staying_power
    return {
        ("fig5", url, "words"): FigureValue(float(len(study.terms)), 1),
        ("fig6", url, "stay"): FigureValue(float(np.mean(power > HIGH_STAYING_POWER)), 1),
        ("fig6", url, "between"): FigureValue(
            float(np.mean((power >= LOW_STAYING_POWER) & (power <= HIGH_STAYING_POWER))), 1
        ),
        ("fig6", url, "go"): FigureValue(float(np.mean(power < LOW_STAYING_POWER)), 1),
    }


def _blocks(study: PageStudy) -> Figures:
    """Return how the blocks of a page live."""
    held = [block.behaviour for block in study.blocks]
    if not held:
        return {}
    return {
        ("fig7", study.page.url, str(habit)): FigureValue(held.count(habit) / len(held), 1)
        for habit in BlockBehaviour
    }


def _terms(one: PageReport) -> Figures:
    """Return the lists of Table 3; words that soon pass are in asterisks."""
    study, parted = one.study, one.study.split
    telling = [f"*{word}*" if word in one.passing else word for word in one.telling]
    url = study.page.url
    return {
        ("t3", url, "telling at the first look"): FigureValue(" ".join(telling), 1),
        ("t3", url, "stay, high divergence"): FigureValue(
            " ".join(study.spell_words(parted.stay_high)), 1
        ),
        ("t3", url, "stay, low divergence"): FigureValue(
            " ".join(study.spell_words(parted.stay_low)), 1
        ),
    }


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None
