"""The features of new links of 384,323 pages at nine weekly steps, from link events and vectors.

The related pages are given. The times include counting new links, the link graphs, PageRank and
TrustRank, grouping the dimensions of the vectors, and the table of all features at each of the nine
steps. The reference counts the new links of all steps with sets, and computes the table of the last
step in a loop over the pages, for 2,000 pages; it is given ranks and groups. Its rate is compared
with ours for the same, and the tables must agree. Required at full size are at most 300 seconds and
8,000 MB on two cores. ``--model`` also fits the default model of new links to the last step but one
and predicts the last. ``--pages N`` sets another number of pages.
"""

import sys
from argparse import ArgumentParser

import numpy as np

from benchmarks.neighbours_cpu import peak_megabytes
from benchmarks.outlink_reference import plain_table
from benchmarks.outlink_world import GeneratedLinks, generate_related, generate_vectors
from benchmarks.report import BenchmarkResult, report, seconds
from freshet.core.clock import monotonic_seconds
from freshet.core.content.link_graph import build_link_graph
from freshet.core.content.new_links import NewLinkCounter
from freshet.core.content.outlink_targets import LinkKind, OutlinkTarget, outlink_targets
from freshet.core.content.page_steps import PageMeasures, PageSteps, UrlDepths
from freshet.core.types import Float32Array
from freshet.features.outlinks.feature_table import FeatureTable, LookAround, OutlinkFeatures
from freshet.features.outlinks.rate_features import RATE_FEATURES, rate_features
from freshet.features.outlinks.taxonomy import derive_features
from freshet.predict.outlinks.default_model import NewLinkClassifier, NewLinkRegressor
from freshet.relate.ranking.link_ranks import rank_steps
from freshet.relate.semantic.feature_groups import fit_feature_groups
from freshet.relate.semantic.neighbour_averages import neighbour_averages

PAGES, STEPS, SMALL_PAGES, TRUSTED_PAGES = 384_323, 9, 2000, 100
MAX_SECONDS, MAX_MEGABYTES, MAX_MODEL_SECONDS = 300.0, 8000.0, 1800.0


class LinkFeatureRun:
    """Builds the pages from generated links and counts the seconds of all but the generation."""

    def __init__(self, page_count: int) -> None:
        self.links = GeneratedLinks(page_count)
        self.related = generate_related(page_count)
        self.vectors = generate_vectors(page_count)
        self.seconds = 0.0
        self._sizes: list[Float32Array] = []
        self.features = self._build()

    def last_table(self, step_count: int) -> FeatureTable:
        """Compute the table of all features at the last steps; return that of the last one."""
        columns = derive_features()
        started = monotonic_seconds()
        for step in range(STEPS - step_count, STEPS):
            table = self.features.table(step, columns)
        self.seconds += monotonic_seconds() - started
        return table

    def _build(self) -> OutlinkFeatures:
        page_count = self.links.page_count
        known = np.ones((page_count, STEPS), np.bool_)
        counter, graphs = NewLinkCounter(page_count), []
        changed = np.full((page_count, STEPS), np.nan, np.float32)
        for step in range(STEPS):
            links, targets = self.links.at_step(step)
            started = monotonic_seconds()
            counter.add_step(links, known[:, step])
            graphs.append(build_link_graph(*targets, page_count))
            internal = np.bincount(links.pages[links.is_internal], minlength=page_count)
            total = np.bincount(links.pages, minlength=page_count)
            self._sizes.append(np.stack([internal, total - internal]).astype(np.float32))
            self.seconds += monotonic_seconds() - started
            changed[:, step] = self.links.is_changed if step else np.nan
        started = monotonic_seconds()
        trusted = np.arange(min(TRUSTED_PAGES, page_count), dtype=np.int32)
        internal, external = (
            np.stack([size[kind] for size in self._sizes], axis=1) for kind in (0, 1)
        )
        words = np.repeat(self.links.words[:, None], STEPS, axis=1)
        steps = PageSteps(
            tuple(map(str, range(page_count))),
            self.links.sites,
            np.arange(STEPS) * 7.0,
            known,
            UrlDepths(self.links.depths, np.ones(page_count, np.float32)),
            PageMeasures(
                words * 9, words, np.sqrt(words) * 8, internal, external,
                *rank_steps(graphs, trusted),
            ),
            counter.counts(),
            changed,
            tuple(graphs),
            self.vectors,
            0,
        )  # fmt: skip
        semantic = fit_feature_groups(self.vectors).transform(self.vectors)
        features = OutlinkFeatures(steps, LookAround(self.related, neighbour_averages), semantic)
        self.seconds += monotonic_seconds() - started
        return features


def compare_small() -> BenchmarkResult:
    """Return the rates of the table and of the plain reference, whose values must agree.

    Both count the new links of all steps, and compute the table of the last one.
    """
    run = LinkFeatureRun(SMALL_PAGES)
    ours = run.last_table(1).values
    generated = GeneratedLinks(SMALL_PAGES)
    links = [generated.at_step(step)[0] for step in range(STEPS)]
    reference: list[Float32Array] = []
    plain_seconds = seconds(lambda: reference.append(plain_table(run.features, links)))
    if not np.allclose(ours, reference[0], rtol=1e-3, atol=1e-5, equal_nan=True):
        sys.exit("the plain reference computes other features")
    rates = SMALL_PAGES / run.seconds, SMALL_PAGES / plain_seconds
    return BenchmarkResult("last table, 2,000 pages", *rates, "pages/s")


def run_model(features: OutlinkFeatures) -> float:
    """Return the seconds to fit and apply the default models, internal and external."""
    started = monotonic_seconds()
    steps = features.steps
    for kind in LinkKind:
        past, now = (rate_features(features, kind, step) for step in (STEPS - 3, STEPS - 2))
        for target, model in (
            (OutlinkTarget.NL, NewLinkClassifier(tuple(RATE_FEATURES))),
            (OutlinkTarget.NNL, NewLinkRegressor(tuple(RATE_FEATURES))),
        ):
            outcomes = outlink_targets(steps, target, kind, STEPS - 2)
            model.fit(past.values, outcomes, groups=steps.sites)
            model.predict(now.values)
    return monotonic_seconds() - started


def main() -> None:
    """Print time and memory of the whole against the required ones, and the ratio of a part."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--model", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = [compare_small()]
    run = LinkFeatureRun(options.pages)
    run.last_table(STEPS)
    results.append(BenchmarkResult("table, seconds", run.seconds, MAX_SECONDS, "s"))
    results.append(BenchmarkResult("table, peak memory", peak_megabytes(), MAX_MEGABYTES, "MB"))
    if options.model:
        model_seconds = run_model(run.features)
        results.append(BenchmarkResult("model, seconds", model_seconds, MAX_MODEL_SECONDS, "s"))
        results.append(BenchmarkResult("model, peak memory", peak_megabytes(), MAX_MEGABYTES, "MB"))
    report(*results)


if __name__ == "__main__":
    main()
