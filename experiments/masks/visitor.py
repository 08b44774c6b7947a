"""Visits to one page as a crawl makes them: seen, compared under the page's mask, learnt from."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from freshet.core.settings import LimitSettings
from freshet.core.types import Change, Outcome, Snapshot, View
from freshet.crawl.noise import Restlessness
from freshet.measure.noise.mask import Mask
from freshet.measure.noise.mask_learning import corrected, learn
from freshet.measure.noise.observed_looks import MOST_LOOKS, Look, Since
from freshet.record.change_criteria import Gauge
from freshet.record.parsed_visit import see
from freshet.world.simulated_web import LivingWeb

HOUR = 3600.0
SHORTEST, LONGEST = 1.0, 96.0
USUAL, SPREAD = 10.0, 1.0


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison: which visit it was, whether the page really changed, and what was found."""

    visit: int
    really: bool
    change: Change


class Visitor:
    """Looks at a page again and again, and learns what of it is noise."""

    def __init__(self, web: LivingWeb, page: int, *, instant: bool) -> None:
        self.gauge = Gauge()
        self._web = web
        self._page = page
        self._instant = instant
        self._asked = 0
        self._looks: deque[Look] = deque(maxlen=MOST_LOOKS)
        self._restlessness = Restlessness()

    def visits(self, count: int, rng: Random) -> Iterator[Compared]:
        """Visit the page so often, hours to days apart, and yield every comparison."""
        time = self._web.span.start + rng.uniform(0, 24) * HOUR
        for visit in range(count):
            last = self._looks[-1] if self._looks else None
            view = self._see(time)
            if view is not None:
                self._looks.append(Look(view, time))
            if view is not None and last is not None:
                change = self.gauge.compare(last.view, view)
                yield Compared(visit, self._differs(last.time, time), change)
                self._note(change, time)
            hours = USUAL * rng.lognormvariate(0, SPREAD)
            time += min(max(hours, SHORTEST), LONGEST) * HOUR

    def _see(self, time: float) -> View | None:
        self._asked += 1
        answer = self._web.render(self._page, time, self._asked)
        url = self._web.origins[self._web.pages[self._page].host]
        url += self._web.pages[self._page].path
        snapshot = Snapshot(url, answer.body, answer.status, answer.headers)
        sight = see(snapshot, LimitSettings(), dom=True)
        return sight.view if sight.outcome is Outcome.OK else None

    def _differs(self, old: float, new: float) -> bool:
        return self._web.text(self._page, old) != self._web.text(self._page, new)

    def _note(self, change: Change, time: float) -> None:
        """Learn when a crawl would: when the page changed at most of its recent looks."""
        self._restlessness.note(change)
        if self._restlessness.is_due():
            if self._instant:
                self._look_twice(time)
            self._adopt(learn(list(self._looks), self.gauge.mask))
        elif self.gauge.mask.version and self._restlessness.is_to_be_checked():
            self._adopt(corrected(list(self._looks), self.gauge.mask))

    def _adopt(self, better: Mask | None) -> None:
        if better is not None:
            self.gauge = replace(self.gauge, mask=better)
            self._restlessness.begin_anew()

    def _look_twice(self, time: float) -> None:
        since: Since = "instant"
        view = self._see(time)
        if view is not None:
            self._looks.append(Look(view, time, since))
