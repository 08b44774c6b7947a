"""The times on a page that could be the times of posts."""

import re
from dataclasses import dataclass

from freshet.view.posts.page_nodes import TEXT, PageNodes
from freshet.view.posts.time_search import find_time, read_time
from freshet.view.posts.written_time import DAY, RelativeAge, WrittenTime

# A long text is searched at its two ends only: its middle is what somebody wrote.
_EDGE_CHARS = 90
_MAX_ATTRIBUTE_CHARS = 100
_MAX_SHADOW_NODES = 12
_CONTEXT_CHARS = 32
# The time of something else: a change of the post, or an event in the life of its author.
_OTHER_EVENT = re.compile(
    r"\b(?:edit(?:ed)?|modified|updated|changed|joined|join date|registered|registration"
    r"|member since|last (?:visit|seen|active|activity|post|reply|login|online)|active|expires"
    r"|birthday|merged|closed|locked|bumped|deadline|time now is|it is currently|deleted)\b"
    r"[^.!?]*$",
    re.IGNORECASE,
)
_EVENT_BY = re.compile(
    r"\b(?:edited|modified|updated|changed|closed|locked|deleted|merged|moved)\s+by:?\s*$",
    re.IGNORECASE,
)
_QUOTED_AFTER = re.compile(r"[^.!?\n]{0,80}\b(?:wrote|writes|said)\s*:", re.IGNORECASE)
_OTHER_CLASSES = frozenset({
    "registered", "registration", "joined", "join", "joindate", "birthday", "edited", "edit",
    "modified", "updated", "lastedit", "lastedited", "lastpost",
})  # fmt: skip
_WORDS = re.compile(r"[a-z]+")
# A date whose year has two digits needs its time of day, in the same text or in the next.
_SHORT_DATE = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d\d,?")
_CHANGE_TAGS = frozenset({"ins", "del"})


@dataclass(frozen=True, slots=True)
class TimeCandidate:
    """A time on a page: its node, where it was read, and what stands before it in its text.

    ``kind`` is the name of an attribute, or "text". ``lead`` and ``rest`` are the text of the node
    before and after the time.
    """

    node: int
    written: WrittenTime
    kind: str
    lead: str = ""
    rest: str = ""


def find_candidates(nodes: PageNodes) -> list[TimeCandidate]:
    """Return the times of a page in document order, without those of other events."""
    reader = _CandidateReader(nodes)
    for node, tag in enumerate(nodes.tags):
        if tag == TEXT:
            reader.read_text(node)
        elif node in nodes.attributes:
            reader.read_attributes(node)
    return [item for item in reader.candidates if not _has_other_class(nodes, item.node)]


class _CandidateReader:
    """Reads the times of a page; an attribute with a time hides the times in its element."""

    def __init__(self, nodes: PageNodes) -> None:
        self.candidates: list[TimeCandidate] = []
        self._nodes = nodes
        self._earlier_text = self._previous_text = ""
        self._shadow_end = 0

    def read_text(self, node: int) -> None:
        """Read a text; "Edited by", a name and a time are three texts."""
        if not self._nodes.is_aside[node] and node >= self._shadow_end:
            is_event = _EVENT_BY.search(self._earlier_text[-_CONTEXT_CHARS:])
            context = self._earlier_text if is_event else self._previous_text
            self.candidates += _text_candidate(self._nodes, node, context)
        self._earlier_text, self._previous_text = self._previous_text, self._nodes.texts[node]

    def read_attributes(self, node: int) -> None:
        """Read the attributes of an element."""
        if self._nodes.is_aside[node] or node < self._shadow_end:
            return
        candidate = _attribute_candidate(self._nodes, node)
        if candidate is None:
            return
        if self._nodes.ends[node] - node <= _MAX_SHADOW_NODES:
            self._shadow_end = self._nodes.ends[node]
        if not _OTHER_EVENT.search(self._previous_text[-_CONTEXT_CHARS:]):
            self.candidates.append(candidate)


def _has_other_class(nodes: PageNodes, node: int) -> bool:
    """Return whether the class names of a time or of its parent are those of another event."""
    shapes = f"{nodes.shapes[node]} {nodes.shapes[nodes.parents[node]]}"
    return "." in shapes and not _OTHER_CLASSES.isdisjoint(_WORDS.findall(shapes.lower()))


def _attribute_candidate(nodes: PageNodes, node: int) -> TimeCandidate | None:
    """Return the time in an element's attributes, the finest if there are several."""
    if nodes.tags[node] in _CHANGE_TAGS:
        return None
    best: TimeCandidate | None = None
    for name, value in nodes.attributes[node].items():
        written = _attribute_time(nodes.attributes[node], name, value)
        if written is not None and (best is None or written.precision < best.written.precision):
            best = TimeCandidate(node, written, name)
    if best is None or best.written.precision < DAY:
        return best
    match = find_time(nodes.inner_text(node, max_chars=_EDGE_CHARS))
    if match and match.written.precision < DAY and not isinstance(match.written, RelativeAge):
        return TimeCandidate(node, match.written, best.kind)
    return best


def _attribute_time(attributes: dict[str, str], name: str, value: str) -> WrittenTime | None:
    """Return the time that an attribute holds."""
    if not value or len(value) > _MAX_ATTRIBUTE_CHARS:
        return None
    if name == "datetime" or name.startswith("data-") or name in {"ts", "unixtime"}:
        is_identity = name.endswith(("-id", "postid")) or name in {"data-author", "data-username"}
        return None if is_identity else read_time(value)
    if name in {"title", "aria-label"}:
        match = find_time(value)
        if match and (match.start <= 3 or 2 * (match.end - match.start) >= len(value)):
            is_weak = isinstance(match.written, RelativeAge) and len(value) < 6
            return None if is_weak else match.written
    if name == "content":
        role = attributes.get("itemprop", "") + attributes.get("property", "")
        is_time = "date" in role.lower() or "time" in role.lower()
        return read_time(value) if is_time and "odified" not in role else None
    return None


def _text_candidate(nodes: PageNodes, node: int, previous_text: str) -> list[TimeCandidate]:
    """Return the time at the start or the end of a text."""
    text = nodes.texts[node]
    edges = (text,) if len(text) <= 2 * _EDGE_CHARS else (text[:_EDGE_CHARS], text[-_EDGE_CHARS:])
    for edge in edges:
        match = find_time(edge)
        if match is None and _SHORT_DATE.fullmatch(edge):
            written = _with_next_text(nodes, node, edge)
            return [TimeCandidate(node, written, "text")] if written else []
        if match is None:
            continue
        offset = len(text) - len(edge) if edge is not edges[0] else 0
        written, lead = match.written, edge[: match.start]
        rest = text[offset + match.end :]
        if written.precision >= DAY and len(rest) <= 3:
            written = _with_next_text(nodes, node, edge) or written
        context = f"{previous_text[-_CONTEXT_CHARS:]} {lead}"[-2 * _CONTEXT_CHARS :]
        if _OTHER_EVENT.search(context) or _QUOTED_AFTER.match(rest):
            return []
        return [TimeCandidate(node, written, "text", lead, rest)]
    return []


def _with_next_text(nodes: PageNodes, node: int, text: str) -> WrittenTime | None:
    """Return the time of a date whose time of day stands in the next element."""
    following = nodes.text(node + 1, min(node + 5, len(nodes)), max_chars=24)
    match = find_time(f"{text[-40:]} {following}") if following else None
    is_finer = match is not None and match.written.precision < DAY
    return match.written if match is not None and is_finer else None
