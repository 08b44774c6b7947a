"""A target page with its experts, and the settings of machines that slide over its steps."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.errors import BadInputError
from freshet.core.types import FloatArray
from freshet.predict.kernels.sliding_svm import ExpertArrays, KernelSettings, LabelArray

PENALTIES = (0.01, 0.03, 0.1)
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class ExpertProblem:
    """What the experts know at each step, and the labels of the target page.

    The first expert is the page itself. ``dense[expert, step, feature]`` may hold NaN: an unknown
    feature counts as its mean in the window, and an expert without any feature abstains.
    ``gram[expert, step, step]`` has the dot products of the term distributions of two steps, or is
    None. ``labels[step]`` is 0, 1, or -1 if unknown; a label must follow from what is known
    ``horizon`` steps later. ``weights`` are the relation weights; None weighs all by 1.
    ``own_chances[step]`` is a chance of 1 from the page's own past, with which the chances of
    every method are pooled; the class then follows from the chance. None leaves both as they are.
    """

    dense: FloatArray
    labels: LabelArray
    gram: FloatArray | None = None
    weights: FloatArray | None = None
    own_chances: FloatArray | None = None

    def __post_init__(self) -> None:
        """Raise BadInputError if the shapes do not fit."""
        if self.dense.ndim != 3 or len(self.dense) == 0:
            raise BadInputError(
                f"dense features have the shape {self.dense.shape}; they need experts (at least"
                " the page itself), steps and features"
            )
        experts, steps, _ = self.dense.shape
        expected: list[tuple[NDArray[Any], tuple[int, ...], str]] = [
            (self.labels, (steps,), "labels")
        ]
        if self.gram is not None:
            expected.append((self.gram, (experts, steps, steps), "gram"))
        if self.weights is not None:
            expected.append((self.weights, (experts,), "weights"))
        if self.own_chances is not None:
            expected.append((self.own_chances, (steps,), "own_chances"))
        for array, shape, name in expected:
            if array.shape != shape:
                raise BadInputError(f"{name} has the shape {array.shape} instead of {shape}")

    @property
    def step_count(self) -> int:
        """Return the number of steps."""
        return len(self.labels)

    def relation_weights(self) -> FloatArray:
        """Return the relation weight of every expert; an unknown or negative one counts as 0."""
        if self.weights is None:
            return np.ones(len(self.dense))
        weights: FloatArray = np.maximum(np.nan_to_num(np.asarray(self.weights, float)), 0.0)
        return weights

    def expert_arrays(self) -> ExpertArrays:
        """Return the experts as the compiled loops take them."""
        dense = np.where(np.isfinite(self.dense), self.dense, np.nan)
        return ExpertArrays(dense, self._products(), np.ascontiguousarray(self.labels, np.int8))

    def own_arrays(self) -> ExpertArrays:
        """Return the page itself as the only expert."""
        gram = None if self.gram is None else self.gram[:1]
        return ExpertProblem(self.dense[:1], self.labels, gram).expert_arrays()

    def union_arrays(self) -> ExpertArrays:
        """Return one expert that has the features of all."""
        experts = self.expert_arrays()
        dense = np.concatenate(list(experts.dense), axis=1)[None]
        return experts._replace(dense=dense, gram=experts.gram.sum(axis=0, keepdims=True))

    def _products(self) -> FloatArray:
        experts, steps, _ = self.dense.shape
        if self.gram is None:
            return np.zeros((experts, steps, steps))
        gram = np.ascontiguousarray(self.gram, dtype=np.float64)
        return gram if np.isfinite(gram).all() else np.where(np.isfinite(gram), gram, 0.0)


@dataclass(frozen=True, slots=True)
class SlidingSettings:
    """How machines are fitted and combined; the defaults are those of the stored experiments.

    ``penalties`` is the grid of C, from which each expert takes the one with the fewest errors
    before; larger ones gave worse forecasts of real pages. Predictions start after ``warm_up``
    steps (half a window by default), so that C, the weights of experts and the calibration have
    past predictions when the first window is full.
    ``gamma`` None is one divided by the number of features that vary. ``models`` is the number of
    models of bagging and boosting, ``learning_rate`` that of Hedge.
    """

    window: int = 50
    horizon: int = 1
    penalties: tuple[float, ...] = PENALTIES
    gamma: float | None = None
    coef0: float = 1.0
    tolerance: float = 1e-3
    warm_up: int | None = None
    models: int = 10
    learning_rate: float = 0.5
    prior_weight: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise BadInputError for a window, a horizon or penalties that make no sense."""
        if self.window < 2 or self.horizon < 1 or self.models < 1:
            raise BadInputError(
                "a window has at least 2 steps, a horizon and an ensemble at least 1"
            )
        if not self.penalties or min(self.penalties) <= 0:
            raise BadInputError(f"penalties are {self.penalties}; they must be positive")

    @property
    def first_step(self) -> int:
        """Return the first step that is predicted."""
        return self.window // 2 if self.warm_up is None else self.warm_up

    def kernel_settings(self, *, with_own: bool = False) -> KernelSettings:
        """Return the settings of the compiled loops."""
        return KernelSettings(
            self.window,
            self.horizon,
            self.first_step,
            self.gamma or 0.0,
            self.coef0,
            self.tolerance,
            with_own,
        )
