"""Which pages a command means, and asking before something cannot be undone."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from freshet.core.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from freshet.record.store import CollectionStore
    from freshet.record.stored_page import StoredPage


def select_pages(
    collection: "CollectionStore",
    urls: Sequence[str] | None,
    tag: str,
    source: str | None,
    *,
    include_removed: bool = False,
) -> "list[StoredPage]":
    """Return the pages given by URL, by tag or by source; ``include_removed`` finds URLs removed before."""
    if urls:
        return [collection.page(url, source=source, removed=include_removed) for url in urls]
    if not tag and source is None:
        raise UsageError("which pages? give URLs, or a tag with --tag; 'freshet list' shows them")
    found = list(collection.pages(tag=tag or None, source=source))
    if not found:
        raise NotFoundError(f"{describe_no_match(tag, source)}; 'freshet list' shows what there is")
    return found


def describe_no_match(tag: str, source: str | None) -> str:
    """Say that there is no page of that kind.

    >>> describe_no_match("front", ""), describe_no_match("", "bing")
    ('no live page has tag front', 'no page has source bing')
    """
    if not tag:
        return f"no page has source {source}" if source else "there is no live page"
    where = "page" if source is None else f"page of {source}" if source else "live page"
    return f"no {where} has tag {tag}"


def parse_tag_name(text: str) -> str:
    """Return a tag's name as it is kept: one printable word."""
    name = text.strip()
    if not name.isprintable() or len(name.split()) != 1:
        raise UsageError(f"{text!r} is no tag; give one word, such as front-page")
    return name


def confirm(question: str, yes: bool) -> None:
    """Ask; without a terminal, only ``--yes`` is an answer."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{question} Nobody is there to ask; say so with --yes")
    typer.confirm(question, abort=True, err=True)
