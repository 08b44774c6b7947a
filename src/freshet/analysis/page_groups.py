"""The groups that pages belong to: by address, by kind, by tag or by importance."""

from collections.abc import Callable, Mapping, Sequence

from freshet.archive.catalog.catalog import Catalog
from freshet.core.settings import Settings
from freshet.core.types import Page
from freshet.measure.statistics.groups import NO_GROUP, depth, tld

Labels = tuple[str, ...]

OF_PAGE: Mapping[str, Callable[[Page], Labels]] = {
    "tld": lambda page: (tld(page.url),),
    "depth": lambda page: (depth(page.url),),
    "host": lambda page: (page.host,),
    "tag": lambda page: page.tags or (NO_GROUP,),
    "source": lambda page: (page.source or "live",),
}
BY = (*OF_PAGE, "kind", "importance")


def labels(
    by: str, pages: Sequence[Page], kinds: Sequence[str], catalog: Catalog, settings: Settings
) -> list[Labels]:
    """Return the groups of each page; with several tags it is in several."""
    if by == "kind":
        return [(kind,) for kind in kinds]
    if by == "importance":
        tables = catalog.overrides([page.id for page in pages])
        found = (settings.for_page(*tables.get(page.id, ())).importance for page in pages)
        return [(f"{importance:g}",) for importance in found]
    return [OF_PAGE[by](page) for page in pages]


def in_order(name: str, pages: int) -> tuple[float, float, str]:
    """Return by what groups are sorted: numbers by their value, then names by their pages.

    >>> sorted(["org", "10", "5+", "2"], key=lambda name: in_order(name, 1))
    ['2', '5+', '10', 'org']
    """
    try:
        return 0.0, float(name.removesuffix("+")), name
    except ValueError:
        return float(name == NO_GROUP) + 1.0, -pages, name
