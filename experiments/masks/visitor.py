"""Visits to one page as in a crawl: parsed, compared under the page's mask, and learned from."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from freshet.core.settings import LimitSettings
from freshet.core.types import Change, Outcome, Snapshot, View
from freshet.crawl.noise import NoiseTrigger
from freshet.measure.noise.mask import Mask
from freshet.measure.noise.mask_learning import correct_mask, learn_mask
from freshet.measure.noise.observed_looks import MAX_LOOKS, LookSpacing, NoiseLook
from freshet.record.change_criteria import ChangeCriteria
from freshet.record.parsed_visit import parse_visit
from freshet.world.simulated_web import SimulatedWeb

HOUR = 3600.0
MIN_HOURS, MAX_HOURS = 1.0, 96.0
MEDIAN_HOURS, HOURS_SPREAD = 10.0, 1.0


@dataclass(frozen=True, slots=True)
class ComparedVisit:
    """One comparison: the number of the visit, whether the page really changed, and the change."""

    visit: int
    really_changed: bool
    change: Change


class PageVisitor:
    """Visits a page repeatedly and learns its noise."""

    def __init__(self, web: SimulatedWeb, page: int, *, instant: bool) -> None:
        self.criteria = ChangeCriteria()
        self._web = web
        self._page = page
        self._instant = instant
        self._request_count = 0
        self._looks: deque[NoiseLook] = deque(maxlen=MAX_LOOKS)
        self._noise_trigger = NoiseTrigger()

    def visits(self, count: int, rng: Random) -> Iterator[ComparedVisit]:
        """Visit the page ``count`` times, hours to days apart, and yield every comparison."""
        time = self._web.span.start + rng.uniform(0, 24) * HOUR
        for visit in range(count):
            previous = self._looks[-1] if self._looks else None
            view = self._look(time)
            if view is not None:
                self._looks.append(NoiseLook(view, time))
            if view is not None and previous is not None:
                change = self.criteria.compare(previous.view, view)
                yield ComparedVisit(visit, self._really_changed(previous.time, time), change)
                self._learn_noise(change, time)
            hours = MEDIAN_HOURS * rng.lognormvariate(0, HOURS_SPREAD)
            time += min(max(hours, MIN_HOURS), MAX_HOURS) * HOUR

    def _look(self, time: float) -> View | None:
        self._request_count += 1
        response = self._web.render(self._page, time, self._request_count)
        url = self._web.origins[self._web.pages[self._page].host]
        url += self._web.pages[self._page].path
        snapshot = Snapshot(url, response.body, response.status, response.headers)
        parsed = parse_visit(snapshot, LimitSettings(), dom=True)
        return parsed.view if parsed.outcome is Outcome.OK else None

    def _really_changed(self, old: float, new: float) -> bool:
        return self._web.text(self._page, old) != self._web.text(self._page, new)

    def _learn_noise(self, change: Change, time: float) -> None:
        """Learn when a crawl would: when the page changed at most of its recent looks."""
        self._noise_trigger.add_look(change)
        if self._noise_trigger.is_learning_due():
            if self._instant:
                self._look_again(time)
            self._use_mask(learn_mask(list(self._looks), self.criteria.mask))
        elif self.criteria.mask.version and self._noise_trigger.is_check_due():
            self._use_mask(correct_mask(list(self._looks), self.criteria.mask))

    def _use_mask(self, mask: Mask | None) -> None:
        if mask is not None:
            self.criteria = replace(self.criteria, mask=mask)
            self._noise_trigger.reset()

    def _look_again(self, time: float) -> None:
        since: LookSpacing = "instant"
        view = self._look(time)
        if view is not None:
            self._looks.append(NoiseLook(view, time, since))
