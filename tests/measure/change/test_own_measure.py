"""Measures of users as what counts as a change."""

from collections.abc import Callable

import pytest

from freshet.core.errors import OwnMeasureError, UsageError
from freshet.core.types import View
from freshet.measure.change.compare import compare
from freshet.measure.noise.mask import Mask, MaskRule

MakeView = Callable[..., View]
OWN = f"{__name__}:Longer"


class Longer:
    """Counts only texts that grew."""

    def is_change(self, old: View, new: View) -> bool:
        return len(new.text) > len(old.text)


class Failing:
    """Fails on every difference."""

    def is_change(self, old: View, new: View) -> bool:
        raise ValueError("no price")


def test_an_own_measure_decides_whether_a_difference_counts(view_of: MakeView) -> None:
    short, long = view_of("calm seas"), view_of("calm seas and sun")
    assert compare(short, long, counts_as=OWN).changed
    back = compare(long, short, counts_as=OWN)
    assert back.text
    assert not back.changed


def test_an_own_measure_sees_what_the_mask_leaves(view_of: MakeView) -> None:
    mask = Mask(3, (MaskRule("It is #:#"),))
    old, new = view_of("calm seas today\nIt is 10:15"), view_of("calm seas now\nIt is 1:1")
    assert not compare(old, new, counts_as=OWN, mask=mask).changed
    assert not compare(view_of("calm\nIt is 1:1"), view_of("calm\nIt is 10:15"), counts_as=OWN,
                       mask=mask).changed  # fmt: skip


def test_a_measure_that_raises_is_named_with_its_method(view_of: MakeView) -> None:
    with pytest.raises(OwnMeasureError, match=r":Failing\.is_change failed: ValueError: no price"):
        compare(view_of("a"), view_of("b"), counts_as=f"{__name__}:Failing")


def test_a_measure_that_cannot_be_imported_is_named(view_of: MakeView) -> None:
    with pytest.raises(UsageError, match=r"'no\.such:Measure' cannot be imported"):
        compare(view_of("a"), view_of("b"), counts_as="no.such:Measure")
