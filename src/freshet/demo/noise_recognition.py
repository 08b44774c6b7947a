"""How well a crawl of the living web told noise from change, held against the truth."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.clock import to_epoch
from freshet.core.types import Outcome
from freshet.demo.demo_collection import DemoCollection
from freshet.demo.hosts import RequestLog

LEARNING_LOOKS = 10


@dataclass(frozen=True, slots=True)
class NoiseRecognition:
    """How many versions differed by noise alone and were taken so, and what real changes were.

    The first ten looks at a page do not count: masks are learnt from them.
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
    stage: DemoCollection, log: RequestLog, histories: Mapping[int, Sequence[HistoryRow]]
) -> NoiseRecognition:  # fmt: skip
    """Count what was made of versions whose text differed, on every page."""
    told = [
        judged
        for page, place in stage.web_indices.items()
        for judged in _judged(stage, log, place, histories[page])
    ]
    noise = [changed for really, changed in told if not really]
    real = [changed for really, changed in told if really]
    return NoiseRecognition(len(noise), noise.count(False), len(real), real.count(False))


def _judged(
    stage: DemoCollection, log: RequestLog, place: int, rows: Sequence[HistoryRow]
) -> Iterator[tuple[bool, bool]]:
    """Yield for each look with other text whether the page really changed, and what was said."""
    looks = [row for row in rows if row.visit.outcome is Outcome.OK]
    for before, look in pairwise(looks[LEARNING_LOOKS - 1 :]):
        times = [_answered(log, place, row) for row in (before, look)]
        if look.change is not None and look.change.text:
            old, new = (stage.web.text(place, time) for time in times)
            yield old != new, look.change.changed


def _answered(log: RequestLog, place: int, row: HistoryRow) -> float:
    """Return when a look was answered, which is what it shows."""
    began = to_epoch(row.visit.time)
    answer = log.response_to(place, began)
    return began if answer is None else answer.time
