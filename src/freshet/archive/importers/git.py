"""The history of a scraping repository: each file is a page, each commit that touched it a version.

Commits are followed along the first parent, oldest first, at their committer's time; what a merge
brought in arrives with the merge. A deleted file is a page that is gone. Symbolic links and
submodules are no pages; binary files and files over 50 MB are named as bad rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from freshet.archive.importers.base import Arrival, Reader, row_uid
from freshet.archive.importers.gitpage import media_type, page_url
from freshet.archive.importers.gitprocess import Blobs, Fields, Repository
from freshet.core.clock import from_epoch
from freshet.core.errors import BadInput
from freshet.core.types import BadRow, Outcome, Snapshot

REGULAR = (b"100644", b"100755", b"100664")
LARGEST = 50_000_000

UrlOf = Callable[[bytes], str]


@dataclass(frozen=True, slots=True)
class Touch:
    """One file that one commit wrote, or deleted when ``blob`` is None, at a time if it has one."""

    commit: str
    time: datetime | None
    path: bytes
    blob: str | None

    @property
    def place(self) -> str:
        """Return where this stands in the history, for a person."""
        return f"{self.commit[:12]}, {self.path.decode(errors='backslashreplace')}"


def read(
    path: Path,
    *,
    source: str | None = None,
    paths: Sequence[str] = (),
    ref: str = "HEAD",
    url_of: UrlOf | None = None,
) -> "GitReader":
    """Read a repository's history, of all files or of those that git's pathspecs ``paths`` match.

    The source is the repository's name unless given; ``url_of`` turns a path into a page's URL, in
    place of ``page_url``.
    """
    repository = Repository(path, ref, tuple(paths))
    name = repository.name
    return GitReader(
        repository,
        name if source is None else source,
        url_of or (lambda file: page_url(name, file)),
    )


class GitReader(Reader):
    """The versions of a repository's files, counted in commits."""

    def __init__(self, repository: Repository, source: str, url_of: UrlOf) -> None:
        super().__init__(repository.count_commits(), source)
        self._repository = repository
        self._url_of = url_of
        self._done = 0

    @property
    def done(self) -> int:
        """Return how many commits were read."""
        return self._done

    def __iter__(self) -> Iterator[Arrival | BadRow]:
        with self._repository.blobs(LARGEST) as blobs:
            for touch in self._touches():
                yield touch if isinstance(touch, BadRow) else self._item(touch, blobs)

    def _touches(self) -> Iterator[Touch | BadRow]:
        """Yield every page that the commits wrote or deleted."""
        with self._repository.log() as fields:
            commit, time = "", None
            for field in (field.lstrip(b"\n") for field in fields):
                if field.startswith(b":"):
                    touch = _touch(commit, time, field, next(fields, b""))
                    yield from [touch] if touch else []
                elif field:
                    self._done += 1
                    commit, time = _commit(field)
            yield from self._faults(fields)

    def _faults(self, fields: Fields) -> Iterator[BadRow]:
        """Yield why the history ended early; refuse a repository that showed nothing of it."""
        fault = fields.fault()
        if fault and not self._done:
            raise BadInput(f"{self._repository.path}: {fault}")
        if fault:
            yield BadRow(self._repository.name, fault)

    def _item(self, touch: Touch, blobs: Blobs) -> Arrival | BadRow:
        """Return the version that a commit wrote, or why it cannot be had."""
        if touch.time is None:
            return BadRow(touch.place, "its commit has no usable time")
        url = self._url_of(touch.path)
        uid = row_uid("git", self.source, url, touch.time, touch.commit)
        if touch.blob is None:
            return Arrival(url, self.source, touch.time, uid, outcome=Outcome.GONE)
        try:
            body = blobs.read(touch.blob)
            kind = media_type(touch.path, body)
        except ValueError as error:
            return BadRow(touch.place, str(error))
        snapshot = Snapshot(url, body, headers=(("content-type", kind),))
        return Arrival(url, self.source, touch.time, uid, snapshot)


def _commit(field: bytes) -> tuple[str, datetime | None]:
    """Read ``commit <hash> <epoch seconds>``; some commits have times beyond any calendar."""
    _, commit, seconds = field.split(b" ")
    try:
        return commit.decode(), from_epoch(int(seconds))
    except (ValueError, OverflowError, OSError):
        return commit.decode(), None


def _touch(commit: str, time: datetime | None, entry: bytes, path: bytes) -> Touch | None:
    """Read one raw entry, ``:<old mode> <mode> <old blob> <blob> <status>``, if it is of a page."""
    old_mode, mode, old_blob, blob, _ = entry.lstrip(b":").split(b" ")
    if mode in REGULAR:
        same = old_mode in REGULAR and old_blob == blob
        return None if same else Touch(commit, time, path, blob.decode())
    return Touch(commit, time, path, None) if old_mode in REGULAR else None
