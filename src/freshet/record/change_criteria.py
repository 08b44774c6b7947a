"""By what a page is measured: what counts as a change of it, and what is masked as noise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from freshet.archive.catalog.catalog import Catalog
from freshet.core.settings import UNREADABLE_KEY, Settings
from freshet.core.types import Change, Page, View
from freshet.measure.change.compare import MaskedView, compare_masked, counts_words, mask_view
from freshet.measure.noise.mask import NO_MASK, Mask, MaskRule, RuleOrigin
from freshet.record.files import CollectionFiles
from freshet.view.words import count_words


@dataclass(frozen=True, slots=True)
class ChangeCriteria:
    """How two views of a page are compared."""

    counts_as: str = "text"
    mask: Mask = NO_MASK

    @property
    def reads_dom(self) -> bool:
        """Whether a view must have its DOM rows to be measured."""
        return self.mask.reads_dom

    def mask_view(self, view: View) -> MaskedView:
        """Put a view of the page under its mask: what is left of it is all that is compared."""
        return mask_view(view, self.mask, count_words if counts_words(self.counts_as) else None)

    def compare(self, old: View, new: View) -> Change:
        """Compare two views of the page."""
        return self.compare_masked(self.mask_view(old), self.mask_view(new))

    def compare_masked(self, old: MaskedView, new: MaskedView) -> Change:
        """Compare two views that are under the page's mask already."""
        return compare_masked(old, new, counts_as=self.counts_as)


DEFAULT_CRITERIA = ChangeCriteria()


def criteria_of_pages(
    catalog: Catalog, settings: Settings, page_ids: Sequence[int]
) -> dict[int, ChangeCriteria]:
    """Return by what each of these pages is measured."""
    tables, masks = catalog.setting_overrides(page_ids), catalog.latest_masks(page_ids)
    return {
        page_id: ChangeCriteria(
            _counts_as(settings, tables.get(page_id, ())),
            parse_mask(masks[page_id].version, masks[page_id].body)
            if page_id in masks
            else NO_MASK,
        )
        for page_id in page_ids
    }


def page_mask(files: CollectionFiles, page: Page) -> Mask:
    """Return what is left out of a page before it is compared."""
    return criteria_of_pages(files.catalog, files.settings, [page.id])[page.id].mask


def save_mask(files: CollectionFiles, page: Page, mask: Mask, *, after: int) -> Mask | None:
    """Give a page a mask from now on; None where somebody gave it another after that version."""
    version = files.catalog.add_mask_version(
        page.id, encode_mask(mask), files.clock.now(), previous_version=after
    )
    return None if version is None else replace(mask, version=version)


def _counts_as(settings: Settings, tables: Sequence[Mapping[str, Any]]) -> str:
    """Return what counts as a change; where settings cannot be read, what usually does."""
    if any(UNREADABLE_KEY in table for table in tables):
        return settings.page.counts_as
    return settings.for_page(*tables).counts_as


def parse_mask(version: int, body: Mapping[str, Any]) -> Mask:
    """Read a mask as the catalog keeps it; the first ones were lists of patterns made by hand.

    >>> parse_mask(2, {"patterns": ["seen # times"]})
    Mask(version=2, rules=(MaskRule(what='seen # times', by='hand', why='', but=()),), never=())
    """
    patterns = [MaskRule(pattern) for pattern in body.get("patterns", ())]
    rules = [
        MaskRule(
            rule["what"],
            cast("RuleOrigin", rule.get("by", "hand")),
            rule.get("why", ""),
            tuple(rule.get("but", ())),
        )
        for rule in body.get("rules", ())
    ]
    return Mask(version, (*patterns, *rules), tuple(body.get("never", ())))


def encode_mask(mask: Mask) -> dict[str, Any]:
    """Return a mask as the catalog keeps it.

    >>> encode_mask(Mask(1, (MaskRule("seen # times"),)))
    {'rules': [{'what': 'seen # times', 'by': 'hand', 'why': '', 'but': []}], 'never': []}
    """
    rules = [
        {"what": rule.what, "by": rule.by, "why": rule.why, "but": list(rule.but)}
        for rule in mask.rules
    ]
    return {"rules": rules, "never": list(mask.never)}
