"""One page's study in words, tables and a calendar of letters."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from freshet.analysis.page_study import PageStudy
from freshet.cli.output import format_count, print_table, print_text
from freshet.core.humanize import duration_text, percent_text, slope_text
from freshet.core.types import IndexArray
from freshet.measure.dynamics.curve.change_curve import ChangeCurve
from freshet.measure.dynamics.structure.block_names import block_names
from freshet.measure.dynamics.structure.blocks import BlockBehaviour, DomBlock
from freshet.measure.dynamics.structure.survival import SURVIVAL_HORIZONS
from freshet.measure.statistics.page_summary import LookTable

SECONDS_PER_DAY = 86_400
MAX_WEEKS = 60
MONTH_NAME_WIDTH = 4
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
NOT_VISITED, UNCHANGED = "·", "▁"
CHANGE_LEVELS = "▃▅▆█"
CHANGE_KINDS = (("bytes", "by_bytes"), ("text", "by_text"), ("significant", "significant"),
         ("structure", "by_structure"), ("links", "by_links"))  # fmt: skip
BLOCK_COLUMNS = (
    "block", "lives", "content stays", "changes", "moves", "seen", "last change", "text",
)  # fmt: skip


def print_page_report(found: PageStudy, limit: int) -> None:
    """Print everything that a study says; ``limit`` bounds the words and blocks listed."""
    print_text(found.page.url, "bold")
    if not len(found.looks):
        print_text("The page has not been looked at yet; there is nothing to say.")
        return
    print_table(("", ""), [(name, value) for name, value in _facts(found) if value])
    _print_words(found, limit)
    _print_blocks(found, limit)
    _print_calendar(found.looks)


def _facts(found: PageStudy) -> Iterator[tuple[str, Any]]:
    summary = found.summary
    yield "looks", f"{summary.looks:,} from {_day(summary.first)} to {_day(summary.last)}"
    yield "changes", _changes(found)
    yield "time between changes", _between(found)
    if summary.dice_mean is not None:
        yield "Dice given change", f"{summary.dice_mean:.3f} (median {summary.dice_median:.3f})"
    yield "curve", describe_curve(found.curve)
    yield "elements still there", _survival(found) or _reason(found, "survival")
    if summary.traits.stay is not None and summary.traits.go is not None:
        words = f"{percent_text(summary.traits.stay)} stay, {percent_text(summary.traits.go)} pass"
        yield "words", f"{words}, of {len(found.terms):,}"
    if found.is_masked:
        yield "mask", "hides noise from changes, curve and words; blocks are of the whole page"
    yield "read in part", found.missing_note


def _changes(found: PageStudy) -> str:
    summary = found.summary
    known = [(name, getattr(summary, field)) for name, field in CHANGE_KINDS]
    parts = ", ".join(f"{name} {count:,}" for name, count in known if count is not None)
    whole = f"{summary.changes:,} in {format_count(summary.compared, 'comparison')}"
    return f"{whole} ({parts})" if parts else whole


def _between(found: PageStudy) -> str:
    summary = found.summary
    if summary.interval_hours is None:
        return _reason(found, "interval_hours")
    told = f"{duration_text(summary.interval_hours / 24)} on average"
    if summary.expected_hours is not None:
        return (
            f"{told}; {duration_text(summary.expected_hours / 24)} by the rate that fits its looks"
        )
    why = dict(summary.why).get("expected_hours", "")
    return f"{told}; perhaps oftener: it {why}" if why.startswith("changed") else told


def _reason(found: PageStudy, figure: str) -> str:
    """Say why a figure is lacking."""
    why = dict(found.summary.why).get(figure, "")
    return f"too little to say: {why}" if why else "too little to say"


def describe_curve(curve: ChangeCurve) -> str:
    """Say what a change curve shows."""
    if not len(curve):
        return f"too little to say: {curve.why}"
    shape = curve.shape or "no clear shape"
    if curve.knot is not None:
        first = slope_text(curve.segments[0].slope, "Dice")
        return (f"{shape}: what was there fades for {duration_text(curve.knot.hours / 24)} "
                f"({first}), then Dice {curve.knot.dice:.2f} stays")  # fmt: skip
    unsure = " (it levels off, but when is not clear)" if curve.shape == "knotted" else ""
    slope = f", {slope_text(curve.segments[0].slope, 'Dice')}" if curve.segments else ""
    return f"{shape}{unsure}: Dice {curve.dice[-1]:.2f} after {duration_text(curve.hours[-1] / 24)}{slope}"


def _survival(found: PageStudy) -> str:
    shares = zip(SURVIVAL_HORIZONS, found.summary.traits.survival, strict=False)
    known = [(seconds, share) for seconds, share in shares if share is not None]
    return ", ".join(
        f"{share:.1%} after {duration_text(seconds / 86_400)}" for seconds, share in known
    )


def _print_words(found: PageStudy, limit: int) -> None:
    """Print the words that stay and those that pass, the telling and the common ones."""
    parted = found.split
    rows = [
        ("stay, set the page apart", parted.stay_high), ("stay, as anywhere", parted.stay_low),
        ("pass, set the page apart", parted.go_high), ("pass, as anywhere", parted.go_low),
    ]  # fmt: skip
    listed = [(name, ", ".join(found.spell_words(each[:limit]))) for name, each in rows]
    if any(words for _, words in listed):
        print_text("")
        print_table(("", ""), listed, "words, against other pages of the collection")
    elif found.has_no_neighbours and len(found.terms):
        print_text("")
        print_text("Which words set the page apart cannot be said: its source has no other page.")


def _print_blocks(found: PageStudy, limit: int) -> None:
    blocks = found.blocks
    if not blocks or found.outline is None:
        return
    if all(block.behaviour is BlockBehaviour.ONCE for block in blocks):
        print_text("")
        print_text(
            f"{format_count(len(blocks), 'block')}, seen once: too little to say how they live."
        )
        return
    print_text("")
    most = sorted(blocks, key=lambda block: (-block.changes, block.lifespan))[:limit]
    listed = [block for block in blocks if any(block is each for each in most)]
    which = "" if len(listed) == len(blocks) else f", the {len(listed)} that change most"
    which += f"; {found.outline.left_out:,} seen least are left out" * bool(found.outline.left_out)
    rows = [_block_cells(block) for block in listed]
    print_table(BLOCK_COLUMNS, rows, f"{format_count(len(blocks), 'block')}{which}")
    _print_together(found, limit)


def _print_together(found: PageStudy, limit: int) -> None:
    """Print the blocks that always change at the same times."""
    if not found.co_changing:
        return
    print_text("")
    names = block_names(found.blocks)
    rows = [
        (len(bound.times), len(bound.blocks), ", ".join(names[place] for place in bound.blocks[:5]))
        for bound in found.co_changing[:limit]
    ]
    groups = format_count(len(found.co_changing), "group")
    print_table(("times", "blocks", ""), rows, f"{groups} of blocks that always change together")


def _block_cells(block: DomBlock) -> tuple[Any, ...]:
    return (
        "/".join(block.path.strip("/").split("/")[-3:]),
        str(block.behaviour),
        duration_text(block.lifespan / SECONDS_PER_DAY),
        block.changes,
        block.moves or None,
        percent_text(block.presence),
        _day(block.last_change),
        block.sample,
    )


def _print_calendar(looks: LookTable) -> None:
    lines = calendar_lines(looks.times.tolist(), (looks.changed == 1).tolist())
    what = "changes by day" if lines[1][0] in WEEKDAYS else "days with a change, by month"
    print_text("")
    print_text(
        f"{what} ({NOT_VISITED} no look, {UNCHANGED} none, {CHANGE_LEVELS[0]} one, {CHANGE_LEVELS[-1]} ten or more)",
        "bold",
    )
    for name, letters in lines:
        print_text(f"{name:>8} {letters}")


def calendar_lines(times: Sequence[float], changed: Sequence[bool]) -> list[tuple[str, str]]:
    """Return a calendar as lines of letters: weekdays of weeks, or months of years.

    The first line names the months: above the week in which each begins, or by their letters.

    >>> for name, letters in calendar_lines([0.0, 86_400.0, 4 * 86_400.0], [False, True, True]):
    ...     print(f"{name} {letters}".rstrip())
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
    seen = np.bincount(days - first)
    changes = np.bincount(days - first, weights=np.asarray(changed, np.float64))
    begin = datetime.fromtimestamp(first * SECONDS_PER_DAY, UTC).date()
    if len(seen) <= 7 * MAX_WEEKS:
        return _weeks(begin, seen.astype(np.int32), changes.astype(np.int32))
    return _years(begin, seen.astype(np.int32), changes.astype(np.int32))


def _weeks(begin: date, seen: IndexArray, changes: IndexArray) -> list[tuple[str, str]]:
    letters = [_letter(*pair) for pair in zip(seen.tolist(), changes.tolist(), strict=True)]
    before = begin.weekday()
    grid = [" "] * before + letters
    grid += [" "] * (-len(grid) % 7)
    heads = _month_heads(begin - timedelta(days=before), len(grid) // 7)
    return [heads, *((name, "".join(grid[row::7])) for row, name in enumerate(WEEKDAYS))]


def _month_heads(monday: date, weeks: int) -> tuple[str, str]:
    """Return the years of some weeks, and the months that begin in them, each above its first week.

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


def _years(begin: date, seen: IndexArray, changes: IndexArray) -> list[tuple[str, str]]:
    """Return a line a year, a letter a month: how many of its days had a change."""
    watched: dict[tuple[int, int], list[int]] = {}
    for number in range(len(seen)):
        day = begin + timedelta(days=number)
        month = watched.setdefault((day.year, day.month), [0, 0])
        month[0] += bool(seen[number])
        month[1] += bool(changes[number])
    years = range(begin.year, max(watched)[0] + 1)
    rows = ("".join(_letter(*watched.get((year, month), (0, 0))) for month in range(1, 13))
            for year in years)  # fmt: skip
    return [("", "JFMAMJJASOND"), *zip(map(str, years), rows, strict=True)]


def _letter(looks: int, changes: int) -> str:
    """Return the letter of a day, or of a month, by its looks and changes.

    >>> _letter(0, 0), _letter(3, 0), _letter(3, 1), _letter(24, 24)
    ('·', '▁', '▃', '█')
    """
    if not changes:
        return UNCHANGED if looks else NOT_VISITED
    return CHANGE_LEVELS[(changes > 1) + (changes > 3) + (changes > 9)]


def _day(moment: float | None) -> str:
    return "" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"


def page_report_document(found: PageStudy) -> dict[str, Any]:
    """Return a study for JSON: figures, curve, words, blocks and days."""
    parted, curve = found.split, found.curve
    kinds = ("stay_high", "stay_low", "go_high", "go_low")
    return {
        "page": found.page,
        "summary": found.summary,
        "curve": {
            "shape": curve.shape, "knot": curve.knot, "segments": curve.segments,
            "why": curve.why, "step": curve.step, "starts": _times(curve.starts.tolist()),
            "hours": curve.hours.tolist(), "dice": curve.dice.tolist(),
            "counts": curve.counts.tolist(),
        },
        "words": {
            "total": len(found.terms), "stay": parted.stay, "go": parted.go,
            "alone": found.has_no_neighbours, "why": found.terms.why,
            **{name: found.spell_words(getattr(parted, name)) for name in kinds},
        },
        "blocks": [_plain_block(block) for block in found.blocks],
        "together": [
            {"blocks": [found.blocks[place].path for place in bound.blocks],
             "times": _times(bound.times.tolist())}
            for bound in found.co_changing
        ],
        "days": list(_days(found.looks)),
        "masked": found.is_masked, "left_out": found.missing_note,
    }  # fmt: skip


def _plain_block(block: DomBlock) -> dict[str, Any]:
    return {
        "path": block.path, "habit": str(block.behaviour), "lifespan_hours": block.lifespan / 3600,
        "changes": block.changes, "moves": block.moves, "presence": block.presence,
        "last_change": None if block.last_change is None else _times([block.last_change])[0],
        "text": block.sample,
    }  # fmt: skip


def _days(looks: LookTable) -> Iterator[dict[str, Any]]:
    """Yield the UTC days with a look."""
    days = (looks.times // SECONDS_PER_DAY).astype(np.int64)
    for day in np.unique(days).tolist():
        here = days == day
        name = datetime.fromtimestamp(day * SECONDS_PER_DAY, UTC).date()
        yield {"day": name, "looks": int(here.sum()),
               "changes": int((looks.changed[here] == 1).sum())}  # fmt: skip


def _times(moments: Sequence[float]) -> list[datetime]:
    return [datetime.fromtimestamp(moment, UTC) for moment in moments]
