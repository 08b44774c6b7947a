"""A small web on loopback, in a process of its own, whose every answer names its request.

What a request is answered with follows from its path and from how many came for that path before,
so that whoever reads the log knows every byte that was sent. Run as a program it serves until its
standard input ends: ``python -m tests.fetch.crash.web LOG``.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.fetch.servers import ROBOTS, Entry, Exchange, Log, Loopback, read_log

ROOT = Path(__file__).parents[3]
REQUEST_HEADER = "X-Request"
# In seconds of the crawl's clock, as servers mean it.
RETRY_AFTER = 1_800
THROTTLED = 429
WORDS = "the river rose in spring and the fields along it were green again that year"

SLOW_SECONDS = 0.03
CLOSED = "/closed"
PATHS = {
    "a": ("/tagged/1", "/tagged/2", "/plain/1", "/slow/1", "/gone/1"),
    "b": ("/tagged/1", "/plain/1", "/moved/1", "/away/c", "/chain/1"),
    "c": ("/tagged/1", "/slow/1", "/slow/2", "/gone/1", "/moved/1"),
    "d": ("/plain/1", "/plain/2", "/tagged/1", "/away/a", "/closed/1"),
    "busy": ("/busy/1", "/busy/2"),
}
# Where each kind of page sends its visitors, and how many requests a version lasts.
TARGETS = {"/moved/1": "/plain/1", "/chain/1": "/moved/1"}
LASTS = {"tagged": 3, "plain": 2, "slow": 1, "gone": 4, "busy": 4, "closed": 1}
RULES = f"User-agent: *\nDisallow: {CLOSED}\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request is answered with."""

    status: int
    body: str = ""
    tag: str = ""
    target: str = ""


def answer_to(path: str, number: int) -> Answer:
    """Return the answer to a path's request of that number; a target may be ``host:path``.

    >>> answer_to("/tagged/1", 0) == answer_to("/tagged/1", 2) != answer_to("/tagged/1", 3)
    True
    >>> answer_to("/away/c", 5).target, answer_to("/gone/1", 3).status
    ('c:/tagged/1', 404)
    """
    _, kind, name = path.split("/")
    if kind == "away":
        return Answer(302, target=f"{name}:/tagged/1")
    if path in TARGETS:
        return Answer(301, target=TARGETS[path])
    if kind == "busy" and number % 3 == 1:
        return Answer(THROTTLED, "later")
    if kind == "gone" and number % 4 == 3:
        return Answer(404, "<title>404</title>not here")
    version = number // LASTS[kind]
    body = f"<title>{path} {version}</title><p>{WORDS} {path} {version}</p>"
    return Answer(200, body, tag=f'"{version}"' if kind == "tagged" else "")


def route(host: str, path: str) -> tuple[tuple[str, str], ...]:
    """Return every address that a visit to a page asks for, redirects followed.

    >>> route("b", "/chain/1")
    (('b', '/chain/1'), ('b', '/moved/1'), ('b', '/plain/1'))
    """
    target = answer_to(path, 0).target
    if not target:
        return ((host, path),)
    there, colon, rest = target.partition(":")
    return ((host, path), *(route(there, rest) if colon else route(host, target)))


def sent_to(entry: Entry) -> Answer:
    """Return the answer that a request for a page got: none of its bytes where it knew them."""
    found = answer_to(entry.path, entry.number)
    if found.tag and entry.header("if-none-match") == found.tag:
        return replace(found, status=304, body="")
    return found


async def answer(exchange: Exchange, urls: Mapping[str, str]) -> None:
    """Answer a request, and name it in the answer."""
    entry = exchange.entry
    named = {REQUEST_HEADER: str(entry.id)}
    if entry.path == ROBOTS:
        await exchange.answer(RULES, content_type="text/plain", **named)
        return
    found = sent_to(entry)
    if entry.path.startswith("/slow"):
        await asyncio.sleep(SLOW_SECONDS)
    await exchange.answer(found.body, found.status, **named, **_headers(found, urls))


def _headers(found: Answer, urls: Mapping[str, str]) -> dict[str, str]:
    host, colon, path = found.target.partition(":")
    headers = {"location": urls[host] + path if colon else found.target} if found.target else {}
    if found.tag:
        headers["etag"] = found.tag
    if found.status == THROTTLED:
        headers["retry_after"] = str(RETRY_AFTER)
    return headers


@dataclass(frozen=True, slots=True)
class Web:
    """The web as its visitors find it, and the file of its log."""

    urls: Mapping[str, str]
    allow: tuple[str, ...]
    file: Path

    @property
    def pages(self) -> dict[str, tuple[str, str]]:
        """Return host and path of every page, by its URL."""
        return {
            self.urls[host] + path: (host, path) for host, paths in PATHS.items() for path in paths
        }

    def entries(self) -> list[Entry]:
        """Return the requests so far."""
        return read_log(self.file)


@contextmanager
def served(folder: Path) -> Iterator[Web]:
    """Serve the web from a process of its own, with its log in a folder."""
    file = folder / "requests.jsonl"
    command = [sys.executable, "-m", "tests.fetch.crash.web", str(file)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        told = json.loads(process.stdout.readline() if process.stdout else "")
        yield Web(told["urls"], tuple(told["allow"]), file)


def _serve_until_told(file: Path) -> None:
    urls: dict[str, str] = {}

    async def behave(exchange: Exchange) -> None:
        await answer(exchange, urls)

    with file.open("w") as log, Loopback(dict.fromkeys(PATHS, behave), Log(log)) as server:
        urls |= server.urls
        sys.stdout.write(json.dumps({"urls": server.urls, "allow": server.allow}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    _serve_until_told(Path(sys.argv[1]))
