"""Generated experts: random features, and features like those of changing pages."""

import numpy as np

from freshet.core.types import FloatArray
from freshet.predict.kernels.sliding_svm import ExpertArrays


def random_experts(seed: int, *, experts: int = 3, steps: int = 120) -> ExpertArrays:
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(experts, steps, 6))
    labels = (rng.random(steps) < 0.4).astype(np.int8)
    return ExpertArrays(dense, term_products(rng, experts, steps), labels)


def page_like_experts(seed: int, *, experts: int = 3, steps: int = 120) -> ExpertArrays:
    """Return experts with change flags, distances of versions and cosines, as pages have them."""
    rng = np.random.default_rng(seed)
    changes = (rng.random((experts, steps)) < 0.4).astype(float)
    distances = changes * rng.exponential(0.1, (experts, steps))
    frequencies = np.cumsum(changes, axis=1) / np.arange(1, steps + 1)
    cosines = 0.9 + 0.05 * rng.random((experts, steps))
    dense = np.stack(
        [frequencies, distances, np.roll(distances, 1, 1), changes, cosines, changes * cosines], 2
    )
    labels = np.roll(changes[0], -1).astype(np.int8)
    return ExpertArrays(dense, term_products(rng, experts, steps), labels)


def term_products(rng: np.random.Generator, experts: int, steps: int) -> FloatArray:
    distributions = rng.dirichlet(np.full(60, 0.3), size=(experts, steps))
    return distributions @ distributions.transpose(0, 2, 1)
