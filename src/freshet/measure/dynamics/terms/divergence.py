"""Words that are specific to a page within its collection (Adar et al. 2009, section 4.3).

The divergence of a word is its part of the Kullback-Leibler divergence of the document from the
collection, P(w|D)·log(P(w|D)/P(w|C)), in nats, from unsmoothed word shares. In the paper the
document is part of the collection, so that no word is missing there. Where a word is missing, as
when the collection was counted before, it counts as one occurrence, and the collection as longer by
that word.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from freshet.core.types import FloatArray, HashArray, TermCounts
from freshet.measure.kernels import lifespans as kernels
from freshet.measure.kernels.lifespans import TotalArray


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """The number of occurrences of each word in a collection: sorted ids with their counts.

    ``total`` is the number of all words, including those of which no count is kept.
    """

    ids: HashArray
    counts: TotalArray
    total: int

    def __len__(self) -> int:
        return len(self.ids)

    def counts_of(self, words: HashArray) -> FloatArray:
        """Return the count of each of these words, 0 for unknown words."""
        return kernels.look_up_counts(self.ids, self.counts, words)


EMPTY_LANGUAGE = LanguageModel(np.empty(0, np.uint64), np.empty(0, np.int64), 0)


def language_of_version(terms: TermCounts) -> LanguageModel:
    """Return the language model of one version."""
    return LanguageModel(terms.hashes, terms.counts.astype(np.int64), terms.total)


def merge_languages(a: LanguageModel, b: LanguageModel) -> LanguageModel:
    """Return the language model of two parts of a collection; the order does not matter."""
    ids, counts = kernels.add_counts(a.ids, a.counts, b.ids, b.counts)
    return LanguageModel(ids, counts, a.total + b.total)


def merge_all_languages(parts: Iterable[LanguageModel]) -> LanguageModel:
    """Return the language model of a whole collection from those of its parts.

    Parts of similar size are merged first, so that a large part is not copied for each small one.
    """
    pending: list[LanguageModel] = []
    for language in parts:
        pending.append(language)
        while len(pending) > 1 and len(pending[-2]) <= 2 * len(pending[-1]):
            last = pending.pop()
            pending[-1] = merge_languages(pending[-1], last)
    return reduce(merge_languages, pending, EMPTY_LANGUAGE)


def most_frequent_words(language: LanguageModel, max_words: int) -> LanguageModel:
    """Return a language model without its rarest words, so that it fits into memory."""
    if len(language) <= max_words:
        return language
    frequent_rows = np.sort(np.lexsort((language.ids, -language.counts))[:max_words])
    return LanguageModel(
        language.ids[frequent_rows], language.counts[frequent_rows], language.total
    )


def word_divergence(
    words: HashArray, counts: NDArray[np.integer], language: LanguageModel
) -> FloatArray:
    """Return the divergence of each word of a document from a collection.

    >>> page, web = np.array([1, 2], np.uint64), np.array([1, 2, 3], np.uint64)
    >>> model = LanguageModel(web, np.array([10, 40, 50]), 100)
    >>> word_divergence(page, np.array([2, 2]), model).round(3).tolist()
    [0.805, 0.112]
    """
    if not len(words):
        return np.empty(0)
    shares = counts / counts.sum()
    occurrences = language.counts_of(words)
    total = language.total + np.count_nonzero(occurrences == 0)
    return np.asarray(shares * np.log(shares * total / np.maximum(occurrences, 1)))
