"""The event that a host closes while a crawl runs."""

from dataclasses import dataclass
from datetime import datetime

from freshet.core.local_time import format_time_to_minute, format_to_minute, to_local


@dataclass(frozen=True, slots=True)
class HostClosing:
    """A host that has closed, with its closing period and the number of failures in a row.

    ``why`` describes the last failure.
    """

    host: str
    time: datetime
    until: datetime
    failures: int
    why: str

    @property
    def sentence(self) -> str:
        """Describe the closing.

        >>> from datetime import UTC, timedelta
        >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
        >>> two_minutes = noon + timedelta(minutes=2)
        >>> HostClosing("a.example", noon, two_minutes, 2, "status 500").sentence
        'a.example closed until 12:02 UTC after 2 failures (status 500)'
        """
        is_today = to_local(self.time).date() == to_local(self.until).date()
        until = format_time_to_minute(self.until) if is_today else format_to_minute(self.until)
        plural = "" if self.failures == 1 else "s"
        return (
            f"{self.host} closed until {until} after {self.failures} failure{plural} ({self.why})"
        )
