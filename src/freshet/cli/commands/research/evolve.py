"""Learns by genetic programming: formulas whose simulated crawls of the training pages find the
most changes produce the next generation. The best formulas are compared on validation pages, and
the selected one is tested on pages that no search has seen, together with the classic policies and
the oracles, which know the true changes.

The result is a model file, and its path can be used as a policy: `freshet simulate --policy
formula.json` back-tests it, and `policy = "formula.json"` in freshet.toml makes the crawl use it.
The same seed gives the same formula with any number of workers.

The state is saved to the checkpoint after every generation. Ctrl-C stops after the current one; the
same command with --resume continues and gives the same result as an uninterrupted search.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from freshet.backtest.cycle_crawl import visits_per_cycle
from freshet.backtest.cycle_oracles import CYCLE_ORACLES
from freshet.cli.commands.research.simulate import parse_share
from freshet.cli.interrupts import interruptible
from freshet.cli.options import JsonOption, new_app
from freshet.cli.output import (
    format_count,
    print_json,
    print_table,
    print_text,
    print_warning,
    progress_bar,
    to_json_value,
)
from freshet.cli.trace_options import (
    CycleCountOption,
    ImputeOption,
    MinKnownOption,
    PageCountOption,
    TraceArgument,
    TraceFormatOption,
    TraceNameOption,
    open_trace_with_progress,
)
from freshet.core.errors import StopRequestedError, UsageError
from freshet.core.progress import ignore_progress
from freshet.engine.local import LocalEngine
from freshet.formula.variables import FitnessMeasure, WeightClock
from freshet.learning.evolve.comparison import (
    COMPARISON_SEEDS,
    LEARNED_POLICY,
    MIN_INTERVAL_FOLDS,
    MeanTestResult,
)
from freshet.learning.evolve.evolution import (
    EvolutionFiles,
    EvolutionProgress,
    check_output_files,
    evolve,
)
from freshet.learning.evolve.genetic_search import GPConfig
from freshet.learning.evolve.result import EvolutionResult, SearchResult
from freshet.learning.evolve.task import EstimateKind, EvolutionTask, check_task
from freshet.schedule.model_file import SelectionMethod, TerminalSet

QUICK_CONFIG = GPConfig(population=100, generations=15)
SEARCH_COLUMNS = ("fold", "seed", "training", "validation", "test", "formula")
RANKING_COLUMNS = ("policy", "changerate", "±", "ndcg", "±", "freshness", "±")
MAX_FORMULA_LENGTH = 60
MIN_TEST_VISITS = 10
SEEDS_NOTE = f"means of {COMPARISON_SEEDS} seeds"
QUICK_WARNING = (
    "--quick is one short search, which may end far from the best formula; for one to crawl by, "
    "leave it out"
)

app = new_app()


@app.command()
def learn(
    where: TraceArgument = None,
    form: TraceFormatOption = "",
    name: TraceNameOption = "",
    impute: ImputeOption = None,
    known: MinKnownOption = None,
    pages: PageCountOption = None,
    cycles: CycleCountOption = None,
    terminals: Annotated[
        TerminalSet, typer.Option(metavar="SET", help="Set of variables available to formulas: basic, all or extended.")
    ] = "all",
    estimates: Annotated[
        EstimateKind, typer.Option(metavar="AS", help="Meaning of NAD, SAD, AAD and GAD in formulas: rates, or chances "
"(probability of a change).")
    ] = "rates",
    fitness: Annotated[
        FitnessMeasure, typer.Option(metavar="MEASURE", help="Measure to maximise: ndcg or changerate.")
    ] = "ndcg",
    budget: Annotated[
        str, typer.Option(metavar="SHARE", help="Visits per cycle as a share of the pages.")
    ] = "5%",
    clock: Annotated[
        WeightClock, typer.Option(metavar="CLOCK", help="Weight the estimates by visit or by cycle.")
    ] = "visit",
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Run one short search: 1 seed, 100 formulas, 15 generations. The result may "
"be far from the best."
        ),
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of independent searches. Default: 5.")
    ] = None,
    population: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="Formulas per generation. Default: 300.")
    ] = None,
    generations: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of generations. Default: 50.")
    ] = None,
    kept: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of best formulas to compare on the validation pages.")
    ] = 50,
    select: Annotated[
        SelectionMethod, typer.Option(metavar="HOW", help="Selection method on the validation pages: best, avg or sum.")
    ] = "best",
    folds: Annotated[
        int, typer.Option(min=0, max=5, metavar="N", help="Number of folds to test on, 1 to 5; 0 uses all pages for learning.")
    ] = 1,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed for folds, ties and searches.")
    ] = 1,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Model file to write.")
    ] = Path("formula.json"),
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Checkpoint file. Default: next to the model file, with the suffix "
".checkpoint.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the checkpoint.")
    ] = False,
    workers: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of threads; 0 uses all cores.")
    ] = 0,
    device: Annotated[
        Literal["cpu", "cuda"], typer.Option(metavar="DEVICE", help="Device that evaluates formulas: cpu or cuda (GPU).")
    ] = "cpu",
    as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Learn the formula that ranks pages best, from a trace."""
    usual = QUICK_CONFIG if quick else GPConfig()
    ways = replace(
        usual,
        population=population or usual.population,
        generations=generations or usual.generations,
        kept=kept,
    )
    task = EvolutionTask(
        terminals=terminals, estimates=estimates, measure=fitness, budget=_one_share(budget),
        clock=clock, selection=select, seed=seed, seeds=seeds or (1 if quick else 5),
        folds=folds, config=ways,
    )  # fmt: skip
    files = EvolutionFiles(out, checkpoint or out.with_suffix(".checkpoint"), resume)
    check_task(task)
    check_output_files(files)
    trace = open_trace_with_progress(
        where, form=form, name=name, impute=impute, quiet=as_json, pages=pages, cycles=cycles,
        least_known=known,
    )  # fmt: skip
    processes = LocalEngine(workers).processes
    learning = partial(evolve, trace, task, files=files, workers=processes, device=device)
    evolved = _watched(learning, task, files, quiet=as_json)
    if as_json:
        print_json(_document(evolved, files))
    else:
        _print(evolved, task, trace.name if where else f"{trace.name}, generated,", files)
    for caution in _cautions(evolved, task):
        print_warning(caution)
    if quick:
        print_warning(QUICK_WARNING)


def _one_share(text: str) -> float:
    try:
        return parse_share(text)
    except UsageError:
        why = f"--budget {text!r} is no share of the pages; write one, like 5%"
        raise UsageError(why) from None


def _watched(
    learning: Callable[..., EvolutionResult],
    task: EvolutionTask,
    files: EvolutionFiles,
    *,
    quiet: bool,
) -> EvolutionResult:
    """Evolve with progress; a stop says how to go on."""
    try:
        with progress_bar("evolving", quiet=quiet) as bar, interruptible(ignore_progress) as go_on:

            def watch(step: EvolutionProgress) -> None:
                bar(step.steps_done, step.steps_total, _label(step, task))
                go_on(step.steps_done, step.steps_total)

            return learning(on_progress=watch)
    except (StopRequestedError, KeyboardInterrupt) as stopped:
        if not files.checkpoint_path.exists():
            raise StopRequestedError(
                "stopped before the first generation; nothing was kept"
            ) from stopped
        raise StopRequestedError(
            f"stopped on request; {files.checkpoint_path} holds what is done, run the same command with "
            "--resume to go on"
        ) from stopped


def _label(step: EvolutionProgress, task: EvolutionTask) -> str:
    fold = f"fold {step.fold}, " if task.folds > 1 else ""
    if step.is_test:
        return f"{fold}seed {step.seed} has the best, {step.best_fitness:.3f}; its place is found"
    return f"{fold}seed {step.seed}, generation {step.generation}, best {step.best_fitness:.3f}"


def _document(evolved: EvolutionResult, files: EvolutionFiles) -> dict[str, Any]:
    """Return what was learnt as plain values."""
    searches = [to_json_value(each) | {"formula": str(each.formula)} for each in evolved.searches]
    model = to_json_value(evolved.model) | {"formula": str(evolved.model.formula)}
    whole: dict[str, Any] = to_json_value(evolved)
    return whole | {"file": str(files.model_path), "model": model, "searches": searches}


def _cautions(evolved: EvolutionResult, task: EvolutionTask) -> Iterator[str]:
    """Yield what speaks against using what was learnt."""
    pages = evolved.test or evolved.validation
    visits = visits_per_cycle(task.budget, pages)
    if visits < MIN_TEST_VISITS:
        yield (
            f"{format_count(visits, 'visit')} a cycle of {format_count(pages, 'page')} to test on: the "
            "figures are rough; bring more pages, or give a larger --budget or --folds 5"
        )
    best = next(place.policy for place in evolved.places if place.policy not in CYCLE_ORACLES)
    if best != LEARNED_POLICY:
        yield f"{best} does better than the learned formula on these pages"


def _print(
    evolved: EvolutionResult, task: EvolutionTask, trace: str, files: EvolutionFiles
) -> None:
    model = evolved.model
    print_text(str(model.formula), "bold")
    print_text(
        f"learnt on {trace} for {task.measure} at {100 * task.budget:g}%: "
        f"{format_count(evolved.training, 'page')} for training ({model.training:.3f}), "
        f"{evolved.validation:,} for validation ({model.validation:.3f}), "
        f"{evolved.test:,} for the test; {format_count(evolved.cycles, 'cycle')}; "
        f"written to {files.model_path}"
    )
    print_text("")
    print_table(
        SEARCH_COLUMNS, [_searched(each) for each in evolved.searches], "What each search found"
    )
    print_text("")
    print_table(RANKING_COLUMNS, [_placed(each) for each in evolved.places], _title(task))


def _searched(found: SearchResult) -> tuple[Any, ...]:
    text = str(found.formula)
    shown = text if len(text) <= MAX_FORMULA_LENGTH else f"{text[: MAX_FORMULA_LENGTH - 1]}…"
    return found.fold, found.seed, found.training, found.validation, found.test, shown


def _placed(place: MeanTestResult) -> tuple[Any, ...]:
    name, *figures = to_json_value(place).values()
    return (f"{name} (ceiling)" if name in CYCLE_ORACLES else name, *figures)


def _title(task: EvolutionTask) -> str:
    if not task.folds:
        return f"Its place on the pages for validation, by which it was chosen, {SEEDS_NOTE}"
    if task.folds == 1:
        return f"Its place on the pages for the test, {SEEDS_NOTE}"
    margins = " with 95% intervals" if task.folds >= MIN_INTERVAL_FOLDS else ""
    return f"The place of what each fold chose, means over {task.folds} folds{margins}"
