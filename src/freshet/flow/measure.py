"""Measure stored versions again, as after a change of settings or masks."""

from collections.abc import Iterable

from freshet.core.types import Page
from freshet.flow.collection import Collection
from freshet.flow.gauge import gauges
from freshet.flow.late import Remeasurement, Views, write_anew


def measure_again(collection: Collection, pages: Iterable[Page]) -> int:
    """Compare the stored versions of pages anew; return how many visits were measured."""
    return sum(_measure_page(collection, page) for page in pages)


def _measure_page(collection: Collection, page: Page) -> int:
    gauge = gauges(collection.catalog, collection.settings, [page.id])[page.id]
    view_of = collection.page(page.url, source=page.source, removed=True).view_of
    views = Views(lambda row: view_of(row, dom=gauge.reads_dom), {})
    return write_anew(
        collection.catalog,
        page.id,
        Remeasurement(gauge, views, collection.catalog.link_delta),
    )
