"""What the figures are held against: required bounds, our figures, and whether they are met."""

from collections.abc import Iterator, Sequence

from experiments.document_tables import NO_VALUE
from experiments.outlinks.evaluation import OutlinkRow
from experiments.outlinks.expected_figures import StoredFigures
from experiments.outlinks.models import COLD, DEFAULT, WITH_THRESHOLD

HISTORY_RULES = ("NNL-Pr", "NNL-Av", "LCR-history")
THRESHOLD_RULES = tuple(f"{rule}{WITH_THRESHOLD}" for rule in HISTORY_RULES)
F1_FLOORS = {"internal": 0.56, "external": 0.48}
F1_AIMS = {"internal": 0.50, "external": 0.60}
COLD_FLOOR = 0.68
RANKING_RULES = ("nnl-pr", "nnl-av", "lcr", "ccr")
Lines = Iterator[Sequence[str]]


def bound_lines(figures: StoredFigures) -> Lines:
    """Yield a line for each bound."""
    yield "bar", "needed", "ours", "met"
    rows = [row for row in figures.result.rows if row.data == "pages" and row.target == "nl"]
    for links, floor in F1_FLOORS.items():
        f1 = _figure(rows, "page", links, DEFAULT, "f1")
        yield _line(f"page split, NL F1, {links}", floor, f1)
    for links in F1_FLOORS:
        for measure in ("f1", "auc", "average_precision"):
            best = _best_rule(rows, links, HISTORY_RULES, measure)
            ours = _figure(rows, "host_time", links, DEFAULT, measure)
            name = measure.replace("_", " ")
            yield _line(f"unseen hosts, next week, {name}, {links}: above the rules", best, ours)
        best = _best_rule(rows, links, THRESHOLD_RULES, "f1")
        ours = _figure(rows, "host_time", links, DEFAULT, "f1")
        name = f"unseen hosts, next week, f1, {links}: above the rules with a chosen threshold"
        yield _line(name, best, ours)
    for links, aim in F1_AIMS.items():
        f1 = _figure(rows, "host_time", links, DEFAULT, "f1")
        yield _line(f"aim: unseen hosts, next week, F1, {links}", aim, f1)
    cold = _figure(rows, "host_time", "internal", COLD, "auc")
    yield _line("no own history, unseen host: AUC, internal", COLD_FLOOR, cold)
    yield from _world_lines(figures)
    yield from _crawl_lines(figures)


def _best_rule(
    rows: Sequence[OutlinkRow], links: str, rules: Sequence[str], measure: str
) -> float | None:
    figures = [_figure(rows, "host_time", links, rule, measure) for rule in rules]
    return max((figure for figure in figures if figure is not None), default=None)


def _world_lines(figures: StoredFigures) -> Lines:
    rows = [row for row in figures.result.rows if (row.data, row.split) == ("world", "page")]
    for target, measure in (("lcr", "spearman"), ("nl", "spearman"), ("nnl", "spearman")):
        for links in F1_FLOORS:
            of_target = [row for row in rows if row.target == target]
            lbla, everything = (
                _figure(of_target, "page", links, "extra_trees", measure, features)
                for features in ("lbla", "all")
            )
            name = f"world, {target.upper()}, {links}: LBLA at least all features ({measure})"
            yield _line(name, everything, lbla)
    for links, figure, published in (("internal", "9", 0.50), ("external", "10", 0.45)):
        values = {
            point.at: point.value
            for point in figures.result.points
            if (point.data, point.figure, point.series) == ("world", figure, "R²")
        }
        if values:
            plain, with_vector = values["SP"], values["SP + vector"]
            is_near = abs(plain - published) <= 0.1
            is_met = "yes" if is_near and with_vector > plain else "no"
            ours = f"{plain:.2f}, with the vector {with_vector:.2f}"
            yield (
                f"world, R² of LCR from static page features, {links}",
                f"about {published:.2f}, rising with the vector", ours, is_met,
            )  # fmt: skip


def _crawl_lines(figures: StoredFigures) -> Lines:
    crawls = figures.result.crawls
    for data, links in dict.fromkeys((row.data, row.links) for row in crawls):
        found = {
            row.policy: row.per_fetch for row in crawls if (row.data, row.links) == (data, links)
        }
        best = max(found[rule] for rule in RANKING_RULES)
        name = f"simulate at 5 %, {data}, {links} links: links per fetch above the rankings"
        yield _line(name, best, found["bayes-links"])


def _line(name: str, needed: float | None, ours: float | None) -> tuple[str, str, str, str]:
    if needed is None or ours is None:
        return name, NO_VALUE, NO_VALUE, NO_VALUE
    return name, f"{needed:.3f}", f"{ours:.3f}", "yes" if ours >= needed else "no"


def _figure(
    rows: Sequence[OutlinkRow], split: str, links: str, model: str, measure: str, features: str = ""
) -> float | None:
    for row in rows:
        is_named = (row.split, row.links, row.model) == (split, links, model)
        if is_named and features in {"", row.features}:
            value: float | None = getattr(row, measure)
            return value
    return None
