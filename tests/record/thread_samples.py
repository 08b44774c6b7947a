"""Pages of a thread, for the tests of what is kept of them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

FIRST_POST = datetime(2024, 1, 1, 6, 0, tzinfo=UTC)
TEXT = "the water came up to the third step of the mill again, and it has not stopped raining yet"


def thread_page(hours: Sequence[float], *, next_page: str = "", note: str = "") -> bytes:
    """Return a page with a post at each of some hours after the first one."""
    posts = "".join(_post(hour) for hour in hours)
    link = f'<a rel="next" href="{next_page}">Next</a>' if next_page else ""
    body = f"<h1>High water at the mill</h1>{posts}{link}<p>{note}</p>"
    return f"<html><title>High water</title><body>{body}</body></html>".encode()


def _post(hour: float) -> str:
    time = FIRST_POST + timedelta(hours=hour)
    number = round(60 * hour)
    return (
        f'<article class="post" id="post-{number}"><header>'
        f'<a class="author" href="/users/{number % 7}">user{number % 7}</a> '
        f'<time datetime="{time.isoformat()}">{time:%d %b %Y %H:%M}</time></header>'
        f'<div class="text">{TEXT}, says number {number}</div></article>'
    )
