"""A small web on loopback, in a process of its own; every answer names its request.

The answer depends on the path and the number of earlier requests for it, so that the log
determines every byte that was sent. Run as a program it serves until its
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
class ScriptedAnswer:
    """The answer to a request."""

    status: int
    body: str = ""
    tag: str = ""
    target: str = ""


def answer_to(path: str, number: int) -> ScriptedAnswer:
    """Return the answer to a path's request of that number; a target may be ``host:path``.

    >>> answer_to("/tagged/1", 0) == answer_to("/tagged/1", 2) != answer_to("/tagged/1", 3)
    True
    >>> answer_to("/away/c", 5).target, answer_to("/gone/1", 3).status
    ('c:/tagged/1', 404)
    """
    _, kind, name = path.split("/")
    if kind == "away":
        return ScriptedAnswer(302, target=f"{name}:/tagged/1")
    if path in TARGETS:
        return ScriptedAnswer(301, target=TARGETS[path])
    if kind == "busy" and number % 3 == 1:
        return ScriptedAnswer(THROTTLED, "later")
    if kind == "gone" and number % 4 == 3:
        return ScriptedAnswer(404, "<title>404</title>not here")
    version = number // LASTS[kind]
    body = f"<title>{path} {version}</title><p>{WORDS} {path} {version}</p>"
    return ScriptedAnswer(200, body, tag=f'"{version}"' if kind == "tagged" else "")


def route(host: str, path: str) -> tuple[tuple[str, str], ...]:
    """Return host and path of every request of a visit, redirects followed.

    >>> route("b", "/chain/1")
    (('b', '/chain/1'), ('b', '/moved/1'), ('b', '/plain/1'))
    """
    target = answer_to(path, 0).target
    if not target:
        return ((host, path),)
    target_host, colon, target_path = target.partition(":")
    return ((host, path), *(route(target_host, target_path) if colon else route(host, target)))


def sent_to(entry: Entry) -> ScriptedAnswer:
    """Return the answer that a request for a page got: a 304 where its ETag matches."""
    answer = answer_to(entry.path, entry.number)
    if answer.tag and entry.header("if-none-match") == answer.tag:
        return replace(answer, status=304, body="")
    return answer


async def send_answer(exchange: Exchange, urls: Mapping[str, str]) -> None:
    """Answer a request with its number in a header."""
    entry = exchange.entry
    headers = {REQUEST_HEADER: str(entry.id)}
    if entry.path == ROBOTS:
        await exchange.answer(RULES, content_type="text/plain", **headers)
        return
    answer = sent_to(entry)
    if entry.path.startswith("/slow"):
        await asyncio.sleep(SLOW_SECONDS)
    await exchange.answer(answer.body, answer.status, **headers, **_headers(answer, urls))


def _headers(answer: ScriptedAnswer, urls: Mapping[str, str]) -> dict[str, str]:
    host, colon, path = answer.target.partition(":")
    headers = {"location": urls[host] + path if colon else answer.target} if answer.target else {}
    if answer.tag:
        headers["etag"] = answer.tag
    if answer.status == THROTTLED:
        headers["retry_after"] = str(RETRY_AFTER)
    return headers


@dataclass(frozen=True, slots=True)
class ServedWeb:
    """URLs and addresses of the web, and the file of its log."""

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
def served(folder: Path) -> Iterator[ServedWeb]:
    """Serve the web from a process of its own, with its log in a folder."""
    file = folder / "requests.jsonl"
    command = [sys.executable, "-m", "tests.fetch.crash.web", str(file)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        addresses = json.loads(process.stdout.readline() if process.stdout else "")
        yield ServedWeb(addresses["urls"], tuple(addresses["allow"]), file)


def _serve_until_input_ends(file: Path) -> None:
    urls: dict[str, str] = {}

    async def respond(exchange: Exchange) -> None:
        await send_answer(exchange, urls)

    with file.open("w") as log, Loopback(dict.fromkeys(PATHS, respond), Log(log)) as server:
        urls |= server.urls
        sys.stdout.write(json.dumps({"urls": server.urls, "allow": server.allow}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    _serve_until_input_ends(Path(sys.argv[1]))
