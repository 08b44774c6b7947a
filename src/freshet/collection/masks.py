"""A page's mask as a person sees and edits it: what it hides, and why."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from freshet.core.errors import NotFoundError
from freshet.core.types import View
from freshet.measure.noise.mask import Mask, MaskRule, hidden_spans
from freshet.record.change_criteria import page_mask, save_mask
from freshet.record.store import CollectionStore
from freshet.record.stored_page import StoredPage

MAX_SAMPLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class MaskRuleEffect:
    """One rule of a mask, and what it hides of the last version: how often, and a sample."""

    rule: MaskRule
    hits: int
    sample: str


def mask_rule_effects(page: StoredPage, mask: Mask) -> list[MaskRuleEffect]:
    """Return what every rule of a mask hides of the page's last version."""
    view = page.view(dom=True) if page.versions else None
    return [_hidden(rule, view) for rule in mask.rules]


def add_mask_rules(collection: CollectionStore, page: StoredPage, whats: Sequence[str]) -> Mask:
    """Leave more out of a page: text patterns, or paths of elements."""
    added = [MaskRule(what) for what in dict.fromkeys(whats)]

    def edited(old: Mask) -> Mask:
        held = {rule.what for rule in old.rules}
        new = tuple(rule for rule in added if rule.what not in held)
        never = tuple(what for what in old.never if what not in whats)
        return replace(old, rules=old.rules + new, never=never)

    return _edit(collection, page, edited)


def remove_mask_rules(collection: CollectionStore, page: StoredPage, whats: Sequence[str]) -> Mask:
    """Take rules out of a page's mask, by their number or text; none of them is learnt again."""
    first = page_mask(collection, page)
    gone = {_rule(first, what, page.url).what for what in whats}

    def edited(old: Mask) -> Mask:
        rules = tuple(rule for rule in old.rules if rule.what not in gone)
        never = (*old.never, *sorted(gone - set(old.never)))
        return replace(old, rules=rules, never=never)

    return _edit(collection, page, edited)


def _edit(
    collection: CollectionStore, page: StoredPage, edited: Callable[[Mask], Mask]
) -> Mask:  # fmt: skip
    """Edit a page's mask, anew where a crawl has learnt another one meanwhile."""
    while True:
        old = page_mask(collection, page)
        kept = save_mask(collection, page, edited(old), after=old.version)
        if kept is not None:
            return kept


def _rule(mask: Mask, what: str, url: str) -> MaskRule:
    """Find a rule by its number, counted from 1, or by its text."""
    if what.isdecimal() and 1 <= int(what) <= len(mask.rules):
        return mask.rules[int(what) - 1]
    found = next((rule for rule in mask.rules if rule.what == what), None)
    if found is None:
        raise NotFoundError(
            f"the mask of {url} has no rule {what!r}; 'freshet mask {url}' lists what it has"
        )
    return found


def _hidden(rule: MaskRule, view: View | None) -> MaskRuleEffect:
    if view is None:
        return MaskRuleEffect(rule, 0, "")
    spans = hidden_spans(view, Mask(0, (rule,)))
    sample = view.text[slice(*spans[0])] if spans else ""
    return MaskRuleEffect(rule, len(spans), " ".join(sample.split())[:MAX_SAMPLE_CHARS])
