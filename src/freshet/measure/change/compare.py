"""Two views of a page become a Change."""

from collections.abc import Callable, Container
from dataclasses import dataclass, replace

from xxhash import xxh3_64_intdigest

from freshet.core.counts_as import ChangeAspect, CountsAsRule, parse_counts_as
from freshet.core.types import INTERNAL, Change, ContentKind, LinkTable, TermCounts, View
from freshet.measure.change.significance import SIGNIFICANCE_LEVEL, goodness_of_fit_p_value
from freshet.measure.change.similarity import align_counts
from freshet.measure.noise.mask import NO_MASK, Mask, visible_view_text

WordCounter = Callable[[str], TermCounts]
"""What counts the words of a text: view.words.count, handed over because stages do not meet."""


_COUNTING = frozenset({ChangeAspect.WORDS, ChangeAspect.SIGNIFICANT})


@dataclass(frozen=True, slots=True)
class WordChange:
    """How far the words of two views are apart."""

    dice: float
    words: int
    significant: bool


NO_WORD_CHANGE = WordChange(1.0, 0, False)


@dataclass(frozen=True, slots=True)
class LinkChange:
    """Which links came and which went, in document order."""

    new: tuple[str, ...]
    removed: tuple[str, ...]
    new_internal: int


@dataclass(frozen=True, slots=True)
class MaskedView:
    """A view with what a mask leaves of it: all that comparing needs, whatever became of its text.

    ``text_hash`` and ``terms`` are those of the text that is left; ``terms`` is None where nobody
    counted them.
    """

    view: View
    mask_version: int
    text_hash: int
    terms: TermCounts | None

    def without_content(self) -> "MaskedView":
        """Return the same without the text and the DOM rows."""
        return replace(self, view=replace(self.view, text="", dom=None))


def mask_view(view: View, mask: Mask, count_words: WordCounter | None = None) -> MaskedView:
    """Put a view under a mask; the words left are counted where it is said by what."""
    if not mask.rules:
        return MaskedView(view, mask.version, view.text_hash, view.terms)
    text = visible_view_text(view, mask)
    terms = count_words(text) if count_words else None
    return MaskedView(view, mask.version, xxh3_64_intdigest(text.encode("utf-8", "replace")), terms)


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
    known_links: Container[str] | None = None,
    count_words: WordCounter | None = None,
) -> Change:
    """Compare two views of a page.

    ``known_links`` holds the links of all earlier views; without it ``never_seen`` stays unknown.
    ``count_words`` is needed only where a mask meets a ``counts_as`` that counts words.
    """
    before, after = (mask_view(view, mask, count_words) for view in (old, new))
    return compare_masked(before, after, counts_as=counts_as, known_links=known_links)


def compare_masked(
    old: MaskedView,
    new: MaskedView,
    *,
    counts_as: str = "text",
    known_links: Container[str] | None = None,
) -> Change:
    """Compare two views under the same mask."""
    criterion, facts = parse_counts_as(counts_as), _facts(old.view, new.view, known_links)
    if criterion.aspect is ChangeAspect.LINKS:
        changed = facts.links
    elif criterion.aspect is ChangeAspect.STRUCTURE:
        changed = facts.structure
    else:
        changed = _text_differs(old, new)
    if changed and criterion.aspect in _COUNTING:
        changed = _met(criterion, _words_left(old, new))
    return replace(facts, changed=bool(changed), mask=new.mask_version)


def compare_words(old: TermCounts, new: TermCounts) -> WordChange:
    """Tell how far two versions are apart by the words they hold."""
    words = align_counts(old, new)
    return WordChange(
        words.dice, words.words_changed, goodness_of_fit_p_value(words) < SIGNIFICANCE_LEVEL
    )


def compare_links(old: LinkTable, new: LinkTable) -> LinkChange:
    """Tell which link targets came and which went, in document order."""
    before, after = set(old.urls), set(new.urls)
    came = [place for place, url in enumerate(new.urls) if url not in before]
    return LinkChange(
        new=tuple(new.urls[place] for place in came),
        removed=tuple(url for url in old.urls if url not in after),
        new_internal=int((new.flags[came] & INTERNAL).astype(bool).sum()) if came else 0,
    )


def _facts(old: View, new: View, seen: Container[str] | None) -> Change:
    text = old.text_hash != new.text_hash
    words = compare_words(old.terms, new.terms) if text else NO_WORD_CHANGE
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


def _text_differs(old: MaskedView, new: MaskedView) -> bool:
    """Say whether a reader would see other text; a binary file has none and goes by its bytes."""
    if old.view.kind == new.view.kind == ContentKind.BINARY:
        return old.view.body_hash != new.view.body_hash
    return old.view.text_hash != new.view.text_hash and old.text_hash != new.text_hash


def _words_left(old: MaskedView, new: MaskedView) -> WordChange:
    if old.terms is None or new.terms is None:
        raise TypeError("counting words under a mask needs count_words; hand over view.words.count")
    return compare_words(old.terms, new.terms)


def _met(criterion: CountsAsRule, words: WordChange) -> bool:
    if criterion.aspect is ChangeAspect.WORDS:
        return words.words >= criterion.words
    return words.significant
