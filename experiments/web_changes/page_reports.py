"""Full reports of single real pages, for the paper's tables and figures of single pages."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.web_changes import data
from experiments.web_changes.evaluation import HORIZONS, Figures, FigureValue
from experiments.web_changes.experiment import look_results, summarise_page_history
from freshet.analysis.page_reader import outline_of_versions
from freshet.analysis.page_study import PageStudy
from freshet.analysis.page_traits import page_curve
from freshet.analysis.page_versions import PageVersions
from freshet.core.clock import from_epoch
from freshet.core.types import Page
from freshet.measure.dynamics.structure.blocks import BlockBehaviour, blocks_of_outline
from freshet.measure.dynamics.structure.co_change import co_changing_blocks
from freshet.measure.dynamics.structure.lifespan_groups import similar_lifespans
from freshet.measure.dynamics.terms.divergence import LanguageModel
from freshet.measure.dynamics.terms.term_table import (
    HIGH_STAYING_POWER,
    LOW_STAYING_POWER,
    distinctive_words,
    split_terms,
    term_table,
)
from freshet.measure.statistics.burst_table import LookPairs, burst_table
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
# The two pages of Table 3: headlines of a news page, and a daily list of programs.
WORD_TABLE_URLS = ("https://www.bbc.com/", "https://github.com/trending/python")


@dataclass(frozen=True, slots=True)
class PageReport:
    """A page report, and the characteristic words of its first look."""

    study: PageStudy
    telling: tuple[str, ...]
    passing: frozenset[str]


def report_pages(folder: Path, seed: int, language: LanguageModel) -> list[PageReport]:
    """Report on a few real pages."""
    reports = []
    for batch in data.window_batches(folder, seed):
        batch_keys = {(window.part, window.page) for window in batch.windows} & set(PAGES)
        if batch_keys:
            pages = {(page.part, page.page): page for page in data.read_pages(batch)}
            reports += [report_page(batch, pages[key], language) for key in sorted(batch_keys)]
    return sorted(
        reports, key=lambda report: [url for _, url in PAGES].index(report.study.page.url)
    )


def report_page(
    batch: data.WindowBatch, page: data.ObservedPage, language: LanguageModel
) -> PageReport:
    """Return the full report of one page."""
    terms = term_table(page.texts, language)
    words = data.words_by_term(batch, page.page)
    outline = outline_of_versions(PageVersions(page.texts, page.documents, len(page.texts)))
    study = PageStudy(
        page=describe_page(page),
        looks=look_results(page.texts),
        summary=summarise_page_history(page),
        curve=page_curve(page.texts, page.page),
        terms=terms,
        split=split_terms(terms, top=TOP_WORDS),
        words=words,
        has_no_neighbours=False,
        outline=outline,
        blocks=blocks_of_outline(outline) if outline else (),
        co_changing=co_changing_blocks(outline) if outline else (),
        similar=similar_lifespans(outline) if outline else (),
        missing_note="",
    )
    rows = distinctive_words(terms)
    passing = rows[terms.staying_power[rows] < LOW_STAYING_POWER]
    return PageReport(study, tuple(study.spell_words(rows)), frozenset(study.spell_words(passing)))


def describe_page(page: data.ObservedPage) -> Page:
    """Return a page record for charts."""
    location = page_address(page.page)
    added = from_epoch(float(page.texts.times[0]))
    return Page(0, page.page, page.part, location.host, location.site, location.directory, added)


def report_tables(reports: list[PageReport]) -> Figures:
    """Return Table 3 and the figures of Figures 2, 4, 5, 6 and 7."""
    figures = half_hourly_figures(reports)
    for report in reports:
        figures |= _changes(report.study) | _curve(report.study) | _words(report.study)
        figures |= _blocks(report.study) | _survival(report.study)
        if report.study.page.url in WORD_TABLE_URLS:
            figures |= _terms(report)
    return figures


def half_hourly_figures(reports: list[PageReport]) -> Figures:
    """Return the Dice rows of Table 2 for pages with a version every half hour.

    Unchanged versions are not stored, so the share of changes is not known.
    """
    looks = [(number, report.study.looks) for number, report in enumerate(reports)
             if report.study.page.source in HALF_HOURLY_PARTS]  # fmt: skip
    pairs = [
        (number, seconds, changed == 1, alike, False)
        for number, page_looks in looks
        for seconds, changed, alike in zip(
            np.diff(page_looks.times), page_looks.changed[1:], page_looks.dice[1:], strict=True
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
    """Return the figures of the scatter chart of a page's changes."""
    url, looks = study.page.url, study.looks
    between = np.diff(looks.version_times) / 3600
    return {
        ("fig2", url, "changes"): FigureValue(float(study.summary.changes), 1),
        ("fig2", url, "hours_median"): FigureValue(_median(between), 1),
        ("fig2", url, "dice_mean"): FigureValue(study.summary.dice_mean, 1),
    }


def _curve(study: PageStudy) -> Figures:
    url, curve = study.page.url, study.curve
    knot, paper_knot = curve.knot, curve.paper_knot
    return {
        ("fig4", url, "shape"): FigureValue(curve.shape, 1),
        ("fig4", url, "knot_hours"): FigureValue(knot.hours if knot else None, 1),
        ("fig4", url, "knot_dice"): FigureValue(knot.dice if knot else None, 1),
        ("fig4", url, "paper_knot_hours"): FigureValue(paper_knot.hours if paper_knot else None, 1),
        ("fig4", url, "paper_knot_dice"): FigureValue(paper_knot.dice if paper_knot else None, 1),
    }


def _words(study: PageStudy) -> Figures:
    """Return the number of a page's words, and their staying power."""
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
    """Return the mean lifespans of texts over a page's blocks, and its blocks by behaviour."""
    blocks, url = study.blocks, study.page.url
    if not blocks:
        return {}
    habits = [block.behaviour for block in blocks]
    page_hours = [block.page_lifespan / 3600 for block in blocks if block.page_lifespan is not None]
    values = {
        "blocks": float(len(blocks)),
        "constant": float(np.mean([block.is_constant for block in blocks])),
        "hours_here": float(np.mean([block.lifespan for block in blocks])) / 3600,
        "hours_on_page": float(np.mean(page_hours)),
        "hours_run": float(np.mean([block.run_length for block in blocks])) / 3600,
        **{str(habit): habits.count(habit) / len(habits) for habit in BlockBehaviour},
    }
    return {("fig7", url, name): FigureValue(value, 1) for name, value in values.items()}


def _survival(study: PageStudy) -> Figures:
    """Return the survival of a page's elements after four weeks, by both rules."""
    traits = study.summary.traits
    if not traits.survival:
        return {}
    four_weeks = HORIZONS.index("4 weeks")
    return {
        ("t4_page", study.page.url, "4 weeks"): FigureValue(traits.survival[four_weeks], 1),
        ("t4_page", study.page.url, "4 weeks, unbroken"): FigureValue(
            traits.unbroken_survival[four_weeks], 1
        ),
    }


def _terms(report: PageReport) -> Figures:
    """Return the lists of Table 3; words with low staying power are in asterisks."""
    study, term_split = report.study, report.study.split
    telling = [f"*{word}*" if word in report.passing else word for word in report.telling]
    url = study.page.url
    return {
        ("t3", url, "telling at the first look"): FigureValue(" ".join(telling), 1),
        ("t3", url, "stay, high divergence"): FigureValue(
            " ".join(study.spell_words(term_split.stay_high)), 1
        ),
        ("t3", url, "stay, low divergence"): FigureValue(
            " ".join(study.spell_words(term_split.stay_low)), 1
        ),
    }


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None
