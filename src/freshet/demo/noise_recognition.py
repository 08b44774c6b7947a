"""Measure how well a crawl of the simulated web recognised noise, against the ground truth."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.clock import to_epoch
from freshet.core.types import Outcome
from freshet.demo.demo_collection import DemoCollection
from freshet.demo.hosts import RequestLog

LEARNING_LOOKS = 10


@dataclass(frozen=True, slots=True)
class NoiseRecognition:
    """Numbers of noise-only versions, those recognised, real changes, and those hidden.

    The first ten looks at a page do not count, because masks are learned from them.
    """

    noise_only: int
    recognised: int
    real_changes: int
    hidden: int

    @property
    def recognised_share(self) -> float:
        """Return the share of noise that was recognised."""
        return self.recognised / self.noise_only if self.noise_only else 1.0

    @property
    def hidden_share(self) -> float:
        """Return the share of real changes that were hidden."""
        return self.hidden / self.real_changes if self.real_changes else 0.0


def measure_noise_recognition(
    demo_collection: DemoCollection, log: RequestLog, histories: Mapping[int, Sequence[HistoryRow]]
) -> NoiseRecognition:  # fmt: skip
    """Count the results for versions with different text, on every page."""
    results = [
        result
        for page, web_index in demo_collection.web_indices.items()
        for result in _look_results(demo_collection, log, web_index, histories[page])
    ]
    noise = [changed for really_changed, changed in results if not really_changed]
    real = [changed for really_changed, changed in results if really_changed]
    return NoiseRecognition(len(noise), noise.count(False), len(real), real.count(False))


def _look_results(
    demo_collection: DemoCollection, log: RequestLog, web_index: int, rows: Sequence[HistoryRow]
) -> Iterator[tuple[bool, bool]]:
    """Yield whether the page really changed and the recorded result, for looks with new text."""
    looks = [row for row in rows if row.visit.outcome is Outcome.OK]
    # A look shows the page at the moment of the response.
    times = log.response_times(web_index, [to_epoch(row.visit.time) for row in looks])
    counted_looks = zip(pairwise(times), looks[1:], strict=True)
    for moments, look in islice(counted_looks, LEARNING_LOOKS - 1, None):
        if look.change is not None and look.change.text:
            old, new = (demo_collection.web.text(web_index, moment) for moment in moments)
            yield old != new, look.change.changed
