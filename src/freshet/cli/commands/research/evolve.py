"""Formulas are bred generation by generation: those whose crawls of the trace find the most changes
have the most children. The best of all are tried on other pages, and the one chosen is tested on
pages that no search saw, beside the classic rules and the ceilings that look at the truth.

The model is a file; its path is a policy: `freshet simulate --policy formula.json` back-tests it,
and `policy = "formula.json"` in freshet.toml lets a crawl go by it. The same seed gives the same
formula, whatever the number of workers.

After every generation the work is kept in the checkpoint. Ctrl-C stops at the next one; the same
command with --resume goes on as if it had never been stopped.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from freshet.backtest.cycle_crawl import visits_per_cycle
from freshet.backtest.cycle_oracles import ORACLES
from freshet.cli.commands.research.simulate import share
from freshet.cli.interrupts import stoppable
from freshet.cli.options import AsJson, new_app
from freshet.cli.output import counted, plain, print_json, print_table, progress, say, warn
from freshet.cli.trace_options import (
    CycleCount,
    Form,
    Impute,
    LeastKnown,
    PageCount,
    TraceAt,
    TraceName,
    opened,
)
from freshet.core.errors import Interrupted, UsageError
from freshet.core.progress import silent
from freshet.engine.local import LocalEngine
from freshet.formula.variables import Clock, Measure
from freshet.learning.evolve.comparison import FEWEST_FOLDS, LEARNED, SEEDS, Place
from freshet.learning.evolve.evolution import (
    Estimates,
    Evolved,
    Files,
    Found,
    Step,
    Task,
    check,
    check_files,
    evolve,
)
from freshet.learning.evolve.genetic_search import Ways
from freshet.schedule.model_file import Selection, Terminals

QUICK = Ways(population=100, generations=15)
SEARCHED = ("fold", "seed", "training", "validation", "test", "formula")
PLACED = ("policy", "changerate", "±", "ndcg", "±", "freshness", "±")
SHOWN_LETTERS = 60
FEW_VISITS = 10
OF_SEEDS = f"means of {SEEDS} seeds"
OF_QUICK = (
    "--quick is one short search, which may end far from the best formula; for one to crawl by, "
    "leave it out"
)

app = new_app()


@app.command()
def learn(
    where: TraceAt = None,
    form: Form = "",
    name: TraceName = "",
    impute: Impute = None,
    known: LeastKnown = None,
    pages: PageCount = None,
    cycles: CycleCount = None,
    terminals: Annotated[
        Terminals, typer.Option(metavar="SET", help="What formulas know: basic, all, extended.")
    ] = "all",
    estimates: Annotated[
        Estimates, typer.Option(metavar="AS", help="NAD to GAD are rates, or chances of a change.")
    ] = "rates",
    fitness: Annotated[
        Measure, typer.Option(metavar="MEASURE", help="What is bred for: ndcg or changerate.")
    ] = "ndcg",
    budget: Annotated[
        str, typer.Option(metavar="SHARE", help="Visits a cycle as a share of the pages.")
    ] = "5%",
    clock: Annotated[
        Clock, typer.Option(metavar="CLOCK", help="Estimates weigh by visit or by cycle.")
    ] = "visit",
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="A first look, maybe far off: 1 seed, 100 formulas, 15 generations."
        ),
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How many searches; 5.")
    ] = None,
    population: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="Formulas in a generation; 300.")
    ] = None,
    generations: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How many generations; 50.")
    ] = None,
    kept: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many of the best are tried on other pages.")
    ] = 50,
    select: Annotated[
        Selection, typer.Option(metavar="HOW", help="Which of them it is: best, avg or sum.")
    ] = "best",
    folds: Annotated[
        int, typer.Option(min=0, max=5, metavar="N", help="Folds to test on, of 5; 0: no test.")
    ] = 1,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="The seed of folds, lots and searches.")
    ] = 1,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="The model file to write.")
    ] = Path("formula.json"),
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where unfinished work is kept.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with what the checkpoint holds.")
    ] = False,
    workers: Annotated[
        int, typer.Option(min=0, metavar="N", help="Threads that try formulas; 0: all cores.")
    ] = 0,
    device: Annotated[
        Literal["cpu", "cuda"], typer.Option(metavar="DEVICE", help="Where: cpu, or cuda, a GPU.")
    ] = "cpu",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Learn the formula that ranks pages best, from a trace."""
    usual = QUICK if quick else Ways()
    ways = replace(
        usual,
        population=population or usual.population,
        generations=generations or usual.generations,
        kept=kept,
    )
    task = Task(
        terminals=terminals, estimates=estimates, measure=fitness, budget=_one_share(budget),
        clock=clock, selection=select, seed=seed, seeds=seeds or (1 if quick else 5),
        folds=folds, ways=ways,
    )  # fmt: skip
    files = Files(out, checkpoint or out.with_suffix(".checkpoint"), resume)
    check(task)
    check_files(files)
    trace = opened(
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
        warn(caution)
    if quick:
        warn(OF_QUICK)


def _one_share(text: str) -> float:
    try:
        return share(text)
    except UsageError:
        why = f"--budget {text!r} is no share of the pages; write one, like 5%"
        raise UsageError(why) from None


def _watched(learning: Callable[..., Evolved], task: Task, files: Files, *, quiet: bool) -> Evolved:
    """Evolve with progress; a stop says how to go on."""
    try:
        with progress("evolving", quiet=quiet) as bar, stoppable(silent) as go_on:

            def watch(step: Step) -> None:
                bar(step.done, step.total, _label(step, task))
                go_on(step.done, step.total)

            return learning(watch=watch)
    except (Interrupted, KeyboardInterrupt) as stopped:
        if not files.checkpoint.exists():
            raise Interrupted("stopped before the first generation; nothing was kept") from stopped
        raise Interrupted(
            f"stopped on request; {files.checkpoint} holds what is done, run the same command with "
            "--resume to go on"
        ) from stopped


def _label(step: Step, task: Task) -> str:
    fold = f"fold {step.fold}, " if task.folds > 1 else ""
    if step.is_test:
        return f"{fold}seed {step.seed} has the best, {step.best:.3f}; its place is found"
    return f"{fold}seed {step.seed}, generation {step.generation}, best {step.best:.3f}"


def _document(evolved: Evolved, files: Files) -> dict[str, Any]:
    """Return what was learnt as plain values."""
    searches = [plain(each) | {"formula": str(each.formula)} for each in evolved.searches]
    model = plain(evolved.model) | {"formula": str(evolved.model.formula)}
    whole: dict[str, Any] = plain(evolved)
    return whole | {"file": str(files.model), "model": model, "searches": searches}


def _cautions(evolved: Evolved, task: Task) -> Iterator[str]:
    """Yield what speaks against using what was learnt."""
    pages = evolved.test or evolved.validation
    visits = visits_per_cycle(task.budget, pages)
    if visits < FEW_VISITS:
        yield (
            f"{counted(visits, 'visit')} a cycle of {counted(pages, 'page')} to test on: the "
            "figures are rough; bring more pages, or give a larger --budget or --folds 5"
        )
    best = next(place.policy for place in evolved.places if place.policy not in ORACLES)
    if best != LEARNED:
        yield f"{best} does better than the learned formula on these pages"


def _print(evolved: Evolved, task: Task, trace: str, files: Files) -> None:
    model = evolved.model
    say(str(model.formula), "bold")
    say(
        f"learnt on {trace} for {task.measure} at {100 * task.budget:g}%: "
        f"{counted(evolved.training, 'page')} for training ({model.training:.3f}), "
        f"{evolved.validation:,} for validation ({model.validation:.3f}), "
        f"{evolved.test:,} for the test; {counted(evolved.cycles, 'cycle')}; "
        f"written to {files.model}"
    )
    say("")
    print_table(SEARCHED, [_searched(each) for each in evolved.searches], "What each search found")
    say("")
    print_table(PLACED, [_placed(each) for each in evolved.places], _title(task))


def _searched(found: Found) -> tuple[Any, ...]:
    text = str(found.formula)
    shown = text if len(text) <= SHOWN_LETTERS else f"{text[: SHOWN_LETTERS - 1]}…"
    return found.fold, found.seed, found.training, found.validation, found.test, shown


def _placed(place: Place) -> tuple[Any, ...]:
    name, *figures = plain(place).values()
    return (f"{name} (ceiling)" if name in ORACLES else name, *figures)


def _title(task: Task) -> str:
    if not task.folds:
        return f"Its place on the pages for validation, by which it was chosen, {OF_SEEDS}"
    if task.folds == 1:
        return f"Its place on the pages for the test, {OF_SEEDS}"
    margins = " with 95% intervals" if task.folds >= FEWEST_FOLDS else ""
    return f"The place of what each fold chose, means over {task.folds} folds{margins}"
