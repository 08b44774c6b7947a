"""A small web with a month of history: pages that change in the ways that real ones do."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from freshet.archive.warc.build import ArchiveOrigin, build_response
from freshet.archive.warc.record import WarcRecord
from freshet.archive.warc.writer import WarcWriter
from freshet.core.clock import FixedClock

START = datetime(2026, 1, 5, 6, 0, tzinfo=UTC)
DAYS = 28
WORDS = [
    "river",
    "council",
    "market",
    "harvest",
    "engine",
    "signal",
    "winter",
    "garden",
    "museum",
    "railway",
    "budget",
    "storm",
    "archive",
    "bridge",
    "harbour",
    "festival",
    "lantern",
    "orchard",
    "meadow",
    "printer",
    "valley",
    "ferry",
    "teacher",
    "clock",
]

Page = Callable[[int, Random], tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Capture:
    """One visit to one page of the small web."""

    url: str
    time: datetime
    status: int
    html: str


def captures(seed: int = 1) -> Iterator[Capture]:
    """Yield a daily visit to every page, in time order."""
    for day in range(DAYS):
        for index, (url, page) in enumerate(PAGES.items()):
            status, html = page(day, Random(f"{seed}/{url}"))
            yield Capture(url, START + timedelta(days=day, minutes=index), status, html)


def write_warc(folder: Path, seed: int = 1) -> tuple[Path, int]:
    """Write the history as a WARC file; return the file and how many visits it holds."""
    folder.mkdir(parents=True, exist_ok=True)
    records = [_record(capture) for capture in captures(seed)]
    with WarcWriter(folder, ArchiveOrigin("Freshet demo"), clock=FixedClock(START)) as writer:
        index = writer.append(records)[0]
        writer.sync()
    return folder / index.file, len(records)


def _record(capture: Capture) -> WarcRecord:
    body = capture.html.encode()
    head = f"HTTP/1.1 {capture.status} OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    return build_response(capture.url, capture.time, head.encode() + body)


def _document(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><title>{title}</title></head><body>'
        f'<header><a href="/">Home</a> <a href="/about">About</a></header><main><h1>{title}</h1>'
        f"{body}</main><footer>Printed on recycled electrons.</footer></body></html>"
    )


def _sentence(rng: Random, count: int = 9) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count)).capitalize() + "."


def _news(day: int, rng: Random) -> tuple[int, str]:
    """Change every weekday: new stories on top, old ones fall off."""
    stories = [_sentence(rng, 6) for _ in range(3 * DAYS)]
    first = 2 * (day - 2 * (day // 7) - max(0, day % 7 - 4))
    items = "".join(
        f'<li><a href="/story/{number}">{stories[number]}</a></li>'
        for number in range(first + 8, first, -1)
    )
    return 200, _document("The Valley Herald", f"<ul>{items}</ul>")


def _blog(day: int, rng: Random) -> tuple[int, str]:
    """Change once a week: a new post above the old ones."""
    posts = [_sentence(rng, 30) for _ in range(DAYS // 7 + 1)]
    output = reversed(posts[: day // 7 + 1])
    return 200, _document("Notes from the orchard", "".join(f"<p>{post}</p>" for post in output))


def _clock(day: int, rng: Random) -> tuple[int, str]:
    """Change at every visit, and only in a time stamp."""
    stamp = (START + timedelta(days=day)).isoformat()
    status = "<p>All systems operational.</p>" + f"<p>{_sentence(rng, 25)}</p>"
    return 200, _document("Status", f"{status}<p>Checked at {stamp}</p>")


def _manual(day: int, rng: Random) -> tuple[int, str]:
    """Stay as it is, but for one correction."""
    lines = [f"<p>{_sentence(rng, 20)}</p>" for _ in range(12)]
    if day >= 17:
        lines[5] = "<p>Corrected: turn the valve left, not right.</p>"
    return 200, _document("Manual", "".join(lines))


def _shop(day: int, rng: Random) -> tuple[int, str]:
    """Gain a link now and then, and disappear for three days."""
    if 10 <= day < 13:
        return 404, _document("Not found", "<p>Sorry.</p>")
    goods = [rng.choice(WORDS) for _ in range(DAYS)]
    items = "".join(
        f'<li><a href="/item/{number}-{name}">{name}</a></li>'
        for number, name in enumerate(goods[: 6 + day // 3])
    )
    return 200, _document("Shop", f"<ul>{items}</ul>")


def _guarded(day: int, rng: Random) -> tuple[int, str]:
    """Answer with a captcha for a while, which is no content."""
    if 20 <= day < 24:
        page = "<p>Please verify you are human.</p><div class='h-captcha'></div>"
        return 200, f"<html><head><title>Just a moment...</title></head><body>{page}</body></html>"
    return 200, _document("Club rules", "".join(f"<p>{_sentence(rng, 20)}</p>" for _ in range(5)))


PAGES: dict[str, Page] = {
    "https://news.example/": _news,
    "https://blog.example/": _blog,
    "https://status.example/": _clock,
    "https://docs.example/manual": _manual,
    "https://shop.example/list": _shop,
    "https://club.example/rules": _guarded,
}
