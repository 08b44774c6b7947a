"""Each policy crawls the same pages, cycle by cycle, learning from its own visits alone. The first
two cycles visit every page; after them, each cycle visits the share that the budget allows.

DIR holds observations.parquet, one row a page and day. Traces: snap (pages stored twice a day),
mixed (all that are observed regularly). Without DIR the pages are generated: brdc, outlinks,
web-changes have the statistics of published crawls.

Policies: rand age cg nad sad aad gad nutch stormcrawler bayes-changes bayes-freshness, and ceilings
that look at the truth: oracle-change oracle-life known-rate known-rate-changes. Weights by cycle
instead of by visit: nad-cycle sad-cycle aad-cycle gad-cycle. `all` means every policy and ceiling.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.options import AsJson, new_app
from freshet.cli.output import counted, print_json, print_table, progress, say
from freshet.core.errors import UsageError
from freshet.flow.simulate import EVERY, Row, back_test, check, generate, load
from freshet.simulate.trace import Trace

COLUMNS = ("policy", "budget", "changerate", "ndcg", "freshness", "stale age")

app = new_app()


@app.command()
def simulate(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="A folder with observations.parquet.")
    ] = None,
    trace: Annotated[
        str, typer.Option(metavar="NAME", help="Which pages; mixed, or brdc without DIR.")
    ] = "",
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Policies, or all; may be given several times."),
    ] = None,
    budget: Annotated[
        str, typer.Option(metavar="SHARES", help="Visits a cycle as shares of the pages: 5%,10%.")
    ] = "5%",
    seeds: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many times, each with its own ties.")
    ] = 3,
    pages: Annotated[
        int, typer.Option(min=2, metavar="N", help="How many pages to generate.")
    ] = 20_000,
    cycles: Annotated[
        int, typer.Option(min=3, metavar="N", help="For how many cycles to generate them.")
    ] = 57,
    as_json: AsJson = False,
) -> None:
    """Back-test policies on recorded or generated pages."""
    names = policy_names(policy or ["all"])
    budgets = [share(text) for text in budget.split(",")]
    check(names, budgets, seeds)
    played = load(folder, trace or "mixed") if folder else generate(trace or "brdc", pages, cycles)
    with progress("crawling", quiet=as_json) as advance:
        rows = list(back_test(played, names, budgets, seeds=seeds, progress=advance))
    if as_json:
        print_json(rows)
        return
    say(f"{_summary(played, generated=folder is None)}; means of {counted(seeds, 'seed')}", "bold")
    print_table(COLUMNS, [_cells(row) for row in rows])


def _summary(trace: Trace, *, generated: bool) -> str:
    pages, cycles = counted(len(trace.pages), "page"), counted(trace.cycles, "cycle")
    kind = "generated" if generated else f"{trace.known_share:.1%} of the cells known"
    return f"{trace.name}: {pages}, {cycles}, {kind}"


def _cells(row: Row) -> Sequence[str | float]:
    figures = (row.changerate, row.ndcg, row.freshness, row.stale_age)
    return (row.policy, f"{100 * row.budget:g}%", *figures)


def policy_names(given: Sequence[str]) -> list[str]:
    """Return the policies that words name, each once; ``all`` stands for every one.

    >>> policy_names(["age,pow(t,f(2))", "age"])
    ['age', 'pow(t,f(2))']
    """
    names = [name.strip() for text in given for name in _split(text)]
    every = [each for name in names for each in (EVERY if name == "all" else (name,))]
    return list(dict.fromkeys(every))


def _split(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def share(text: str) -> float:
    """Return the share of the pages that a budget names.

    >>> share("5%"), share("0.1")
    (0.05, 0.1)
    """
    found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*(%?)\s*", text)
    value = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    if not 0.0 < value <= 1.0:
        raise UsageError(f"--budget {text!r} is no share of the pages; write 5% or 5%,10%")
    return value
