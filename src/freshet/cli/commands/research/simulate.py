"""Each policy crawls the same pages in cycles and learns only from its own visits. Each
cycle visits the share of the pages that the budget allows, except the first two, which visit every
page and do not count. With --cold there are no such cycles: nothing is known at the start, every
cycle counts, a page that was never visited is not fresh, and its first visit finds no change. With
--continuous, visits are made at an even pace through the day and the policies are those of the live
crawl. Where pages differ in importance, all policies and oracles but rand, age and formulas weigh
pages by it, and the weighted measures are shown; with --ignore-importance they take all pages as
equally important.

TRACE is a file or folder of recorded pages. Without it pages are generated: brdc, outlinks and
web-changes have the statistics of published crawls. With --continuous there is also living, whose
pages change at arbitrary times, some many times a day.

Policies: rand age cg nad sad aad gad smoothed-rate nutch stormcrawler bayes-changes bayes-freshness
guarded-changes guarded-freshness. A live crawl uses the guarded ones by default: the bayes policy,
with a share of the visits for nutch and age that grows if these visits gain more. Oracles show what
knowledge is worth: oracle-change and oracle-life know the true changes; known-rate and
known-rate-changes know each page's mean rate and are no upper bounds. Variants that weight by cycle
instead of by visit: nad-cycle sad-cycle aad-cycle gad-cycle. `all` selects every policy and oracle,
but not these variants. A formula such as "t * X" is a policy, and so are the path of a model file
from `freshet evolve` and a class of your own as module:Class. NAD in capitals is a formula, the
plain rate; the policy nad ranks by the probability of a change.

With --objective links the policies are compared by the new links that they find. TRACE must then
have recorded numbers of new links; generated pages have none. `all` then has these policies too:
bayes-links, which a live crawl with this objective uses, and the published rankings nnl-pr (new
links of the previous interval), nnl-av (their mean per interval), lcr (share of intervals with a
new link) and ccr (share of intervals with a content change).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from freshet.archive.importers.base import LINK_KINDS
from freshet.backtest.comparison import (
    BacktestRow,
    PolicyComparison,
    PolicyResult,
    check_curves_path,
    check_request,
    result_rows,
    run_policies,
    write_curves,
)
from freshet.backtest.continuous.comparison import run_policies_continuously
from freshet.backtest.continuous.generated import GENERATED_WEB, generate_web_trace
from freshet.backtest.cycle_crawl import visits_per_cycle
from freshet.backtest.metrics import COMPARED_METRICS, WEIGHTED_METRICS
from freshet.backtest.selectors import ALL_NAMES, models_trained_on
from freshet.backtest.trace import Trace
from freshet.backtest.trace_formats.open_trace import DEFAULT_CYCLES, DEFAULT_PAGES
from freshet.cli import trace_options
from freshet.cli.options import JsonOption, new_app
from freshet.cli.output import print_json, print_table, print_text, print_warning, progress_bar
from freshet.core.errors import StopRequestedError, UsageError
from freshet.core.humanize import count_text
from freshet.schedule.policies import LINK_POLICY_NAMES

COLUMNS = ("policy", "budget", "changerate", "ndcg", "freshness", "detection", "detected", "links")
WEIGHTED_COLUMNS = ("weighted changerate", "weighted freshness")
LINK_COLUMNS = ("policy", "budget", "links", "found", "share found", "changerate", "freshness")
COMPARISON_COLUMNS = ("policy", "budget", "measure", "difference", "p", "won", "lost", "tied")
MIN_SHOWN_MARGIN = 0.0005
OBJECTIVES, LINKS = ("freshness", "changes", "links"), "links"

app = new_app()


@app.command()
def simulate(
    trace_path: trace_options.TraceArgument = None,
    trace_format: trace_options.TraceFormatOption = "",
    trace: trace_options.TraceNameOption = "",
    impute: trace_options.ImputeOption = None,
    min_known_share: trace_options.MinKnownOption = None,
    drop_site_wide_days: trace_options.SiteWideDaysOption = None,
    links: trace_options.LinkKindOption = "",
    pages: trace_options.PageCountOption = None,
    cycles: trace_options.CycleCountOption = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Policies, separated by commas, or all; can be repeated. Default: all.",
        ),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="SHARES",
            help="Visits per cycle as a share of the pages; several separated by commas, "
            "such as 5%,10%.",
        ),
    ] = "5%",
    seeds: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Number of runs per policy; each breaks ties differently."
        ),
    ] = 3,
    objective: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What policies are compared for: freshness, changes or links. With links, new "
            "links count, and all has the link policies too. Default: freshness and changes.",
        ),
    ] = "",
    against: Annotated[
        str,
        typer.Option(
            metavar="POLICY", help="Compare every policy with this one in statistical tests."
        ),
    ] = "",
    continuous: Annotated[
        bool,
        typer.Option(
            "--continuous", help="Simulate visits at any time of the day, as in a live crawl."
        ),
    ] = False,
    cold: Annotated[
        bool,
        typer.Option(
            "--cold",
            help="Start with nothing known: no warm-up, and first visits count as visits without a "
            "change.",
        ),
    ] = False,
    ignore_importance: Annotated[
        bool,
        typer.Option(
            "--ignore-importance",
            help="Let policies and oracles take all pages as equally important. The weighted "
            "measures still use importance.",
        ),
    ] = False,
    curves: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the measures of every cycle to this .csv, .parquet or .json file.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Back-test policies on recorded or generated pages."""
    everything = _policies_compared_for(objective)
    names = parse_policy_names([*(policy or ["all"]), *_baseline(against)], everything)
    budgets = [parse_share(text) for text in budget.split(",")]
    check_request(names, budgets, seeds)
    check_curves_path(curves)
    trace_used, run = _open_trace_and_runner(
        trace_path,
        continuous,
        form=trace_format,
        name=trace,
        impute=impute,
        quiet=as_json,
        pages=pages,
        cycles=cycles,
        least_known=min_known_share,
        drop_site_wide_days=drop_site_wide_days,
        links=_check_one_of("--links", links, tuple(LINK_KINDS)),
        cold=cold,
    )
    _require_links(trace_used, objective)
    for name in models_trained_on(trace_used, names):
        print_warning(f"{name} was learned on these pages and may do worse on others")
    if ignore_importance:
        trace_used = trace_used.without_importance()
    try:
        with progress_bar("crawling", quiet=as_json) as advance:
            results = list(
                run(trace_used, names, budgets, seeds=seeds, cold=cold, progress=advance)
            )
    except KeyboardInterrupt:
        raise StopRequestedError("interrupted; the back-test keeps nothing") from None
    write_curves(curves, results)
    measures = _compared_measures(trace_used, objective)
    rows = result_rows(trace_used, results, against=against.strip(), measures=measures)
    if as_json:
        print_json(rows)
        return
    is_timed = continuous and trace_path is not None and trace_used.change_times is not None
    description = _describe_trace(trace_used, generated=trace_path is None, is_timed=is_timed)
    start = ", from a cold start" if cold else "; first visits not counted (--cold counts them)"
    print_text(f"{description}; means of {count_text(seeds, 'seed')}{start}", "bold")
    if trace_used.site_wide_days is not None and trace_used.site_wide_days.days:
        print_text(trace_used.site_wide_days.describe())
    _print(rows, budgets, for_links=objective == LINKS, weighted=_has_weights(trace_used))
    if curves is not None:
        print_text(f"wrote the measures of every cycle to {curves}")


def _open_trace_and_runner(
    trace_path: Path | None, continuous: bool, **trace_options_given: Any
) -> tuple[Trace, Callable[..., Iterator[PolicyResult]]]:
    """Return the selected trace and the function that runs policies on it."""
    is_generated_web = trace_path is None and trace_options_given["name"] == GENERATED_WEB
    if is_generated_web and not continuous:
        raise UsageError(f"--trace {GENERATED_WEB} has no cycles; add --continuous")
    if is_generated_web:
        trace = generate_web_trace(
            trace_options_given["pages"] or DEFAULT_PAGES,
            trace_options_given["cycles"] or DEFAULT_CYCLES,
        )
        return trace, run_policies_continuously
    return trace_options.open_trace_with_progress(
        trace_path, **trace_options_given
    ), run_policies_continuously if continuous else run_policies


def _policies_compared_for(objective: str) -> tuple[str, ...]:
    """Return the policies that ``all`` means."""
    _check_one_of("--objective", objective, OBJECTIVES)
    return (*LINK_POLICY_NAMES, *ALL_NAMES) if objective == LINKS else ALL_NAMES


def _check_one_of(option: str, value: str, choices: Sequence[str]) -> str | None:
    if value and value not in choices:
        raise UsageError(f"{option} {value!r} is not one of {', '.join(choices)}")
    return value or None


def _require_links(trace: Trace, objective: str) -> None:
    if objective == LINKS and trace.new_links is None:
        raise UsageError(
            f"the trace {trace.name!r} has no numbers of new links: give a TRACE of recorded "
            "pages that has them, or leave --objective links out"
        )


def _has_weights(trace: Trace) -> bool:
    """Whether the weighted measures differ from the plain ones."""
    return bool(np.ptp(trace.weights) > 0)


def _compared_measures(trace: Trace, objective: str) -> tuple[str, ...]:
    """Return the measures of ``--against``; the weighted ones if importance differs."""
    weighted = WEIGHTED_METRICS if _has_weights(trace) else ()
    return (*(("new_links",) if objective == LINKS else ()), *COMPARED_METRICS, *weighted)


def _print(
    rows: Sequence[BacktestRow], budgets: Sequence[float], *, for_links: bool, weighted: bool
) -> None:
    """Print the measures and comparisons; a single budget is printed in the title.

    ``weighted`` says whether the columns of the weighted measures are shown.
    """
    budget_cells = [f"{100 * row.budget:g}%" if len(budgets) > 1 else None for row in rows]
    title = "" if len(budgets) > 1 else _title(budgets[0], rows[0].pages)
    lines = zip(rows, budget_cells, strict=True)
    columns, cells = (LINK_COLUMNS, _link_cells) if for_links else (COLUMNS, _figure_cells)
    print_table(
        (*columns, *(WEIGHTED_COLUMNS if weighted else ())),
        [
            (row.policy, share, *cells(row), *(_weighted_cells(row) if weighted else ()))
            for row, share in lines
        ],
        title,
    )
    comparisons = [
        (row.policy, share, *_comparison_cells(comparison))
        for row, share in zip(rows, budget_cells, strict=True)
        for comparison in row.against
    ]
    if comparisons:
        baseline = next(row.against[0].policy for row in rows if row.against)
        print_table(COMPARISON_COLUMNS, comparisons, f"\nagainst {baseline}, cycle by cycle")


def _title(budget: float, pages: int) -> str:
    visits = count_text(visits_per_cycle(budget, pages), "visit")
    return f"budget {100 * budget:g}% of the pages per cycle: {visits}"


def _baseline(against: str) -> list[str]:
    """Return the policy to compare with, if there is one."""
    if against and len(parse_policy_names([against])) != 1:
        raise UsageError(f"--against {against!r} is not one policy; give one name")
    return [against] if against else []


def _describe_trace(trace: Trace, *, generated: bool, is_timed: bool) -> str:
    pages, cycles = count_text(len(trace.pages), "page"), count_text(trace.cycles, "cycle")
    kind = "generated" if generated else f"{trace.known_share:.1%} of the cells known"
    if not generated and trace.known_share < 1:
        kind += ", the rest imputed" if trace.is_imputed else ", the rest taken as unchanged"
    timed = f", {trace.timed_share:.0%} of the changes at recorded moments" if is_timed else ""
    return f"{trace.name}: {pages}, {cycles}, {kind}{timed}"


def _figure_cells(row: BacktestRow) -> Sequence[str | float | None]:
    return (
        format_with_margin(row.changerate, row.changerate_ci),
        format_with_margin(row.ndcg, row.ndcg_ci),
        format_with_margin(row.freshness, row.freshness_ci),
        *(_nan_to_none(figure) for figure in (row.time_to_detection, row.detected, row.new_links)),
    )


def _link_cells(row: BacktestRow) -> Sequence[str | float | None]:
    return (
        format_with_margin(row.new_links, row.new_links_ci),
        f"{row.links_found:,.0f}",
        format_with_margin(row.links_detected, row.links_detected_ci),
        format_with_margin(row.changerate, row.changerate_ci),
        format_with_margin(row.freshness, row.freshness_ci),
    )


def _weighted_cells(row: BacktestRow) -> Sequence[str]:
    return (
        format_with_margin(row.weighted_changerate, row.weighted_changerate_ci),
        format_with_margin(row.weighted_freshness, row.weighted_freshness_ci),
    )


def _comparison_cells(comparison: PolicyComparison) -> Sequence[str | float | None]:
    difference = format_with_margin(comparison.difference, comparison.margin, sign="+")
    p_value = "<.001" if comparison.p < MIN_SHOWN_MARGIN else _nan_to_none(comparison.p)
    return comparison.measure, difference, p_value, comparison.won, comparison.lost, comparison.tied


def _nan_to_none(figure: float) -> float | None:
    return None if isnan(figure) else figure


def format_with_margin(mean: float, margin: float, *, sign: str = "") -> str:
    """Return a mean with its margin, unless the margin is too small to show.

    >>> format_with_margin(0.5, 0.0123), format_with_margin(0.5, 0.0)
    ('0.500 ±.012', '0.500')
    >>> format_with_margin(0.5, float("nan"), sign="+")
    '+0.500'
    """
    if isnan(mean):
        return ""
    suffix = f" ±{margin:.3f}".replace("±0.", "±.") if margin >= MIN_SHOWN_MARGIN else ""
    return f"{mean:{sign}.3f}{suffix}"


def parse_policy_names(texts: Sequence[str], everything: Sequence[str] = ALL_NAMES) -> list[str]:
    """Return the policy names in comma-separated texts without duplicates.

    ``all`` means everything.

    >>> parse_policy_names(["age,pow(t,f(2))", "age"])
    ['age', 'pow(t,f(2))']
    """
    names = [name.strip() for text in texts for name in _split_at_commas(text)]
    selected = [policy for name in names for policy in (everything if name == "all" else (name,))]
    return list(dict.fromkeys(selected))


def _split_at_commas(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def parse_share(text: str) -> float:
    """Return the share of the pages given by a budget.

    >>> parse_share("5%"), parse_share("0.1")
    (0.05, 0.1)
    """
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(%?)\s*", text)
    value = float(match[1]) / (100 if match[2] else 1) if match else 0.0
    if not 0.0 < value <= 1.0:
        raise UsageError(f"--budget {text!r} is not a share of the pages; write 5% or 0.05")
    return value
