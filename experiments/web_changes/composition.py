"""Composition of a page of the hourly web, drawn from its change rate and its Dice.

A page has standing words, a list of pieces in which every new piece replaces the oldest, fleeting
words that are replaced at every change, and blinking words. Blinking words are new at every visit
or every few minutes, or alternate between two texts. Boxes without text vanish one after another
and do not return; other elements are absent for some hours and return. All shares were
chosen so that the measured figures come near those of Adar et al. 2009, Tables 1, 2 and 4 and
section 4.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.types import FloatArray
from freshet.world.change_processes import Rng

HOURS = 840
MIN_LIVELY_RATE = 12.0
"""Changes a day from which a page counts as lively: it changes nearly every hour."""


@dataclass(frozen=True, slots=True)
class BlinkPattern:
    """A share of all pages whose words blink every so many minutes; 0 minutes: at every visit.

    The words are new at each tick, or one of ``text_count`` texts. -1 minutes: they do not blink.
    """

    share: float
    minutes: float
    text_count: int = 0


@dataclass(frozen=True, slots=True)
class CompositionParameters:
    """Parameters of compositions.

    ``settle`` and ``drift`` are the shares of lively pages whose list is renewed within the five
    weeks (after lognormal hours) and not within them; the others have no list. ``listed`` is the
    mean share of words in the list; a higher ``evenness`` makes pages more alike in it. By
    ``lost_hours`` the shares ``lost`` of all boxes are gone. A share ``returning_pages`` of the
    pages has elements that are absent once, for ``absence_hours``, and return: between the two
    shares ``returning`` of its elements.
    """

    words: tuple[float, float] = (5.6, 0.4)
    settle: float = 0.98
    drift: float = 0.01
    hours: tuple[float, float] = (90.0, 1.2)
    drift_hours: tuple[float, float] = (900.0, 3000.0)
    listed: float = 0.142
    evenness: float = 6.0
    pieces: tuple[int, int] = (10, 40)
    blinking: tuple[float, float] = (0.7, 0.5)
    boxes: tuple[float, float] = (0.09, 0.48)
    lost_hours: tuple[float, ...] = (1.0, 2.0, 24.0, 168.0, 336.0, 672.0, 840.0)
    lost: tuple[float, ...] = (0.0, 0.045, 0.166, 0.529, 0.771, 0.866, 1.0)
    returning_pages: float = 0.5
    returning: tuple[float, float] = (0.05, 0.3)
    absence_hours: tuple[int, int] = (1, 48)


# Adar et al. 2009, Table 2: the pages that change in all samples and those that do in some, minus
# those that already did at the shorter interval.
BLINK_PATTERNS = (
    BlinkPattern(0.065, 0.0),
    BlinkPattern(0.05, 0.0, 2),
    BlinkPattern(0.025, 2.0),
    BlinkPattern(0.053, 2.0, 2),
    BlinkPattern(0.023, 14.0),
    BlinkPattern(0.012, 14.0, 2),
    BlinkPattern(0.005, 30.0),
    BlinkPattern(0.006, 30.0, 2),
    BlinkPattern(0.177, -1.0),
)


@dataclass(frozen=True, slots=True)
class PageComposition:
    """Word counts of a page: standing, per piece, fleeting and blinking.

    A new piece comes every ``piece_hours`` on average, or with every change if that is 0. Boxes
    vanish at the hours ``losses``; the ``returning`` elements are absent from one hour of
    ``absence`` to before the other.
    """

    standing: int
    pieces: int
    words_per_piece: int
    piece_hours: float
    fleeting: int
    blinking: int
    blink: BlinkPattern
    boxes: int
    losses: FloatArray
    returning: int = 0
    absence: tuple[int, int] = (0, 0)

    @property
    def words(self) -> int:
        """Return the number of words on the page at a time."""
        return self.standing + self.pieces * self.words_per_piece + self.fleeting + self.blinking


NO_BLINK = BlinkPattern(0.0, -1.0)
PARAGRAPH = 8
MAX_LOSSES, MAX_BOXES = 12, 2000
FRAME_ELEMENTS = 15
"""Number of elements of every page besides its paragraphs, items and boxes."""
MIN_STANDING_SHARE, MIN_LISTED_SHARE = 0.1, 0.03


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Word counts as in a composition, before boxes are drawn."""

    standing: int
    pieces: int
    words_per_piece: int
    piece_hours: float
    fleeting: int = 0
    blinking: int = 0

    @property
    def elements(self) -> int:
        """Return the number of elements of such a page, without boxes."""
        return FRAME_ELEMENTS + -(-self.standing // PARAGRAPH) + 2 * self.pieces


def draw_composition(
    parameters: CompositionParameters, rng: Rng, rate: float, dice: float, blink: BlinkPattern
) -> PageComposition:
    """Draw a composition from a page's changes a day and the Dice of successive versions."""
    words = int(np.clip(rng.lognormal(*parameters.words), 100, 1000))
    is_lively = rate >= MIN_LIVELY_RATE
    counts = (
        _draw_lively(parameters, rng, words, dice, blink) if is_lively else _slow_page(words, dice)
    )
    returning, absence = _draw_returning(parameters, rng.spawn(1)[0], counts.elements)
    boxes, losses = _draw_boxes(parameters, rng, counts.elements + returning)
    return PageComposition(
        counts.standing,
        counts.pieces,
        counts.words_per_piece,
        counts.piece_hours,
        counts.fleeting,
        counts.blinking,
        blink,
        boxes,
        losses,
        returning,
        absence,
    )


def _slow_page(words: int, dice: float) -> WordCounts:
    """Return a page with one piece, which every change replaces."""
    piece = min(max(1, round(words * (1 - dice))), words - 1)
    return WordCounts(words - piece, 1, piece, 0.0)


def _draw_lively(
    habits: CompositionParameters, rng: Rng, words: int, dice: float, blink: BlinkPattern
) -> WordCounts:
    """Draw a page that changes nearly every hour: a list, and fleeting and blinking words."""
    share, hours = _draw_list(habits, rng, dice)
    piece = max(1, round(words * share / rng.integers(*habits.pieces))) if share else 0
    pieces = round(words * share / piece) if share else 0
    blink_share = float(rng.beta(*habits.blinking)) if blink.minutes >= 0 else 0.0
    # One of two texts differs only every other time; a large text would hide the list.
    blink_share, visible_share = (
        (blink_share / 2, 1 - blink_share / 4) if blink.text_count else (blink_share, 1.0)
    )
    changing_words = max(2, round(words * (1 - dice - share / hours) / visible_share))
    blinking = (
        min(max(1, round(changing_words * blink_share)), changing_words - 1) if blink_share else 0
    )
    standing = max(words - pieces * piece - changing_words, 1)
    return WordCounts(
        standing, pieces, piece, hours / max(pieces, 1), changing_words - blinking, blinking
    )  # fmt: skip


def _draw_list(habits: CompositionParameters, rng: Rng, dice: float) -> tuple[float, float]:
    """Draw the share of words in a lively page's list, and the hours in which it is renewed."""
    kind = rng.random()
    if kind >= habits.settle + habits.drift:
        return 0.0, HOURS
    low, high = habits.listed * habits.evenness, (1 - habits.listed) * habits.evenness
    share = min(max(float(rng.beta(low, high)), MIN_LISTED_SHARE), dice * (1 - MIN_STANDING_SHARE))
    if kind >= habits.settle:
        return share, float(rng.uniform(*habits.drift_hours))
    median, spread = habits.hours
    return share, float(np.clip(median * np.exp(spread * rng.standard_normal()), 3.0, 700.0))


def _draw_returning(
    habits: CompositionParameters, rng: Rng, elements: int
) -> tuple[int, tuple[int, int]]:
    """Draw how many elements come and go, and the hours of their absence."""
    if rng.random() >= habits.returning_pages:
        return 0, (0, 0)
    returning = round(elements * float(rng.uniform(*habits.returning)))
    hours = int(rng.integers(*habits.absence_hours))
    first = int(rng.integers(2, HOURS - hours))
    return returning, (first, first + hours)


def _draw_boxes(habits: CompositionParameters, rng: Rng, elements: int) -> tuple[int, FloatArray]:
    """Draw how many boxes vanish and when: few on most pages, nearly all elements on some."""
    share = min(float(rng.beta(*habits.boxes)), 0.95)
    boxes = min(round(share / (1 - share) * elements), MAX_BOXES)
    moments = rng.random(min(boxes, MAX_LOSSES))
    hours = np.interp(np.sort(moments), habits.lost, habits.lost_hours)
    return boxes, np.ceil(hours)


def draw_blinks(pages: int, is_lively: Sequence[int], rng: Rng) -> list[BlinkPattern]:
    """Return the blink pattern of each page; the shares are taken from the lively pages."""
    patterns = [NO_BLINK] * pages
    bounds = np.cumsum([blink.share for blink in BLINK_PATTERNS])
    positions = rng.permutation(
        (np.arange(len(is_lively)) + 0.5) / max(len(is_lively), 1) * bounds[-1]
    )
    for page, kind in zip(is_lively, np.searchsorted(bounds[:-1], positions).tolist(), strict=True):
        patterns[page] = BLINK_PATTERNS[kind]
    return patterns
