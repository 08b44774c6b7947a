"""Realistic words: a seeded vocabulary, and topics drawn from it."""

from dataclasses import dataclass
from itertools import product
from random import Random

Words = tuple[str, ...]

NAME_COUNT = 4000
TOPIC_NAME_COUNT = 1000
TOPIC_WORD_COUNT = 125

_COMMON = "the of and to in a for on with at by from this that has was will are but not"
_PLAIN = """
river council market harvest engine signal winter garden museum railway budget storm archive bridge
harbour festival lantern orchard meadow printer valley ferry teacher clock school library station
farmer history music weather island village company minister report season doctor mountain player
result paper street summer kitchen science letter travel forest window captain road member party
office water nature local public early open common late national several young former annual
northern quiet simple final recent small second address answer apple artist autumn baker balance
basket beach bicycle bird board boat bottle branch brick builder cabin camera candle canal carpet
castle chair chapel cheese cherry circle citizen climate cloth coast coffee collection colour
concert copper corner cotton country court craft crowd culture current dance daughter debate decade
delivery desert design desk dinner director district drawing driver election evening evidence
example exhibition factory family fence field figure finance fire fish flight flood flower friend
frost fruit future gallery gate glass grain group growth guide hall hammer health height hill
holiday hospital hotel house idea industry insurance interview iron journey judge keeper labour
ladder lake lamp language lawyer leader league lecture lesson light line literature machine magazine
map master match material mayor meal measure medicine meeting memory message metal method mill
mirror model money month morning motor movement neighbour newspaper novel number ocean opening
orchestra order owner package painting palace parade parent park parliament passage patient pattern
people photograph piano picture pilot plan planet plant plate poem policy pond post potato price
problem profit programme project promise property quarter queen question race rain reader record
region rehearsal research restaurant review reward rice roof room rope route sailor salt sample
scene scholar screen sculpture secret sentence service session shadow shelter ship shop shore silver
sister sky snow society soil song source space speech spring square stage stone story stream student
studio subject sugar surface survey system table tailor talent task taste theatre theory thread
ticket timber title tool tower town track trade tradition train tree trial truck tunnel union
university uniform vegetable vehicle version victory view visitor voice vote wagon walk wall ward
watch wave wheat wheel wind wine wire witness wood wool worker workshop world writer year added
agreed announced asked began believed bought broke brought built called came carried chose claimed
closed considered continued created crossed decided described discovered drove ended entered
expected explained failed feared fell fought followed found gained gathered gave granted grew halted
happened heard held helped hoped improved joined kept knew led left looked lost made measured met
moved named needed noted offered opened ordered paid planned played prepared promised proved raised
reached read received remained repaired reported returned rose said sailed saw seemed sent served
showed sold spoke started stayed stopped studied supported taught told took travelled tried turned
visited waited walked wanted warned watched welcomed won worked wrote bright broad calm careful
cheap clean clear cold cool dark deep direct dry easy eastern empty fair famous fine firm free fresh
full general gentle golden good grand great green heavy high honest large long loud modern narrow
new old ordinary pleasant plain popular proud ready rich rough round safe sharp short slow smooth
soft southern special steady steep strange strong sweet tall thin usual warm western white wide wild
wooden
"""
_ONSETS = "b br d dr f fl g gr h k kl l m n p pr r s st t tr v w"
_VOWELS = "a e i o u ea"
_CODAS = "l n nd r st lv rn ldr"
_ENDINGS = "er en ow ey ford wick by ham"
_SENTENCES = (12, 8, 15, 10, 17)


@dataclass(frozen=True, slots=True)
class WebVocabulary:
    """Plain words, and made-up words that look like names."""

    plain: Words
    names: Words


@dataclass(frozen=True, slots=True)
class TopicWords:
    """Words to draw from, repeated by their frequency; ``prose`` adds the common words."""

    terms: Words
    prose: Words


def make_vocabulary(seed: int) -> WebVocabulary:
    """Return the words of a world, the same for the same seed."""
    parts = (letters.split() for letters in (_ONSETS, _VOWELS, _CODAS, _ENDINGS))
    names = ["".join(syllables) for syllables in product(*parts)]
    return WebVocabulary(tuple(_PLAIN.split()), tuple(Random(seed).sample(names, NAME_COUNT)))


def make_topic(vocabulary: WebVocabulary, key: int) -> TopicWords:
    """Return the words of a topic: some frequent plain words, and many rare names."""
    rng = Random(key)
    frequent = rng.sample(vocabulary.plain, TOPIC_WORD_COUNT) * (
        2 * TOPIC_NAME_COUNT // TOPIC_WORD_COUNT
    )
    terms = tuple(frequent + rng.sample(vocabulary.names, TOPIC_NAME_COUNT))
    common = tuple(_COMMON.split()) * (TOPIC_NAME_COUNT // 20)
    return TopicWords(terms, common + terms)


def make_phrase(rng: Random, topic: TopicWords, count: int) -> str:
    """Return a few capitalised words, as in a headline."""
    return " ".join(rng.choices(topic.terms, k=count)).capitalize()


def make_paragraph(rng: Random, topic: TopicWords, count: int) -> str:
    """Return ``count`` words in sentences."""
    words, first = rng.choices(topic.prose, k=count), int(rng.random() * len(_SENTENCES))
    sentences: list[str] = []
    position = 0
    while position < count:
        end = position + _SENTENCES[(first + len(sentences)) % len(_SENTENCES)]
        sentences.append(" ".join(words[position:end]).capitalize())
        position = end
    return ". ".join(sentences) + "."
