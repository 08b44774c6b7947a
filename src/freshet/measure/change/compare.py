"""Compare two views of a page and return a Change."""

from collections.abc import Callable, Container
from dataclasses import dataclass, replace

from xxhash import xxh3_64_intdigest

from freshet.core.counts_as import ChangeAspect, CountsAsRule, parse_counts_as
from freshet.core.types import INTERNAL, Change, ContentKind, LinkTable, TermCounts, View
from freshet.measure.change.own_measure import is_own_change
from freshet.measure.change.significance import SIGNIFICANCE_LEVEL, goodness_of_fit_p_value
from freshet.measure.change.similarity import align_counts
from freshet.measure.noise.mask import NO_MASK, Mask, visible_view_text

WordCounter = Callable[[str], TermCounts]
"""Counts the words of a text: view.words.count_words, as stages do not import each other."""


_WORD_ASPECTS = frozenset({ChangeAspect.WORDS, ChangeAspect.SIGNIFICANT})


@dataclass(frozen=True, slots=True)
class WordChange:
    """The difference between the words of two views."""

    dice: float
    words: int
    significant: bool


NO_WORD_CHANGE = WordChange(1.0, 0, False)


@dataclass(frozen=True, slots=True)
class LinkChange:
    """The added and the removed links, in document order."""

    new: tuple[str, ...]
    removed: tuple[str, ...]
    new_internal: int


@dataclass(frozen=True, slots=True)
class MaskedView:
    """A view and the hash and words of its visible text under a mask.

    This is all that a comparison needs, even after the text is dropped. ``terms`` is None where the
    words were not counted. ``text`` is the visible text; only measures of users need it.
    """

    view: View
    mask_version: int
    text_hash: int
    terms: TermCounts | None
    text: str

    def without_content(self) -> "MaskedView":
        """Return the same view without its text and its DOM rows."""
        return replace(self, view=replace(self.view, text="", dom=None), text="")


def mask_view(view: View, mask: Mask, word_counter: WordCounter | None = None) -> MaskedView:
    """Apply a mask to a view; count the visible words if ``word_counter`` is given."""
    if not mask.rules:
        return MaskedView(view, mask.version, view.text_hash, view.terms, view.text)
    text = visible_view_text(view, mask)
    terms = word_counter(text) if word_counter else None
    text_hash = xxh3_64_intdigest(text.encode("utf-8", "replace"))
    return MaskedView(view, mask.version, text_hash, terms, text)


def counts_words(counts_as: str) -> bool:
    """Return whether this ``counts_as`` needs the words of both versions.

    >>> counts_words("words:5"), counts_words("text")
    (True, False)
    """
    return parse_counts_as(counts_as).aspect in _WORD_ASPECTS


def reads_text(counts_as: str) -> bool:
    """Return whether this ``counts_as`` needs the texts of both versions.

    >>> reads_text("text"), reads_text("mine:PriceFell")
    (False, True)
    """
    return bool(parse_counts_as(counts_as).own_measure)


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

    ``known_links`` are the links of all earlier views; without them ``never_seen`` stays unknown.
    ``count_words`` is needed only for a mask together with a ``counts_as`` that counts words.
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
    criterion, change = (
        parse_counts_as(counts_as),
        _unmasked_change(old.view, new.view, known_links),
    )
    if criterion.aspect is ChangeAspect.LINKS:
        changed = change.links
    elif criterion.aspect is ChangeAspect.STRUCTURE:
        changed = change.structure
    else:
        changed = _text_differs(old, new)
    if changed and criterion.aspect in _WORD_ASPECTS:
        changed = _meets_criterion(criterion, _visible_word_change(old, new))
    if changed and criterion.own_measure:
        before, after = (replace(version.view, text=version.text) for version in (old, new))
        changed = is_own_change(criterion.own_measure, before, after)
    return replace(change, changed=bool(changed), mask=new.mask_version)


def compare_words(old: TermCounts, new: TermCounts) -> WordChange:
    """Return the difference between the words of two versions."""
    words = align_counts(old, new)
    return WordChange(
        words.dice, words.words_changed, goodness_of_fit_p_value(words) < SIGNIFICANCE_LEVEL
    )


def compare_links(old: LinkTable, new: LinkTable) -> LinkChange:
    """Return the link targets that were added and removed, in document order."""
    before, after = set(old.urls), set(new.urls)
    added_rows = [row for row, url in enumerate(new.urls) if url not in before]
    return LinkChange(
        new=tuple(new.urls[row] for row in added_rows),
        removed=tuple(url for url in old.urls if url not in after),
        new_internal=int((new.flags[added_rows] & INTERNAL).astype(bool).sum())
        if added_rows
        else 0,
    )


def _unmasked_change(old: View, new: View, known_links: Container[str] | None) -> Change:
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
        never_seen=None
        if known_links is None
        else sum(url not in known_links for url in links.new),
        new_links=links.new,
        removed_links=links.removed,
    )


def _text_differs(old: MaskedView, new: MaskedView) -> bool:
    """Return whether the visible text differs; binary files are compared by their bytes."""
    if old.view.kind == new.view.kind == ContentKind.BINARY:
        return old.view.body_hash != new.view.body_hash
    return old.view.text_hash != new.view.text_hash and old.text_hash != new.text_hash


def _visible_word_change(old: MaskedView, new: MaskedView) -> WordChange:
    if old.terms is None or new.terms is None:
        raise TypeError(
            "words under a mask cannot be counted without word_counter; pass view.words.count_words"
        )
    return compare_words(old.terms, new.terms)


def _meets_criterion(criterion: CountsAsRule, words: WordChange) -> bool:
    if criterion.aspect is ChangeAspect.WORDS:
        return words.words >= criterion.words
    return words.significant
