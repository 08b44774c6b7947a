"""A real crawl in which single pages cause faults, each at another stage, for tests.

A page's path names the stage that fails for it: ``/parse`` cannot be parsed, and so on. Errors are
raised where the stages begin, in a process of its own, whose log goes to standard error.
"""

import functools
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import freshet.crawl.noise
import freshet.fetch.record_middleware
import freshet.fetch.request_lifecycle
import freshet.record.parsed_visit
import freshet.record.recorder
from freshet.collection.collection import Collection
from freshet.core.settings import Settings
from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.redirect_middleware import FollowRedirectsMiddleware
from freshet.fetch.robots_middleware import RobotsMiddleware
from freshet.fetch.run_crawl import run_crawl as run
from freshet.schedule.bursts.burst_queue import BurstQueue
from freshet.schedule.page_states import PageStates
from tests.warm_process import run_module

LONGEST = 40.0
STAGES = (
    "settings", "request", "middleware", "failure", "observe", "redirect", "parse", "measure",
    "noise", "bursts", "learn", "unlearnable",
)  # fmt: skip


class InjectedFault(ValueError):
    """The fault of a test."""


def faulty_crawl(
    folder: Path, *, visits: int | None = None, seconds: float | None = None, budget: str
) -> CompletedProcess[str]:
    """Crawl a collection in a child process in which its pages cause faults."""
    options = json.dumps({"visits": visits, "seconds": seconds, "budget": budget})
    return run_module("tests.fetch.faults", str(folder), options)


def _fail_when(place: Any, name: str, is_faulty: Callable[..., bool]) -> None:
    """Let a function raise the fault where its arguments are those of the stage's page."""
    whole = getattr(place, name)

    @functools.wraps(whole)
    def failing(*arguments: Any, **options: Any) -> Any:
        if is_faulty(*arguments, **options):
            raise InjectedFault(f"{place.__name__}.{name}")
        return whole(*arguments, **options)

    setattr(place, name, failing)


def _inject(ids: dict[str, int]) -> None:
    """Let every stage fail for the page that bears its name."""
    bursts, learn, unlearnable = (ids[stage] for stage in ("bursts", "learn", "unlearnable"))
    _fail_when(Settings, "for_page", lambda _, *tables: any("accept" in str(t) for t in tables))
    _fail_when(
        freshet.fetch.request_lifecycle,
        "request_for_job",
        lambda job, *_, **__: "/request" in job.url,
    )
    _fail_when(
        RobotsMiddleware,
        "process_request",
        lambda _, request, **__: request.url.endswith(("/middleware", "/failure")),
    )
    _fail_when(
        freshet.fetch.record_middleware,
        "observation_without_answer",
        lambda request, *_, **__: "/failure" in request.url,
    )
    _fail_when(
        freshet.fetch.record_middleware,
        "_observe_answer",
        lambda request, *_, **__: "/observe" in request.url,
    )
    _fail_when(
        FollowRedirectsMiddleware,
        "process_response",
        lambda _, request, **__: "/redirect" in request.url,
    )
    _fail_when(
        freshet.record.parsed_visit,
        "parse_snapshot",
        lambda snapshot, *_, **__: "/parse" in snapshot.url,
    )
    _fail_when(freshet.record.recorder, "measure_change", _is_measured)
    _fail_when(freshet.crawl.noise, "learned_mask", lambda _, page, *__: "/noise" in page.url)
    _fail_when(
        BurstQueue,
        "update_from_visits",
        lambda _, seen, *__: any(page == bursts for page, _ in seen),
    )
    _fail_when(
        PageStates, "add_visits",
        lambda _, visits: bool(
            (visits.looks & (visits.pages == learn)).any() or (visits.pages == unlearnable).any()
        ),
    )  # fmt: skip


def _is_measured(before: Any, outcome: Any, masked_view: Any) -> bool:
    is_compared = before.masked_view is not None and masked_view is not None
    return is_compared and "measure" in masked_view.view.title


def main(folder: Path, visits: int | None, seconds: float | None, budget: str) -> None:
    """Crawl in this process."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    with Collection.open(folder) as collection:
        ids = {page.url.rpartition("/")[2]: page.id for page in collection.pages()}
    _inject(ids)
    run(folder, budget=budget, limits=CrawlLimits(visits=visits, seconds=seconds or LONGEST))


if __name__ == "__main__":
    main(Path(sys.argv[1]), **json.loads(sys.argv[2]))
