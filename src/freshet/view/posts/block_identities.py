"""A stable identity for each post block: an id, an anchor or a permalink.

An identity must be there in nearly all blocks and differ between them. Numbers that only count the
blocks of the page from the newest are no identity, because the next post would shift them.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from freshet.view.posts.blocks import PostBlock
from freshet.view.posts.page_nodes import PageNodes
from freshet.view.url import absolute_url

_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+")
_MAX_NODES_READ = 40
_MAX_OUTER = 4
_MAX_PATH = 30
_DATA_NAMES = ("data-post-id", "data-postid", "data-comment-id", "data-message-id", "data-id")
_SESSION = re.compile(r"([?&])(?:sid|s|PHPSESSID)=[0-9a-f]{16,}&?", re.IGNORECASE)
_PERMALINK_TEXT = re.compile(r"#?\d+|permalink|link|direct link|share", re.IGNORECASE)

IdentityKey = tuple[str, str]


def find_identities(
    nodes: PageNodes, blocks: Sequence[PostBlock], moments: Sequence[float], url: str
) -> list[str]:
    """Return an identity for each block, empty strings if the blocks have none."""
    reader = _IdentityReader(nodes)
    offers = [reader.offers(block) for block in blocks]
    blocks_of_key: defaultdict[IdentityKey, list[str]] = defaultdict(list)
    for offer in offers:
        for key, value in offer.items():
            blocks_of_key[key].append(value)
    keys = [
        key
        for key, values in blocks_of_key.items()
        if len(set(values)) == len(values) and not _only_counts(values, moments)
    ]
    ranking = {
        key: rank
        for rank, key in enumerate(
            sorted(keys, key=lambda key: (_PREFERENCE[key[0]], -len(blocks_of_key[key])))
        )
    }
    identities = [_identity(offer, ranking, url) for offer in offers]
    counts = Counter(identities)
    return [identity if counts[identity] == 1 else "" for identity in identities]


def _identity(offer: dict[IdentityKey, str], ranking: dict[IdentityKey, int], url: str) -> str:
    """Return the identity of a block by the key that most blocks have."""
    usable = [key for key in offer if key in ranking]
    if not usable:
        return ""
    best = min(usable, key=lambda key: ranking[key])
    return _link_identity(offer[best], url) if best[0].endswith("link") else offer[best]


_PREFERENCE = {"id": 0, "data": 1, "name": 2, "time link": 3, "link": 4, "inner id": 5}


class _IdentityReader:
    """Collects what could be the identity of each block, in the order of the page.

    The elements around the time come first. An element around several blocks belongs to the first.
    """

    def __init__(self, nodes: PageNodes) -> None:
        self._nodes = nodes
        self._claimed: set[int] = set()

    def offers(self, block: PostBlock) -> dict[IdentityKey, str]:
        """Return the first identity of each kind and shape, in and around a block."""
        nodes = self._nodes
        offers: dict[IdentityKey, str] = {}
        outer = _MAX_OUTER
        path = (block.time_node, *nodes.ancestors(block.time_node, limit=_MAX_PATH))
        for node in path:
            outer -= node < block.root
            if outer < 0 or nodes.tags[node] == "body" or node in self._claimed:
                break
            self._claimed.add(node)
            self._add_attributes(node, "id", offers)
            if nodes.tags[node] == "a" and (href := nodes.attribute(node, "href")):
                offers.setdefault(("time link", ""), href)
        for node in range(block.start, min(block.end, block.start + _MAX_NODES_READ)):
            if node in nodes.attributes:
                self._add_attributes(node, "inner id", offers)
        return offers

    def _add_attributes(self, node: int, kind: str, offers: dict[IdentityKey, str]) -> None:
        attributes = self._nodes.attributes.get(node)
        if not attributes:
            return
        shape = self._nodes.shapes[node]
        if (value := attributes.get("id", "")) and _DIGIT.search(value):
            offers.setdefault((kind, shape), f"#{value}")
        if (value := attributes.get("name", "")) and _DIGIT.search(value) and shape[0] == "a":
            offers.setdefault(("name", shape), f"#{value}")
        if self._is_permalink(node, attributes.get("href", "")):
            offers.setdefault(("link", shape), attributes["href"])
        for name in _DATA_NAMES:
            if value := attributes.get(name, ""):
                offers.setdefault(("data", name), f"{name.removeprefix('data-')}={value}")

    def _is_permalink(self, node: int, href: str) -> bool:
        if not href or not _DIGIT.search(href) or self._nodes.tags[node] != "a":
            return False
        text = self._nodes.inner_text(node, max_chars=20)
        return _PERMALINK_TEXT.fullmatch(text) is not None


def _only_counts(values: Sequence[str], moments: Sequence[float]) -> bool:
    """Return whether identities count 0, 1, 2 … while the times do not rise."""
    if len(values) != len(moments) or len(values) < 2:
        return False
    numbers = [int(found[-1][:15]) if (found := _NUMBER.findall(value)) else -1 for value in values]
    is_counting = numbers[0] <= 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return is_counting and list(moments) != sorted(moments)


def _link_identity(href: str, url: str) -> str:
    """Return the identity of a permalink: its fragment if that has a number, or else its URL.

    >>> _link_identity("view?p=7#p7", "http://x.org/"), _link_identity("/c/7", "http://x.org/")
    ('#p7', 'http://x.org/c/7')
    """
    fragment = href.partition("#")[2]
    if _DIGIT.search(fragment):
        return f"#{fragment}"
    return _SESSION.sub(r"\1", absolute_url(url, href) or href)
