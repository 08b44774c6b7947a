"""How a page is read: what counts as a change, the mask that hides noise, and if it has posts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from freshet.core.settings import (
    TIMELINESS,
    UNREADABLE_KEY,
    PageSettings,
    Settings,
    planning_objective,
)
from freshet.core.types import Change, Page, View
from freshet.measure.change.compare import (
    MaskedView,
    compare_masked,
    counts_words,
    mask_view,
    reads_text,
)
from freshet.measure.noise.mask import NO_MASK, Mask, MaskRule, RuleOrigin
from freshet.record.collection_reader import CollectionReader
from freshet.view.words import count_words


@dataclass(frozen=True, slots=True)
class ChangeCriteria:
    """The kind of change that counts for a page, the mask of its noise, and if posts are read."""

    counts_as: str = "text"
    mask: Mask = NO_MASK
    reads_posts: bool = False

    @property
    def reads_dom(self) -> bool:
        """Whether a view needs DOM rows to be masked."""
        return self.mask.reads_dom

    @property
    def reads_text(self) -> bool:
        """Whether a comparison needs the texts of both versions."""
        return reads_text(self.counts_as)

    def mask_view(self, view: View) -> MaskedView:
        """Apply the mask to a view of the page; only what is left is compared."""
        return mask_view(view, self.mask, count_words if counts_words(self.counts_as) else None)

    def compare(self, old: View, new: View) -> Change:
        """Compare two views of the page."""
        return self.compare_masked(self.mask_view(old), self.mask_view(new))

    def compare_masked(self, old: MaskedView, new: MaskedView) -> Change:
        """Compare two views that are masked already."""
        return compare_masked(old, new, counts_as=self.counts_as)


DEFAULT_CRITERIA = ChangeCriteria()


def criteria_of_pages(
    reader: CollectionReader, page_ids: Sequence[int]
) -> dict[int, ChangeCriteria]:
    """Return the change criteria of pages, by id."""
    overrides = reader.catalog.setting_overrides(page_ids)
    masks = reader.catalog.latest_masks(page_ids)
    criteria = {}
    for page_id in page_ids:
        settings = _page_settings(reader.settings, overrides.get(page_id, ()))
        stored = masks.get(page_id)
        mask = NO_MASK if stored is None else parse_mask(stored.version, stored.body)
        is_thread = reads_posts(settings.thread, reader.settings)
        criteria[page_id] = ChangeCriteria(settings.counts_as, mask, is_thread)
    return criteria


def page_criteria(reader: CollectionReader, page: Page) -> ChangeCriteria:
    """Return the change criteria of one page."""
    return criteria_of_pages(reader, [page.id])[page.id]


def page_mask(reader: CollectionReader, page: Page) -> Mask:
    """Return the mask of one page."""
    return page_criteria(reader, page).mask


def save_mask(reader: CollectionReader, page: Page, mask: Mask, *, after: int) -> Mask | None:
    """Save a new mask of a page that replaces version ``after``.

    None if somebody else saved another version meanwhile.
    """
    version = reader.catalog.add_mask_version(
        page.id, encode_mask(mask), reader.clock.now(), previous_version=after
    )
    return None if version is None else replace(mask, version=version)


def _page_settings(settings: Settings, tables: Sequence[Mapping[str, Any]]) -> PageSettings:
    """Return the settings of a page; the collection's where its own cannot be read."""
    if any(UNREADABLE_KEY in table for table in tables):
        return settings.page
    return settings.for_page(*tables)


def reads_posts(thread: str, settings: Settings) -> bool:
    """Whether posts are looked for on a page with this setting of a collection.

    >>> reads_posts("auto", Settings(objective="timeliness")), reads_posts("auto", Settings())
    (True, False)
    """
    return thread == "yes" or (thread == "auto" and planning_objective(settings) == TIMELINESS)


def parse_mask(version: int, body: Mapping[str, Any]) -> Mask:
    """Return a mask from its form in the catalog; the first masks were lists of patterns.

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
    """Return the form of a mask in the catalog.

    >>> encode_mask(Mask(1, (MaskRule("seen # times"),)))
    {'rules': [{'what': 'seen # times', 'by': 'hand', 'why': '', 'but': []}], 'never': []}
    """
    rules = [
        {"what": rule.what, "by": rule.by, "why": rule.why, "but": list(rule.but)}
        for rule in mask.rules
    ]
    return {"rules": rules, "never": list(mask.never)}
