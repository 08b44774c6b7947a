"""The archive: its bytes, what deduplication saves, and when the disk will be full."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from freshet.archive.catalog.rows import CollectionCounts, DailyGrowth, ImportRecord
from freshet.serve.dashboard import Dashboard
from freshet.serve.parameters import ParameterValues

GROWTH_DAYS = 30


@dataclass(frozen=True, slots=True)
class StorageDocument:
    """What the collection stores.

    ``received_bytes`` are the bytes of all answers, repeated ones included; ``saved_share`` is the
    share of them that compression and deduplication save. ``bytes_per_day`` is the mean growth of
    the last days with visits, and ``days_to_full`` the time until the disk is full at that growth.
    """

    made: datetime
    counts: CollectionCounts
    archive_bytes: int
    catalog_bytes: int
    free_bytes: int
    received_bytes: int
    saved_share: float | None
    bytes_per_day: float | None
    days_to_full: float | None
    growth: list[DailyGrowth]
    imports: list[ImportRecord]


def read_storage(dashboard: Dashboard, values: ParameterValues) -> StorageDocument:
    """Return what the collection stores."""
    status, received = dashboard.status(), dashboard.received_bytes()
    stored = status.counts.stored_bytes
    per_day = _mean_growth(status.growth)
    return StorageDocument(
        made=dashboard.collection.clock.now(),
        counts=status.counts,
        archive_bytes=status.archive_bytes,
        catalog_bytes=status.catalog_bytes,
        free_bytes=status.free_bytes,
        received_bytes=received,
        saved_share=max(0.0, 1.0 - stored / received) if received else None,
        bytes_per_day=per_day,
        days_to_full=status.free_bytes / per_day if per_day else None,
        growth=status.growth[-GROWTH_DAYS:],
        imports=status.imports,
    )


def _mean_growth(growth: Sequence[DailyGrowth]) -> float | None:
    """Return the mean bytes a day over the last days, from the first one with visits on."""
    recent = growth[-GROWTH_DAYS:]
    if not recent:
        return None
    days = (recent[-1].day - recent[0].day).days + 1
    return sum(day.stored_bytes for day in recent) / days
