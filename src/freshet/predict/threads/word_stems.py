"""Words of posts as the report of Tan (2012) counts them: no stop words, Porter's stems.

Porter (1980), "An algorithm for suffix stripping": five steps of rules, each with a condition on
the measure m, the number of vowel-consonant sequences of the stem.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

MIN_LETTERS = 3
WORD = re.compile(r"[a-z]+")
STOP_WORD_LIST = (
    "a about above after again against all also am an and any are as at be because been before "
    "being below between both but by can could did do does doing down during each few for from "
    "further had has have having he her here hers him his how i if in into is it its just me more "
    "most my no nor not now of off on once only or other our out over own same she should so some "
    "such than that the their them then there these they this those through to too under until up "
    "very was we were what when where which while who whom why will with would you your"
)
STOP_WORDS = frozenset(STOP_WORD_LIST.split())
DOUBLE_SUFFIXES = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "abli": "able", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous",
    "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive",
    "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
SINGLE_SUFFIXES = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
LAST_SUFFIXES = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "ion", "al", "er", "ic", "ou",
)  # fmt: skip


def stems(text: str) -> Iterator[str]:
    """Yield the stems of the words of a text, without stop words and words under three letters.

    >>> list(stems("The printers were printing relational hopes, hopping on 3 ponies"))
    ['printer', 'print', 'relat', 'hope', 'hop', 'poni']
    """
    for word in WORD.findall(text.lower()):
        if len(word) >= MIN_LETTERS and word not in STOP_WORDS:
            yield porter_stem(word)


@lru_cache(maxsize=100_000)
def porter_stem(word: str) -> str:
    """Return the stem of a word in lower case.

    >>> [porter_stem(word) for word in ("caresses", "agreed", "sky", "happy", "adjustment")]
    ['caress', 'agre', 'sky', 'happi', 'adjust']
    """
    if len(word) < MIN_LETTERS:
        return word
    for step in (_plurals, _past_tense, _final_y):
        word = step(word)
    word = _replace_suffix(word, DOUBLE_SUFFIXES)
    word = _replace_suffix(word, SINGLE_SUFFIXES)
    return _final_e(_drop_suffix(word))


def _plurals(word: str) -> str:
    if word.endswith("sses") or word.endswith("ies"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_tense(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word and _has_vowel(stem):
            return _restore(stem)
    return word


def _restore(stem: str) -> str:
    """Return a stem whose -ed or -ing was dropped with its e, or with one letter of two."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _ends_with_double(stem) and stem[-1] not in "lsz":
        return stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _is_short(stem) else stem


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _has_vowel(word[:-1]) else word


def _replace_suffix(word: str, suffixes: dict[str, str]) -> str:
    for suffix, replacement in suffixes.items():
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            return stem + replacement if _measure(stem) > 0 else word
    return word


def _drop_suffix(word: str) -> str:
    for suffix in LAST_SUFFIXES:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            allowed = suffix != "ion" or stem.endswith(("s", "t"))
            return stem if allowed and _measure(stem) > 1 else word
    return word


def _final_e(word: str) -> str:
    stem = word[:-1]
    is_dropped = _measure(stem) > 1 or (_measure(stem) == 1 and not _is_short(stem))
    if word.endswith("e") and is_dropped:
        word = stem
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _kinds(word: str) -> str:
    """Return v for each vowel and c for each consonant; y is a vowel after a consonant."""
    kinds = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if is_vowel else "c"
    return kinds


def _measure(word: str) -> int:
    return len(re.findall("v+c+", _kinds(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _kinds(word)


def _ends_with_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _kinds(word)[-1] == "c"


def _is_short(word: str) -> bool:
    return _kinds(word).endswith("cvc") and word[-1] not in "wxy"
