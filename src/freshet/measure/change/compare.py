"""Two views of a page become a Change."""

from collections.abc import Callable, Container
from dataclasses import dataclass, replace

from xxhash import xxh3_64_intdigest

from freshet.core.counts_as import Aspect, Criterion, parse_counts_as
from freshet.core.types import INTERNAL, Change, Kind, Links, Terms, View
from freshet.measure.change.significance import LEVEL, goodness_of_fit
from freshet.measure.change.similarity import align
from freshet.measure.noise.mask import NO_MASK, Mask, visible

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


@dataclass(frozen=True, slots=True)
class Masked:
    """A view with what a mask leaves of it: all that comparing needs, whatever became of its text.

    ``text_hash`` and ``terms`` are those of the text that is left; ``terms`` is None where nobody
    counted them.
    """

    view: View
    mask: int
    text_hash: int
    terms: Terms | None

    def light(self) -> "Masked":
        """Return the same without the text and the DOM rows."""
        return replace(self, view=replace(self.view, text="", dom=None))


def under(view: View, mask: Mask, count_words: CountWords | None = None) -> Masked:
    """Put a view under a mask; the words left are counted where it is said by what."""
    if not mask.rules:
        return Masked(view, mask.version, view.text_hash, view.terms)
    text = visible(view, mask)
    terms = count_words(text) if count_words else None
    return Masked(view, mask.version, xxh3_64_intdigest(text.encode("utf-8", "replace")), terms)


def counts_words(counts_as: str) -> bool:
    """Say whether words are counted to tell what a change is.

    >>> counts_words("words:5"), counts_words("text")
    (True, False)
    """
    return parse_counts_as(counts_as).aspect in _COUNTING


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
    before, after = (under(view, mask, count_words) for view in (old, new))
    return compare_masked(before, after, counts_as=counts_as, seen=seen)


def compare_masked(
    old: Masked, new: Masked, *, counts_as: str = "text", seen: Container[str] | None = None
) -> Change:
    """Compare two views under the same mask."""
    criterion, facts = parse_counts_as(counts_as), _facts(old.view, new.view, seen)
    if criterion.aspect is Aspect.LINKS:
        changed = facts.links
    elif criterion.aspect is Aspect.STRUCTURE:
        changed = facts.structure
    else:
        changed = _text_differs(old, new)
    if changed and criterion.aspect in _COUNTING:
        changed = _met(criterion, _words_left(old, new))
    return replace(facts, changed=bool(changed), mask=new.mask)


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


def _text_differs(old: Masked, new: Masked) -> bool:
    """Say whether a reader would see other text; a binary file has none and goes by its bytes."""
    if old.view.kind == new.view.kind == Kind.BINARY:
        return old.view.body_hash != new.view.body_hash
    return old.view.text_hash != new.view.text_hash and old.text_hash != new.text_hash


def _words_left(old: Masked, new: Masked) -> WordChange:
    if old.terms is None or new.terms is None:
        raise TypeError("counting words under a mask needs count_words; hand over view.words.count")
    return compare_words(old.terms, new.terms)


def _met(criterion: Criterion, words: WordChange) -> bool:
    if criterion.aspect is Aspect.WORDS:
        return words.words >= criterion.words
    return words.significant
