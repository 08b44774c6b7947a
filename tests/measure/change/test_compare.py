import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.counts_as import COUNTS_AS_FORMS, ChangeAspect, CountsAsRule, parse_counts_as
from freshet.core.errors import SettingsError
from freshet.core.types import ContentKind, TermCounts, View
from freshet.measure.change.compare import compare
from freshet.measure.noise.mask import Mask, MaskRule

MakeTerms = Callable[[str], TermCounts]
MakeView = Callable[..., View]

HERE, THERE = "https://example.org/a", "https://elsewhere.net/b"
CLOCK = Mask(3, (MaskRule("It is #:#"),))


def test_the_same_view_is_unchanged_in_every_way(view_of: MakeView) -> None:
    view = view_of("calm seas", links=(HERE,))
    change = compare(view, view, known_links=(HERE,))
    assert not change.changed
    facts = (change.bytes, change.text, change.significant, change.structure, change.links)
    assert not any(facts)
    assert (change.dice, change.words, change.never_seen, change.moved) == (1, 0, 0, False)


def test_other_bytes_around_the_same_text_are_not_a_change(view_of: MakeView) -> None:
    change = compare(view_of("calm seas", body="nonce 1"), view_of("calm seas", body="nonce 2"))
    assert change.bytes
    assert not change.text
    assert not change.changed


def test_other_text_is_a_change_with_its_amount(view_of: MakeView) -> None:
    change = compare(view_of("calm seas today"), view_of("rough seas today"))
    assert change.changed
    assert change.text
    assert change.words == 2
    assert change.dice == pytest.approx(2 / 3)


def test_links_that_came_and_went_keep_document_order(view_of: MakeView) -> None:
    old = view_of(links=(HERE, "https://example.org/x", "https://example.org/w"))
    new = view_of(links=("https://example.org/z", THERE, HERE, "https://example.org/y"))
    change = compare(old, new)
    assert change.links
    assert change.new_links == ("https://example.org/z", THERE, "https://example.org/y")
    assert change.removed_links == ("https://example.org/x", "https://example.org/w")
    assert (change.new_internal, change.new_external) == (2, 1)


def test_a_link_that_flaps_is_new_but_was_seen_before(view_of: MakeView) -> None:
    change = compare(view_of(), view_of(links=(HERE, THERE)), known_links={HERE})
    assert len(change.new_links) == 2
    assert change.never_seen == 1


def test_without_the_links_seen_before_it_stays_unknown_which_are_first_seen(
    view_of: MakeView,
) -> None:
    assert compare(view_of(), view_of(links=(HERE,))).never_seen is None


def test_another_final_address_is_a_move_and_not_a_change(view_of: MakeView) -> None:
    change = compare(view_of("same"), view_of("same", url="https://example.org/new"))
    assert change.moved
    assert not change.changed


def test_a_mask_hides_what_always_changes(view_of: MakeView) -> None:
    old, new = view_of("News. It is 10:15"), view_of("News. It is 10:16")
    assert compare(old, new).changed
    change = compare(old, new, mask=CLOCK)
    assert (change.changed, change.text, change.mask) == (False, True, 3)


def test_a_mask_leaves_other_changes_to_be_seen(view_of: MakeView) -> None:
    old, new = view_of("News. It is 10:15"), view_of("Other news. It is 10:16")
    assert compare(old, new, mask=CLOCK).changed


def test_a_binary_file_goes_by_its_bytes(view_of: MakeView) -> None:
    old, new = (view_of(kind=ContentKind.BINARY, body=body) for body in ("%PDF 1", "%PDF 2"))
    assert compare(old, new).changed
    assert not compare(old, old).changed


@pytest.mark.parametrize(("counts_as", "changed"), [("words:2", True), ("words:3", False)])
def test_the_threshold_can_be_a_number_of_words(
    counts_as: str, changed: bool, view_of: MakeView
) -> None:
    assert compare(view_of("a b c"), view_of("a b d"), counts_as=counts_as).changed is changed


def test_words_under_a_mask_are_those_that_are_left(view_of: MakeView, terms_of: MakeTerms) -> None:
    old, new = view_of("rain It is 10:15"), view_of("sun It is 10:16")
    assert compare(old, new, counts_as="words:4").changed
    hidden = compare(old, new, counts_as="words:4", mask=CLOCK, count_words=terms_of)
    assert not hidden.changed
    assert hidden.words == 4


def test_words_under_a_mask_cannot_be_counted_by_nobody(view_of: MakeView) -> None:
    with pytest.raises(TypeError, match="count_words"):
        compare(view_of("rain"), view_of("sun"), counts_as="significant", mask=CLOCK)


def test_only_significant_change_may_count(view_of: MakeView) -> None:
    page = "word " * 200 + "end"
    small = compare(view_of(page), view_of(f"{page} word"), counts_as="significant")
    large = compare(view_of(page), view_of("other " * 200), counts_as="significant")
    assert (small.text, small.changed, large.changed) == (True, False, True)


def test_only_links_may_count(view_of: MakeView) -> None:
    old = view_of("a", links=(HERE,))
    assert not compare(old, view_of("b", links=(HERE,)), counts_as="links").changed
    assert compare(old, view_of("a", links=(THERE,)), counts_as="links").changed


def test_only_structure_may_count(view_of: MakeView) -> None:
    old = view_of("a", body="<p>a")
    assert not compare(old, view_of("b", body="<p>b"), counts_as="structure").changed
    assert compare(old, view_of("a", body="<p><b>a"), counts_as="structure").changed


def test_every_form_of_counts_as_is_understood() -> None:
    plain = ("text", "significant", "links", "structure")
    assert [parse_counts_as(form) for form in plain] == [
        CountsAsRule(ChangeAspect(form)) for form in plain
    ]
    assert parse_counts_as(" words:25 ") == CountsAsRule(ChangeAspect.WORDS, 25)


@pytest.mark.parametrize(
    "setting",
    [
        "",
        "words",
        "words:",
        "words:0",
        "words:-1",
        "words:two",
        "words:" + "9" * 5000,
        "text:3",
        "Text",
        "dice",
    ],
)
def test_an_unknown_counts_as_names_the_allowed_forms(setting: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(COUNTS_AS_FORMS)):
        parse_counts_as(setting)


urls = st.lists(st.sampled_from([HERE, THERE, "https://example.org/c"]), unique=True).map(tuple)


@given(urls, urls)
def test_old_links_less_removed_plus_new_are_the_new_links(
    view_of: MakeView, old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    change = compare(view_of(links=old), view_of(links=new))
    assert (set(old) - set(change.removed_links)) | set(change.new_links) == set(new)
    assert change.new_internal is not None
    assert change.new_external is not None
    assert change.new_internal + change.new_external == len(change.new_links)
