"""Two views of a page become a Change."""

from collections.abc import Callable, Container
from dataclasses import dataclass, replace

from freshet.core.counting import Aspect, Criterion, parse_counts_as
from freshet.core.types import INTERNAL, Change, Kind, Links, Terms, View
from freshet.measure.mask import NO_MASK, Mask, visible
from freshet.measure.significance import LEVEL, goodness_of_fit
from freshet.measure.similarity import align

CountWords = Callable[[str], Terms]
"""What counts the words of a text: view.words.count, handed over because stages do not meet."""


_COUNTING = frozenset({Aspect.WORDS, Aspect.SIGNIFICANT})


@dataclass(frozen=True, slots=True)
class WordChange:
    """How far the words of two views are apart."""

    dice: float
    words: int
    significant: bool


SAME_WORDS = WordChange(1.0, 0, False)


@dataclass(frozen=True, slots=True)
class LinkChange:
    """Which links came and which went, in document order."""

    new: tuple[str, ...]
    removed: tuple[str, ...]
    new_internal: int


def compare(
    old: View,
    new: View,
    *,
    mask: Mask = NO_MASK,
    counts_as: str = "text",
    seen: Container[str] | None = None,
    count_words: CountWords | None = None,
) -> Change:
    """Compare two views of a page.

    ``seen`` holds the links of all earlier views; without it ``never_seen`` stays unknown.
    ``count_words`` is needed only where a mask meets a ``counts_as`` that counts words.
    """
    criterion, facts = parse_counts_as(counts_as), _facts(old, new, seen)
    if criterion.aspect is Aspect.LINKS:
        changed = facts.links
    elif criterion.aspect is Aspect.STRUCTURE:
        changed = facts.structure
    else:
        changed = _text_differs(old, new, mask)
    if changed and criterion.aspect in _COUNTING:
        changed = _met(criterion, _words_left(old, new, mask, count_words))
    return replace(facts, changed=bool(changed), mask=mask.version)


def compare_words(old: Terms, new: Terms) -> WordChange:
    """Tell how far two versions are apart by the words they hold."""
    words = align(old, new)
    return WordChange(words.dice, words.words_changed, goodness_of_fit(words) < LEVEL)


def compare_links(old: Links, new: Links) -> LinkChange:
    """Tell which link targets came and which went, in document order."""
    before, after = set(old.urls), set(new.urls)
    came = [place for place, url in enumerate(new.urls) if url not in before]
    return LinkChange(
        new=tuple(new.urls[place] for place in came),
        removed=tuple(url for url in old.urls if url not in after),
        new_internal=int((new.facts[came] & INTERNAL).astype(bool).sum()) if came else 0,
    )


def _facts(old: View, new: View, seen: Container[str] | None) -> Change:
    text = old.text_hash != new.text_hash
    words = compare_words(old.terms, new.terms) if text else SAME_WORDS
    links = compare_links(old.links, new.links)
    return Change(
        changed=False,
        bytes=old.body_hash != new.body_hash,
        text=text,
        significant=words.significant,
        structure=old.structure_hash != new.structure_hash,
        links=bool(links.new or links.removed),
        moved=old.url != new.url,
        dice=words.dice,
        words=words.words,
        new_internal=links.new_internal,
        new_external=len(links.new) - links.new_internal,
        never_seen=None if seen is None else sum(url not in seen for url in links.new),
        new_links=links.new,
        removed_links=links.removed,
    )


def _text_differs(old: View, new: View, mask: Mask) -> bool:
    """Say whether a reader would see other text; a binary file has none and goes by its bytes."""
    if old.kind == new.kind == Kind.BINARY:
        return old.body_hash != new.body_hash
    if old.text_hash == new.text_hash:
        return False
    return not mask.patterns or visible(old, mask) != visible(new, mask)


def _words_left(old: View, new: View, mask: Mask, count_words: CountWords | None) -> WordChange:
    if not mask.patterns:
        return compare_words(old.terms, new.terms)
    if count_words is None:
        raise TypeError("counting words under a mask needs count_words; hand over view.words.count")
    return compare_words(count_words(visible(old, mask)), count_words(visible(new, mask)))


def _met(criterion: Criterion, words: WordChange) -> bool:
    if criterion.aspect is Aspect.WORDS:
        return words.words >= criterion.words
    return words.significant
