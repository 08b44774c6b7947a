"""Writes the tables of the document from the stored figures, so that they cannot differ."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product

from experiments.document_tables import replace_tables
from experiments.wild.evaluation import DifferenceRow, WildRow
from experiments.wild.expected_figures import StoredFigures
from experiments.wild.experiment import STARTS
from experiments.wild.rule_margins import (
    JUDGED_POLICIES,
    REQUIRED_MARGINS,
    policy_measure,
    rule_margins,
)
from experiments.wild.safety_net import SafetyNetRow
from experiments.wild.variants import DEFAULTS, ablated_policies, compared_policies

NO_VALUE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
RATIO_RULE = "stormcrawler"
MIDDLE_BUDGETS = (0.05, 0.10)
MEASURE_NAMES = {"changerate": "ChangeRate", "freshness": "freshness"}

Lines = Iterator[Sequence[str]]


def fill_tables(text: str, figures: StoredFigures) -> str:
    """Return a document with new tables."""
    return replace_tables(text, lambda name: TABLES[name](figures))


def share(value: float) -> str:
    """Format a share.

    >>> share(0.5944), share(1.0)
    ('.594', '1.000')
    """
    return f"{value:.3f}".removeprefix("0")


def trace_lines(figures: StoredFigures) -> Lines:
    """Yield the traces."""
    yield "trace", "first day", "days", "pages", "changes", "site-wide days", "changes on them"
    for trace in figures.traces:
        counts = (trace.pages, trace.changes, trace.site_wide_days, trace.site_wide_changes)
        yield f"`{trace.name}`", trace.start, str(trace.days), *(f"{count:,}" for count in counts)


def crawl_lines(trace: str, start: str, policies: Sequence[str], figures: StoredFigures) -> Lines:
    """Yield ChangeRate and freshness of policies by budget."""
    rows = {
        (row.policy, row.budget): row
        for row in figures.rows
        if (row.trace, row.start) == (trace, start)
    }
    budgets = sorted({budget for _, budget in rows})
    yield "policy", *(f"{budget:.0%}".replace("%", " %") for budget in budgets)
    for policy in policies:
        cells = [rows.get((policy, budget)) for budget in budgets]
        if any(cells):
            yield f"`{policy}`", *map(_cell, cells)


def difference_lines(trace: str, start: str, figures: StoredFigures) -> Lines:
    """Yield how much the default policies are above the rules, with intervals."""
    rows = {
        (row.policy, row.rule, row.budget): row
        for row in figures.differences
        if (row.trace, row.start) == (trace, start)
    }
    budgets = sorted({budget for *_, budget in rows})
    yield "above", *(f"{budget:.0%}".replace("%", " %") for budget in budgets)
    for policy, rule in dict.fromkeys((policy, rule) for policy, rule, _ in rows):
        measure = policy_measure(policy)
        cells = (rows[policy, rule, budget] for budget in budgets)
        texts = (_difference_cell(row, measure) for row in cells)
        yield f"{MEASURE_NAMES[measure]}, `{policy}` above `{rule}`", *texts


def margin_lines(figures: StoredFigures) -> Lines:
    """Yield in how many settings a policy is below the best rule, and in how many clearly above."""
    yield (
        "policy", "settings", "below the best rule", "required margin", "margin met",
        "margin met at 5 and 10 %",
    )  # fmt: skip
    margins = list(rule_margins(figures.rows))
    for policy in JUDGED_POLICIES:
        own = [margin for margin in margins if margin.policy == policy]
        middle = [margin for margin in own if margin.budget in MIDDLE_BUDGETS]
        yield (
            f"`{policy}`", str(len(own)), str(sum(margin.margin < 0 for margin in own)),
            signed_share(REQUIRED_MARGINS[policy_measure(policy)]),
            *(f"{sum(item.is_met for item in part)} of {len(part)}" for part in (own, middle)),
        )  # fmt: skip


def deficit_lines(figures: StoredFigures) -> Lines:
    """Yield the settings in which a policy is below the best rule, the largest deficit first."""
    differences = {
        (row.trace, row.start, row.budget, row.policy, row.rule): row for row in figures.differences
    }
    yield "trace", "budget", "policy", "measure", "its figure", "best rule", "difference"
    for item in sorted(rule_margins(figures.rows), key=lambda item: item.margin):
        if item.margin >= 0:
            return
        setting = (item.trace, item.start, item.budget, item.policy, item.rule)
        difference = differences.get(setting)
        yield (
            f"`{item.trace}`, {item.start}", f"{item.budget:.0%}".replace("%", " %"),
            f"`{item.policy}`", MEASURE_NAMES[item.measure], share(item.value),
            f"`{item.rule}` {share(item.rule_value)}",
            _difference_cell(difference, item.measure)
            if difference
            else signed_share(item.margin),
        )  # fmt: skip


def _difference_cell(row: DifferenceRow, measure: str) -> str:
    value, low, high = (getattr(row, measure + suffix) for suffix in ("", "_low", "_high"))
    return f"{signed_share(value)} ({signed_share(low)} to {signed_share(high)})"


def signed_share(value: float) -> str:
    """Format a difference of shares.

    >>> signed_share(0.0213), signed_share(-0.09) == MINUS + ".090"
    ('+.021', True)
    """
    return ("+" if value >= 0 else MINUS) + share(abs(value))


def replay_lines(figures: StoredFigures) -> Lines:
    """Yield the live replays."""
    yield (
        "policy", "budget", "pages", "requests", "not modified", "changes found",
        f"ratio to `{RATIO_RULE}`", "freshness", "round-robin: changes", "freshness",
    )  # fmt: skip
    rule_changes = {
        result.budget: result.changes_found
        for result in figures.replays
        if result.policy == RATIO_RULE
    }
    for result in figures.replays:
        rule_count = rule_changes.get(result.budget)
        ratio = f"{result.changes_found / rule_count:.2f}" if rule_count else NO_VALUE
        yield (
            f"`{result.policy}`", result.budget, f"{result.pages:,}", f"{result.requests:,}",
            f"{result.not_modified:,}", f"{result.changes_found:,}", ratio, share(result.freshness),
            f"{result.round_robin_changes_found:,}", share(result.round_robin_freshness),
        )  # fmt: skip


def safety_net_lines(failing: bool, figures: StoredFigures) -> Lines:
    """Yield the guarded policies and those that they mix, with a working or failing forecast."""
    yield (
        "trace", "budget", "how the forecast fails" if failing else "objective", "guarded",
        "forecast alone", "nutch", "round-robin", "seeds", "above the best", "month by month",
    )  # fmt: skip
    for row in figures.safety_net:
        if bool(row.failure) == failing:
            kind = f"{row.objective}: {row.failure}" if failing else row.objective
            shares = (row.guarded, row.default, row.nutch, row.round_robin)
            yield (
                f"`{row.trace}`, {row.start}", f"{row.budget:.0%}".replace("%", " %"), kind,
                *map(share, shares), str(row.seeds), signed_percent(row.above_best),
                ", ".join(_month_cells(row)),
            )  # fmt: skip


def _month_cells(row: SafetyNetRow) -> Iterator[str]:
    """Yield how far the guarded policy is above the best one in each month, with errors."""
    errors = row.month_errors or (None,) * len(row.months)
    for month, error in zip(row.months, errors, strict=True):
        text = signed_percent(month)
        yield text if error is None else text.replace(" %", f" ± {100 * error:.1f} %")


def safety_net_noise_lines(figures: StoredFigures) -> Lines:
    """Yield the standard deviation of each policy between seeds, month by month."""
    yield "trace", "budget", "objective", "guarded", "forecast alone", "nutch", "round-robin"
    for row in figures.safety_net:
        if row.month_spreads and not row.failure:
            yield (
                f"`{row.trace}`, {row.start}", f"{row.budget:.0%}".replace("%", " %"),
                row.objective,
                *(
                    ", ".join(f"{100 * spread:.1f}" for spread in spreads) + " %"
                    for spreads in row.month_spreads
                ),
            )  # fmt: skip


def signed_percent(value: float) -> str:
    """Format a relative difference.

    >>> signed_percent(0.0213), signed_percent(-0.04) == MINUS + "4.0 %"
    ('+2.1 %', True)
    """
    return f"{'+' if value >= 0 else MINUS}{100 * abs(value):.1f} %"


def _cell(row: WildRow | None) -> str:
    return f"{share(row.changerate)} / {share(row.freshness)}" if row else NO_VALUE


def _crawl_table(trace: str, start: str) -> Callable[[StoredFigures], Lines]:
    names = [variant.name for variant in compared_policies()]
    return lambda figures: crawl_lines(trace, start, names, figures)


def _ablation_table(start: str) -> Callable[[StoredFigures], Lines]:
    names = sorted([*DEFAULTS, *(variant.name for variant in ablated_policies())])
    return lambda figures: crawl_lines("raw", start, names, figures)


def _difference_table(trace: str, start: str) -> Callable[[StoredFigures], Lines]:
    return lambda figures: difference_lines(trace, start, figures)


TRACE_TABLES = tuple(
    product(
        ("raw", "raw-moments", "raw-may", "raw-october", "raw-january", "generated"),
        ("warm", "cold"),
    )
)
TABLES: Mapping[str, Callable[[StoredFigures], Lines]] = {
    "traces": trace_lines,
    "margins": margin_lines,
    "below-the-best-rule": deficit_lines,
    "replays": replay_lines,
    "safety-net": partial(safety_net_lines, False),
    "safety-net-failures": partial(safety_net_lines, True),
    "safety-net-noise": safety_net_noise_lines,
    **{f"{trace}-{start}": _crawl_table(trace, start) for trace, start in TRACE_TABLES},
    **{
        f"{trace}-{start}-differences": _difference_table(trace, start)
        for trace, start in TRACE_TABLES
    },
    **{f"ablation-{start}": _ablation_table(start) for start in STARTS},
}
