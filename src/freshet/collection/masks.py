"""Shows and edits the mask of a page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from freshet.core.errors import NotFoundError
from freshet.core.types import View
from freshet.measure.noise.mask import Mask, MaskRule, hidden_spans
from freshet.record.change_criteria import page_mask, save_mask
from freshet.record.collection_store import CollectionStore
from freshet.record.stored_page import StoredPage

MAX_SAMPLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class MaskRuleEffect:
    """A rule of a mask, how often it matches in the last version, and a sample of the text."""

    rule: MaskRule
    hits: int
    sample: str


def mask_rule_effects(page: StoredPage, mask: Mask) -> list[MaskRuleEffect]:
    """Return what every rule of a mask hides in the page's last version.

    A version whose bytes are no longer kept shows nothing of it.
    """
    has_rules = page.versions and mask.rules
    view = page.view_of_visit(page.versions[-1].row, dom=True) if has_rules else None
    return [_rule_effect(rule, view) for rule in mask.rules]


def add_mask_rules(collection: CollectionStore, page: StoredPage, patterns: Sequence[str]) -> Mask:
    """Add rules to a page's mask: text patterns, or paths of elements."""

    def with_rules(mask: Mask) -> Mask:
        existing = {rule.what for rule in mask.rules}
        added = dict.fromkeys(pattern for pattern in patterns if pattern not in existing)
        never = tuple(pattern for pattern in mask.never if pattern not in patterns)
        return replace(mask, rules=(*mask.rules, *map(MaskRule, added)), never=never)

    return _edit_mask(collection, page, with_rules)


def remove_mask_rules(collection: CollectionStore, page: StoredPage, names: Sequence[str]) -> Mask:
    """Remove rules from a page's mask, by number or text; they are never learned again."""
    mask = page_mask(collection, page)
    removed = {_find_rule(mask, name, page.url).what for name in names}

    def without_rules(mask: Mask) -> Mask:
        rules = tuple(rule for rule in mask.rules if rule.what not in removed)
        never = (*mask.never, *sorted(removed - set(mask.never)))
        return replace(mask, rules=rules, never=never)

    return _edit_mask(collection, page, without_rules)


def _edit_mask(collection: CollectionStore, page: StoredPage, edit: Callable[[Mask], Mask]) -> Mask:
    """Edit a page's mask; if a crawl saves another mask meanwhile, edit that one."""
    while True:
        mask = page_mask(collection, page)
        saved = save_mask(collection, page, edit(mask), after=mask.version)
        if saved is not None:
            return saved


def _find_rule(mask: Mask, name: str, url: str) -> MaskRule:
    """Return a rule by its number, counted from 1, or by its text."""
    if name.isdecimal() and 1 <= int(name) <= len(mask.rules):
        return mask.rules[int(name) - 1]
    for rule in mask.rules:
        if rule.what == name:
            return rule
    raise NotFoundError(
        f"the mask of {url} has no rule {name!r}; 'freshet mask {url}' lists its rules"
    )


def _rule_effect(rule: MaskRule, view: View | None) -> MaskRuleEffect:
    if view is None:
        return MaskRuleEffect(rule, 0, "")
    spans = hidden_spans(view, Mask(0, (rule,)))
    sample = view.text[slice(*spans[0])] if spans else ""
    return MaskRuleEffect(rule, len(spans), " ".join(sample.split())[:MAX_SAMPLE_CHARS])
