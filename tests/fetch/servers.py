"""Web servers on loopback for the tests of fetching: one port per host, every request logged.

``Loopback`` runs in a thread and takes a coroutine per host; ``separate`` runs scripted sites in a
process of their own, which outlives a crawler that is killed. Times are those of the monotonic
clock, which all processes of a machine share.
"""

import asyncio
import json
import socket
import ssl
import struct
import subprocess
import sys
import threading
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha1
from pathlib import Path
from typing import IO, Any, Self

from freshet.core.clock import monotonic_seconds

ADDRESS = "127.0.0.1"
ROBOTS = "/robots.txt"
LONGEST_HEAD = 1 << 16
SEND_BUFFER = 1 << 16
# From arriving to being read a request passes a few rounds of the loop, each with a tick at most.
TICKS_TO_READ, TICK_SECONDS = 4, 0.01
TLS_HANDSHAKE = b"\x16"
TLS = "TLS"

Headers = tuple[tuple[str, str], ...]
Behaviour = Callable[["Exchange"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One request of the log; ``ended`` is None while its answer is under way.

    ``number`` counts the requests for that path of the host from 0; ``sent`` are the bytes that the
    client's side took. The request was read at ``began``, and had arrived by then but not before
    ``earliest``: the two lie apart where the machine let the server wait.
    """

    id: int
    host: str
    method: str
    path: str
    number: int
    headers: Headers
    peer: tuple[str, int]
    earliest: float
    began: float
    ended: float | None = None
    sent: int = 0

    def header(self, name: str) -> str | None:
        """Return the first header of that name, whatever its case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


class Log:
    """Every request and when its answer ended, for all threads; in a file too where one is named.

    The file has a line per event, written before anything is answered.
    """

    def __init__(self, file: IO[str] | None = None) -> None:
        self._entries: list[Entry] = []
        self._numbers: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()
        self._file = file

    def begin(self, host: str, head: "Head", peer: tuple[str, int], earliest: float) -> Entry:
        """Note a request that has arrived."""
        with self._lock:
            number = self._numbers[host, head.path]
            self._numbers[host, head.path] += 1
            entry = Entry(
                len(self._entries), host, head.method, head.path, number, head.headers, peer,
                earliest, monotonic_seconds(),
            )  # fmt: skip
            self._entries.append(entry)
            self._write(asdict(entry))
        return entry

    def end(self, place: int, sent: int) -> None:
        """Note that a request's answer is over, whole or not."""
        with self._lock:
            entry = replace(self._entries[place], ended=monotonic_seconds(), sent=sent)
            self._entries[place] = entry
            self._write({"id": place, "ended": entry.ended, "sent": sent})

    def entries(self, host: str | None = None) -> list[Entry]:
        """Return the requests so far, in the order of their arrival."""
        with self._lock:
            return [entry for entry in self._entries if host in (None, entry.host)]

    def _write(self, event: Mapping[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(event) + "\n")
            self._file.flush()


def read_log(path: Path) -> list[Entry]:
    """Read a log's file, also while it is written: a last line without its end is left out."""
    rows: dict[int, dict[str, Any]] = {}
    for line in path.read_text("utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            event = json.loads(line)
            rows[event["id"]] = rows.get(event["id"], {}) | event
    return [_entry(row) for row in rows.values()]


def _entry(row: dict[str, Any]) -> Entry:
    headers = tuple((name, value) for name, value in row["headers"])
    return Entry(**row | {"headers": headers, "peer": tuple(row["peer"])})


@dataclass(frozen=True, slots=True)
class Head:
    """The first lines of a request."""

    method: str
    path: str
    headers: Headers = ()

    @classmethod
    def parse(cls, text: bytes) -> Self:
        """Read a head; a TLS handshake has the method TLS and no path."""
        if text.startswith(TLS_HANDSHAKE):
            return cls(TLS, "")
        first, *lines = text.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        pairs = (line.partition(":") for line in lines if line)
        return cls(method, path, tuple((name, value.strip()) for name, _, value in pairs))


class Exchange:
    """One request and the means to answer it, well or badly."""

    def __init__(
        self, entry: Entry, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, url: str
    ) -> None:
        self.entry = entry
        self.url = url
        self.sent = 0
        self.keep_open = False
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        """Send bytes as they are, and wait until the system has taken them."""
        self._writer.write(data)
        await self._writer.drain()
        self.sent += len(data)

    async def answer(self, body: bytes | str, status: int = 200, **headers: str) -> None:
        """Send a whole, correct response; underscores in header names stand for hyphens."""
        await self.send(response(body, status, **headers))
        self.keep_open = True

    async def body(self) -> bytes:
        """Read what the request carries."""
        return await self._reader.readexactly(int(self.entry.header("content-length") or 0))

    async def hang(self) -> None:
        """Say nothing until the client goes away."""
        while await self._reader.read(LONGEST_HEAD):
            pass

    def reset(self) -> None:
        """Break the connection, so that the client's system reports a reset."""
        linger_not = struct.pack("ii", 1, 0)
        self._writer.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, linger_not
        )
        self._writer.transport.abort()


def response(body: bytes | str, status: int = 200, **headers: str) -> bytes:
    """Return the bytes of a correct response, HTML unless another type is given.

    >>> response("x", 404, retry_after="5").splitlines()[0]
    b'HTTP/1.1 404 Status'
    """
    content = body.encode() if isinstance(body, str) else body
    fields = {"content_type": "text/html; charset=utf-8", "content_length": str(len(content))}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in (fields | headers).items()]
    return "\r\n".join([f"HTTP/1.1 {status} Status", *lines, "", ""]).encode("latin-1") + content


class Loopback:
    """Hosts on ports of their own, each answering as its coroutine does, in a thread.

    Those that ``tls`` names speak TLS.
    """

    def __init__(
        self,
        behaviours: Mapping[str, Behaviour],
        log: Log | None = None,
        *,
        tls: Mapping[str, ssl.SSLContext] | None = None,
    ) -> None:
        self.log = log or Log()
        self._tls = dict(tls or {})
        self._behaviours = dict(behaviours)
        self._sockets = {name: _listening() for name in behaviours}
        self.ports = {name: sock.getsockname()[1] for name, sock in self._sockets.items()}
        self.urls = {
            name: f"{'https' if name in self._tls else 'http'}://{ADDRESS}:{port}"
            for name, port in self.ports.items()
        }
        self._conversations: set[asyncio.Task[None]] = set()
        self._ticks = deque([monotonic_seconds()], maxlen=TICKS_TO_READ)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run)
        self._stop = asyncio.Event()

    @property
    def allow(self) -> tuple[str, ...]:
        """Return what ``network.allow`` must hold for these hosts to be fetched."""
        return tuple(f"{ADDRESS}/32:{port}" for port in self.ports.values())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        with closing(self._loop):
            self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        servers = [
            await asyncio.start_server(
                self._welcome(name), sock=sock, limit=LONGEST_HEAD, ssl=self._tls.get(name)
            )
            for name, sock in self._sockets.items()
        ]
        ticking = self._loop.create_task(self._tick())
        await self._stop.wait()
        ticking.cancel()
        for server in servers:
            server.close()
        for conversation in self._conversations:
            conversation.cancel()
        await asyncio.gather(*self._conversations, return_exceptions=True)

    async def _tick(self) -> None:
        """Note now and then that requests are being read without delay."""
        while True:
            self._ticks.append(monotonic_seconds())
            await asyncio.sleep(TICK_SECONDS)

    def _welcome(self, host: str) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = self._loop.create_task(self._converse(host, reader, writer))
            self._conversations.add(task)
            task.add_done_callback(self._conversations.discard)

        return connected

    async def _converse(
        self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.transport.set_write_buffer_limits(0)
        with closing(writer), suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self._exchange(host, reader, writer):
                pass

    async def _exchange(
        self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; return whether the connection stays open for another."""
        head = Head.parse(await _head(reader))
        entry = self.log.begin(host, head, writer.get_extra_info("peername"), self._ticks[0])
        exchange = Exchange(entry, reader, writer, self.urls[host])
        try:
            await self._behaviours[host](exchange)
        finally:
            self.log.end(entry.id, exchange.sent)
        return exchange.keep_open


async def _head(reader: asyncio.StreamReader) -> bytes:
    first = await reader.readexactly(1)
    return first if first == TLS_HANDSHAKE else first + await reader.readuntil(b"\r\n\r\n")


def _listening() -> socket.socket:
    """Return a socket on a free port, whose connections hold little that was not taken yet."""
    sock = socket.create_server((ADDRESS, 0), backlog=1024)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    return sock


@dataclass(frozen=True, slots=True)
class ScriptedPage:
    """A page that shows its versions in turn, each to ``every`` requests; then it starts again."""

    versions: tuple[str, ...]
    every: int = 1
    etag: bool = True
    delay: float = 0.0
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    async def answer(self, exchange: Exchange) -> None:
        """Answer with the version whose turn it is, or that it is not modified."""
        body = self.versions[exchange.entry.number // self.every % len(self.versions)]
        tag = f'"{sha1(body.encode()).hexdigest()}"'
        extra = dict(self.headers) | ({"etag": tag} if self.etag else {})
        await asyncio.sleep(self.delay)
        if self.etag and exchange.entry.header("if-none-match") == tag:
            await exchange.answer("", 304, **extra)
        else:
            await exchange.answer(body, self.status, **extra)


@dataclass(frozen=True, slots=True)
class Site:
    """A well-behaved host: scripted pages by path, and a robots.txt where there is one."""

    pages: Mapping[str, ScriptedPage]
    robots: str | None = None

    async def __call__(self, exchange: Exchange) -> None:
        """Answer a request as the script says; 404 where it says nothing."""
        path = exchange.entry.path
        if path == ROBOTS and self.robots is not None:
            await exchange.answer(self.robots, content_type="text/plain")
        elif path in self.pages:
            await self.pages[path].answer(exchange)
        else:
            await exchange.answer("<title>404</title>not here", 404)

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """Return the site that ``asdict`` made a table of."""
        pages = {
            path: ScriptedPage(**page | {"versions": tuple(page["versions"])})
            for path, page in table["pages"].items()
        }
        return cls(pages, table["robots"])


@dataclass(frozen=True, slots=True)
class Separate:
    """Sites served by another process, and the file of their log."""

    urls: Mapping[str, str]
    allow: tuple[str, ...]
    file: Path

    def entries(self) -> list[Entry]:
        """Return the requests so far."""
        return read_log(self.file)


@contextmanager
def separate(sites: Mapping[str, Site], folder: Path) -> Iterator[Separate]:
    """Serve sites from a process of their own, with its log in a folder."""
    script, file = folder / "sites.json", folder / "requests.jsonl"
    script.write_text(json.dumps({name: asdict(site) for name, site in sites.items()}))
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.fetch.servers", str(script), str(file)]
    with subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        told = json.loads(process.stdout.readline() if process.stdout else "")
        yield Separate(told["urls"], tuple(told["allow"]), file)


def _serve_until_input_ends(script: Path, file: Path) -> None:
    """Serve the sites of a script; say where, then go on until standard input ends."""
    sites = {name: Site.of(table) for name, table in json.loads(script.read_text()).items()}
    with file.open("w") as log, Loopback(sites, Log(log)) as server:
        sys.stdout.write(json.dumps({"urls": server.urls, "allow": server.allow}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    _serve_until_input_ends(Path(sys.argv[1]), Path(sys.argv[2]))
