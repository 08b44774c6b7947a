"""Writes the tables of the document from the stored figures, so that they cannot differ."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from experiments.document_tables import replace_tables
from experiments.web_changes.data_parts import PART_DESCRIPTIONS
from experiments.web_changes.evaluation import (
    CATEGORIES,
    DEPTHS,
    DOMAINS,
    EXPECTED,
    HORIZONS,
    VISITORS,
    FigureRow,
    Key,
    Value,
    format_value,
)
from experiments.web_changes.page_reports import PAGES, WORD_TABLE_URLS
from experiments.web_changes.sentences import NO_VALUE, SENTENCES, format_share

CURVE_SHAPES = EXPECTED.parents[1] / "curve_shapes/expected.json"
SENTENCE = re.compile(r"(<!-- figures: (\w+) -->).*?(<!-- end -->)", re.DOTALL)
INTERVALS = ("instant", "2 minutes", "16 minutes", "32 minutes", "60 minutes")
MIN_SHOWN_P = 0.0001
# Section 4.1.1 says which differences of means are significant, section 4.2.2 those of knots.
PAPER_TESTS = {
    ("t1_visitors", "p_hours"): "above 10 hours",
    ("t1_visitors", "p_dice"): "above .02",
    ("t1_visitors", "p_knot_hours"): "none",
    ("t1_visitors", "p_knot_dice"): "none",
    ("t1_tld", "p_hours"): "above 10 hours",
    ("t1_tld", "p_dice"): "above .02; org from net only",
    ("t1_tld", "p_knot_hours"): "above 4 hours; gov from edu only",
    ("t1_tld", "p_knot_dice"): "above .01",
    ("t1_depth", "p_hours"): "above 10 hours",
    ("t1_depth", "p_dice"): "above .02",
    ("t1_depth", "p_knot_hours"): "above 4 hours",
    ("t1_depth", "p_knot_dice"): "above .01",
    ("t1_category", "p_hours"): "above 10 hours",
    ("t1_category", "p_dice"): "above .02",
    ("t1_category", "p_knot_hours"): "above 4 hours",
    ("t1_category", "p_knot_dice"): "above .01",
}
WORD_LISTS = ("telling at the first look", "stay, high divergence", "stay, low divergence")

ValueFormat = Callable[[Value], str]
Figures = Mapping[Key, FigureRow]
Lines = Iterator[Sequence[str]]


def expected_rows() -> list[FigureRow]:
    """Return the stored figures."""
    stored = json.loads(EXPECTED.read_text("utf-8"))["rows"]
    return [
        FigureRow(**{name: row[name] for name in FigureRow.__dataclass_fields__}) for row in stored
    ]


def fill_tables(text: str, rows: Sequence[FigureRow]) -> str:
    """Return a document with new tables, and new figures in its marked sentences."""
    figures = {(row.table, row.group, row.metric): row for row in rows}
    text = replace_tables(text, lambda name: TABLES[name](figures))
    return SENTENCE.sub(lambda match: f"{match[1]}{SENTENCES[match[2]](figures)}{match[3]}", text)


def format_hours(value: Value) -> str:
    """Format hours.

    >>> format_hours(123.4), format_hours(3.58)
    ('123', '3.6')
    """
    if not isinstance(value, float):
        return NO_VALUE
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}"


def format_dice(value: Value) -> str:
    """Format a Dice.

    >>> format_dice(0.7944), format_dice(1.0)
    ('.794', '1.00')
    """
    return format_value(value).replace("-", NO_VALUE)


def format_p(value: Value) -> str:
    """Format the p-value of a test.

    >>> format_p(0.00016), format_p(1e-30)
    ('0.0002', '< 0.0001')
    """
    if not isinstance(value, float):
        return NO_VALUE
    return "< 0.0001" if value < MIN_SHOWN_P else f"{value:.4f}"


def totals(figures: Figures) -> Lines:
    """Yield the first rows of Table 1."""
    yield "in five weeks", "paper", "world", "real", "pages (world · real)"
    for name, metric, write in (
        ("never changed", "never_changed", format_share),
        ("mean hours between changes", "hours", format_hours),
        ("mean Dice given change", "dice", format_dice),
    ):
        row = figures["t1_all", "all", metric]
        yield name, *_format_all(row, write), pages(row)


def of_groups(table: str, head: str, names: Sequence[str], figures: Figures) -> Lines:
    """Yield Table 1 by group, each cell paper / world / real."""
    yield (
        head, "hours between changes", "Dice given change", "pages", "knot, hours", "knot, Dice",
        "pages",
    )  # fmt: skip
    for name in names:
        all_samples, dice, knot, at = (
            figures[table, name, metric] for metric in ("hours", "dice", "knot_hours", "knot_dice")
        )
        yield (
            name,
            _format_cell(all_samples, format_hours),
            _format_cell(dice, format_dice),
            pages(all_samples),
            _format_cell(knot, format_hours),
            _format_cell(at, format_dice),
            pages(knot),
        )


def tests(figures: Figures) -> Lines:
    """Yield the tests for differences between groups."""
    yield (
        "do they differ (Kruskal-Wallis p)",
        "in",
        "paper: significant differences",
        "world",
        "real",
    )
    for name, table in (
        ("visitors", "t1_visitors"),
        ("domains", "t1_tld"),
        ("depths", "t1_depth"),
        ("categories", "t1_category"),
    ):
        for quantity, metric in (
            ("hours", "p_hours"),
            ("Dice", "p_dice"),
            ("hours of the knot", "p_knot_hours"),
            ("Dice at the knot", "p_knot_dice"),
        ):
            row = figures[table, "groups differ", metric]
            yield (
                name,
                quantity,
                PAPER_TESTS[table, metric],
                format_p(row.world),
                format_p(row.real),
            )


def parts(figures: Figures) -> Lines:
    """Yield the real pages by part of the data."""
    yield "part", "description", "pages", "never changed", "hours", "Dice", "knotted"
    for part, description in PART_DESCRIPTIONS.items():
        rows = {
            metric: figures.get(("t1_part", part, metric))
            for metric in ("never_changed", "hours", "dice", "knotted")
        }
        never, between, dice, knotted = rows.values()
        yield (
            f"`{part}`",
            description,
            f"{never.n:,}" if never else NO_VALUE,
            *(
                write(row.real if row else None)
                for row, write in (
                    (never, format_share),
                    (between, format_hours),
                    (dice, format_dice),
                    (knotted, format_share),
                )
            ),
        )


def sub_hour(figures: Figures) -> Lines:
    """Yield Table 2."""
    yield "interval", "changed in any sample", "in all samples", "mean Dice", "median Dice"
    for name in INTERVALS:
        any_sample, all_samples, mean, median = (
            figures["t2", name, metric] for metric in ("any", "all", "dice_mean", "dice_median")
        )
        yield (
            name,
            *(
                f"{format_share(row.paper)} / {format_share(row.world)}"
                for row in (any_sample, all_samples)
            ),
            *(_format_cell(row, format_dice) for row in (mean, median)),
        )


def curves(figures: Figures) -> Lines:
    """Yield the shapes of curves and their knots."""
    often_headers = [f"{source}, 8 changes or more" for source in ("world", "real")]
    yield (
        "pages that changed", "paper", "world", "real", "pages", *often_headers, "pages",
        "world, paper's heuristic", "real, paper's heuristic", "pages",
    )  # fmt: skip
    for name, metric, write in (
        ("flat", "flat", format_share),
        ("sloped", "sloped", format_share),
        ("knotted", "knotted", format_share),
        ("knot, mean hours", "knot_hours_mean", format_hours),
        ("knot, median hours", "knot_hours_median", format_hours),
        ("knot, mean Dice", "knot_dice_mean", format_dice),
        ("knot, median Dice", "knot_dice_median", format_dice),
    ):
        row, lively = (figures["curves", group, metric] for group in ("all", "changed often"))
        heuristic = figures.get(("curves", "all", f"paper_{metric}"))
        heuristic_cells = (
            (write(heuristic.world), write(heuristic.real), pages(heuristic))
            if heuristic
            else ("", "", "")
        )
        yield (
            name, *_format_all(row, write), pages(row), write(lively.world), write(lively.real),
            pages(lively), *heuristic_cells,
        )  # fmt: skip


def single_curves(figures: Figures) -> Lines:
    """Yield the curves of single pages."""
    yield (
        "page", "curve", "knot, hours", "knot, Dice", "paper's heuristic, hours", "Dice", "changes",
        "median hours between", "mean Dice",
    )  # fmt: skip
    for _, url in PAGES:
        shape, knot, dice, paper_knot, paper_dice = (
            figures["fig4", url, metric].real
            for metric in (
                "shape",
                "knot_hours",
                "knot_dice",
                "paper_knot_hours",
                "paper_knot_dice",
            )
        )
        changes, median, mean = (
            figures["fig2", url, metric].real for metric in ("changes", "hours_median", "dice_mean")
        )
        change_count = f"{changes:,.0f}" if isinstance(changes, float) else NO_VALUE
        yield (
            f"`{url}`",
            str(shape),
            format_hours(knot),
            format_dice(dice),
            format_hours(paper_knot),
            format_dice(paper_dice),
            change_count,
            format_hours(median),
            format_dice(mean),
        )


def words(url: str, figures: Figures) -> Lines:
    """Yield Table 3 of a page."""
    yield f"`{url}`", "words"
    for metric in WORD_LISTS:
        yield metric, str(figures["t3", url, metric].real)


def staying(figures: Figures) -> Lines:
    """Yield the staying power of the words of single pages."""
    yield "page", "words in five weeks", "staying power > 0.8", "between", "< 0.2"
    for _, url in PAGES:
        total = figures["fig5", url, "words"].real
        shares = (figures["fig6", url, metric].real for metric in ("stay", "between", "go"))
        word_count = f"{total:,.0f}" if isinstance(total, float) else NO_VALUE
        yield f"`{url}`", word_count, *map(format_share, shares)


def survival(figures: Figures) -> Lines:
    """Yield Table 4."""
    yield (
        "elements still there after", "paper", "world", "real", "pages (world · real)",
        "world, never absent", "real, never absent",
    )  # fmt: skip
    for name in HORIZONS:
        row, unbroken = figures["t4", name, "mean"], figures["t4", name, "unbroken"]
        shares = format_share(unbroken.world), format_share(unbroken.real)
        yield name, *_format_all(row, format_share), pages(row), *shares
    row = figures["t4", HORIZONS[-1], "median"]
    yield f"{HORIZONS[-1]}, median", *_format_all(row, format_share), pages(row), "", ""


def content(figures: Figures) -> Lines:
    """Yield how long texts stay on pages with stored HTML."""
    yield (
        "page", "blocks", "unchanged at all looks", "hours in their place", "hours on the page",
        "hours without a break",
    )  # fmt: skip
    for _, url in PAGES:
        if ("fig7", url, "blocks") in figures:
            blocks, constant, *lifespans = (
                figures["fig7", url, metric].real
                for metric in ("blocks", "constant", "hours_here", "hours_on_page", "hours_run")
            )
            count = f"{blocks:,.0f}" if isinstance(blocks, float) else NO_VALUE
            yield f"`{url}`", count, format_share(constant), *map(format_hours, lifespans)


def pages(row: FigureRow) -> str:
    """Format the numbers of pages behind a figure: the world's and the real ones."""
    return (
        f"{row.n_world:,} · {row.n:,}" if row.real is not None else f"{row.n_world:,} · {NO_VALUE}"
    )


def _format_all(row: FigureRow, write: ValueFormat) -> list[str]:
    return [write(row.paper), write(row.world), write(row.real)]


def _format_cell(row: FigureRow, write: ValueFormat) -> str:
    return " / ".join(_format_all(row, write))


def classifier(figures: Figures) -> Lines:
    """Yield the results of the classifier of curves, and of the searches for knots."""
    yield "generated curves of known shape", "paper", "ours"
    names = {
        "accuracy": "shapes classified correctly",
        "near": "planted knots found within a tenth",
        "near_over_time": "by two lines over plain time",
        "near_by_paper": "by the paper's heuristic",
    }
    for row in json.loads(CURVE_SHAPES.read_text("utf-8"))["rows"]:
        paper = f"over {row['paper']:.0%}".replace("%", " %") if row["paper"] else NO_VALUE
        yield names[row["metric"]], paper, format_share(row["ours"])


TABLES: Mapping[str, Callable[[Figures], Lines]] = {
    "totals": totals,
    "visitors": lambda figures: of_groups("t1_visitors", "visitors", VISITORS, figures),
    "domains": lambda figures: of_groups("t1_tld", "domain", DOMAINS, figures),
    "depths": lambda figures: of_groups("t1_depth", "depth", DEPTHS, figures),
    "categories": lambda figures: of_groups("t1_category", "category", CATEGORIES, figures),
    "tests": tests,
    "parts": parts,
    "sub_hour": sub_hour,
    "curves": curves,
    "single_curves": single_curves,
    "words_of_a_front_page": lambda figures: words(WORD_TABLE_URLS[0], figures),
    "words_of_a_list": lambda figures: words(WORD_TABLE_URLS[1], figures),
    "staying": staying,
    "survival": survival,
    "content": content,
    "classifier": classifier,
}
