"""Collections that the tests serve: a small web with a month of history, and a hostile one."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path

from starlette.testclient import TestClient

from freshet.archive.catalog.rows import ThreadLook, VisitEntry
from freshet.archive.warc.build import ArchiveOrigin, build_response
from freshet.archive.warc.writer import WarcWriter
from freshet.collection.collection import Collection
from freshet.collection.imports import import_history
from freshet.core.clock import FixedClock
from freshet.core.content.posts import Post
from freshet.core.types import Outcome, Visit
from freshet.serve.access import AccessRules
from freshet.serve.application import DashboardApplication, ServerPorts
from freshet.serve.dashboard import Dashboard
from tests.cli.small_web import write_warc

NOW = datetime(2026, 2, 2, 9, tzinfo=UTC)
TOKEN = "a-token-for-tests"
ORIGIN = "http://127.0.0.1:8640"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
# What web pages may write into their titles, texts, links and authors.
ATTACKS = (
    "<script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "'><svg/onload=window.hacked=1>",
    "</title></textarea></style><script>window.hacked=1</script>",
    '" autofocus onfocus="window.hacked=1',
    "{{ 7 * 7 }}{% raw %}${7*7}",
    "javascript:window.hacked=1",
    "\u202egnp.exe <iframe srcdoc='<script>parent.hacked=1</script>'>",
)
HOSTILE_DAYS = 10


def make_small_collection(folder: Path) -> Path:
    """Make a collection with a month of visits to six pages."""
    file, _ = write_warc(folder / "web")
    path = folder / "news"
    with Collection.create(path, contact="you@example.org") as collection:
        import_history(collection, "warc", file, source="")
    return path


def make_hostile_collection(folder: Path) -> Path:
    """Make a collection whose pages write attacks wherever they can."""
    path, clock = folder / "hostile", FixedClock(NOW)
    with WarcWriter(folder, ArchiveOrigin("tests"), clock=clock) as writer:
        records = [
            build_response(
                f"https://evil.example/{number}?q='%22%3E%3Cscript%3E",
                NOW - timedelta(days=HOSTILE_DAYS - day),
                _hostile_response(attack, day),
            )
            for day in range(HOSTILE_DAYS)
            for number, attack in enumerate(ATTACKS)
        ]
        index = writer.append(records)[0]
        writer.sync()
    with Collection.create(path, contact="you@example.org", clock=clock) as collection:
        import_history(collection, "warc", folder / index.file, source="")
        for page, attack in zip(list(collection.pages()), ATTACKS, strict=True):
            collection.tag("tag", [page])
            _add_posts(collection, page.id, attack)
    return path


def _hostile_response(attack: str, day: int) -> bytes:
    """Return a page with an attack in its title, text, attributes and links, raw and escaped."""
    link = f'<a href="javascript:window.hacked=1" title="{escape(attack)}">{escape(attack)}</a>'
    new = f'<a href="https://evil.example/new/{day}?{escape(attack)}">{escape(attack)}</a>'
    body = (
        f"<html><head><title>{escape(attack)}</title></head><body><h1>{escape(attack)}</h1>"
        f"<p>Day {day} {escape(attack)} number{day}</p>{link}{new}"
        f"<div id='raw'>{attack}</div><script>window.hacked=1</script></body></html>"
    )
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body.encode()


def _add_posts(collection: Collection, page: int, attack: str) -> None:
    """Record a look that found posts by an author with a hostile name."""
    times = [NOW - timedelta(days=days) for days in (5, 4, 2)]
    posts = tuple(
        Post(time.timestamp(), attack, attack, str(number)) for number, time in enumerate(times)
    )
    uid = page.to_bytes(16, "big")
    visit = Visit(uid, page, NOW - timedelta(minutes=1), Outcome.SERVER_ERROR, 500, why=attack)
    entry = VisitEntry(visit, thread=ThreadLook(posts, attack))
    collection.catalog.append_visits([entry])


@contextmanager
def open_client(
    path: Path, *, host: str = "127.0.0.1", now: datetime = NOW
) -> Iterator[TestClient]:
    """Open a client of the dashboard of a collection, without a network."""
    with Dashboard(Collection.open(path, clock=FixedClock(now))) as dashboard:
        rules = AccessRules(host, 8640, TOKEN)
        application = DashboardApplication(dashboard, rules, ServerPorts(8640, 8641))
        with TestClient(application.guarded(), base_url=ORIGIN, follow_redirects=False) as client:
            yield client
