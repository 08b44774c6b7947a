"""Find blocks that may be noise: they differ at one moment, within minutes, or at every look."""

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
from freshet.measure.noise.line_pattern import common_pattern, has_number
from freshet.measure.noise.observed_looks import (
    LookSpacing,
    NoiseLook,
    burst_indices,
    neighbours_by_spacing,
)
from freshet.measure.noise.page_lines import PageLine, PageLines
from freshet.measure.noise.visit_values import are_random_ids, shows_visit_time

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
    """A block that may be noise: its key, its texts at each look, its path and the reason."""

    key: str
    texts: tuple[tuple[str, ...], ...]
    path: str
    why: str

    @property
    def distinct_texts(self) -> list[str]:
        """Return its distinct texts, in order of appearance."""
        return list(dict.fromkeys(text for look_texts in self.texts for text in look_texts))

    @property
    def text_chars(self) -> int:
        """Return the total length of its texts."""
        return sum(len(text) for look_texts in self.texts for text in look_texts)


@dataclass(frozen=True, slots=True)
class StableBlocks:
    """The blocks that did not differ between two looks of a burst."""

    blocks: BlockHistory
    pairs: Sequence[tuple[int, int]]

    def contains(self, key: str) -> bool:
        """Return whether a block had the same text at both looks of any burst."""
        texts = self.blocks.texts(key)
        return any(texts[old] and texts[old] == texts[new] for old, new in self.pairs)


def instant_candidates(
    pages: Sequence[PageLines], looks: Sequence[NoiseLook]
) -> list[NoiseCandidate]:
    """Return the blocks that differed between two looks at the same moment."""
    blocks, pairs = BlockHistory(pages), neighbours_by_spacing(looks, "instant")
    difference_counts = Counter(key for pair in pairs for key in blocks.differing_blocks(*pair))
    return [
        _candidate(key, blocks, f"differed in {count} of {_bursts_text(len(pairs), 'instant')}")
        for key, count in difference_counts.items()
    ]


def fast_candidates(pages: Sequence[PageLines], looks: Sequence[NoiseLook]) -> list[NoiseCandidate]:
    """Return numbers and times that alone differed within minutes, more than once."""
    blocks, first_indices = BlockHistory(pages), [indices[0] for indices in burst_indices(looks)]
    pairs = [
        (old, new)
        for old, new in neighbours_by_spacing(looks, "fast")
        if looks[new].time - looks[old].time <= MAX_FAST_SECONDS
    ]
    difference_counts: Counter[str] = Counter()
    for pair in pairs:
        keys = blocks.differing_blocks(*pair)
        difference_counts.update(
            keys if all(has_number(key) and is_shape(key) for key in keys) else ()
        )
    first_blocks = BlockHistory([pages[index] for index in first_indices])
    return [
        _candidate(key, blocks, f"counted on in {count} of {_bursts_text(len(pairs), 'fast')}")
        for key, count in difference_counts.items()
        if count >= MIN_FAST_DIFFERENCES
        or count_differences(first_blocks.texts(key)) >= MIN_STILL_PAIRS
    ]


def passive_candidates(
    pages: Sequence[PageLines], looks: Sequence[NoiseLook]
) -> list[NoiseCandidate]:
    """Return blocks that differed at every look of an otherwise stable page, and clocks."""
    first_indices = [indices[0] for indices in burst_indices(looks)]
    times = [looks[index].time for index in first_indices]
    if len(times) <= MIN_DIFFERENCES:
        return []
    first_blocks = BlockHistory([pages[index] for index in first_indices])
    all_blocks = BlockHistory(pages)
    counters = first_blocks.numbered_shapes(MAX_SIMILAR_LINES)
    clocks = [key for key in counters if shows_visit_time(first_blocks.texts(key), times)]
    why = f"was another text at each of {len(times)} visits while the rest did not change"
    clock_candidates = [
        _candidate(key, all_blocks, "shows the time of the visit") for key in clocks
    ]
    stable_blocks = StableBlocks(
        all_blocks, [pair for kind in BURST_SPACINGS for pair in neighbours_by_spacing(looks, kind)]
    )
    changing_keys = [
        key
        for key in _changing_keys(first_blocks, times, counters, stable_blocks)
        if key not in clocks
    ]
    other_candidates = [
        _candidate(key, all_blocks, why) for key in _outside_lists(first_blocks, changing_keys)
    ]
    candidates = [*clock_candidates, *other_candidates]
    return candidates if _is_stable_otherwise(first_blocks, candidates) else clock_candidates


def _candidate(key: str, blocks: BlockHistory, why: str) -> NoiseCandidate:
    return NoiseCandidate(key, tuple(blocks.texts(key)), blocks.path(key), why)


def _changing_keys(
    blocks: BlockHistory,
    times: Sequence[float],
    numbered_shapes: Sequence[str],
    stable_blocks: StableBlocks,
) -> list[str]:
    """Return the blocks with another text at nearly every look.

    Numbers may be updated once a day by hand. Words that never repeat need no such check, unless
    they were stable within a burst.
    """
    changing_counters = [
        key for key in numbered_shapes if _differs_often(blocks.texts(key), times, ALWAYS)
    ]
    unnumbered_locations = frozenset(blocks.locations(except_shapes=set(numbered_shapes)))

    def is_changing(key: str) -> bool:
        always = (
            key in unnumbered_locations
            and _always_differs(blocks.texts(key))
            and not stable_blocks.contains(key)
        )
        return always or _differs_often(blocks.texts(key), times, MOSTLY)

    changing_locations = [
        key
        for key in blocks.locations(except_shapes=set(changing_counters))
        if is_changing(key) and (blocks.rotates(key) or _has_common_start(blocks.texts(key)))
    ]
    return [*changing_counters, *changing_locations]


def _has_common_start(texts: BlockTexts) -> bool:
    """Return whether a block always starts with the same words, like an advertisement."""
    return (
        common_pattern([text for look_texts in texts for text in look_texts], words_after=False)
        is not None
    )


def _differs_often(texts: BlockTexts, times: Sequence[float], share: float) -> bool:
    """Return whether a block differs too often for a change once a day.

    A block that changes once a day differs after a fraction of a day with the probability of that
    fraction. A long random identifier is no daily change.
    """
    present_texts = [
        (look_texts, time) for look_texts, time in zip(texts, times, strict=True) if look_texts
    ]
    pairs = list(pairwise(present_texts))
    gaps = [new[1] - old[1] for old, new in pairs if old[0] != new[0]]
    if len(gaps) < max(MIN_DIFFERENCES, share * len(pairs)):
        return False
    probability = prod(min(gap / DAY, 1.0) for gap in gaps)
    return probability <= MAX_DAILY_PROBABILITY or are_random_ids([
        text for look_texts in texts for text in look_texts
    ])


def _always_differs(texts: BlockTexts) -> bool:
    """Return whether a block never repeated a text, over enough looks for any interval."""
    pairs = list(pairwise(look_texts for look_texts in texts if look_texts))
    return len(pairs) >= MIN_DIFFERENCES_AT_ANY_PACE and all(old != new for old, new in pairs)


def _outside_lists(blocks: BlockHistory, keys: Sequence[str]) -> list[str]:
    """Return the blocks that are not in a list whose items all differ; rotating blocks may be."""
    rotating_keys = {key for key in keys if blocks.rotates(key)}
    paths = {key: blocks.paths_without_indices(key) for key in keys}
    key_counts = Counter(path for key in keys if key not in rotating_keys for path in paths[key])
    return [
        key
        for key in keys
        if key in rotating_keys or all(key_counts[path] <= MAX_SIMILAR_LINES for path in paths[key])
    ]


def _is_stable_otherwise(blocks: BlockHistory, candidates: Sequence[NoiseCandidate]) -> bool:
    """Return whether at several looks only the candidates differed, a small part of the page."""
    candidate_keys = {candidate.key for candidate in candidates}

    def is_candidate(line: PageLine) -> bool:
        return line.shape in candidate_keys or line.location in candidate_keys

    if any(sum(map(is_candidate, page)) > MAX_CANDIDATE_SHARE * len(page) for page in blocks.pages):
        return False
    pairs = pairwise(range(len(blocks.pages)))
    stable_pairs = sum(
        all(is_candidate(line) for line in blocks.differing_lines(*pair)) for pair in pairs
    )
    return stable_pairs >= MIN_STILL_PAIRS


def _bursts_text(count: int, kind: str) -> str:
    return f"{count} {kind} burst{'' if count == 1 else 's'}"
