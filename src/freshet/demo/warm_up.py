"""Doing everything once before it counts, so that nothing is compiled while the fast clock runs."""

import shutil
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from freshet.archive.importers.base import Arrival
from freshet.collection.collection import Collection
from freshet.core.clock import from_epoch, to_epoch
from freshet.core.tables import Caps
from freshet.core.types import Snapshot
from freshet.crawl.live_policy import informed_policy
from freshet.crawl.noise import NoiseWatch
from freshet.world.simulated_web import LivingWeb

URL = "http://rehearsal.example/"
VISITS = 8


def rehearse(folder: Path, web: LivingWeb) -> None:
    """Record, measure, learn and plan visits to one page, in a folder that is then removed."""
    with Collection.create(folder, contact="demo@example.org") as collection:
        collection.add(URL)
        with collection.recording() as recorder:
            taken = recorder.take([_arrival(web, day) for day in range(VISITS)])
        NoiseWatch(collection).after(taken.learnt)
        policy = informed_policy(collection.catalog, collection.settings)
        now = from_epoch(web.span.start) + timedelta(days=VISITS)
        chosen = policy.choose(now, 1, Caps())
        policy.explain(int(chosen.pages[0]), now)
    shutil.rmtree(folder)


def _arrival(web: LivingWeb, day: int) -> Arrival:
    time = from_epoch(web.span.start) + timedelta(days=day)
    made = web.render(0, to_epoch(time), day)
    snapshot = Snapshot(URL, made.body, made.status, made.headers)
    return Arrival(URL, "", time, uuid4().bytes, snapshot, status=made.status)
