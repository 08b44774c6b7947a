"""Learns by genetic programming: formulas whose simulated crawls of the training pages find the
most changes, or do best by another --fitness, produce the next generation. The best formulas are
compared on validation pages, and the selected one is tested on pages that no search has seen,
together with the classic policies and the oracles, which know the true changes.

The result is a model file, and its path can be used as a policy: `freshet simulate --policy
formula.json` back-tests it, and `policy = "formula.json"` in freshet.toml makes the crawl use it.
The same seed gives the same formula with any number of workers.

The state is saved to the checkpoint after every generation. Ctrl-C stops after the current one; the
same command with --resume continues and gives the same result as an uninterrupted search.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from freshet.backtest.cycle_crawl import visits_per_cycle
from freshet.backtest.cycle_oracles import CYCLE_ORACLES
from freshet.backtest.fitness import parse_fitness
from freshet.cli.commands.research.simulate import parse_share
from freshet.cli.interrupts import interruptible
from freshet.cli.options import JsonOption, new_app
from freshet.cli.output import print_json, print_table, print_text, print_warning, progress_bar
from freshet.cli.trace_options import (
    CycleCountOption,
    ImputeOption,
    MinKnownOption,
    PageCountOption,
    SiteWideDaysOption,
    TraceArgument,
    TraceFormatOption,
    TraceNameOption,
    open_trace_with_progress,
)
from freshet.core.errors import StopRequestedError, UsageError
from freshet.core.humanize import count_text
from freshet.core.progress import ignore_progress
from freshet.core.strict_json import to_json_value
from freshet.engine.local import LocalEngine
from freshet.formula.variables import WeightClock
from freshet.learning.evolve.comparison import (
    COMPARED_BY_FITNESS,
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
ADDED_COLUMNS = {"weighted_freshness": "weighted freshness", "links": "links found"}
MAX_FORMULA_LENGTH = 60
MIN_TEST_VISITS = 10
SEEDS_NOTE = f"means of {COMPARISON_SEEDS} seeds"
QUICK_WARNING = (
    "--quick runs one short search, and its formula may be far from the best; do not use it for a "
    "real crawl"
)

app = new_app()


@app.command()
def learn(
    trace_path: TraceArgument = None,
    trace_format: TraceFormatOption = "",
    name: TraceNameOption = "",
    impute: ImputeOption = None,
    min_known_share: MinKnownOption = None,
    drop_site_wide_days: SiteWideDaysOption = None,
    pages: PageCountOption = None,
    cycles: CycleCountOption = None,
    terminals: Annotated[
        TerminalSet,
        typer.Option(
            metavar="SET",
            help="Set of variables available to formulas: basic (n, X, t), all (also the "
            "estimates CG to GAD) or extended (also those of the default forecast).",
        ),
    ] = "all",
    estimates: Annotated[
        EstimateKind,
        typer.Option(
            metavar="AS",
            help="Meaning of NAD, SAD, AAD and GAD during the search: rates (changes per "
            "visit or cycle), or chances (probability of a change since the last look).",
        ),
    ] = "rates",
    fitness: Annotated[
        str,
        typer.Option(
            metavar="MEASURE",
            help="Measure to maximise: ndcg, changerate, freshness, weighted_freshness (by "
            "importance), links (share of the new links found), or a mixture such as "
            "0.7*changerate+0.3*freshness.",
        ),
    ] = "ndcg",
    budget: Annotated[
        str, typer.Option(metavar="SHARE", help="Visits per cycle as a share of the pages.")
    ] = "5%",
    clock: Annotated[
        WeightClock,
        typer.Option(metavar="CLOCK", help="Weight the estimates by visit or by cycle."),
    ] = "visit",
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Run one short search: 1 seed, 100 formulas, 15 generations. The result may "
            "be far from the best.",
        ),
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of independent searches. Default: 5."),
    ] = None,
    population: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="Formulas per generation. Default: 300.")
    ] = None,
    generations: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of generations. Default: 50.")
    ] = None,
    kept_formulas: Annotated[
        int,
        typer.Option(
            "--kept",
            min=1,
            metavar="N",
            help="Number of best formulas of each search to compare on the validation pages.",
        ),
    ] = 50,
    select: Annotated[
        SelectionMethod,
        typer.Option(
            metavar="HOW",
            help="How the formula is selected by its fitness: best (on the validation pages), avg "
            "(mean on training and validation pages minus their standard deviation) or sum (their "
            "sum minus it).",
        ),
    ] = "best",
    folds: Annotated[
        int,
        typer.Option(
            min=0,
            max=5,
            metavar="N",
            help="Number of folds to test on, 1 to 5; 0 uses all pages for learning.",
        ),
    ] = 1,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed for folds, ties and searches.")
    ] = 1,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Model file to write.")] = Path(
        "formula.json"
    ),
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Checkpoint file. Default: next to the model file, with the suffix .checkpoint.",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the checkpoint.")] = False,
    workers: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of threads; 0 uses all cores.")
    ] = 0,
    device: Annotated[
        Literal["cpu", "cuda"],
        typer.Option(metavar="DEVICE", help="Device that evaluates formulas: cpu or cuda (GPU)."),
    ] = "cpu",
    as_json: JsonOption = False,
) -> None:
    """Learn a ranking formula from a trace."""
    base_config = QUICK_CONFIG if quick else GPConfig()
    config = replace(
        base_config,
        population=population or base_config.population,
        generations=generations or base_config.generations,
        kept=kept_formulas,
    )
    task = EvolutionTask(
        terminals=terminals,
        estimates=estimates,
        measure=fitness,
        budget=_parse_budget(budget),
        clock=clock,
        selection=select,
        seed=seed,
        seeds=seeds or (1 if quick else 5),
        folds=folds,
        config=config,
    )
    files = EvolutionFiles(out, checkpoint or out.with_suffix(".checkpoint"), resume)
    check_task(task)
    check_output_files(files)
    trace = open_trace_with_progress(
        trace_path,
        form=trace_format,
        name=name,
        impute=impute,
        quiet=as_json,
        pages=pages,
        cycles=cycles,
        least_known=min_known_share,
        drop_site_wide_days=drop_site_wide_days,
    )
    processes = LocalEngine(workers).processes
    run_search = partial(evolve, trace, task, files=files, workers=processes, device=device)
    result = _search_with_progress(run_search, task, files, quiet=as_json)
    if as_json:
        print_json(_document(result, files))
    else:
        _print(result, task, trace.name if trace_path else f"{trace.name}, generated,", files)
    for warning in _warnings(result, task):
        print_warning(warning)
    if quick:
        print_warning(QUICK_WARNING)


def _parse_budget(text: str) -> float:
    try:
        return parse_share(text)
    except UsageError:
        message = f"--budget {text!r} is not a share of the pages; write for example 5%"
        raise UsageError(message) from None


def _search_with_progress(
    run_search: Callable[..., EvolutionResult],
    task: EvolutionTask,
    files: EvolutionFiles,
    *,
    quiet: bool,
) -> EvolutionResult:
    """Run the search with a progress bar; an interruption says how to resume."""
    try:
        with (
            progress_bar("evolving", quiet=quiet) as bar,
            interruptible(ignore_progress) as check_for_stop,
        ):

            def report(step: EvolutionProgress) -> None:
                bar(step.steps_done, step.steps_total, _label(step, task))
                check_for_stop(step.steps_done, step.steps_total)

            return run_search(on_progress=report)
    except (StopRequestedError, KeyboardInterrupt) as stopped:
        if not files.checkpoint_path.exists():
            raise StopRequestedError(
                "stopped before the first generation; nothing was saved"
            ) from stopped
        raise StopRequestedError(
            f"stopped; the state is in {files.checkpoint_path}, run the same command with --resume "
            "to continue"
        ) from stopped


def _label(step: EvolutionProgress, task: EvolutionTask) -> str:
    fold = f"fold {step.fold}, " if task.folds > 1 else ""
    if step.is_test:
        return f"{fold}seed {step.seed} has the best formula, {step.best_fitness:.3f}; testing it"
    return f"{fold}seed {step.seed}, generation {step.generation}, best {step.best_fitness:.3f}"


def _document(result: EvolutionResult, files: EvolutionFiles) -> dict[str, Any]:
    """Return the result for JSON."""
    searches = [
        to_json_value(search) | {"formula": str(search.formula)} for search in result.searches
    ]
    model = to_json_value(result.model) | {"formula": str(result.model.formula)}
    document: dict[str, Any] = to_json_value(result)
    return document | {"file": str(files.model_path), "model": model, "searches": searches}


def _warnings(result: EvolutionResult, task: EvolutionTask) -> Iterator[str]:
    """Yield reasons not to use the learned formula."""
    pages = result.test or result.validation
    visits = visits_per_cycle(task.budget, pages)
    if visits < MIN_TEST_VISITS:
        yield (
            f"the test has only {count_text(visits, 'visit')} per cycle on "
            f"{count_text(pages, 'page')}, so the figures are rough; use more pages, a larger "
            "--budget or --folds 5"
        )
    best = next(result.policy for result in result.places if result.policy not in CYCLE_ORACLES)
    if best != LEARNED_POLICY:
        yield f"{best} does better than the learned formula on these pages"


def _print(result: EvolutionResult, task: EvolutionTask, trace: str, files: EvolutionFiles) -> None:
    model = result.model
    print_text(str(model.formula), "bold")
    print_text(
        f"learned on {trace} for {task.measure} at {100 * task.budget:g}%: "
        f"{count_text(result.training, 'page')} for training ({model.training:.3f}), "
        f"{result.validation:,} for validation ({model.validation:.3f}), "
        f"{result.test:,} for the test; {count_text(result.cycles, 'cycle')}; "
        f"model file {files.model_path}"
    )
    print_text("")
    print_table(
        SEARCH_COLUMNS,
        [_search_cells(result) for result in result.searches],
        "Result of each search",
    )
    print_text("")
    mixture = parse_fitness(task.measure)
    added = [name for name in ADDED_COLUMNS if getattr(mixture, name)]
    columns = (*RANKING_COLUMNS, *(text for name in added for text in (ADDED_COLUMNS[name], "±")))
    print_table(columns, [_ranking_cells(place, added) for place in result.places], _title(task))


def _search_cells(search: SearchResult) -> tuple[Any, ...]:
    text = str(search.formula)
    shortened = text if len(text) <= MAX_FORMULA_LENGTH else f"{text[: MAX_FORMULA_LENGTH - 1]}…"
    return search.fold, search.seed, search.training, search.validation, search.test, shortened


def _ranking_cells(result: MeanTestResult, added: Sequence[str]) -> tuple[Any, ...]:
    """Return the cells of a policy, with those of the added measures of the fitness."""
    name = result.policy
    measures = ("changerate", "ndcg", "freshness", *(COMPARED_BY_FITNESS.get(m, m) for m in added))
    values = to_json_value(result)
    figures = (values[key] for measure in measures for key in (measure, f"{measure}_ci"))
    return (f"{name} (oracle)" if name in CYCLE_ORACLES else name, *figures)


def _title(task: EvolutionTask) -> str:
    if not task.folds:
        return f"Comparison on the validation pages, which selected the formula, {SEEDS_NOTE}"
    if task.folds == 1:
        return f"Comparison on the test pages, {SEEDS_NOTE}"
    margins = " with 95% intervals" if task.folds >= MIN_INTERVAL_FOLDS else ""
    return f"Comparison of the formulas of all folds, means over {task.folds} folds{margins}"
