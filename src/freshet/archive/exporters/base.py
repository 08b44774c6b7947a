"""The rows of visits and changes that leave a collection."""

from dataclasses import dataclass

from freshet.core.types import Change, Outcome, Page, Visit


@dataclass(frozen=True, slots=True)
class VisitRow:
    """A visit with its page; ``has_revisit_record`` says that its record repeats no bytes."""

    page: Page
    visit: Visit
    language: str = ""
    has_revisit_record: bool = False

    @property
    def is_revisit(self) -> bool:
        """Whether the visit's record stands for bytes that were kept before."""
        return self.has_revisit_record or self.visit.outcome is Outcome.NOT_MODIFIED


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """What a visit to a page found changed."""

    page: Page
    visit: Visit
    change: Change
