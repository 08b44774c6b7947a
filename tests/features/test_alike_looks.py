"""Looks that are alike: by the size of the latest change, by the text, and by the stay."""

import numpy as np
import pytest

from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.types import FloatArray
from freshet.features.alike_looks import ALIKE_NAMES, AlikeLooks
from freshet.features.kernels.alike_looks import FEATURE_COUNT, RECENT_LOOKS

PAGE = np.zeros(1, np.int32)


def looks_of(hashes: list[int], sizes: list[float], words: list[float]) -> MeasuredLooks:
    """Return looks at one page; a look found a change if its text differs from the one before."""
    count = len(hashes)
    texts, unknown = np.array(hashes, np.uint64), np.full(count, np.nan)
    changed = np.append(False, texts[1:] != texts[:-1])
    return MeasuredLooks(
        np.zeros(count, np.int32), np.arange(count) * 86_400.0, np.arange(count) > 0, changed,
        texts, np.array(words), unknown, unknown, np.array(sizes),
    )  # fmt: skip


def column(features: FloatArray, name: str) -> FloatArray:
    return features[:, ALIKE_NAMES.index(name)].astype(float)


def test_names_are_those_of_the_compiled_loop() -> None:
    assert len(ALIKE_NAMES) == FEATURE_COUNT


def test_changes_that_are_soon_taken_back_are_told_by_their_size() -> None:
    # A banner of 12 words is shown for one look; an edit of 40 words stays for three.
    hashes, sizes, words = [1], [100.0], [np.nan]
    for round_number in range(12):
        with_banner, edited = 100 + round_number, 200 + round_number
        size = sizes[-1]
        hashes += [with_banner, hashes[-1], edited, edited, edited]
        sizes += [size + 12, size, size + 40, size + 40, size + 40]
        words += [12, 12, 40, np.nan, np.nan]
    features = AlikeLooks(1).add_looks(looks_of(hashes, sizes, words))[-10:]
    # Rows: before the banner, before it goes, before the edit, and two quiet looks after it.
    shares = column(features, "after_same_change")
    assert shares[1] > 0.9 > 0.5 > shares[4]
    assert shares[2] > 0.9
    assert column(features, "reversal")[2] == pytest.approx(1.0)
    assert column(features, "is_restored")[[1, 2, 3]].tolist() == [0.0, 1.0, 0.0]
    assert column(features, "last_growth")[1] == pytest.approx(np.log1p(12), rel=1e-5)
    stays = column(features, "after_stay_change")
    assert stays[5] > 0.7 > 0.3 > max(stays[3], stays[4])


def test_the_share_of_a_text_is_that_of_its_looks() -> None:
    looks = looks_of([1, 1, 1, 2], [5.0] * 4, [np.nan, 0, 0, 5])
    alike = AlikeLooks(1)
    features = alike.add_looks(looks)
    assert column(features, "text_share_4").tolist() == [0.0, 0.0, 1.0, 1.0]
    assert column(alike.at(PAGE), "text_share_4").tolist() == [0.0]
    assert np.isnan(column(features, "last_growth")).all()


def test_features_do_not_depend_on_how_looks_are_batched_and_forget_old_ones() -> None:
    rng = np.random.default_rng(3)
    count = 5 * RECENT_LOOKS
    hashes = rng.integers(1, 4, count).tolist()
    looks = looks_of(hashes, rng.integers(50, 60, count).tolist(), rng.integers(1, 9, count))
    full = AlikeLooks(1).add_looks(looks)
    parts, later = AlikeLooks(0), AlikeLooks(1)
    parts.add_pages(1)
    parts.add_looks(looks.select(slice(0, 210)))
    np.testing.assert_array_equal(parts.at(PAGE)[0], full[210])
    np.testing.assert_array_equal(parts.add_looks(looks.select(slice(210, count))), full[210:])
    later.add_looks(looks.select(slice(count - RECENT_LOOKS - 5, count)))
    np.testing.assert_allclose(later.at(PAGE), parts.at(PAGE), rtol=1e-6)
    parts.forget_page(0)
    np.testing.assert_array_equal(parts.at(PAGE), AlikeLooks(1).at(PAGE))


def test_looks_without_hashes_and_sizes_are_told_by_their_outcome() -> None:
    looks = looks_of([1, 2, 2, 2], [np.nan] * 4, [np.nan] * 4)
    unknown = MeasuredLooks(*(getattr(looks, name) for name in MeasuredLooks.__slots__[:4]),
                            np.zeros(4, np.uint64), *([np.full(4, np.nan)] * 4))  # fmt: skip
    alike = AlikeLooks(1)
    features = alike.add_looks(unknown)
    assert np.isfinite(features[:, : ALIKE_NAMES.index("last_growth")]).all()
    assert column(features, "last_growth")[2:].tolist() == [0.0, 0.0]
    assert column(alike.at(PAGE), "after_text") == pytest.approx(
        column(alike.at(PAGE), "recent_share")
    )
