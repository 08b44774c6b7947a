"""Lists the pages that are related to a page, with weights and lags."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from freshet.core.content.content_grid import ContentGrid
from freshet.core.errors import NotFoundError, UsageError
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.tables import DAY_SECONDS
from freshet.core.types import Page
from freshet.learning.related.version_grid import VersionsRead, build_grid, step_times
from freshet.record.collection_reader import CollectionReader
from freshet.relate.co_change import CoChange
from freshet.relate.content_neighbours import ContentNeighbours
from freshet.relate.graph_distance import GraphDistance
from freshet.relate.relation import PageRelation
from freshet.relate.same_host import SameHost
from freshet.relate.temporal_similarity import CrossCorrelation, TimeWarping


@dataclass(frozen=True, slots=True)
class RelationChoice:
    """A measure of relatedness, and which versions of how many pages it reads.

    With ``only_host`` it relates pages of one host only, so that no others are read.
    """

    relation: PageRelation
    reads: VersionsRead
    max_pages: int
    has_lags: bool = False
    only_host: bool = False


RELATIONS: Mapping[str, RelationChoice] = {
    "co-change": RelationChoice(
        CoChange(first_lag=0, above_chance=True), VersionsRead.NONE, 2_000, has_lags=True
    ),
    "content": RelationChoice(ContentNeighbours(), VersionsRead.LAST, 1_000),
    "host": RelationChoice(SameHost(), VersionsRead.LAST, 1_000, only_host=True),
    "links": RelationChoice(GraphDistance(), VersionsRead.LAST, 1_000),
    "correlation": RelationChoice(CrossCorrelation(), VersionsRead.ALL, 200, has_lags=True),
    "time-warping": RelationChoice(TimeWarping(), VersionsRead.ALL, 200),
}
DEFAULT_RELATION = "co-change"
FEWEST_STEPS = 3


@dataclass(frozen=True, slots=True)
class RelatedPage:
    """A related page; ``lag_days`` is by how many days it is ahead, None if that is not known."""

    page: Page
    weight: float
    lag_days: float | None


@dataclass(frozen=True, slots=True)
class RelatedPageList:
    """The pages related to a page, the closest first.

    ``compared`` is the number of other pages that were compared, ``total`` that of all.
    ``step_days`` is the length of a step of the time grid, ``steps`` the number of steps.
    ``obstacle`` says why nothing could be compared, if so.
    """

    page: Page
    by: str
    related: tuple[RelatedPage, ...]
    compared: int
    total: int
    steps: int
    step_days: float
    obstacle: str = ""


def find_related(
    reader: CollectionReader,
    page: Page,
    *,
    by: str = DEFAULT_RELATION,
    count: int = 20,
    progress: ProgressCallback = ignore_progress,
) -> RelatedPageList:
    """Return the pages that are related to a page, at most ``count``.

    Other pages of the same source are compared: those of its host first, the rest spread over all.
    """
    if by not in RELATIONS:
        raise UsageError(f"unknown relation {by!r}; choose one of {', '.join(RELATIONS)}")
    looks = [row for row in reader.catalog.history(page.id) if row.visit.outcome.is_look]
    if not looks:
        raise NotFoundError(f"{page.url} has no looks yet; 'freshet run' visits it")
    choice, times = RELATIONS[by], step_times(looks)
    others = [other for other in reader.catalog.pages(source=page.source) if other.id != page.id]
    if choice.only_host:
        compared = [other for other in others if other.host == page.host][: choice.max_pages - 1]
    else:
        compared = _spread(page, others, choice.max_pages - 1)
    pages = [page, *compared]
    grid = build_grid(reader, pages, times, progress, reads=choice.reads)
    rows, weights, lags = choice.relation.related(grid, count).of(0)
    step_days = float(times[1] - times[0]) / DAY_SECONDS if len(times) > 1 else 0.0
    related = tuple(
        RelatedPage(pages[row], float(weight), float(lag) * step_days if choice.has_lags else None)
        for row, weight, lag in zip(rows.tolist(), weights, lags, strict=True)
    )
    obstacle = "" if related else _obstacle(grid, choice.reads)
    return RelatedPageList(
        page, by, related, len(compared), len(others), len(times), step_days, obstacle
    )


def _obstacle(grid: ContentGrid, reads: VersionsRead) -> str:
    """Return why pages cannot be compared by the versions read; empty if they can."""
    if grid.page_count == 1:
        return "there is no other page to compare"
    if reads != VersionsRead.NONE and not len(grid.vocabulary):
        return "no stored content to compare"
    if reads != VersionsRead.LAST and grid.step_count < FEWEST_STEPS:
        return "the history is too short to compare"
    return ""


def _spread(page: Page, others: Sequence[Page], limit: int) -> list[Page]:
    """Return at most ``limit`` pages: those of the page's host first, the rest spread evenly."""
    neighbours = [other for other in others if other.host == page.host][: max(1, limit // 2)]
    chosen = {other.id for other in neighbours}
    rest = [other for other in others if other.id not in chosen]
    room = limit - len(neighbours)
    stride = max(1, -(-len(rest) // room)) if room > 0 else 1
    return [*neighbours, *rest[::stride][:room]]
