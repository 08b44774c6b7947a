"""By what a page is measured: what counts as a change of it, and what is masked as noise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from freshet.archive.catalog.catalog import Catalog
from freshet.core.settings import UNREADABLE, Settings
from freshet.core.types import Change, Page, View
from freshet.measure.change.compare import Masked, compare_masked, counts_words, under
from freshet.measure.noise.mask import NO_MASK, By, Mask, Rule
from freshet.record.files import CollectionFiles
from freshet.view.words import count


@dataclass(frozen=True, slots=True)
class Gauge:
    """How two views of a page are compared."""

    counts_as: str = "text"
    mask: Mask = NO_MASK

    @property
    def reads_dom(self) -> bool:
        """Whether a view must have its DOM rows to be measured."""
        return self.mask.reads_dom

    def under(self, view: View) -> Masked:
        """Put a view of the page under its mask: what is left of it is all that is compared."""
        return under(view, self.mask, count if counts_words(self.counts_as) else None)

    def compare(self, old: View, new: View) -> Change:
        """Compare two views of the page."""
        return self.compare_masked(self.under(old), self.under(new))

    def compare_masked(self, old: Masked, new: Masked) -> Change:
        """Compare two views that are under the page's mask already."""
        return compare_masked(old, new, counts_as=self.counts_as)


PLAIN = Gauge()


def gauges(catalog: Catalog, settings: Settings, page_ids: Sequence[int]) -> dict[int, Gauge]:
    """Return by what each of these pages is measured."""
    tables, masks = catalog.overrides(page_ids), catalog.masks(page_ids)
    return {
        page_id: Gauge(
            _counts_as(settings, tables.get(page_id, ())),
            mask_of(masks[page_id].version, masks[page_id].body) if page_id in masks else NO_MASK,
        )
        for page_id in page_ids
    }


def mask_of_page(files: CollectionFiles, page: Page) -> Mask:
    """Return what is left out of a page before it is compared."""
    return gauges(files.catalog, files.settings, [page.id])[page.id].mask


def keep_mask(files: CollectionFiles, page: Page, mask: Mask, *, after: int) -> Mask | None:
    """Give a page a mask from now on; None where somebody gave it another after that version."""
    version = files.catalog.set_mask(page.id, body_of(mask), files.clock.now(), after=after)
    return None if version is None else replace(mask, version=version)


def _counts_as(settings: Settings, tables: Sequence[Mapping[str, Any]]) -> str:
    """Return what counts as a change; where settings cannot be read, what usually does."""
    if any(UNREADABLE in table for table in tables):
        return settings.page.counts_as
    return settings.for_page(*tables).counts_as


def mask_of(version: int, body: Mapping[str, Any]) -> Mask:
    """Read a mask as the catalog keeps it; the first ones were lists of patterns made by hand.

    >>> mask_of(2, {"patterns": ["seen # times"]})
    Mask(version=2, rules=(Rule(what='seen # times', by='hand', why='', but=()),), never=())
    """
    patterns = [Rule(pattern) for pattern in body.get("patterns", ())]
    rules = [
        Rule(
            rule["what"],
            cast("By", rule.get("by", "hand")),
            rule.get("why", ""),
            tuple(rule.get("but", ())),
        )
        for rule in body.get("rules", ())
    ]
    return Mask(version, (*patterns, *rules), tuple(body.get("never", ())))


def body_of(mask: Mask) -> dict[str, Any]:
    """Return a mask as the catalog keeps it.

    >>> body_of(Mask(1, (Rule("seen # times"),)))
    {'rules': [{'what': 'seen # times', 'by': 'hand', 'why': '', 'but': []}], 'never': []}
    """
    rules = [
        {"what": rule.what, "by": rule.by, "why": rule.why, "but": list(rule.but)}
        for rule in mask.rules
    ]
    return {"rules": rules, "never": list(mask.never)}
