"""A generated web observed every hour for five weeks, calibrated to Adar et al. 2009.

The population decides which pages change in which hour and how similar their versions are; the
composition decides what they consist of. Changes fall on the full hour, blinking words on ticks
within it. The paper's pages change far more often from hour to hour than within half an hour, so
its bursts must lie between two changes. Every word is a number, and words of different kinds never
coincide, so Dice follows from the numbers of words.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from experiments.web_changes.composition import (
    HOURS,
    MIN_LIVELY_RATE,
    PARAGRAPH,
    CompositionParameters,
    PageComposition,
    draw_blinks,
    draw_composition,
)
from freshet.core.types import FloatArray, IndexArray, TermCounts
from freshet.core.version_series import VersionSeries
from freshet.measure.statistics.groups import NO_GROUP
from freshet.world.change_processes import HOUR, Rng
from freshet.world.population import draw_population
from freshet.world.presets import WEB_CHANGES

# The paper sampled pages from visits, few of one site; the change process does not depend on it.
_ONE_PAGE_GROUPS = replace(WEB_CHANGES.grouping, pages_per_directory=1.0, directories_per_host=1.0)
ONE_PAGE_PER_SITE = replace(WEB_CHANGES, grouping=_ONE_PAGE_GROUPS)
START = 1_180_310_400.0
"""A Monday at midnight, like the first cycle of a population."""

Words = NDArray[np.uint64]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_STANDING_WORD, _PIECE_WORD, _FLEETING_WORD, _BLINKING_WORD = (
    np.uint64(kind << 60) for kind in range(1, 5)
)
_NUMBER = np.uint64(2**24)
_MINUTE, _VISITS = 60.0, 8


@dataclass(frozen=True, slots=True)
class HourlyPage:
    """A page: its URL, its composition, and its events by every full hour.

    ``changes`` and ``arrivals`` count its changes and new pieces, from hour 0 to the last. ``seed``
    decides which of several texts blink when.
    """

    url: str
    composition: PageComposition
    changes: IndexArray
    arrivals: IndexArray
    seed: int
    visitors: str = NO_GROUP
    category: str = NO_GROUP

    def words(self, epoch: float, visit: int = 0) -> Words:
        """Return the words that a visit finds; two visits at one time may find different words."""
        hour = self._hour(epoch)
        composition = self.composition
        pieces = np.arange(
            self.arrivals[hour], self.arrivals[hour] + composition.pieces, dtype=np.uint64
        )
        listed = (_PIECE_WORD + pieces * _NUMBER)[:, None] + np.arange(
            composition.words_per_piece, dtype=np.uint64
        )
        return np.concatenate([
            _word_numbers(_STANDING_WORD, 0, composition.standing),
            listed.ravel(),
            _word_numbers(_FLEETING_WORD, int(self.changes[hour]), composition.fleeting),
            _word_numbers(_BLINKING_WORD, self._blinking_text(epoch, visit), composition.blinking),
        ])

    def terms(self, epoch: float, visit: int = 0) -> TermCounts:
        """Return the words as terms, each with count 1."""
        ids = np.sort(self.words(epoch, visit) * _SPREAD)
        return TermCounts(ids, np.ones(len(ids), np.uint32))

    def html(self, epoch: float, visit: int = 0) -> str:
        """Render the page: paragraphs, a list with an item per piece, boxes of changing words."""
        composition, hour = self.composition, self._hour(epoch)
        words = [spell(int(word)) for word in self.words(epoch, visit)]
        bounds = np.cumsum([
            composition.standing,
            composition.pieces * composition.words_per_piece,
            composition.fleeting,
        ])
        standing, listed, fleeting, blinking = np.split(np.array(words, object), bounds)
        items = listed.reshape(composition.pieces, composition.words_per_piece)
        return _PAGE.format(
            standing="".join(f"<p>{' '.join(line)}</p>" for line in _lines(standing)),
            items="".join(f"<li><a href='/{item[0]}'>{' '.join(item)}</a></li>" for item in items),
            fleeting=" ".join(fleeting),
            blinking=" ".join(blinking),
            boxes="<div class='box'></div>" * self.boxes(hour),
            returning="<span class='returning'></span>" * self.returning(hour),
        )

    def boxes(self, hour: int) -> int:
        """Return the number of boxes left at an hour."""
        losses = self.composition.losses
        gone = np.count_nonzero(losses <= hour) / max(len(losses), 1)
        return round(self.composition.boxes * (1 - gone))

    def returning(self, hour: int) -> int:
        """Return the number of returning elements at an hour: all, or none during their absence."""
        first, end = self.composition.absence
        return 0 if first <= hour < end else self.composition.returning

    def _hour(self, epoch: float) -> int:
        return min(max(int((epoch - START) // HOUR), 0), HOURS)

    def _blinking_text(self, epoch: float, visit: int) -> int:
        """Return the number of the blinking text."""
        blink = self.composition.blink
        if blink.minutes < 0:
            return 0
        seconds = (epoch - START) % HOUR
        tick = int(seconds // (blink.minutes * _MINUTE)) if blink.minutes else int(seconds)
        number = (self._hour(epoch) * int(HOUR) + tick) * _VISITS
        number += 0 if blink.minutes else visit % _VISITS
        if not blink.text_count:
            return number
        return int(np.random.default_rng([self.seed, number]).integers(blink.text_count))


def hourly_web(
    pages: int,
    seed: int,
    *,
    within: range | None = None,
    parameters: CompositionParameters | None = None,
) -> Iterator[HourlyPage]:
    """Yield the pages of a web, or some of them; each is the same for the same seed."""
    parameters = parameters or CompositionParameters()
    pages_drawn = draw_population(ONE_PAGE_PER_SITE, pages, HOURS, seed)
    rng = np.random.default_rng([seed, 1])
    blinks = draw_blinks(pages, np.flatnonzero(pages_drawn.rates >= MIN_LIVELY_RATE).tolist(), rng)
    for number in within or range(pages):
        page_rng = np.random.default_rng([seed, 2, number])
        composition = draw_composition(
            parameters,
            page_rng,
            pages_drawn.rates[number],
            pages_drawn.dice[number],
            blinks[number],
        )
        changed = pages_drawn.changed[number]
        domain = ONE_PAGE_PER_SITE.domains[pages_drawn.domains[number]].name
        depth = int(ONE_PAGE_PER_SITE.depths[pages_drawn.depths[number]].name.rstrip("+"))
        path = "".join(f"{step}/" for step in ("a", "b", "c", "d", "e")[:depth])
        yield HourlyPage(
            url=f"https://site{pages_drawn.sites[number]}.{domain}/{path}?page={number}",
            composition=composition,
            changes=_cumulative(changed),
            arrivals=_cumulative(_new_pieces(composition, changed, page_rng)),
            seed=seed + number,
            visitors=ONE_PAGE_PER_SITE.visitors[pages_drawn.visitors[number]].name,
            category=ONE_PAGE_PER_SITE.categories[pages_drawn.categories[number]].name,
        )


def hourly_series(page: HourlyPage) -> VersionSeries:
    """Return the word versions of a page at every full hour."""
    times = look_times()
    if not page.composition.blinking:
        _, firsts, shown = np.unique(
            page.changes * (HOURS + 1) + page.arrivals, return_index=True, return_inverse=True
        )
        terms = tuple(page.terms(float(times[first])) for first in firsts)
        return VersionSeries(times, shown.astype(np.int32), terms)
    versions = [page.terms(float(time)) for time in times]
    return VersionSeries(times, np.arange(len(times), dtype=np.int32), tuple(versions))


def look_times() -> FloatArray:
    """Return the full hours of five weeks, both ends included."""
    return np.asarray(START + HOUR * np.arange(HOURS + 1))


def spell(word: int) -> str:
    """Spell a number as a word of letters and digits.

    >>> spell(0x1F)
    'w1f'
    """
    return f"w{word:x}"


def _new_pieces(
    composition: PageComposition, changed: NDArray[np.bool_], rng: Rng
) -> NDArray[np.integer]:
    """Return the number of new pieces in each hour: only at changes, at the composition's rate."""
    if not composition.pieces:
        return np.zeros(len(changed), np.int64)
    if not composition.piece_hours:
        return changed.astype(np.int64)
    return rng.poisson(1 / composition.piece_hours, len(changed)) * changed


def _cumulative(events: NDArray[np.generic]) -> IndexArray:
    """Return the number of events by each hour, starting at 0."""
    return np.concatenate([[0], np.cumsum(events)]).astype(np.int32)


def _word_numbers(kind: np.uint64, number: int, count: int) -> Words:
    return kind + np.uint64(number) * _NUMBER + np.arange(count, dtype=np.uint64)


def _lines(words: NDArray[np.object_]) -> Iterator[NDArray[np.object_]]:
    for start in range(0, len(words), PARAGRAPH):
        yield words[start : start + PARAGRAPH]


_PAGE = """<html><head><title>page</title></head><body>
<div class="main">{standing}</div>
<ul class="list">{items}</ul>
<div class="side"><p>{fleeting}</p></div>
<div class="advert"><p>{blinking}</p></div>
<div class="returning">{returning}</div>
<div class="boxes">{boxes}</div>
</body></html>
"""
