"""How a visit ended, judged by its status and by what the page says."""

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

_READ = frozenset({ContentKind.HTML, ContentKind.TEXT, ContentKind.MARKDOWN})
_STATUSES = {
    304: Outcome.NOT_MODIFIED,
    401: Outcome.DENIED,
    403: Outcome.DENIED,
    404: Outcome.GONE,
    407: Outcome.DENIED,
    410: Outcome.GONE,
    429: Outcome.THROTTLED,
    451: Outcome.DENIED,
}
_CLASSES = {3: Outcome.REDIRECT, 4: Outcome.CLIENT_ERROR, 5: Outcome.SERVER_ERROR}
_CHALLENGING = frozenset({403, 503})
_MARKED_WORDS = 40
_MARKED_BYTES = 200_000
_LARGEST = max(sign.max_words_for_title for sign in PHRASE_RULES)
_LARGEST_BY_TEXT = max(sign.max_words_for_text for sign in PHRASE_RULES)
_LONGEST_TITLE = 1000
_LONGEST_TEXT = 20_000
_LONGEST_CAPTION = 400
_PHRASES = tuple(phrase for sign in PHRASE_RULES for phrase in sign.phrases)

_TITLE_PARTS = re.compile(r"\s+[-\u2013\u2014|·•:»]+\s+|\s*[|·•»]\s*|:\s+")
_EDGES = re.compile(r"^[\W_]+|[\s=_*.…-]+$")
_OPENERS = re.compile(r"^(?:(?:oops|whoops|uh[- ]oh|oh no|sorry|error|http|404|410|the)\b\W+)+")
_MEDIA = re.compile(rb"<(?:img|picture|video|audio|canvas|object|embed|i?frame)\b")


@dataclass(frozen=True, slots=True)
class OutcomeVerdict:
    """An outcome, and in words what it rests on."""

    outcome: Outcome
    why: str = ""

    @property
    def needs_script(self) -> bool:
        """Whether the page shows nothing because only scripts would fill it."""
        return self.why == NEEDS_SCRIPT


def classify_outcome(snapshot: Snapshot, view: View | None) -> OutcomeVerdict:
    """Say how a visit ended: by its status, and where that is a success by what the page shows."""
    status = snapshot.status
    if 200 <= status < 300:
        return _judge_content(snapshot, view)
    if status in _CHALLENGING and view is not None:
        found = _marked(snapshot, view) or _said(view)
        if found and found.outcome is Outcome.CAPTCHA:
            return found
    outcome = _STATUSES.get(status) or _CLASSES.get(status // 100, Outcome.UNREADABLE)
    return OutcomeVerdict(outcome, f"status {status}")


def _judge_content(snapshot: Snapshot, view: View | None) -> OutcomeVerdict:
    if not snapshot.body.strip():
        return OutcomeVerdict(Outcome.EMPTY, f"status {snapshot.status} without a body")
    if view is None or view.kind not in _READ:
        return OutcomeVerdict(Outcome.OK)
    found = _marked(snapshot, view) or _said(view) or _empty(snapshot, view)
    return found or OutcomeVerdict(Outcome.OK)


def _marked(snapshot: Snapshot, view: View) -> OutcomeVerdict | None:
    """Recognise a bot challenge by its headers, or by its marks in the markup of a short page."""
    for name, values in CHALLENGE_HEADERS:
        if snapshot.header(name).lower() in values:
            return OutcomeVerdict(Outcome.CAPTCHA, f"header {name}")
    if view.kind is not ContentKind.HTML or view.facts.words > _MARKED_WORDS:
        return None
    start = snapshot.body[:_MARKED_BYTES]
    for mark in CHALLENGE_MARKUP:
        if mark in start:
            return OutcomeVerdict(Outcome.CAPTCHA, f"markup holds {mark.decode()}")
    return None


def _said(view: View) -> OutcomeVerdict | None:
    """Recognise what a short page says in its title or in a line of its own."""
    if view.facts.words > _LARGEST:
        return None
    title = view.title[:_LONGEST_TITLE]
    titles = _captions([title, *_TITLE_PARTS.split(title)])
    lines = _captions(_lines(view))
    for sign in PHRASE_RULES:
        if _title_counts(sign, view) and any(_opens(sign, title) for title in titles):
            return OutcomeVerdict(sign.outcome, sign.why)
        if _text_counts(sign, view) and any(_opens(sign, line) for line in lines):
            return OutcomeVerdict(sign.outcome, sign.why)
    return None


def _lines(view: View) -> list[str]:
    if view.facts.words > _LARGEST_BY_TEXT:
        return []
    return view.text[:_LONGEST_TEXT].splitlines()


def _title_counts(sign: PhraseRule, view: View) -> bool:
    return view.facts.words <= sign.max_words_for_title


def _text_counts(sign: PhraseRule, view: View) -> bool:
    return view.facts.words <= sign.max_words_for_text and len(view.links) <= sign.max_links


def _captions(parts: Iterable[str]) -> list[str]:
    """Return the parts that open with a phrase of any sign, without what may stand before it."""
    return [
        caption for part in parts for caption in _spellings(part) if caption.startswith(_PHRASES)
    ]


def _spellings(part: str) -> Iterator[str]:
    caption = _EDGES.sub("", part[:_LONGEST_CAPTION]).replace("\u2019", "'").casefold()
    yield caption
    yield _OPENERS.sub("", caption)


def _opens(sign: PhraseRule, caption: str) -> bool:
    """Say whether a phrase of the sign opens the caption, with little enough after it."""
    return any(
        caption.startswith(phrase) and _ends_soon(caption[len(phrase) :], sign.max_trailing_chars)
        for phrase in sign.phrases
    )


def _ends_soon(rest: str, slack: int) -> bool:
    within_word = rest[:1].isascii() and rest[:1].isalnum()
    return len(rest) <= slack and not within_word


def _empty(snapshot: Snapshot, view: View) -> OutcomeVerdict | None:
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
    before, *rest = markup.split(b"<noscript")
    return before + b"".join(piece.partition(b"</noscript")[2] for piece in rest)
