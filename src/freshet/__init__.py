"""Freshet learns how web pages change, and visits the pages where a visit is worth most."""

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from freshet.core import __version__
from freshet.core.numba_cache import choose_cache_folder, user_home

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from freshet.collection.collection import Collection
    from freshet.collection.watch import WatchResult
    from freshet.crawl.fetch_job import CrawlDaySpending
    from freshet.serve.server import DashboardAddress

__all__ = ["__version__", "crawl", "create", "open", "open_dashboard", "run", "watch"]

choose_cache_folder(Path(__file__).parent, user_home(), os.environ)


def open(path: "str | Path") -> "Collection":
    """Open a collection; its methods do what the commands do.

    The modules that do the work are imported only here, so that ``freshet --help`` is fast.
    """
    return _collections().open(Path(path))


def create(path: "str | Path", *, contact: str) -> "Collection":
    """Create a collection in a folder that has none, and open it."""
    return _collections().create(Path(path), contact=contact)


def run(
    path: "str | Path", *, budget: str = "", visits: int | None = None, seconds: float | None = None
) -> "CrawlDaySpending":
    """Crawl a collection until a limit or an interrupt; return the day's spending.

    The crawl runs in its own process: it works in notebooks and threads, and can be repeated.
    """
    process = import_module("freshet.fetch.crawl_process")
    limits = process.CrawlLimits(visits, seconds)
    spending = process.crawl_in_process(Path(path), budget=budget, limits=limits)
    return cast("CrawlDaySpending", spending)


crawl = run  # the earlier name


def watch(
    path: "str | Path",
    urls: "Sequence[str]",
    *,
    tags: "Sequence[str]" = (),
    thread: bool = False,
    budget: str = "",
    seconds: float = 60.0,
) -> "list[WatchResult]":
    """Add pages to a collection, fetch them now, and return a result for each.

    A page that is not fetched within ``seconds`` stays requested, and its result has no visit.
    With ``thread``, posts are looked for on the pages. ``budget`` replaces the setting for this
    call.
    """
    crawl_in_process = import_module("freshet.fetch.crawl_process").crawl_in_process
    watch_pages = import_module("freshet.fetch.watch").watch
    options = import_module("freshet.collection.watch").WatchOptions(tuple(tags), thread)
    found = watch_pages(
        Path(path), urls, options=options, budget=budget, seconds=seconds, run=crawl_in_process
    )
    return cast("list[WatchResult]", found)


def open_dashboard(
    path: "str | Path", *, host: str = "127.0.0.1", port: int = 0, token: str = ""
) -> "AbstractContextManager[DashboardAddress]":
    """Serve the dashboard of a collection in a thread while a ``with`` statement lasts.

    Its value has the URL and the token. Port 0 selects free ports.
    """
    server = import_module("freshet.serve.server")
    options = server.ServerOptions(host, port, token)
    served = server.serve_dashboard(Path(path), options)
    return cast("AbstractContextManager[DashboardAddress]", served)


def _collections() -> "type[Collection]":
    opened = import_module("freshet.collection.collection").Collection
    return cast("type[Collection]", opened)


def __dir__() -> list[str]:
    return __all__
