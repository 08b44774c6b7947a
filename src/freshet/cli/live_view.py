"""The live view of the demo on a terminal: scores, pages with forecasts, latest findings."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from math import log10

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from freshet.backtest.continuous.crawler import CrawlerScore
from freshet.cli.output import console
from freshet.cli.terminal import safe_text
from freshet.demo.monitor import LivePageStatus, LiveStatus, StatusListener, VisitFinding

POLICY_LABELS = {"freshet": "Freshet", "age": "round-robin", "nutch": "Nutch-like"}
RESERVED_LINES = 20
MIN_VISIBLE_PAGES = 4
BAR_WIDTH = 20
COLUMN_TITLES = ("last change", "next check", "P(changed)")
SHORT_COLUMN_TITLES = ("changed", "next", "P")
WIDE_TERMINAL_COLUMNS = 118
PAGE_WIDTH = 24
SCALE_WIDTH, SHORT_SCALE_WIDTH = 18, 12
TEN = 10
MIN_RATE, MAX_RATE = 1 / 60, 60.0
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
ALMOST_CERTAIN = 0.95


def max_visible_pages() -> int:
    """Return the number of pages that fit on the terminal."""
    return max(MIN_VISIBLE_PAGES, console.size.height - RESERVED_LINES)


@contextmanager
def open_live_view() -> Iterator[StatusListener]:
    """Yield a function that shows a status on the terminal."""
    with Live(console=console, auto_refresh=False) as live:
        yield lambda status: live.update(render_demo_state(status), refresh=True)


def render_demo_state(status: LiveStatus) -> RenderableType:
    """Return the whole view: headline, scores, pages, findings."""
    return Group(
        _headline(status),
        Text(),
        render_score_table(status.scores),
        Text(),
        _page_table(status.pages, status.now),
        Text(),
        *(_finding_line(finding) for finding in status.findings),
    )


def render_score_table(scores: Sequence[CrawlerScore]) -> Table:
    """Return the table with the scores of Freshet and the other policies."""
    table = Table(box=None, pad_edge=False)
    table.add_column("same budget", no_wrap=True)
    for name in ("fresh on average", "fresh now", "changes found"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for rank, score in enumerate(scores):
        table.add_row(
            POLICY_LABELS[score.policy],
            f"{score.freshness:.1%}",
            f"{score.fresh_now:.1%}",
            f"{score.changes_found:,}",
            draw_bar(score.freshness),
            style="" if rank else "bold",
        )
    return table


def draw_bar(share: float, width: int = BAR_WIDTH) -> str:
    """Return a bar for a share between 0 and 1.

    >>> draw_bar(0.5, 8)
    '━━━━────'
    """
    filled = round(min(1.0, max(0.0, share)) * width)
    return "━" * filled + "─" * (width - filled)


def draw_interval(low: float, middle: float, high: float, width: int = SCALE_WIDTH) -> str:
    """Return a rate with its bounds on a logarithmic scale, from 1 in 60 days to 60 a day.

    >>> draw_interval(0.1, 1.0, 10.0, 11)
    '··━━━●━━━··'
    """
    positions = [_scale_position(rate, width) for rate in (low, middle, high)]
    cells = ["━" if positions[0] <= cell <= positions[2] else "·" for cell in range(width)]
    cells[positions[1]] = "●"
    return "".join(cells)


def relative_time(moment: datetime | None, now: datetime) -> str:
    """Return the time between two moments as text.

    >>> noon = datetime(2026, 3, 2, 12)
    >>> relative_time(noon - timedelta(hours=3), noon), relative_time(None, noon)
    ('3 h ago', '')
    >>> relative_time(noon + timedelta(days=2), noon)
    'in 2 d'
    """
    if moment is None:
        return ""
    span = abs(now - moment)
    unit, name = (DAY, "d") if span >= 2 * DAY else (HOUR, "h") if span >= HOUR else (MINUTE, "min")
    text = f"{span / unit:.0f} {name}"
    return f"{text} ago" if moment <= now else f"in {text}"


def _scale_position(rate: float, width: int) -> int:
    bounded = min(MAX_RATE, max(MIN_RATE, rate))
    share = (log10(bounded) - log10(MIN_RATE)) / (log10(MAX_RATE) - log10(MIN_RATE))
    return round(share * (width - 1))


def _headline(status: LiveStatus) -> Text:
    text = Text(f"{status.now:%a %d %B, %H:%M}  ", style="bold")
    text.append(draw_bar(status.elapsed_share), style="cyan")
    if status.spending is not None:
        text.append(f"  budget today {status.spending.spent} of {status.spending.budget}")
    unchanged = status.outcomes.get("not-modified", 0)
    failed = status.visits - status.outcomes.get("ok", 0) - unchanged
    text.append(f"\n{status.visits:,} visits, {unchanged:,} of them “not modified”, ")
    text.append(f"{failed:,} without content")
    return text


def _page_table(pages: Sequence[LivePageStatus], now: datetime) -> Table:
    """Return the table of pages with their forecasts; a wide terminal shows more columns."""
    is_wide = console.width >= WIDE_TERMINAL_COLUMNS
    table = Table(box=None, pad_edge=False)
    table.add_column("page", no_wrap=True, max_width=None if is_wide else PAGE_WIDTH)
    table.add_column("kind", no_wrap=True)
    for name in COLUMN_TITLES if is_wide else SHORT_COLUMN_TITLES:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("changes a day, 90 % sure" if is_wide else "a day", no_wrap=True)
    for page in pages:
        table.add_row(
            safe_text(page.name),
            page.kind,
            relative_time(page.last_change, now),
            _next_visit(page, now),
            "" if page.chance is None else f"{page.chance:.2f}",
            _format_rate(page, SCALE_WIDTH if is_wide else SHORT_SCALE_WIDTH, with_numbers=is_wide),
        )
    return table


def _next_visit(page: LivePageStatus, now: datetime) -> str:
    """Return when the next visit of a page is expected.

    If a page has almost certainly changed and is still not worth a visit, waiting adds nothing to
    its value: it is visited if budget is left.
    """
    moment = page.next_check
    if moment is not None and moment <= now:
        return "due"
    is_sure = page.chance is not None and page.chance >= ALMOST_CERTAIN
    is_far = moment is None or moment - now > DAY
    return "if room" if is_sure and is_far else relative_time(moment, now)


def _format_rate(page: LivePageStatus, width: int, *, with_numbers: bool) -> str:
    if page.rate is None or page.rate_low is None or page.rate_high is None:
        return ""
    scale = draw_interval(page.rate_low, page.rate, page.rate_high, width)
    if not with_numbers:
        return scale
    low, middle, high = map(_round_rate, (page.rate_low, page.rate, page.rate_high))
    return f"{scale} {middle} ({low} to {high})"


def _round_rate(rate: float) -> str:
    return f"{rate:.0f}" if rate >= TEN else f"{rate:.1f}" if rate >= 1 else f"{rate:.2f}"


def _finding_line(finding: VisitFinding) -> Text:
    line = Text(f"{finding.time:%a %H:%M}  ", style="dim", no_wrap=True, overflow="ellipsis")
    line.append(f"{safe_text(finding.page)}  ", style="not dim")
    return line.append(safe_text(finding.text), style="not dim" if finding.is_news else "")
