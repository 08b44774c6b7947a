"""Which blocks of a page differ as noise does: at one moment, within minutes, or at every look."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from freshet.measure.noise.block_history import Blocks, Texts, differences, is_shape
from freshet.measure.noise.displayed_time import tells_the_time
from freshet.measure.noise.line_pattern import is_open, pattern_of
from freshet.measure.noise.observed_looks import Look, Since, pairs_within, rounds_of
from freshet.measure.noise.page_lines import Line, Page
from freshet.measure.noise.random_ids import are_drawn

FEWEST_DIFFERENCES = 5
FEWEST_AT_ANY_PACE = 8
FEWEST_FAST = 2
FEWEST_STILL = 3
MOST_ALIKE = 3
LARGEST_SHARE = 1 / 3
ALWAYS, MOSTLY = 0.9, 0.7
LARGEST_CHANCE = 0.02
DAY, MINUTES = 86_400.0, 600.0
IN_ROUNDS: tuple[Since, ...] = ("instant", "fast")


@dataclass(frozen=True, slots=True)
class Suspect:
    """A block that may be noise: how its lines are known, their texts at each look, and why."""

    key: str
    texts: tuple[tuple[str, ...], ...]
    path: str
    why: str

    @property
    def distinct(self) -> list[str]:
        """Return its different texts, in the order in which they came."""
        return list(dict.fromkeys(text for texts in self.texts for text in texts))

    @property
    def chars(self) -> int:
        """Return how long its texts are together."""
        return sum(len(text) for texts in self.texts for text in texts)


@dataclass(frozen=True, slots=True)
class Settled:
    """What stood still between two looks of a round: it changes, but not by being looked at."""

    blocks: Blocks
    pairs: Sequence[tuple[int, int]]

    def holds(self, key: str) -> bool:
        """Whether a block was the same text at both looks of any round."""
        texts = self.blocks.texts(key)
        return any(texts[old] and texts[old] == texts[new] for old, new in self.pairs)


def instant(pages: Sequence[Page], looks: Sequence[Look]) -> list[Suspect]:
    """Return what differed between two looks at the same moment: the visit itself made it so."""
    blocks, pairs = Blocks(pages), pairs_within(looks, "instant")
    found = Counter(key for pair in pairs for key in blocks.differing_blocks(*pair))
    return [
        _suspect(key, blocks, f"differed in {count} of {_rounds(len(pairs), 'instant')}")
        for key, count in found.items()
    ]


def fast(pages: Sequence[Page], looks: Sequence[Look]) -> list[Suspect]:
    """Return the numbers and times that alone differed within minutes, and not just once."""
    blocks, firsts = Blocks(pages), [places[0] for places in rounds_of(looks)]
    pairs = [
        (old, new)
        for old, new in pairs_within(looks, "fast")
        if looks[new].time - looks[old].time <= MINUTES
    ]
    found: Counter[str] = Counter()
    for pair in pairs:
        keys = blocks.differing_blocks(*pair)
        found.update(keys if all(is_open(key) and is_shape(key) for key in keys) else ())
    apart = Blocks([pages[place] for place in firsts])
    return [
        _suspect(key, blocks, f"counted on in {count} of {_rounds(len(pairs), 'fast')}")
        for key, count in found.items()
        if count >= FEWEST_FAST or differences(apart.texts(key)) >= FEWEST_STILL
    ]


def passive(pages: Sequence[Page], looks: Sequence[Look]) -> list[Suspect]:
    """Return what was another text at every look while the rest stood still, and clocks anyway."""
    firsts = [places[0] for places in rounds_of(looks)]
    times = [looks[place].time for place in firsts]
    blocks, every = Blocks([pages[place] for place in firsts]), Blocks(pages)
    if len(times) <= FEWEST_DIFFERENCES:
        return []
    counters = blocks.counters(MOST_ALIKE)
    clocks = [key for key in counters if tells_the_time(blocks.texts(key), times)]
    why = f"was another text at each of {len(times)} visits while the rest stood still"
    told = [_suspect(key, every, "tells the time of the visit") for key in clocks]
    settled = Settled(every, [pair for kind in IN_ROUNDS for pair in pairs_within(looks, kind)])
    restless = [key for key in _restless(blocks, times, counters, settled) if key not in clocks]
    others = [_suspect(key, every, why) for key in _lonely(blocks, restless)]
    return [*told, *others] if _stood_still(blocks, [*told, *others]) else told


def _suspect(key: str, blocks: Blocks, why: str) -> Suspect:
    return Suspect(key, tuple(blocks.texts(key)), blocks.path(key), why)


def _restless(
    blocks: Blocks, times: Sequence[float], counters: Sequence[str], settled: Settled
) -> list[str]:
    """Return the blocks whose text is another one at nearly every look.

    Numbers may well be set once a day; words that never were the same twice need no such doubt,
    unless they stood still in a round.
    """
    counting = [key for key in counters if _differs(blocks.texts(key), times, ALWAYS)]
    pure = frozenset(blocks.places(but=set(counters)))

    def is_restless(key: str) -> bool:
        always = key in pure and _always_differs(blocks.texts(key)) and not settled.holds(key)
        return always or _differs(blocks.texts(key), times, MOSTLY)

    wording = [
        key
        for key in blocks.places(but=set(counting))
        if is_restless(key) and (blocks.rotates(key) or _says_what_it_is(blocks.texts(key)))
    ]
    return [*counting, *wording]


def _says_what_it_is(texts: Texts) -> bool:
    """Say whether a block always begins with the same words, as an advertisement may."""
    return pattern_of([text for each in texts for text in each], words_after=False) is not None


def _differs(texts: Texts, times: Sequence[float], share: float) -> bool:
    """Say whether a block differs so often that a change once a day is no likely reason.

    What changes once a day differs after a part of a day with the chance of that part. Nobody sets
    a long identifier anew once a day.
    """
    there = [(each, time) for each, time in zip(texts, times, strict=True) if each]
    pairs = list(pairwise(there))
    gaps = [new[1] - old[1] for old, new in pairs if old[0] != new[0]]
    if len(gaps) < max(FEWEST_DIFFERENCES, share * len(pairs)):
        return False
    chance = prod(min(gap / DAY, 1.0) for gap in gaps)
    return chance <= LARGEST_CHANCE or are_drawn([text for each in texts for text in each])


def _always_differs(texts: Texts) -> bool:
    """Say whether a block never was the same twice, over so many looks that any pace will do."""
    pairs = list(pairwise(each for each in texts if each))
    return len(pairs) >= FEWEST_AT_ANY_PACE and all(old != new for old, new in pairs)


def _lonely(blocks: Blocks, keys: Sequence[str]) -> list[str]:
    """Return the blocks that are no part of a list whose every item differs; choices may be."""
    turning = {key for key in keys if blocks.rotates(key)}
    kinds = {key: blocks.kinds(key) for key in keys}
    crowd = Counter(kind for key in keys if key not in turning for kind in kinds[key])
    return [
        key
        for key in keys
        if key in turning or all(crowd[kind] <= MOST_ALIKE for kind in kinds[key])
    ]


def _stood_still(blocks: Blocks, suspects: Sequence[Suspect]) -> bool:
    """Say whether at several looks nothing but the suspects differed, and they are a small part."""
    known = {suspect.key for suspect in suspects}

    def held(line: Line) -> bool:
        return line.shape in known or line.place in known

    if any(sum(map(held, page)) > LARGEST_SHARE * len(page) for page in blocks.pages):
        return False
    pairs = pairwise(range(len(blocks.pages)))
    still = sum(all(held(line) for line in blocks.differing(*pair)) for pair in pairs)
    return still >= FEWEST_STILL


def _rounds(count: int, kind: str) -> str:
    return f"{count} {kind} round{'' if count == 1 else 's'}"
