"""The report on one page: figures, words, blocks and a calendar."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from freshet.analysis.page_study import PageStudy
from freshet.cli.block_report import block_documents, epoch_times, format_day, print_blocks
from freshet.cli.output import print_table, print_text
from freshet.core.humanize import count_text, duration_text, percent_text, slope_text
from freshet.core.types import IndexArray
from freshet.measure.dynamics.curve.change_curve import ChangeCurve
from freshet.measure.dynamics.structure.survival import SURVIVAL_HORIZONS
from freshet.measure.statistics.page_summary import LookTable

SECONDS_PER_DAY = 86_400
MAX_WEEKS = 60
MONTH_NAME_WIDTH = 4
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
NOT_VISITED, UNCHANGED = "·", "▁"
CHANGE_LEVELS = "▃▅▆█"
CHANGE_KINDS = (
    ("bytes", "by_bytes"),
    ("text", "by_text"),
    ("significant", "significant"),
    ("structure", "by_structure"),
    ("links", "by_links"),
)


def print_page_report(study: PageStudy, limit: int) -> None:
    """Print all figures of a page, with at most ``limit`` words and blocks per table."""
    print_text(study.page.url, "bold")
    if not len(study.looks):
        print_text("The page has no looks yet.")
        return
    print_table(("", ""), [(name, value) for name, value in _summary_rows(study) if value])
    _print_words(study, limit)
    print_blocks(study, limit)
    _print_calendar(study.looks)


def _summary_rows(study: PageStudy) -> Iterator[tuple[str, Any]]:
    summary = study.summary
    yield (
        "looks",
        f"{summary.looks:,} from {format_day(summary.first)} to {format_day(summary.last)}",
    )
    yield "changes", _describe_changes(study)
    yield "time between changes", _describe_interval(study)
    if summary.dice_mean is not None:
        yield "Dice given change", f"{summary.dice_mean:.3f} (median {summary.dice_median:.3f})"
    yield "curve", describe_curve(study.curve)
    traits = study.summary.traits
    survival = _describe_survival(traits.survival)
    yield "elements still there", survival or _missing_reason(study, "survival")
    if survival:
        yield "elements never absent", _describe_survival(traits.unbroken_survival)
    if summary.traits.stay is not None and summary.traits.go is not None:
        words = f"{percent_text(summary.traits.stay)} stay, {percent_text(summary.traits.go)} pass"
        yield "words", f"{words}, of {len(study.terms):,}"
    if study.is_masked:
        yield "mask", "applied to changes, curve and words; blocks cover the whole page"
    yield "incomplete", study.missing_note


def _describe_changes(study: PageStudy) -> str:
    summary = study.summary
    known_counts = [(name, getattr(summary, field)) for name, field in CHANGE_KINDS]
    parts = ", ".join(f"{name} {count:,}" for name, count in known_counts if count is not None)
    total = f"{summary.changes:,} in {count_text(summary.compared, 'comparison')}"
    return f"{total} ({parts})" if parts else total


def _describe_interval(study: PageStudy) -> str:
    summary = study.summary
    if summary.interval_hours is None:
        return _missing_reason(study, "interval_hours")
    mean_interval = f"{duration_text(summary.interval_hours / 24)} on average"
    if summary.expected_hours is not None:
        fitted_interval = duration_text(summary.expected_hours / 24)
        return f"{mean_interval}; {fitted_interval} by the rate fitted to its looks"
    why = dict(summary.why).get("expected_hours", "")
    return (
        f"{mean_interval}; possibly more often: it {why}"
        if why.startswith("changed")
        else mean_interval
    )


def _missing_reason(study: PageStudy, figure: str) -> str:
    """Return why a figure is missing."""
    why = dict(study.summary.why).get(figure, "")
    return f"too little data: {why}" if why else "too little data"


def describe_curve(curve: ChangeCurve) -> str:
    """Return a description of a change curve."""
    if not len(curve):
        return f"too little data: {curve.why}"
    shape = curve.shape or "no clear shape"
    if curve.knot is not None and curve.level is not None:
        first = slope_text(curve.segments[0].slope, "Dice")
        return (
            f"{shape}: transient content disappears within {duration_text(curve.knot.hours / 24)} "
            f"({first}), then Dice stays near {curve.level:.2f} (at the knot {curve.knot.dice:.2f})"
        )
    unsure = " (it levels off at an unclear time)" if curve.shape == "knotted" else ""
    slope = f", {slope_text(curve.segments[0].slope, 'Dice')}" if curve.segments else ""
    end = f"Dice {curve.dice[-1]:.2f} after {duration_text(curve.hours[-1] / 24)}"
    return f"{shape}{unsure}: {end}{slope}"


def _describe_survival(shares: Sequence[float | None]) -> str:
    horizons = zip(SURVIVAL_HORIZONS, shares, strict=False)
    known_shares = [(seconds, share) for seconds, share in horizons if share is not None]
    return ", ".join(
        f"{share:.1%} after {duration_text(seconds / 86_400)}" for seconds, share in known_shares
    )


def _print_words(study: PageStudy, limit: int) -> None:
    """Print the words that stay and that pass, characteristic and common ones."""
    split = study.split
    rows = [
        ("stay, characteristic", split.stay_high),
        ("stay, common", split.stay_low),
        ("pass, characteristic", split.go_high),
        ("pass, common", split.go_low),
    ]
    listed = [(name, ", ".join(study.spell_words(ids[:limit]))) for name, ids in rows]
    if any(words for _, words in listed):
        print_text("")
        print_table(("", ""), listed, "words, compared with other pages of the collection")
    elif study.has_no_neighbours and len(study.terms):
        print_text("")
        print_text("Characteristic words are unknown, because there is no other page to compare.")


def _print_calendar(looks: LookTable) -> None:
    lines = calendar_lines(looks.times.tolist(), (looks.changed == 1).tolist())
    unit = "changes by day" if lines[1][0] in WEEKDAYS else "days with a change, by month"
    print_text("")
    print_text(
        f"{unit} ({NOT_VISITED} no look, {UNCHANGED} none, {CHANGE_LEVELS[0]} one, "
        f"{CHANGE_LEVELS[-1]} ten or more)",
        "bold",
    )
    for name, symbols in lines:
        print_text(f"{name:>8} {symbols}")


def calendar_lines(times: Sequence[float], changed: Sequence[bool]) -> list[tuple[str, str]]:
    """Return a calendar as lines of symbols: weekdays by weeks, or months by years.

    The first line has the names of the months, above the week in which each begins.

    >>> for name, symbols in calendar_lines([0.0, 86_400.0, 4 * 86_400.0], [False, True, True]):
    ...     print(f"{name} {symbols}".rstrip())
    1970 Jan
    Mon  ▃
    Tue
    Wed
    Thu ▁
    Fri ▃
    Sat ·
    Sun ·
    """
    days = (np.asarray(times) // SECONDS_PER_DAY).astype(np.int64)
    first = int(days.min())
    looks_by_day = np.bincount(days - first)
    changes = np.bincount(days - first, weights=np.asarray(changed, np.float64))
    begin = datetime.fromtimestamp(first * SECONDS_PER_DAY, UTC).date()
    if len(looks_by_day) <= 7 * MAX_WEEKS:
        return _weeks(begin, looks_by_day.astype(np.int32), changes.astype(np.int32))
    return _years(begin, looks_by_day.astype(np.int32), changes.astype(np.int32))


def _weeks(begin: date, looks_by_day: IndexArray, changes: IndexArray) -> list[tuple[str, str]]:
    symbols = [_symbol(*pair) for pair in zip(looks_by_day.tolist(), changes.tolist(), strict=True)]
    before = begin.weekday()
    grid = [" "] * before + symbols
    grid += [" "] * (-len(grid) % 7)
    heads = _month_heads(begin - timedelta(days=before), len(grid) // 7)
    return [heads, *((name, "".join(grid[row::7])) for row, name in enumerate(WEEKDAYS))]


def _month_heads(monday: date, weeks: int) -> tuple[str, str]:
    """Return the years of some weeks, and the month names above the weeks in which they begin.

    >>> _month_heads(date(2026, 12, 21), 8)
    ('2026-27', ' Jan  Feb')
    """
    sundays = [monday + timedelta(days=7 * week + 6) for week in range(weeks)]
    begins = [week for week, sunday in enumerate(sundays) if sunday.day <= 7 or not week]
    if len(begins) > 1 and begins[1] < MONTH_NAME_WIDTH:
        del begins[0 if weeks > 2 * begins[1] else 1]
    line = ""
    for week in begins:
        line = f"{line:<{week}}{sundays[week]:%b}"
    first, last = sundays[0].year, sundays[-1].year
    return (f"{first}" if first == last else f"{first}-{last % 100:02}"), line


def _years(begin: date, looks_by_day: IndexArray, changes: IndexArray) -> list[tuple[str, str]]:
    """Return a line per year with a symbol per month, by its number of days with a change."""
    days_by_month: dict[tuple[int, int], list[int]] = {}
    for number in range(len(looks_by_day)):
        day = begin + timedelta(days=number)
        month = days_by_month.setdefault((day.year, day.month), [0, 0])
        month[0] += bool(looks_by_day[number])
        month[1] += bool(changes[number])
    years = range(begin.year, max(days_by_month)[0] + 1)
    rows = (
        "".join(_symbol(*days_by_month.get((year, month), (0, 0))) for month in range(1, 13))
        for year in years
    )
    return [("", "JFMAMJJASOND"), *zip(map(str, years), rows, strict=True)]


def _symbol(looks: int, changes: int) -> str:
    """Return the symbol of a day or month, by its looks and changes.

    >>> _symbol(0, 0), _symbol(3, 0), _symbol(3, 1), _symbol(24, 24)
    ('·', '▁', '▃', '█')
    """
    if not changes:
        return UNCHANGED if looks else NOT_VISITED
    return CHANGE_LEVELS[(changes > 1) + (changes > 3) + (changes > 9)]


def page_report_document(study: PageStudy) -> dict[str, Any]:
    """Return the report for JSON: figures, curve, words, blocks and days."""
    split, curve = study.split, study.curve
    kinds = ("stay_high", "stay_low", "go_high", "go_low")
    return {
        "page": study.page,
        "summary": study.summary,
        "curve": {
            "shape": curve.shape,
            "knot": curve.knot,
            "paper_knot": curve.paper_knot,
            "segments": curve.segments,
            "why": curve.why,
            "step": curve.step,
            "starts": epoch_times(curve.starts.tolist()),
            "hours": curve.hours.tolist(),
            "dice": curve.dice.tolist(),
            "counts": curve.counts.tolist(),
        },
        "words": {
            "total": len(study.terms),
            "stay": split.stay,
            "go": split.go,
            "alone": study.has_no_neighbours,
            "why": study.terms.why,
            **{name: study.spell_words(getattr(split, name)) for name in kinds},
        },
        **block_documents(study),
        "days": list(_days(study.looks)),
        "masked": study.is_masked,
        "left_out": study.missing_note,
    }


def _days(looks: LookTable) -> Iterator[dict[str, Any]]:
    """Yield the UTC days with looks, and their number of changes."""
    days = (looks.times // SECONDS_PER_DAY).astype(np.int64)
    for day in np.unique(days).tolist():
        on_day = days == day
        name = datetime.fromtimestamp(day * SECONDS_PER_DAY, UTC).date()
        yield {
            "day": name,
            "looks": int(on_day.sum()),
            "changes": int((looks.changed[on_day] == 1).sum()),
        }
