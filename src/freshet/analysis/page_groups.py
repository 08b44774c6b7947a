"""The groups that pages belong to: by address, content kind, tag or importance."""

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
GROUPINGS = (*LABELS_OF_PAGE, "kind", "importance")


def group_labels(
    by: str, pages: Sequence[Page], kinds: Sequence[str], catalog: Catalog, settings: Settings
) -> list[Labels]:
    """Return the groups of each page; a page with several tags is in several."""
    if by == "kind":
        return [(kind,) for kind in kinds]
    if by == "importance":
        tables = catalog.setting_overrides([page.id for page in pages])
        importances = (settings.for_page(*tables.get(page.id, ())).importance for page in pages)
        return [(f"{importance:g}",) for importance in importances]
    return [LABELS_OF_PAGE[by](page) for page in pages]


def group_sort_key(name: str, pages: int) -> tuple[float, float, str]:
    """Return the sort key of groups: numbers by value, then names by their number of pages.

    >>> sorted(["org", "10", "5+", "2"], key=lambda name: group_sort_key(name, 1))
    ['2', '5+', '10', 'org']
    """
    try:
        return 0.0, float(name.removesuffix("+")), name
    except ValueError:
        return float(name == NO_GROUP) + 1.0, -pages, name
