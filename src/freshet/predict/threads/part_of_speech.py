"""Counts of parts of speech by word lists and endings, without a trained tagger."""

from collections.abc import Iterator

from freshet.predict.threads.word_stems import WORD

LISTED = {
    "pronoun": "i you he she it we they me him her us them my your his its our their mine who "
    "this that these those",
    "preposition": "in on at by for with from to of about into over under after before between "
    "through during without against",
    "conjunction": "and or but because if while although so than whether",
    "determiner": "a an the some any each every no all both",
    "auxiliary": "am is are was were be been being do does did have has had can could will would "
    "shall should may might must",
    "question": "what when where why how which",
}
ENDINGS = (
    ("adverb", ("ly",)),
    ("verb", ("ing", "ed", "ize", "ise", "ify")),
    ("adjective", ("able", "ible", "al", "ful", "ic", "ive", "less", "ous", "est")),
)
NOUN = "noun"
TAGS = (*LISTED, *(tag for tag, _ in ENDINGS), NOUN)
TAG_OF_WORD = {word: tag for tag, words in LISTED.items() for word in words.split()}


def part_of_speech_tags(text: str) -> Iterator[str]:
    """Yield the tag of each word.

    >>> list(part_of_speech_tags("Why is the printer badly broken?"))
    ['question', 'auxiliary', 'determiner', 'noun', 'adverb', 'noun']
    """
    for word in WORD.findall(text.lower()):
        yield TAG_OF_WORD.get(word) or next(
            (tag for tag, endings in ENDINGS if len(word) > 4 and word.endswith(endings)), NOUN
        )
