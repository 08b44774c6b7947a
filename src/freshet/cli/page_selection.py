"""Selection of pages by URL, tag or source, and confirmation of permanent changes."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from freshet.core.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from freshet.record.collection_store import CollectionStore
    from freshet.record.stored_page import StoredPage


def select_pages(
    collection: "CollectionStore",
    urls: Sequence[str] | None,
    tag: str,
    source: str | None,
    *,
    include_removed: bool = False,
) -> "list[StoredPage]":
    """Return the pages selected by URL, tag or source.

    ``include_removed`` also finds removed pages by their URL.
    """
    if urls:
        return [collection.page(url, source=source, removed=include_removed) for url in urls]
    if not tag and source is None:
        raise UsageError("no pages selected; give URLs or --tag, 'freshet list' lists the pages")
    pages = list(collection.pages(tag=tag or None, source=source))
    if not pages:
        raise NotFoundError(f"{describe_no_match(tag, source)}; 'freshet list' lists all pages")
    return pages


def describe_no_match(tag: str, source: str | None) -> str:
    """Return the message that no page matches.

    >>> describe_no_match("front", ""), describe_no_match("", "bing")
    ('no live page has tag front', 'no page has source bing')
    """
    if not tag:
        return f"no page has source {source}" if source else "there is no live page"
    kind = "page" if source is None else f"page of {source}" if source else "live page"
    return f"no {kind} has tag {tag}"


def parse_tag_name(text: str) -> str:
    """Return the name of a tag: one printable word."""
    name = text.strip()
    if not name.isprintable() or len(name.split()) != 1:
        raise UsageError(f"{text!r} is not a tag; give one word, such as front-page")
    return name


def confirm(question: str, yes: bool) -> None:
    """Ask for confirmation; without a terminal, require ``--yes``."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{question} There is no terminal to ask; use --yes")
    typer.confirm(question, abort=True, err=True)
