"""A crawl to watch on a terminal: how it stands, what it expects of pages, what it just found."""

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
    """Return how many pages a terminal of this height can show beside the rest."""
    return max(MIN_VISIBLE_PAGES, console.size.height - RESERVED_LINES)


@contextmanager
def open_live_view() -> Iterator[StatusListener]:
    """Take over the terminal's lines below; give what puts a picture there."""
    with Live(console=console, auto_refresh=False) as live:
        yield lambda sight: live.update(render_demo_state(sight), refresh=True)


def render_demo_state(sight: LiveStatus) -> RenderableType:
    """Return everything that is seen at a moment, one part below the other."""
    return Group(
        _headline(sight),
        Text(),
        render_score_table(sight.scores),
        Text(),
        _pages(sight.pages, sight.now),
        Text(),
        *(_found(find) for find in sight.findings),
    )


def render_score_table(standings: Sequence[CrawlerScore]) -> Table:
    """Return how Freshet and its rivals stand."""
    table = Table(box=None, pad_edge=False)
    table.add_column("same budget", no_wrap=True)
    for name in ("fresh on average", "fresh now", "changes found"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for place, each in enumerate(standings):
        table.add_row(
            POLICY_LABELS[each.policy], f"{each.freshness:.1%}", f"{each.fresh_now:.1%}",
            f"{each.changes_found:,}", draw_bar(each.freshness), style="" if place else "bold",
        )  # fmt: skip
    return table


def draw_bar(share: float, width: int = BAR_WIDTH) -> str:
    """Draw a share of one.

    >>> draw_bar(0.5, 8)
    '━━━━────'
    """
    filled = round(min(1.0, max(0.0, share)) * width)
    return "━" * filled + "─" * (width - filled)


def draw_interval(low: float, middle: float, high: float, width: int = SCALE_WIDTH) -> str:
    """Draw a rate with its bounds between one change in two months and sixty a day, by decades.

    >>> draw_interval(0.1, 1.0, 10.0, 11)
    '··━━━●━━━··'
    """
    places = [_place(rate, width) for rate in (low, middle, high)]
    cells = ["━" if places[0] <= cell <= places[2] else "·" for cell in range(width)]
    cells[places[1]] = "●"
    return "".join(cells)


def relative_time(moment: datetime | None, now: datetime) -> str:
    """Say how far a moment lies from another.

    >>> noon = datetime(2026, 3, 2, 12)
    >>> relative_time(noon - timedelta(hours=3), noon), relative_time(noon + timedelta(days=2), noon), relative_time(None, noon)
    ('3 h ago', 'in 2 d', '')
    """
    if moment is None:
        return ""
    span = abs(now - moment)
    unit, name = (DAY, "d") if span >= 2 * DAY else (HOUR, "h") if span >= HOUR else (MINUTE, "min")
    words = f"{span / unit:.0f} {name}"
    return f"{words} ago" if moment <= now else f"in {words}"


def _place(rate: float, width: int) -> int:
    bounded = min(MAX_RATE, max(MIN_RATE, rate))
    share = (log10(bounded) - log10(MIN_RATE)) / (log10(MAX_RATE) - log10(MIN_RATE))
    return round(share * (width - 1))


def _headline(sight: LiveStatus) -> Text:
    text = Text(f"{sight.now:%a %d %B, %H:%M}  ", style="bold")
    text.append(draw_bar(sight.elapsed_share), style="cyan")
    if sight.spending is not None:
        text.append(f"  budget today {sight.spending.spent} of {sight.spending.budget}")
    unchanged = sight.outcomes.get("not-modified", 0)
    failed = sight.visits - sight.outcomes.get("ok", 0) - unchanged
    text.append(f"\n{sight.visits:,} visits, {unchanged:,} of them answered “not modified”, ")
    text.append(f"{failed:,} without content")
    return text


def _pages(pages: Sequence[LivePageStatus], now: datetime) -> Table:
    """Return what was seen of pages and what is expected of them; a wide terminal shows more."""
    is_wide = console.width >= WIDE_TERMINAL_COLUMNS
    table = Table(box=None, pad_edge=False)
    table.add_column("page", no_wrap=True, max_width=None if is_wide else PAGE_WIDTH)
    table.add_column("kind", no_wrap=True)
    for name in COLUMN_TITLES if is_wide else SHORT_COLUMN_TITLES:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("changes a day, 90 % sure" if is_wide else "a day", no_wrap=True)
    for page in pages:
        table.add_row(
            safe_text(page.name), page.kind, relative_time(page.last_change, now), _next(page, now),
            "" if page.chance is None else f"{page.chance:.2f}",
            _rate(page, SCALE_WIDTH if is_wide else SHORT_SCALE_WIDTH, with_numbers=is_wide),
        )  # fmt: skip
    return table


def _next(page: LivePageStatus, now: datetime) -> str:
    """Say when a page is due.

    One that has surely changed and is still not worth its visit is worth none more later: it comes
    where budget is left.
    """
    moment = page.next_check
    if moment is not None and moment <= now:
        return "due"
    is_sure = page.chance is not None and page.chance >= ALMOST_CERTAIN
    is_far = moment is None or moment - now > DAY
    return "if room" if is_sure and is_far else relative_time(moment, now)


def _rate(page: LivePageStatus, width: int, *, with_numbers: bool) -> str:
    if page.rate is None or page.rate_low is None or page.rate_high is None:
        return ""
    drawn = draw_interval(page.rate_low, page.rate, page.rate_high, width)
    if not with_numbers:
        return drawn
    low, middle, high = map(_few_digits, (page.rate_low, page.rate, page.rate_high))
    return f"{drawn} {middle} ({low} to {high})"


def _few_digits(rate: float) -> str:
    return f"{rate:.0f}" if rate >= TEN else f"{rate:.1f}" if rate >= 1 else f"{rate:.2f}"


def _found(find: VisitFinding) -> Text:
    line = Text(f"{find.time:%a %H:%M}  ", style="dim", no_wrap=True, overflow="ellipsis")
    line.append(f"{safe_text(find.page)}  ", style="not dim")
    return line.append(safe_text(find.text), style="not dim" if find.is_news else "")
