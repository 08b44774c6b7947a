"""Learning is bounded: large pages teach nothing; what is fast equals the plain way."""

from math import ceil, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.types import Snapshot
from freshet.measure.noise import learning_limits
from freshet.measure.noise.line_pattern import NUMBER_SIGN, _between_numbers, _nearest_words
from freshet.measure.noise.mask import NO_MASK
from freshet.measure.noise.mask_learning import correct_mask, learn_mask, learning_refusal
from freshet.measure.noise.observed_looks import NoiseLook
from freshet.measure.noise.page_lines import PageLine, visible_lines
from freshet.measure.noise.persistence import (
    CHANCE_LEVEL,
    LASTING_BURSTS,
    LASTING_BURSTS_IN_ROTATION,
    MAX_BURSTS_BY_CHANCE,
    MIN_RETURNING_TEXTS,
    lasting_texts,
    text_runs,
)
from freshet.measure.noise.rule_evaluator import _spans_overlap
from freshet.measure.noise.visit_values import are_random_ids
from freshet.view.parse import parse_snapshot

STILL = "".join(f"<p>Paragraph {name} of a page that stands as it is.</p>" for name in "abcdef")
COUNTER = "You are visitor number {} of this harbour"


def looks_at(padding: str, *, text: str = COUNTER, count: int = 12) -> list[NoiseLook]:
    """Return looks hours apart at a page of which only a counter differs."""
    pages = (f"<body><p>Harbour</p>{padding}<p>{text.format(77 * n)}</p>" for n in range(count))
    views = (parse_snapshot(Snapshot("http://x.org/", page.encode()), dom=True) for page in pages)
    return [NoiseLook(view, 20_000.0 * number) for number, view in enumerate(views)]


@pytest.mark.parametrize(
    ("padding", "why"),
    [
        ("<p>Still.</p>" * (learning_limits.MAX_LINES - 2), ""),
        ("<p>Still.</p>" * learning_limits.MAX_LINES, "lines"),
        (f"<p>{'still ' * (learning_limits.MAX_CHARS // 6)}</p>", "characters of text"),
        (f"<!--{' ' * learning_limits.MAX_BYTES}-->", "bytes"),
        ("<br>" * learning_limits.MAX_ELEMENTS, "elements"),
        ("<div>" * learning_limits.MAX_ELEMENT_DEPTH, "elements inside each other"),
    ],
)
def test_a_page_that_is_too_large_teaches_nothing_and_it_is_said_why(
    padding: str, why: str
) -> None:
    looks = looks_at(padding)
    mask = learn_mask(looks, NO_MASK)
    assert (mask is None) == bool(why)
    assert why in learning_refusal(looks)
    assert bool(learning_refusal(looks)) == bool(why)


def test_a_mask_stays_while_its_page_is_too_large() -> None:
    mask = learn_mask(looks_at(STILL), NO_MASK)
    assert mask is not None
    grown = looks_at(
        "<p>Still.</p>" * learning_limits.MAX_LINES, text="You are visitor number 5 of it"
    )
    assert correct_mask(grown, mask) is None


def test_where_the_work_is_spent_no_rule_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    assert learn_mask(looks_at(STILL), NO_MASK) is not None
    monkeypatch.setattr(learning_limits, "MAX_WORK_CHARS", 1_000)
    assert learn_mask(looks_at(STILL), NO_MASK) is None


@pytest.mark.parametrize(("blocks", "is_learnt"), [(2_000, True), (2_001, False)])
def test_of_very_many_blocks_that_differ_at_one_moment_none_is_hidden(
    blocks: int, is_learnt: bool
) -> None:
    still = f"<p>{'A long paragraph that stands as it is. ' * 2_000}</p>"

    def page(number: int) -> bytes:
        lines = (f"<p>{chr(97 + number) * 3} {block}</p>" for block in range(blocks))
        return f"<body>{still}<aside>{''.join(lines)}</aside>".encode()

    views = [
        parse_snapshot(Snapshot("http://x.org/", page(number)), dom=True) for number in range(10)
    ]
    looks = [
        NoiseLook(view, 60.0 * n, "instant" if n % 2 else "apart") for n, view in enumerate(views)
    ]
    mask = learn_mask(looks, NO_MASK) or NO_MASK
    assert [rule.what for rule in mask.rules] == ["/html[0]/body[0]/aside[0]"] * is_learnt


def test_numbers_of_any_length_are_compared() -> None:
    assert are_random_ids([str(digit) + "1" * 9_000 for digit in (3, 9, 4, 7, 1, 8)])
    assert not are_random_ids([f"{number}" + "0" * 9_000 for number in range(1, 9)])


class CountedTokens(list[str]):
    """Tokens that count how many of them are read."""

    reads = 0

    def __getitem__(self, index: Any) -> Any:
        """Return one token, or those of a slice."""
        items = super().__getitem__(index)
        self.reads += len(items) if isinstance(index, slice) else 1
        return items


class CountedToken(str):
    """A token that counts how often it is asked whether it is a word."""

    __slots__ = ("asked",)

    def isalpha(self) -> bool:
        """Say whether it is a word."""
        self.asked = getattr(self, "asked", 0) + 1
        return super().isalpha()


def test_only_the_nearest_tokens_are_read_to_tell_a_month_between_numbers() -> None:
    tokens = CountedTokens([NUMBER_SIGN, " ", "May", " ", NUMBER_SIGN, " ", *["word", " "] * 500])
    assert [at for at in range(len(tokens)) if _between_numbers(tokens, at)] == [2]
    assert tokens.reads <= 5 * len(tokens)


def test_every_token_near_a_difference_is_classified_once() -> None:
    tokens = [CountedToken("7") for _ in range(1_000)]
    assert _nearest_words(list(tokens)) == tokens
    assert sum(token.asked for token in tokens) == len(tokens)


shown = st.lists(st.frozensets(st.sampled_from("abcdef")), min_size=1, max_size=12)


@given(shown, st.booleans())
def test_what_lasts_is_what_the_plain_way_finds(bursts: list[frozenset[str]], new: bool) -> None:
    texts = frozenset().union(*bursts)
    assert lasting_texts(texts, bursts, only_new=new) == plain_lasting(texts, bursts, new=new)


def plain_lasting(texts: frozenset[str], bursts: list[frozenset[str]], *, new: bool) -> list[str]:
    runs = {text: text_runs(text, bursts) for text in sorted(texts)}
    rotating = sum(len(text_run_list) > 1 for text_run_list in runs.values()) >= MIN_RETURNING_TEXTS
    lasting = []
    for text, own in runs.items():
        needed = LASTING_BURSTS if len(own) == 1 else LASTING_BURSTS_IN_ROTATION
        if rotating:
            others = [
                length
                for other_text in runs
                if other_text != text
                for _, length in runs[other_text]
            ]
            again = sum(length - 1 for length in others) / max(sum(others), 1)
            chance = (
                log(CHANCE_LEVEL / len(others)) / log(again) if 0 < again < 1 and others else 0.0
            )
            needed = min(max(LASTING_BURSTS_IN_ROTATION, ceil(chance) + 1), MAX_BURSTS_BY_CHANCE)
        if any(
            length >= max(LASTING_BURSTS, needed) and (start or not new) for start, length in own
        ):
            lasting.append(text)
    return lasting


spans = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 6)).map(lambda pair: (pair[0], sum(pair))),
    max_size=8,
)


@given(spans, spans)
def test_spans_overlap_where_any_pair_does(
    some: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    assert _spans_overlap(some, others) == any(a < d and c < b for a, b in some for c, d in others)


@given(st.lists(st.text(alphabet="ab ", min_size=1, max_size=6), min_size=1, max_size=6), spans)
def test_what_spans_leave_of_lines_is_what_each_alone_leaves(
    texts: list[str], hidden: list[tuple[int, int]]
) -> None:
    page, start = [], 0
    for text in texts:
        page.append(PageLine(text, " shape", "", (start, start + len(text))))
        start += len(text) + 1
    alone = [visible for line in page for visible in visible_lines((line,), hidden)]
    assert list(visible_lines(tuple(page), hidden)) == alone
