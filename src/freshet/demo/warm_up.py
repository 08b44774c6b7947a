"""Run every compiled function once before the clock starts; none is compiled during the crawl."""

import shutil
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.tables import HostCaps
from freshet.core.types import Snapshot
from freshet.crawl.live_policy import build_live_policy
from freshet.crawl.noise import NoiseLearner
from freshet.world.simulated_web import SimulatedWeb

WARM_UP_URL = "http://rehearsal.example/"
VISITS = 8


def warm_up(folder: Path, web: SimulatedWeb) -> None:
    """Record, measure, learn and plan visits to one page in a temporary folder."""
    with Collection.create(folder, contact="demo@example.org") as collection:
        collection.add(WARM_UP_URL)
        with collection.recording() as recorder:
            recorded = recorder.record([_arrival(web, day) for day in range(VISITS)])
        NoiseLearner(collection).learn_from(recorded.recorded_visits)
        policy = build_live_policy(collection.catalog, collection.settings)
        now = from_epoch(web.span.start) + timedelta(days=VISITS)
        choices = policy.choose(now, 1, HostCaps())
        policy.explain(int(choices.pages[0]), now)
    shutil.rmtree(folder)


def _arrival(web: SimulatedWeb, day: int) -> Observation:
    time = from_epoch(web.span.start) + timedelta(days=day)
    response = web.render(0, to_epoch(time), day)
    snapshot = Snapshot(WARM_UP_URL, response.body, response.status, response.headers)
    return Observation(WARM_UP_URL, "", time, uuid4().bytes, snapshot, status=response.status)
