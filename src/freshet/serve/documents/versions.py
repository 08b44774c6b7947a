"""Versions of a page: the difference between two of them, and a stored one as it was."""

from dataclasses import dataclass
from datetime import datetime

from freshet.collection.page import CollectionPage
from freshet.core.errors import NotFoundError
from freshet.core.types import Change, ContentKind, Page
from freshet.measure.change.word_diff import DiffKind, DiffPiece
from freshet.record.stored_page import StoredVersion
from freshet.serve.dashboard import Dashboard
from freshet.serve.parameters import ParameterValues, QueryParameter

CONTEXT_LINES = 3
MAX_DIFF_CHARS = 200_000
MAX_LINKS = 500
DIFFERENCE_PARAMETERS = (
    QueryParameter("old", "Number of the older version; 0 is the one before the last change."),
    QueryParameter("new", "Number of the newer version; 0 is the one of the last change."),
    QueryParameter(
        "form", "How the difference is shown.", "inline", ("inline", "side", "text", "links")
    ),
)


@dataclass(frozen=True, slots=True)
class VersionMark:
    """A version: its number, its time, and whether its bytes are stored."""

    number: int
    time: datetime
    is_stored: bool


@dataclass(frozen=True, slots=True)
class DifferenceDocument:
    """The difference between two versions of a page.

    ``hunks`` are the changes of the words, each with some lines around it; ``is_cut`` if there are
    more. ``earlier`` and ``later`` are the versions before and after the newer one.
    """

    page: Page
    title: str
    version_count: int
    old: VersionMark
    new: VersionMark
    earlier: int | None
    later: int | None
    form: str
    counts_as: str
    change: Change
    hunks: list[list[DiffPiece]]
    is_cut: bool
    new_links: list[str]
    removed_links: list[str]


@dataclass(frozen=True, slots=True)
class VersionDocument:
    """A stored version: what it is, and its text.

    ``has_frame`` if it is a page that a browser can show without its scripts and pictures.
    """

    page: Page
    title: str
    version: VersionMark
    version_count: int
    kind: ContentKind
    language: str
    charset: str
    words: int
    text: str
    is_cut: bool
    has_frame: bool


def read_difference(dashboard: Dashboard, values: ParameterValues) -> DifferenceDocument:
    """Return the difference between two versions, by default those of the last change."""
    page = dashboard.page(values["page_id"])
    old, new = _chosen(page, values["old"], "old"), _chosen(page, values["new"], "new")
    if old is None and new is not None:
        old = new - 1
    difference = page.difference(old, new)
    hunks, is_cut = _bounded(difference.hunks(context=CONTEXT_LINES))
    number, count = difference.new.number, len(page.versions)
    return DifferenceDocument(
        page=page,
        title=_title(dashboard, page),
        version_count=count,
        old=_mark(difference.old),
        new=_mark(difference.new),
        earlier=number - 1 if number > 2 else None,
        later=number + 1 if number < count else None,
        form=values["form"],
        counts_as=difference.counts_as,
        change=difference.change,
        hunks=hunks,
        is_cut=is_cut,
        new_links=list(difference.change.new_links[:MAX_LINKS]),
        removed_links=list(difference.change.removed_links[:MAX_LINKS]),
    )


def read_version(dashboard: Dashboard, values: ParameterValues) -> VersionDocument:
    """Return a stored version of a page."""
    page = dashboard.page(values["page_id"])
    version = page.version(_positive(page, values["number"]))
    view = page.view(version.number)
    return VersionDocument(
        page=page,
        title=view.title,
        version=_mark(version),
        version_count=len(page.versions),
        kind=view.kind,
        language=view.language,
        charset=view.charset,
        words=view.terms.total,
        text=view.text[:MAX_DIFF_CHARS],
        is_cut=len(view.text) > MAX_DIFF_CHARS,
        has_frame=view.kind is ContentKind.HTML,
    )


def side_by_side(hunk: list[DiffPiece]) -> tuple[list[DiffPiece], list[DiffPiece]]:
    """Return the pieces of the older text of a hunk, and those of the newer one."""
    return (
        [piece for piece in hunk if piece.kind is not DiffKind.ADDED],
        [piece for piece in hunk if piece.kind is not DiffKind.REMOVED],
    )


def _chosen(page: CollectionPage, text: str, name: str) -> int | None:
    """Return the number of a version; None for an empty text or 0."""
    if text in ("", "0"):
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise NotFoundError(f"{name} is {text!r:.40}; write the number of a version")
    return _positive(page, int(text))


def _positive(page: CollectionPage, number: int) -> int:
    if not 0 < number <= len(page.versions):
        raise NotFoundError(f"the page has {len(page.versions):,} versions; there is no {number}")
    return number


def _mark(version: StoredVersion) -> VersionMark:
    return VersionMark(version.number, version.time, version.row.visit.location is not None)


def _title(dashboard: Dashboard, page: Page) -> str:
    return dashboard.collection.catalog.titles([page.id]).get(page.id, "")


def _bounded(hunks: list[tuple[DiffPiece, ...]]) -> tuple[list[list[DiffPiece]], bool]:
    """Return the first hunks up to a number of characters, and whether there are more."""
    shown: list[list[DiffPiece]] = []
    remaining = MAX_DIFF_CHARS
    for hunk in hunks:
        pieces: list[DiffPiece] = []
        for piece in hunk:
            if remaining <= 0:
                return [*shown, pieces] if pieces else shown, True
            pieces.append(DiffPiece(piece.kind, piece.text[:remaining]))
            remaining -= len(piece.text)
        shown.append(pieces)
    return shown, remaining < 0
