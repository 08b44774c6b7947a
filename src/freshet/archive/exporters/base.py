"""Rows of visits and changes for export."""

from dataclasses import dataclass

from freshet.core.types import Change, Outcome, Page, Visit


@dataclass(frozen=True, slots=True)
class VisitRow:
    """A visit with its page; ``has_revisit_record`` is true if its WARC record is a revisit."""

    page: Page
    visit: Visit
    language: str = ""
    has_revisit_record: bool = False

    @property
    def is_revisit(self) -> bool:
        """Return whether the visit's record refers to a payload stored earlier."""
        return self.has_revisit_record or self.visit.outcome is Outcome.NOT_MODIFIED


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A visit to a page with the change that it found."""

    page: Page
    visit: Visit
    change: Change
