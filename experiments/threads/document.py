"""Writes the tables of the document from the stored figures."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from experiments.document_tables import NO_VALUE, replace_tables
from experiments.threads.expected_figures import ThreadFigures
from experiments.threads.experiment import FLEET, THREAD, ThreadRow
from experiments.threads.policies import DEFAULT, FIXED, KERNEL
from experiments.threads.recorded_threads import FORUM, ISSUE

Lines = Iterator[Sequence[str]]
KIND_NAMES = {FORUM: "forum", ISSUE: "issue, mail"}
VISITS = (1.0, 2.0, 5.0, 16.0)


def fill_tables(text: str, figures: ThreadFigures) -> str:
    """Return a document with new tables."""
    return replace_tables(text, lambda name: TABLES[name](figures))


def curve_lines(figures: ThreadFigures, mode: str) -> Lines:
    """Yield the delay of each policy at equal visits."""
    silent_visits = ("silent visits at 5",) if mode == FLEET else ()
    yield "policy", "threads", *(f"T at {visits:g}" for visits in VISITS), *silent_visits
    for policy, kind in dict.fromkeys((row.policy, row.kind) for row in figures.rows):
        rows = {visits: find_row(figures, policy, kind, mode, visits) for visits in VISITS}
        delays = [f"{row.t_score:,.0f}" for row in rows.values()]
        if mode == FLEET:
            silent = rows[5.0].silent_visits
            delays.append(f"{silent:.2f}" if silent else NO_VALUE)
        yield policy, KIND_NAMES[kind], *delays


def measure_lines(figures: ThreadFigures) -> Lines:
    """Yield the errors that are reported only, and the bootstrap at 5 visits per post."""
    yield (
        "policy", "threads", "MAPE", "Pr_error at 5", "T at 5, 95 %", "T / T of fixed, 95 %",
        "visits for 1,590 min",
    )  # fmt: skip
    for line in figures.summaries:
        row = find_row(figures, line.policy, line.kind, FLEET, 5.0)
        yield (
            line.policy,
            KIND_NAMES[line.kind],
            NO_VALUE if row.mape is None else f"{row.mape:,.1f}",
            f"{row.pr_error:.3f}",
            f"{line.low:,.0f} to {line.high:,.0f}",
            f"{line.ratio_to_fixed:.2f} ({line.ratio_low:.2f} to {line.ratio_high:.2f})",
            f"{line.visits_for_report_delay:.2f}",
        )


def report_lines(figures: ThreadFigures) -> Lines:
    """Yield the layout of the report's Table 3.2."""
    yield (
        "features", "threads", "MAPE", "Pr_miss", "Pr_fa", "Pr_error", "P_miss", "P_FA", "pairs",
        "T", "posts", "visits",
    )  # fmt: skip
    yield (
        "report: w = 5, words, K = 5", "forum", "8.441", ".922", ".064", ".493", NO_VALUE, NO_VALUE,
        NO_VALUE, "1,601", "33", "545",
    )  # fmt: skip
    yield (
        "report: w = 5, words, K = 50", "forum", "12.994", ".926", ".063", ".495", NO_VALUE,
        NO_VALUE, NO_VALUE, "1,581", "33", "546",
    )  # fmt: skip
    for row in figures.report:
        shares = (row.pr_miss, row.pr_fa, row.pr_error, row.normalised_miss, row.normalised_fa)
        yield (
            row.features,
            KIND_NAMES[row.kind],
            f"{row.mape:.2f}",
            *(f"{share:.4f}" for share in (*shares, row.pair_score)),
            f"{row.t_score:,.0f}",
            f"{row.posts:.0f}",
            f"{row.visits:,.0f}",
        )


def error_lines(figures: ThreadFigures) -> Lines:
    """Yield what MAPE depends on."""
    yield (
        "prediction", "threads", "MAPE", "MAPE of gaps \N{GREATER-THAN OR EQUAL TO} 20 min",
        "median error", "predicted / actual minutes",
    )  # fmt: skip
    for row in figures.errors:
        numbers = (row.mape, row.mape_long, row.median_error, row.level)
        yield row.model, KIND_NAMES[row.kind], *(f"{number:,.2f}" for number in numbers)


def coverage_lines(figures: ThreadFigures) -> Lines:
    """Yield how often the 80 % intervals of the next post held."""
    yield (
        "model", "threads", "moments", "held", "came before", "came after", "loss",
        "median error", "number",
    )  # fmt: skip
    for row in figures.coverage:
        yield (
            row.model,
            KIND_NAMES.get(row.threads, row.threads),
            row.moments,
            *(f"{share:.3f}" for share in (row.within, row.before, row.after)),
            f"{row.loss:.3f}",
            f"{row.median_error:.3f}",
            f"{row.count:,}",
        )


def bar_lines(figures: ThreadFigures) -> Lines:
    """Yield the bars beside our figures; the bars are measured on other threads."""
    yield "bar", "asked", "ours", "met"
    for policy, bars in ((DEFAULT, (415, 135)), (KERNEL, (430, 145))):
        for kind, bar in zip((FORUM, ISSUE), bars, strict=True):
            delay = find_row(figures, policy, kind, FLEET, 5.0).t_score
            yield _bar(f"{policy}, {KIND_NAMES[kind]}: T at 5", bar, delay)
    for kind in (FORUM, ISSUE):
        for visits in (1.0, 2.0, 16.0):
            delay = find_row(figures, DEFAULT, kind, FLEET, visits).t_score
            fixed = find_row(figures, FIXED, kind, FLEET, visits).t_score
            yield _bar(
                f"{DEFAULT}, {KIND_NAMES[kind]}: T / fixed at {visits:g}", 0.5, delay / fixed
            )
    (price,) = (
        line.visits_for_report_delay
        for line in figures.summaries
        if (line.policy, line.kind) == (DEFAULT, FORUM)
    )
    yield _bar("default, forum: visits per post for 1,590 min", 1.6, price)
    for kind, bar in ((FORUM, 1.2), (ISSUE, 2.6)):
        silent = find_row(figures, DEFAULT, kind, FLEET, 5.0).silent_visits or 0.0
        yield _bar(f"{DEFAULT}, {KIND_NAMES[kind]}: silent visits per post", bar, silent)


def _bar(name: str, bar: float, value: float) -> tuple[str, str, str, str]:
    return (
        name,
        f"\N{LESS-THAN OR EQUAL TO} {bar:g}",
        f"{value:.4g}",
        "yes" if value <= bar else "no",
    )


def find_row(figures: ThreadFigures, policy: str, kind: str, mode: str, visits: float) -> ThreadRow:
    """Return the row of a policy at a number of visits."""
    key = policy, kind, mode, visits
    for row in figures.rows:
        if (row.policy, row.kind, row.mode, row.visits_per_post) == key:
            return row
    raise KeyError(f"no figures of {policy}, {kind}, {mode} at {visits:g}")


TABLES: Mapping[str, Callable[[ThreadFigures], Lines]] = {
    "fleet": lambda figures: curve_lines(figures, FLEET),
    "thread": lambda figures: curve_lines(figures, THREAD),
    "measures": measure_lines,
    "report": report_lines,
    "bars": bar_lines,
    "errors": error_lines,
    "coverage": coverage_lines,
}
