"""A page's mask as a person sees and edits it: what it hides, and why."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from freshet.core.errors import NotFound
from freshet.core.types import View
from freshet.flow.collection import Collection
from freshet.flow.gauge import body_of, gauges
from freshet.flow.page import CollectionPage
from freshet.measure.mask import Mask, Rule, hidden

SAMPLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Hidden:
    """One rule of a mask, and what it hides of the last version: how often, and a sample."""

    rule: Rule
    hits: int
    sample: str


def mask_of_page(collection: Collection, page: CollectionPage) -> Mask:
    """Return what is left out of a page before it is compared."""
    return gauges(collection.catalog, collection.settings, [page.id])[page.id].mask


def hides(page: CollectionPage, mask: Mask) -> list[Hidden]:
    """Return what every rule of a mask hides of the page's last version."""
    view = page.view(dom=True) if page.versions else None
    return [_hidden(rule, view) for rule in mask.rules]


def hide(collection: Collection, page: CollectionPage, whats: Sequence[str]) -> Mask:
    """Leave more out of a page: text patterns, or paths of elements."""
    old = mask_of_page(collection, page)
    held = {rule.what for rule in old.rules}
    added = tuple(Rule(what) for what in dict.fromkeys(whats) if what not in held)
    never = tuple(what for what in old.never if what not in whats)
    return keep(collection, page, replace(old, rules=old.rules + added, never=never))


def show(collection: Collection, page: CollectionPage, whats: Sequence[str]) -> Mask:
    """Take rules out of a page's mask, by their number or text; none of them is learnt again."""
    old = mask_of_page(collection, page)
    gone = [_rule(old, what, page.url) for what in whats]
    rules = tuple(rule for rule in old.rules if rule not in gone)
    never = (*old.never, *(rule.what for rule in gone if rule.what not in old.never))
    return keep(collection, page, replace(old, rules=rules, never=never))


def keep(collection: Collection, page: CollectionPage, mask: Mask) -> Mask:
    """Give a page a mask from now on, and return it under its new version."""
    version = collection.catalog.set_mask(page.id, body_of(mask), collection.clock.now())
    return replace(mask, version=version)


def _rule(mask: Mask, what: str, url: str) -> Rule:
    """Find a rule by its number, counted from 1, or by its text."""
    if what.isdecimal() and 1 <= int(what) <= len(mask.rules):
        return mask.rules[int(what) - 1]
    found = next((rule for rule in mask.rules if rule.what == what), None)
    if found is None:
        raise NotFound(
            f"the mask of {url} has no rule {what!r}; 'freshet mask {url}' lists what it has"
        )
    return found


def _hidden(rule: Rule, view: View | None) -> Hidden:
    if view is None:
        return Hidden(rule, 0, "")
    spans = hidden(view, Mask(0, (rule,)))
    sample = view.text[slice(*spans[0])] if spans else ""
    return Hidden(rule, len(spans), " ".join(sample.split())[:SAMPLE_CHARS])
