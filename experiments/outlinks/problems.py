"""Learning problems: which pages and weeks are learnt from, and which are predicted.

Splits are ``page`` (other pages of the same week), ``host`` (other sites, same week), ``time`` (the
same pages in earlier weeks) and ``host_time`` (other sites in earlier weeks).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from freshet.core.content.outlink_targets import LinkKind, OutlinkTarget, outlink_targets
from freshet.core.content.page_steps import PageSteps
from freshet.core.tables import BoolArray
from freshet.core.types import Float32Array, FloatArray, IndexArray
from freshet.features.outlinks.feature_table import FeatureTable, LookAround, OutlinkFeatures
from freshet.features.outlinks.rate_features import rate_features
from freshet.features.outlinks.taxonomy import FeatureSelection, FeatureSet, select_features
from freshet.relate.ranking.link_ranks import RandomWalk, rank_steps
from freshet.relate.semantic.approximate_index import ApproximateIndex
from freshet.relate.semantic.exact_index import ExactIndex
from freshet.relate.semantic.feature_groups import fit_feature_groups
from freshet.relate.semantic.neighbour_averages import neighbour_averages
from freshet.relate.semantic.vector_index import VectorIndex

SPLITS = ("page", "host", "time", "host_time")
PARTS = 4
PAST_WEEKS = 6
EXACT_PAGES = 20_000
RATES = "rates"
WALK = RandomWalk(tolerance=1e-6)


class FeatureSource:
    """Tables of features of the pages at any week, and of their targets."""

    def __init__(
        self, steps: PageSteps, *, history: int = 8, includes_target: bool = False
    ) -> None:
        trusted = np.flatnonzero(steps.url_depths.path == 0).astype(np.int32)
        steps = steps.with_ranks(*rank_steps(steps.link_graphs, trusted, WALK))
        self.steps = steps
        self.history = history
        index: VectorIndex = (
            ExactIndex(steps.vectors)
            if steps.page_count <= EXACT_PAGES
            else ApproximateIndex(steps.vectors)
        )
        self.around = LookAround(index.neighbours(), neighbour_averages)
        self.semantic = fit_feature_groups(steps.vectors).transform(steps.vectors)
        self.features = OutlinkFeatures(
            steps, self.around, self.semantic, history=history, includes_target=includes_target
        )
        self._rate_table = cache(lambda kind, as_of: rate_features(self.features, kind, as_of))

    def table(
        self, selection: str, target: OutlinkTarget, kind: LinkKind, as_of: int, history: int = 0
    ) -> FeatureTable:
        """Return a selection of features as known at a week; ``rates`` are the default model's.

        As in the paper, the link change rate is not predicted from the page's own history.
        """
        if selection == RATES:
            table: FeatureTable = self._rate_table(kind, as_of)
            return table
        chosen = select_features(FeatureSelection(selection), target, kind, history or self.history)
        if target is OutlinkTarget.LCR:
            chosen = tuple(
                feature for feature in chosen if feature.feature_set is not FeatureSet.DYNAMIC_PAGE
            )
        return self.features.table(as_of, chosen)

    def baseline_table(self, kind: LinkKind, as_of: int) -> FeatureTable:
        """Return the columns that the baselines read."""
        names = {
            f"new_{kind}_links_interval_1", f"new_{kind}_links_mean", f"{kind}_link_change_rate",
            "content_change_rate",
        }  # fmt: skip
        features = select_features(FeatureSelection.DP, OutlinkTarget.NNL, kind, self.history)
        return self.features.table(
            as_of, [feature for feature in features if feature.name in names]
        )


@dataclass(frozen=True, slots=True)
class OutlinkTask:
    """Rows to learn from, as pages and weeks, and the pages to predict at the last week."""

    target: OutlinkTarget
    kind: LinkKind
    split: str
    week: int
    trained: tuple[tuple[int, IndexArray], ...]
    tested: IndexArray

    def training_rows(
        self, source: FeatureSource, selection: str, history: int = 0
    ) -> tuple[Float32Array, FloatArray, IndexArray]:
        """Return the rows, the targets and the pages to learn from."""
        rows, outcomes, pages = [], [], []
        for week, members in self.trained:
            table = source.table(selection, self.target, self.kind, week - 1, history)
            rows.append(table.values[members])
            outcomes.append(targets_of(source.steps, self, week)[members])
            pages.append(members)
        return (
            np.concatenate(rows),
            np.concatenate(outcomes).astype(np.float64),
            np.concatenate(pages),
        )

    def tested_rows(self, source: FeatureSource, selection: str, history: int = 0) -> FeatureTable:
        """Return the features of the tested pages."""
        table = source.table(selection, self.target, self.kind, self.week - 1, history)
        return FeatureTable(table.names, table.values[self.tested])

    def truth(self, steps: PageSteps) -> FloatArray:
        """Return the targets of the tested pages."""
        return targets_of(steps, self, self.week)[self.tested].astype(np.float64)


def targets_of(steps: PageSteps, task: OutlinkTask, week: int) -> Float32Array:
    """Return the targets at a week; the link change rate is that of the last nine intervals."""
    if task.target is OutlinkTarget.LCR:
        counts = getattr(steps.new_links, task.kind.value)[:, max(1, week - 8) : week + 1]
        known = np.isfinite(counts).sum(axis=1)
        rates = (counts > 0).sum(axis=1) / np.maximum(known, 1)
        return np.where(known > 0, rates, np.nan).astype(np.float32)
    return outlink_targets(steps, task.target, task.kind, week)


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """Which weeks are predicted, on how many parts of the pages, and from how many rows at most.

    Parts of a quarter of the sites are drawn from the sites of ``host_pages`` only, all pages by
    default; all four parts are predicted. Of the pages ``page_parts`` are predicted. A seed draws
    other parts and rows; weeks and seeds are the repetitions.
    """

    weeks: tuple[int, ...]
    max_rows: int | None = None
    host_pages: BoolArray | None = None
    page_parts: int = 1
    seeds: tuple[int, ...] = (0,)

    @property
    def repetitions(self) -> Iterator[tuple[int, "EvaluationPlan"]]:
        """Yield each week with a plan of one seed, the last week last."""
        for week in self.weeks:
            for seed in self.seeds:
                yield week, replace(self, seeds=(seed,))

    def tasks(
        self, steps: PageSteps, target: OutlinkTarget, kind: LinkKind, split: str, week: int
    ) -> Iterator[OutlinkTask]:
        """Yield the tasks of a week, one for each part to predict, with the first seed."""
        rng = np.random.default_rng([self.seeds[0], week, SPLITS.index(split)])
        is_used, parts = np.ones(steps.page_count, np.bool_), np.zeros(steps.page_count, int)
        if "host" in split:
            is_used = is_used if self.host_pages is None else self.host_pages
            sites, members = np.unique(steps.sites, return_inverse=True)
            parts = (rng.permutation(len(sites)) % PARTS)[members]
        elif split == "page":
            parts = rng.permutation(steps.page_count) % PARTS
        part_count = PARTS if "host" in split else self.page_parts if split == "page" else 1
        for part in range(part_count):
            yield self._task(steps, (target, kind, split, week), is_used, parts == part)

    def _task(
        self,
        steps: PageSteps,
        names: tuple[OutlinkTarget, LinkKind, str, int],
        is_used: BoolArray,
        is_tested: BoolArray,
    ) -> OutlinkTask:
        empty = OutlinkTask(*names, (), np.empty(0, np.int32))
        rng = np.random.default_rng([self.seeds[0], empty.week])
        weeks = [empty.week]
        if "time" in empty.split:
            weeks = list(range(max(2, empty.week - PAST_WEEKS), empty.week))
        trained = []
        for week in weeks:
            is_trained = is_used & np.isfinite(targets_of(steps, empty, week))
            if empty.split != "time":
                is_trained &= ~is_tested
            members = np.flatnonzero(is_trained)
            most = len(members) if self.max_rows is None else self.max_rows // len(weeks)
            if len(members) > most:
                members = np.sort(rng.choice(members, most, replace=False))
            trained.append((week, members))
        is_known = np.isfinite(targets_of(steps, empty, empty.week))
        return replace(
            empty, trained=tuple(trained), tested=np.flatnonzero(is_used & is_tested & is_known)
        )
