"""Which blocks of a page differ as noise does: at one moment, within minutes, or at every look."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from freshet.measure.noise.block_history import (
    BlockHistory,
    BlockTexts,
    count_differences,
    is_shape,
)
from freshet.measure.noise.displayed_time import shows_visit_time
from freshet.measure.noise.line_pattern import common_pattern, has_number
from freshet.measure.noise.observed_looks import (
    LookSpacing,
    NoiseLook,
    burst_indices,
    neighbours_by_spacing,
)
from freshet.measure.noise.page_lines import PageLine, PageLines
from freshet.measure.noise.random_ids import are_random_ids

MIN_DIFFERENCES = 5
MIN_DIFFERENCES_AT_ANY_PACE = 8
MIN_FAST_DIFFERENCES = 2
MIN_STILL_PAIRS = 3
MAX_SIMILAR_LINES = 3
MAX_CANDIDATE_SHARE = 1 / 3
ALWAYS, MOSTLY = 0.9, 0.7
MAX_DAILY_PROBABILITY = 0.02
DAY, MAX_FAST_SECONDS = 86_400.0, 600.0
BURST_SPACINGS: tuple[LookSpacing, ...] = ("instant", "fast")


@dataclass(frozen=True, slots=True)
class NoiseCandidate:
    """A block that may be noise: how its lines are known, their texts at each look, and why."""

    key: str
    texts: tuple[tuple[str, ...], ...]
    path: str
    why: str

    @property
    def distinct_texts(self) -> list[str]:
        """Return its different texts, in the order in which they came."""
        return list(dict.fromkeys(text for texts in self.texts for text in texts))

    @property
    def text_chars(self) -> int:
        """Return how long its texts are together."""
        return sum(len(text) for texts in self.texts for text in texts)


@dataclass(frozen=True, slots=True)
class StableBlocks:
    """What stood still between two looks of a round: it changes, but not by being looked at."""

    blocks: BlockHistory
    pairs: Sequence[tuple[int, int]]

    def contains(self, key: str) -> bool:
        """Whether a block was the same text at both looks of any round."""
        texts = self.blocks.texts(key)
        return any(texts[old] and texts[old] == texts[new] for old, new in self.pairs)


def instant_candidates(
    pages: Sequence[PageLines], looks: Sequence[NoiseLook]
) -> list[NoiseCandidate]:
    """Return what differed between two looks at the same moment: the visit itself made it so."""
    blocks, pairs = BlockHistory(pages), neighbours_by_spacing(looks, "instant")
    found = Counter(key for pair in pairs for key in blocks.differing_blocks(*pair))
    return [
        _suspect(key, blocks, f"differed in {count} of {_rounds(len(pairs), 'instant')}")
        for key, count in found.items()
    ]


def fast_candidates(pages: Sequence[PageLines], looks: Sequence[NoiseLook]) -> list[NoiseCandidate]:
    """Return the numbers and times that alone differed within minutes, and not just once."""
    blocks, firsts = BlockHistory(pages), [places[0] for places in burst_indices(looks)]
    pairs = [
        (old, new)
        for old, new in neighbours_by_spacing(looks, "fast")
        if looks[new].time - looks[old].time <= MAX_FAST_SECONDS
    ]
    found: Counter[str] = Counter()
    for pair in pairs:
        keys = blocks.differing_blocks(*pair)
        found.update(keys if all(has_number(key) and is_shape(key) for key in keys) else ())
    apart = BlockHistory([pages[place] for place in firsts])
    return [
        _suspect(key, blocks, f"counted on in {count} of {_rounds(len(pairs), 'fast')}")
        for key, count in found.items()
        if count >= MIN_FAST_DIFFERENCES or count_differences(apart.texts(key)) >= MIN_STILL_PAIRS
    ]


def passive_candidates(
    pages: Sequence[PageLines], looks: Sequence[NoiseLook]
) -> list[NoiseCandidate]:
    """Return what was another text at every look while the rest stood still, and clocks anyway."""
    firsts = [places[0] for places in burst_indices(looks)]
    times = [looks[place].time for place in firsts]
    blocks, every = BlockHistory([pages[place] for place in firsts]), BlockHistory(pages)
    if len(times) <= MIN_DIFFERENCES:
        return []
    counters = blocks.numbered_shapes(MAX_SIMILAR_LINES)
    clocks = [key for key in counters if shows_visit_time(blocks.texts(key), times)]
    why = f"was another text at each of {len(times)} visits while the rest stood still"
    told = [_suspect(key, every, "tells the time of the visit") for key in clocks]
    settled = StableBlocks(
        every, [pair for kind in BURST_SPACINGS for pair in neighbours_by_spacing(looks, kind)]
    )
    restless = [key for key in _restless(blocks, times, counters, settled) if key not in clocks]
    others = [_suspect(key, every, why) for key in _lonely(blocks, restless)]
    return [*told, *others] if _stood_still(blocks, [*told, *others]) else told


def _suspect(key: str, blocks: BlockHistory, why: str) -> NoiseCandidate:
    return NoiseCandidate(key, tuple(blocks.texts(key)), blocks.path(key), why)


def _restless(
    blocks: BlockHistory, times: Sequence[float], counters: Sequence[str], settled: StableBlocks
) -> list[str]:
    """Return the blocks whose text is another one at nearly every look.

    Numbers may well be set once a day; words that never were the same twice need no such doubt,
    unless they stood still in a round.
    """
    counting = [key for key in counters if _differs(blocks.texts(key), times, ALWAYS)]
    pure = frozenset(blocks.locations(except_shapes=set(counters)))

    def is_restless(key: str) -> bool:
        always = key in pure and _always_differs(blocks.texts(key)) and not settled.contains(key)
        return always or _differs(blocks.texts(key), times, MOSTLY)

    wording = [
        key
        for key in blocks.locations(except_shapes=set(counting))
        if is_restless(key) and (blocks.rotates(key) or _says_what_it_is(blocks.texts(key)))
    ]
    return [*counting, *wording]


def _says_what_it_is(texts: BlockTexts) -> bool:
    """Say whether a block always begins with the same words, as an advertisement may."""
    return common_pattern([text for each in texts for text in each], words_after=False) is not None


def _differs(texts: BlockTexts, times: Sequence[float], share: float) -> bool:
    """Say whether a block differs so often that a change once a day is no likely reason.

    What changes once a day differs after a part of a day with the chance of that part. Nobody sets
    a long identifier anew once a day.
    """
    there = [(each, time) for each, time in zip(texts, times, strict=True) if each]
    pairs = list(pairwise(there))
    gaps = [new[1] - old[1] for old, new in pairs if old[0] != new[0]]
    if len(gaps) < max(MIN_DIFFERENCES, share * len(pairs)):
        return False
    chance = prod(min(gap / DAY, 1.0) for gap in gaps)
    return chance <= MAX_DAILY_PROBABILITY or are_random_ids([
        text for each in texts for text in each
    ])


def _always_differs(texts: BlockTexts) -> bool:
    """Say whether a block never was the same twice, over so many looks that any pace will do."""
    pairs = list(pairwise(each for each in texts if each))
    return len(pairs) >= MIN_DIFFERENCES_AT_ANY_PACE and all(old != new for old, new in pairs)


def _lonely(blocks: BlockHistory, keys: Sequence[str]) -> list[str]:
    """Return the blocks that are no part of a list whose every item differs; choices may be."""
    turning = {key for key in keys if blocks.rotates(key)}
    kinds = {key: blocks.paths_without_indices(key) for key in keys}
    crowd = Counter(kind for key in keys if key not in turning for kind in kinds[key])
    return [
        key
        for key in keys
        if key in turning or all(crowd[kind] <= MAX_SIMILAR_LINES for kind in kinds[key])
    ]


def _stood_still(blocks: BlockHistory, suspects: Sequence[NoiseCandidate]) -> bool:
    """Say whether at several looks nothing but the suspects differed, and they are a small part."""
    known = {suspect.key for suspect in suspects}

    def held(line: PageLine) -> bool:
        return line.shape in known or line.location in known

    if any(sum(map(held, page)) > MAX_CANDIDATE_SHARE * len(page) for page in blocks.pages):
        return False
    pairs = pairwise(range(len(blocks.pages)))
    still = sum(all(held(line) for line in blocks.differing_lines(*pair)) for pair in pairs)
    return still >= MIN_STILL_PAIRS


def _rounds(count: int, kind: str) -> str:
    return f"{count} {kind} round{'' if count == 1 else 's'}"
