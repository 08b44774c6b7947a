"""Run the experiment: ``python -m experiments.outlinks [--data DIR] [--json]``."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.experiment_command import (
    describe_data,
    make_shared_parser,
    print_progress,
    run_command,
)
from experiments.outlinks.charts import draw_charts
from experiments.outlinks.document import fill_tables
from experiments.outlinks.expected_figures import (
    EXPECTED,
    SourceRecord,
    StoredFigures,
    read_figures,
    save_figures,
    source_record,
    with_result,
)
from experiments.outlinks.experiment import (
    EXPERIMENT_PARTS,
    MODELS,
    TUNING,
    USUAL_PARTS,
    ExperimentSettings,
    SourceFeatures,
    run_experiment,
)
from experiments.outlinks.finished_stages import FinishedStages, StageRecord
from experiments.outlinks.generated_world import PAGES, GeneratedWeb, generate_web
from experiments.outlinks.problems import PARTS, SPLITS, EvaluationPlan
from experiments.outlinks.recorded_weeks import read_weeks
from experiments.outlinks.result_tables import (
    ExperimentResult,
    as_json,
    as_text,
    merge_results,
)
from freshet.core.content.outlink_targets import LinkKind, OutlinkTarget
from freshet.core.content.page_steps import PageSteps
from freshet.core.errors import UsageError

WORLD, RECORDED = "world", "pages"
VECTOR_WEEK, LAST_WEEK = 15, 26
HOST_PARTS = ("ota_", "stalker")


def main() -> None:
    """Run the experiment and print its rows; print an error as one line."""
    options = make_parser().parse_args()
    run_command("outlinks", lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    if options.only_document:
        return _fill_document(options)
    # A run of everything keeps no older row.
    stored = StoredFigures() if options.all else read_figures(options.figures)
    result = ExperimentResult()
    for record, stage_result in run_stages(options):
        result = merge_results(result, stage_result)
        stored = with_result(stored, record, stage_result)
        if options.keep and not options.all:
            save_figures(stored, options.figures)
    if options.keep:
        save_figures(stored, options.figures)
    if options.document:
        _fill_document(options)
    description = describe_data(options.data)
    if options.json:
        sys.stdout.write(f"{as_json(description, result)}\n")
    else:
        sys.stdout.write(f"outlinks: {description}\n{as_text(result)}\n")
    return None


def run_stages(options: argparse.Namespace) -> Iterator[tuple[SourceRecord, ExperimentResult]]:
    """Yield the result of each stage; with ``--all`` finished stages are not run again."""
    finished = FinishedStages(options.work if options.all else None)
    for name, steps, settings in open_sources(options):
        features, source = SourceFeatures(name, steps), source_record(name, steps)
        for stage in stages(settings):
            record = StageRecord(
                source.digest, stage.parts[0], stage.splits[0], settings_text(stage)
            )
            result = finished.get(name, record)
            if result is None:
                result = run_experiment(features, stage, print_progress)
                finished.put(name, record, result)
            yield source, result


def stages(settings: ExperimentSettings) -> Iterator[ExperimentSettings]:
    """Yield settings of one part, or one split of the models, each; results are kept after each."""
    for part in settings.parts:
        for split in settings.splits if part == MODELS else settings.splits[:1]:
            yield replace(settings, parts=(part,), splits=(split,))


def settings_text(stage: ExperimentSettings) -> str:
    """Return what a stage was run with, in one line."""
    plan = stage.plan
    return (
        f"weeks {plan.weeks}, rows {plan.max_rows}, parts {plan.page_parts}, seeds {plan.seeds}, "
        f"targets {[str(target) for target in stage.targets]}, "
        f"links {[str(kind) for kind in stage.kinds]}"
        + (f", draws {stage.tuning_draws}" if stage.parts == (TUNING,) else "")
    )


def open_sources(
    options: argparse.Namespace,
) -> Iterator[tuple[str, PageSteps, ExperimentSettings]]:
    """Yield the pages of the run; with ``--all`` the real pages and the world."""
    if options.all:
        if options.data is None:
            raise UsageError("--all runs the real pages too; give their folder with --data DIR")
        yield open_source(options)
        options = argparse.Namespace(**(vars(options) | {"data": None}))
    yield open_source(options)


def open_source(options: argparse.Namespace) -> tuple[str, PageSteps, ExperimentSettings]:
    """Return the name of the pages, the pages, and the settings of their run."""
    parts = tuple(options.part or USUAL_PARTS)
    seeds = tuple(range(options.repetitions))
    if options.data is None:
        web = GeneratedWeb(options.pages, seed=options.seed)
        plan = EvaluationPlan((web.weeks - 1,), options.max_rows, seeds=seeds)
        splits = tuple(options.split or SPLITS[:1])
        settings = ExperimentSettings(plan, parts, splits)
        return WORLD, generate_web(web), _with_choices(settings, options)
    pages = read_weeks(options.data, options.work).with_vectors(VECTOR_WEEK)
    weeks = tuple(range(LAST_WEEK + 1 - options.weeks, LAST_WEEK + 1))
    host_pages = np.array([part.startswith(HOST_PARTS) for part in pages.parts])
    plan = EvaluationPlan(weeks, options.max_rows, host_pages, PARTS, seeds)
    splits = tuple(options.split or SPLITS)
    settings = ExperimentSettings(plan, parts, splits, trace_folder=options.data)
    return RECORDED, pages.steps, _with_choices(settings, options)


def _with_choices(settings: ExperimentSettings, options: argparse.Namespace) -> ExperimentSettings:
    """Return the settings with the chosen kinds of links and targets; by default all."""
    kinds = tuple(LinkKind(name) for name in options.links or LinkKind)
    targets = tuple(OutlinkTarget(name) for name in options.target or OutlinkTarget)
    return replace(settings, kinds=kinds, targets=targets, tuning_draws=options.tune)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = make_shared_parser("outlinks")
    parser.add_argument(
        "--all",
        action="store_true",
        help="run the real pages and the world; parts that are finished in WORK are not run again",
    )
    parser.add_argument(
        "--part",
        action="append",
        choices=EXPERIMENT_PARTS,
        help="run this part; may be repeated; by default all but tuning",
    )
    parser.add_argument(
        "--split", action="append", choices=SPLITS, help="use only this split; may be repeated"
    )
    parser.add_argument(
        "--links", action="append", choices=tuple(LinkKind), help="only this kind for the models"
    )
    parser.add_argument(
        "--target", action="append", choices=tuple(OutlinkTarget), help="only this target"
    )
    parser.add_argument(
        "--pages", type=int, default=PAGES, help=f"pages of the world; default {PAGES}"
    )
    parser.add_argument(
        "--max-rows", type=int, default=6000, help="rows that a model learns from; default 6000"
    )
    parser.add_argument(
        "--weeks", type=int, default=3, help="weeks of real pages to predict, the last; default 3"
    )
    parser.add_argument(
        "--tune", type=int, default=3, help="parameters tried to tune trees for NL; default 3"
    )
    parser.add_argument("--repetitions", type=int, default=1, help="seeds of the splits; default 1")
    parser.add_argument(
        "--figures", type=Path, default=EXPECTED, help="file of stored figures; expected.json"
    )
    return parser


def _fill_document(options: argparse.Namespace) -> None:
    path: Path = options.document
    figures = read_figures(options.figures)
    path.write_text(fill_tables(path.read_text("utf-8"), figures), "utf-8")
    draw_charts(path.with_suffix(""), figures.result)


if __name__ == "__main__":
    main()
