"""Patterns are found where one expression tried at every place would find them."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.errors import SettingsError
from freshet.measure.noise.mask_pattern import (
    HIDDEN_MARK,
    MAX_TRIES,
    MAX_WILDCARD_CHARS,
    TextSpan,
    _segments,
    compile_pattern,
    tries_per_pattern,
)

ANY = rf"[^\n\x1a]{{0,{MAX_WILDCARD_CHARS}}}"
patterns = st.text(alphabet="ab*# \\\\1", min_size=1, max_size=8)
texts = st.text(alphabet=f"ab1 \n{HIDDEN_MARK}", max_size=40) | st.builds(
    lambda parts: "".join(parts),
    st.lists(st.sampled_from(["a", "b", "1", "x" * 150, "y" * 199, "z" * 201, "\n"]), max_size=12),
)


def plain_spans(pattern: str, text: str) -> Iterator[TextSpan]:
    """Find a pattern as one expression, tried at every place of the text."""
    first, *others = _segments(pattern.strip())
    parts = [f"(?>{ANY}?{piece})" if piece else f"{ANY}+" for piece in others]
    return (match.span() for match in re.finditer(first + "".join(parts), text))


@given(patterns, texts)
def test_spans_are_those_of_one_expression(pattern: str, text: str) -> None:
    try:
        compiled = compile_pattern(pattern)
    except SettingsError:
        return
    assert list(compiled.spans(text)) == list(plain_spans(pattern, text))


@pytest.mark.parametrize("pattern", ["a*b", "a*a*a*b", "#*b", "a * b*"])
def test_vain_tries_are_bounded(pattern: str) -> None:
    compiled = compile_pattern(pattern)
    text = "a 1 " * 30 + "\n" + "a 1 a a b\n"
    assert list(compiled.spans(text))
    assert not list(compiled.spans(text, tries=20))


@pytest.mark.parametrize("pattern", ["a", "a*", "*a", "a*1"])
def test_hits_are_bounded(pattern: str) -> None:
    assert len(list(compile_pattern(pattern).spans("a 1\n" * 30, tries=20))) == 20


@pytest.mark.parametrize("pattern", ["* minutes ago", "a*a*a*b", "#*#*x", "1*2*3"])
@pytest.mark.parametrize("text", ["a" * 2_000_000, "1" * 2_000_000, "a 1 " * 500_000])
def test_a_pattern_that_never_fits_a_huge_line_ends_soon(pattern: str, text: str) -> None:
    assert list(compile_pattern(pattern).spans(text, tries=1_000)) == []


def test_many_patterns_share_their_tries() -> None:
    assert tries_per_pattern(0) == tries_per_pattern(1) == MAX_TRIES
    assert tries_per_pattern(5) * 5 == MAX_TRIES
