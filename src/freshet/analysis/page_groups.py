"""The groups that pages belong to: by address, content kind, tag or importance.

A tag is a category of pages, and importance may be their number of visitors.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from freshet.archive.catalog.catalog import Catalog
from freshet.core.settings import Settings
from freshet.core.types import Page
from freshet.measure.statistics.groups import NO_GROUP, path_depth, top_level_domain

Labels = tuple[str, ...]

LABELS_OF_PAGE: Mapping[str, Callable[[Page], Labels]] = {
    "tld": lambda page: (top_level_domain(page.url),),
    "depth": lambda page: (path_depth(page.url),),
    "host": lambda page: (page.host,),
    "tag": lambda page: page.tags or (NO_GROUP,),
    "source": lambda page: (page.source or "live",),
}
GROUPINGS = (*LABELS_OF_PAGE, "kind", "importance", "visitors")
# Adar et al. 2009, Table 1: pages by their number of visitors.
VISITOR_BOUNDS, VISITOR_GROUPS = (3, 7, 39), ("2", "3-6", "7-38", "39+")


def group_labels(
    by: str, pages: Sequence[Page], kinds: Sequence[str], catalog: Catalog, settings: Settings
) -> list[Labels]:
    """Return the groups of each page; a page with several tags is in several."""
    if by == "kind":
        return [(kind,) for kind in kinds]
    if by in ("importance", "visitors"):
        tables = catalog.setting_overrides([page.id for page in pages])
        importances = (settings.for_page(*tables.get(page.id, ())).importance for page in pages)
        name = visitor_group if by == "visitors" else "{:g}".format
        return [(name(importance),) for importance in importances]
    return [LABELS_OF_PAGE[by](page) for page in pages]


def visitor_group(visitors: float) -> str:
    """Return the group of the paper for a number of visitors; the first has two or fewer.

    >>> [visitor_group(visitors) for visitors in (1, 3, 6.5, 38, 400)]
    ['2', '3-6', '3-6', '7-38', '39+']
    """
    return VISITOR_GROUPS[bisect_right(VISITOR_BOUNDS, visitors)]


def group_sort_key(name: str, pages: int) -> tuple[float, float, str]:
    """Return the sort key of groups: numbers by value, then names by their number of pages.

    >>> sorted(["org", "10", "5+", "3-6", "2"], key=lambda name: group_sort_key(name, 1))
    ['2', '3-6', '5+', '10', 'org']
    """
    lowest = name.partition("-")[0] if name in VISITOR_GROUPS else name
    try:
        return 0.0, float(lowest.removesuffix("+")), name
    except ValueError:
        return float(name == NO_GROUP) + 1.0, -pages, name
