"""Serves the dashboard and the stored pages on two ports, in a thread of its own."""

import asyncio
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import uvicorn

from freshet.collection.collection import Collection
from freshet.core.clock import Clock
from freshet.core.errors import UsageError
from freshet.serve.access import AccessRules, is_loopback
from freshet.serve.application import DashboardApplication, ServerPorts
from freshet.serve.dashboard import Dashboard
from freshet.serve.guard import RequestGuard
from freshet.serve.stored_pages import stored_page_app

MIN_TOKEN_CHARS = 8
MAX_CONNECTIONS = 256
STOP_SECONDS = 5


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The address of the dashboard, and the token; an empty one is replaced by a random one.

    Stored pages are served on the next port, or on any free one if ``port`` is 0.
    """

    host: str
    port: int
    token: str = ""

    def __post_init__(self) -> None:
        if self.token and (len(self.token) < MIN_TOKEN_CHARS or not self.token.isascii()):
            raise UsageError(f"the token needs at least {MIN_TOKEN_CHARS} ASCII characters")
        if not self.token and not is_loopback(self.host):
            raise UsageError(
                f"{self.host} can be reached by others; give a --token that they need to know"
            )


@dataclass(frozen=True, slots=True)
class DashboardAddress:
    """Where a dashboard is served: its URL, the URL that signs in, and the token for writes."""

    url: str
    sign_in_url: str
    token: str


@contextmanager
def serve_dashboard(
    path: Path, options: ServerOptions, *, clock: Clock | None = None
) -> Iterator[DashboardAddress]:
    """Serve the dashboard of a collection until the context ends."""
    with (
        Dashboard(Collection.open(path, clock=clock)) as dashboard,
        _listening(options.host, options.port) as first,
        _listening(options.host, options.port and options.port + 1) as second,
    ):
        ports = ServerPorts(first.getsockname()[1], second.getsockname()[1])
        rules = AccessRules(options.host, ports.dashboard, options.token or new_token())
        application = DashboardApplication(dashboard, rules, ports)
        frames = stored_page_app(dashboard, rules, lambda host: ports.origin(host, ports.dashboard))
        servers = [_server(application.guarded()), _server(frames)]
        application.streams.server = servers[0]
        with _running(servers, [first, second]):
            url = ports.origin(_shown_host(options.host), ports.dashboard) + "/"
            yield DashboardAddress(url, f"{url}session?token={rules.token}", rules.token)


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(24)


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    with listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            raise UsageError(
                f"{host} port {port} cannot be used: {error.strerror}; "
                "choose another port (--port, or --serve-port beside a crawl)"
            ) from error
        listening.listen()
        yield listening


def _server(app: RequestGuard) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    return uvicorn.Server(config)


@contextmanager
def _running(servers: list[uvicorn.Server], sockets: list[socket.socket]) -> Iterator[None]:
    """Run servers in a thread until the context ends."""

    async def run_servers() -> None:
        pairs = zip(servers, sockets, strict=True)
        await asyncio.gather(*(server.serve([listening]) for server, listening in pairs))

    thread = Thread(target=lambda: asyncio.run(run_servers()), name="dashboard", daemon=True)
    thread.start()
    try:
        yield
    finally:
        for server in servers:
            server.should_exit = True
        thread.join()


def _shown_host(host: str) -> str:
    """Return the host of the URL that is printed; an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host
