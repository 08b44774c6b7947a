"""Which words set a page apart from its collection (Adar et al. 2009, section 4.3).

A word's divergence is its part of the Kullback-Leibler divergence of the document from the
collection, P(w|D)·log(P(w|D)/P(w|C)), in nats, from plain shares of the words. The paper counts
the document in the collection, so that no word of it is lacking there. Where one is, as when the
collection was counted before, it is taken as met once, and the collection as longer by that word.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray, HashArray, TermCounts
from freshet.measure.dynamics.terms.kernels import lifespans as kernels
from freshet.measure.dynamics.terms.kernels.lifespans import TotalArray


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """How often each word occurs in a collection: ids sorted, counts beside them.

    ``total`` is the number of words, those among them that are no longer held.
    """

    ids: HashArray
    counts: TotalArray
    total: int

    def __len__(self) -> int:
        return len(self.ids)

    def counts_of(self, words: HashArray) -> FloatArray:
        """Return how often each of these words occurs, nought for those that do not."""
        return kernels.look_up_counts(self.ids, self.counts, words)


EMPTY_LANGUAGE = LanguageModel(np.empty(0, np.uint64), np.empty(0, np.int64), 0)


def language_of_version(terms: TermCounts) -> LanguageModel:
    """Return the language of one version."""
    return LanguageModel(terms.hashes, terms.counts.astype(np.int64), terms.total)


def merge_languages(a: LanguageModel, b: LanguageModel) -> LanguageModel:
    """Return the language of two parts of a collection: the reduce of a map over its pages.

    It does not matter which parts are merged first.
    """
    ids, counts = kernels.add_counts(a.ids, a.counts, b.ids, b.counts)
    return LanguageModel(ids, counts, a.total + b.total)


def merge_all_languages(parts: Iterable[LanguageModel]) -> LanguageModel:
    """Return the language of a whole collection from those of its parts.

    Only parts of like size are merged before the end, so that a large one is not gone through
    again for each small one.
    """
    held: list[LanguageModel] = []
    for part in parts:
        held.append(part)
        while len(held) > 1 and len(held[-2]) <= 2 * len(held[-1]):
            last = held.pop()
            held[-1] = merge_languages(held[-1], last)
    return reduce(merge_languages, held, EMPTY_LANGUAGE)


def most_frequent_words(language: LanguageModel, max_words: int) -> LanguageModel:
    """Return a language without its rarest words, so that any collection's fits into memory."""
    if len(language) <= max_words:
        return language
    kept = np.sort(np.lexsort((language.ids, -language.counts))[:max_words])
    return LanguageModel(language.ids[kept], language.counts[kept], language.total)


def word_divergence(
    words: HashArray, counts: NDArray[np.integer], language: LanguageModel
) -> FloatArray:
    """Return what each word of a document adds to its divergence from a collection.

    >>> page, web = np.array([1, 2], np.uint64), np.array([1, 2, 3], np.uint64)
    >>> whole = LanguageModel(web, np.array([10, 40, 50]), 100)
    >>> word_divergence(page, np.array([2, 2]), whole).round(3).tolist()
    [0.805, 0.112]
    """
    if not len(words):
        return np.empty(0)
    shares = counts / counts.sum()
    met = language.counts_of(words)
    total = language.total + np.count_nonzero(met == 0)
    return np.asarray(shares * np.log(shares * total / np.maximum(met, 1)))
