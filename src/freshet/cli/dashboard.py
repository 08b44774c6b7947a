"""The dashboard beside other work of a command."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freshet.core.clock import Clock
from freshet.core.extras import OptionalPackage

if TYPE_CHECKING:
    from freshet.serve import server
    from freshet.serve.server import DashboardAddress
else:
    server = OptionalPackage("freshet.serve.server", extra="serve")

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8640
MAX_PORT = 65_534  # stored pages use the next one

ServePortOption = Annotated[
    int,
    typer.Option(
        min=0,
        max=MAX_PORT,
        metavar="PORT",
        help="Port of the dashboard with --serve; stored pages use the next one. 0 selects free "
        "ports.",
    ),
]


@contextmanager
def open_server(
    path: Path, host: str, port: int, token: str, *, clock: Clock | None = None
) -> Iterator["DashboardAddress"]:
    """Serve the dashboard of a collection while the context lasts."""
    options = server.ServerOptions(host, port, token)
    with server.serve_dashboard(path, options, clock=clock) as address:
        yield address


@contextmanager
def dashboard_beside(
    path: Path, port: int, print_line: Callable[[str], None], *, clock: Clock | None = None
) -> Iterator[None]:
    """Serve the dashboard of a collection to this machine while the context lasts."""
    with open_server(path, DEFAULT_HOST, port, "", clock=clock) as address:
        print_line(f"Dashboard: {address.url}")
        print_line(f"To change things, sign in: {address.sign_in_url}")
        yield
