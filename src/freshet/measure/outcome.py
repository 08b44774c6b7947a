"""Classify the outcome of a visit by its status and the content of the page."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from freshet.core.types import ContentKind, Outcome, Snapshot, View
from freshet.measure.block_phrases import (
    CHALLENGE_HEADERS,
    CHALLENGE_MARKUP,
    NEEDS_SCRIPT,
    PHRASE_RULES,
    PhraseRule,
)

_READABLE_KINDS = frozenset({ContentKind.HTML, ContentKind.TEXT, ContentKind.MARKDOWN})
_OUTCOME_BY_STATUS = {
    304: Outcome.NOT_MODIFIED,
    401: Outcome.DENIED,
    403: Outcome.DENIED,
    404: Outcome.GONE,
    407: Outcome.DENIED,
    410: Outcome.GONE,
    429: Outcome.THROTTLED,
    451: Outcome.DENIED,
}
_OUTCOME_BY_STATUS_CLASS = {3: Outcome.REDIRECT, 4: Outcome.CLIENT_ERROR, 5: Outcome.SERVER_ERROR}
_CHALLENGE_STATUSES = frozenset({403, 503})
_MAX_CHALLENGE_WORDS = 40
_MAX_CHALLENGE_BYTES = 200_000
_MAX_WORDS = max(sign.max_words_for_title for sign in PHRASE_RULES)
_MAX_WORDS_BY_TEXT = max(sign.max_words_for_text for sign in PHRASE_RULES)
_MAX_TITLE_CHARS = 1000
_MAX_TEXT_CHARS = 20_000
_MAX_CAPTION_CHARS = 400
_PHRASES = tuple(phrase for sign in PHRASE_RULES for phrase in sign.phrases)

_TITLE_PARTS = re.compile(r"\s+[-\u2013\u2014|·•:»]+\s+|\s*[|·•»]\s*|:\s+")
_EDGES = re.compile(r"^[\W_]+|[\s=_*.…-]+$")
_OPENERS = re.compile(r"^(?:(?:oops|whoops|uh[- ]oh|oh no|sorry|error|http|404|410|the)\b\W+)+")
_MEDIA = re.compile(rb"<(?:img|picture|video|audio|canvas|object|embed|i?frame)\b")


@dataclass(frozen=True, slots=True)
class OutcomeVerdict:
    """An outcome and the reason for it."""

    outcome: Outcome
    why: str = ""


def classify_outcome(snapshot: Snapshot, view: View | None) -> OutcomeVerdict:
    """Classify a visit by its status, and by the content of the page if that is a success."""
    status = snapshot.status
    if 200 <= status < 300:
        return _classify_content(snapshot, view)
    if status in _CHALLENGE_STATUSES and view is not None:
        verdict = _challenge_by_markup(snapshot, view) or _classify_by_phrases(view)
        if verdict and verdict.outcome is Outcome.CAPTCHA:
            return verdict
    outcome = _OUTCOME_BY_STATUS.get(status) or _OUTCOME_BY_STATUS_CLASS.get(
        status // 100, Outcome.UNREADABLE
    )
    return OutcomeVerdict(outcome, f"status {status}")


def _classify_content(snapshot: Snapshot, view: View | None) -> OutcomeVerdict:
    if not snapshot.body.strip():
        return OutcomeVerdict(Outcome.EMPTY, f"status {snapshot.status} without a body")
    if view is None or view.kind not in _READABLE_KINDS:
        return OutcomeVerdict(Outcome.OK)
    verdict = (
        _challenge_by_markup(snapshot, view)
        or _classify_by_phrases(view)
        or _classify_empty(snapshot, view)
    )
    return verdict or OutcomeVerdict(Outcome.OK)


def _challenge_by_markup(snapshot: Snapshot, view: View) -> OutcomeVerdict | None:
    """Recognise a bot challenge by its headers, or by the markup of a short page."""
    for name, values in CHALLENGE_HEADERS:
        if snapshot.header(name).lower() in values:
            return OutcomeVerdict(Outcome.CAPTCHA, f"header {name}")
    if view.kind is not ContentKind.HTML or view.facts.words > _MAX_CHALLENGE_WORDS:
        return None
    markup = snapshot.body[:_MAX_CHALLENGE_BYTES]
    for marker in CHALLENGE_MARKUP:
        if marker in markup:
            return OutcomeVerdict(Outcome.CAPTCHA, f"markup holds {marker.decode()}")
    return None


def _classify_by_phrases(view: View) -> OutcomeVerdict | None:
    """Classify a short page by a phrase in its title or in a line of its text."""
    if view.facts.words > _MAX_WORDS:
        return None
    title = view.title[:_MAX_TITLE_CHARS]
    titles = _captions([title, *_TITLE_PARTS.split(title)])
    lines = _captions(_lines(view))
    for rule in PHRASE_RULES:
        if _rule_reads_title(rule, view) and any(
            _starts_with_phrase(rule, title) for title in titles
        ):
            return OutcomeVerdict(rule.outcome, rule.why)
        if _rule_reads_text(rule, view) and any(_starts_with_phrase(rule, line) for line in lines):
            return OutcomeVerdict(rule.outcome, rule.why)
    return None


def _lines(view: View) -> list[str]:
    if view.facts.words > _MAX_WORDS_BY_TEXT:
        return []
    return view.text[:_MAX_TEXT_CHARS].splitlines()


def _rule_reads_title(rule: PhraseRule, view: View) -> bool:
    return view.facts.words <= rule.max_words_for_title


def _rule_reads_text(rule: PhraseRule, view: View) -> bool:
    return view.facts.words <= rule.max_words_for_text and len(view.links) <= rule.max_links


def _captions(texts: Iterable[str]) -> list[str]:
    """Return the parts that start with a phrase of any rule, without words that may precede it."""
    return [
        caption for text in texts for caption in _spellings(text) if caption.startswith(_PHRASES)
    ]


def _spellings(text: str) -> Iterator[str]:
    caption = _EDGES.sub("", text[:_MAX_CAPTION_CHARS]).replace("\u2019", "'").casefold()
    yield caption
    yield _OPENERS.sub("", caption)


def _starts_with_phrase(rule: PhraseRule, caption: str) -> bool:
    """Return whether a caption starts with a phrase of the rule, with little text after it."""
    return any(
        caption.startswith(phrase) and _ends_soon(caption[len(phrase) :], rule.max_trailing_chars)
        for phrase in rule.phrases
    )


def _ends_soon(remainder: str, max_chars: int) -> bool:
    within_word = remainder[:1].isascii() and remainder[:1].isalnum()
    return len(remainder) <= max_chars and not within_word


def _classify_empty(snapshot: Snapshot, view: View) -> OutcomeVerdict | None:
    """Recognise a page without text, links or pictures, and whether scripts would fill it."""
    if view.text.strip() or len(view.links) or view.kind is not ContentKind.HTML:
        return None
    markup = snapshot.body.lower()
    if _MEDIA.search(_without_noscript(markup)):
        return None
    if b"<script" in markup:
        return OutcomeVerdict(Outcome.EMPTY, NEEDS_SCRIPT)
    return OutcomeVerdict(Outcome.EMPTY, "shows no text, link or picture")


def _without_noscript(markup: bytes) -> bytes:
    before, *pieces_after = markup.split(b"<noscript")
    return before + b"".join(piece.partition(b"</noscript")[2] for piece in pieces_after)
