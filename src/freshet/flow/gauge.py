"""By what a page is measured: what counts as a change of it, and what is masked as noise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from freshet.archive.catalog.base import Catalog
from freshet.core.settings import Settings
from freshet.core.types import Change, View
from freshet.measure.change import compare
from freshet.measure.mask import NO_MASK, Mask
from freshet.view.words import count


@dataclass(frozen=True, slots=True)
class Gauge:
    """How two views of a page are compared."""

    counts_as: str = "text"
    mask: Mask = NO_MASK

    @property
    def reads_text(self) -> bool:
        """Whether comparing needs the text itself, beyond its hash and its words."""
        return bool(self.mask.patterns)

    def compare(self, old: View, new: View) -> Change:
        """Compare two views of the page."""
        return compare(old, new, mask=self.mask, counts_as=self.counts_as, count_words=count)


PLAIN = Gauge()


def gauges(catalog: Catalog, settings: Settings, page_ids: Sequence[int]) -> dict[int, Gauge]:
    """Return by what each of these pages is measured."""
    tables, masks = catalog.overrides(page_ids), catalog.masks(page_ids)
    return {
        page_id: Gauge(
            settings.for_page(*tables.get(page_id, ())).counts_as,
            mask_of(masks[page_id].version, masks[page_id].body) if page_id in masks else NO_MASK,
        )
        for page_id in page_ids
    }


def mask_of(version: int, body: Mapping[str, Any]) -> Mask:
    """Read a mask as the catalog keeps it.

    >>> mask_of(2, {"patterns": ["seen # times"]})
    Mask(version=2, patterns=('seen # times',))
    """
    return Mask(version, tuple(body.get("patterns", ())))
