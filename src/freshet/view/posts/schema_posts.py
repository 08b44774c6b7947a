"""Posts that a page describes with the vocabulary of schema.org: JSON-LD, microdata and RDFa."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from freshet.view.formats.xml import html_to_text
from freshet.view.posts.page_nodes import PageNodes
from freshet.view.posts.time_search import read_time
from freshet.view.posts.written_time import WrittenTime

_POST_TYPES = frozenset({
    "discussionforumposting", "comment", "usercomments", "question", "answer", "socialmediaposting",
    "emailmessage", "message",
})  # fmt: skip
_TIME_NAMES = ("datePublished", "dateCreated", "commentTime", "dateSent", "uploadDate")
_TEXT_NAMES = ("text", "articleBody", "commentText", "description", "headline", "name")
_AUTHOR_NAMES = ("author", "creator", "sender")
_IDENTITY_NAMES = ("@id", "itemid", "url", "identifier")
_MAX_SCRIPT_CHARS = 8_000_000
_MAX_VALUES = 1_000_000

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class MarkedPost:
    """A post as metadata tells of it; the identity is empty if there is none."""

    written: WrittenTime
    author: str | None
    text: str
    identity: str


def json_ld_posts(scripts: list[str]) -> list[MarkedPost]:
    """Return the posts in the JSON-LD documents of a page; bad documents have none.

    >>> script = '{"@type": "Comment", "dateCreated": "2020-01-02", "author": "Ann", "text": "Hi"}'
    >>> json_ld_posts([script])[0].author
    'Ann'
    """
    posts: dict[tuple[object, ...], MarkedPost] = {}
    for script in scripts:
        for item in _json_items(script):
            post = _marked_post(item) if _is_post_type(item.get("@type")) else None
            if post is not None:
                key = (post.identity,) if post.identity else (post.written, post.author, post.text)
                posts.setdefault(key, post)
    return list(posts.values())


def microdata_posts(nodes: PageNodes) -> list[MarkedPost]:
    """Return the posts that the microdata or RDFa attributes of a page describe."""
    posts = []
    for item in _microdata_items(nodes):
        post = _marked_post(item.values) if _is_post_type(item.types) else None
        if post is not None:
            posts.append(post)
    return posts


def _json_items(script: str) -> Iterator[JsonObject]:
    """Yield the objects of a JSON document, outer ones first."""
    if len(script) > _MAX_SCRIPT_CHARS:
        return
    try:
        document = json.loads(script, strict=False)
    except (ValueError, RecursionError):
        return
    pending: list[object] = [document]
    for _ in range(_MAX_VALUES):
        if not pending:
            return
        value = pending.pop()
        if isinstance(value, dict):
            yield value
            pending.extend(reversed(list(value.values())))
        elif isinstance(value, list):
            pending.extend(reversed(value))


def _is_post_type(types: object) -> bool:
    """Return whether one of the types of an item is that of a post."""
    names = types if isinstance(types, list) else [types]
    last_parts = (str(name).replace(":", "/").rpartition("/")[2].lower() for name in names if name)
    return any(name in _POST_TYPES for name in last_parts)


def _marked_post(item: Mapping[str, object]) -> MarkedPost | None:
    """Return the post of an item, None if it has no time."""
    written = next(
        (time for name in _TIME_NAMES if (time := read_time(_plain(item.get(name)))) is not None),
        None,
    )
    if written is None:
        return None
    author = next((name for key in _AUTHOR_NAMES if (name := _plain(item.get(key)))), None)
    text = next((text for key in _TEXT_NAMES if (text := _plain(item.get(key)))), "")
    identity = next((value for key in _IDENTITY_NAMES if (value := _plain(item.get(key)))), "")
    return MarkedPost(written, author, html_to_text(text), identity)


def _plain(value: object) -> str:
    """Return a value as text: of a list the first, of an object its name."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("name") or value.get("@value") or value.get("alternateName") or ""
    if isinstance(value, list):
        value = value[0] if value else ""
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


@dataclass(slots=True)
class _MicrodataItem:
    """An item of microdata: its types and the first value of each property."""

    end: int
    types: list[object]
    values: dict[str, object] = field(default_factory=dict)


def _microdata_items(nodes: PageNodes) -> list[_MicrodataItem]:
    """Return the items of a page in document order; a property belongs to the nearest item."""
    items: list[_MicrodataItem] = []
    open_items: list[_MicrodataItem] = []
    for node, attributes in nodes.attributes.items():
        types = attributes.get("itemtype") or attributes.get("typeof")
        names = attributes.get("itemprop") or attributes.get("property")
        if not names and types is None and "itemscope" not in attributes:
            continue
        while open_items and open_items[-1].end <= node:
            open_items.pop()
        owner = open_items[-1].values if open_items else {}
        value: object = None
        if types is not None or "itemscope" in attributes:
            item = _MicrodataItem(nodes.ends[node], list((types or "").split()))
            if attributes.get("itemid") or attributes.get("id"):
                item.values["itemid"] = attributes.get("itemid") or f"#{attributes['id']}"
            items.append(item)
            open_items.append(item)
            value = item.values
        elif names:
            value = _property_value(nodes, node, attributes)
        for name in (names or "").split():
            owner.setdefault(name.rpartition(":")[2], value)
    return items


def _property_value(nodes: PageNodes, node: int, attributes: dict[str, str]) -> str:
    """Return the value of a property: of an attribute, or else the text of the element."""
    for name in ("content", "datetime"):
        if attributes.get(name):
            return attributes[name]
    if nodes.tags[node] in {"link", "a"} and "url" in attributes.get("itemprop", "").split():
        return attributes.get("href", "")
    return nodes.inner_text(node)
