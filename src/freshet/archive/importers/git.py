"""The history of a scraping repository: each file is a page, each commit that touched it a version.

Commits are followed along the first parent, oldest first, at their committer's time; what a merge
brought in arrives with the merge. A deleted file is a page that is gone. Symbolic links and
submodules are no pages; binary files and files over 50 MB are named as bad rows. So is a commit
whose files cannot be listed: the next one is compared with the last good one, so that what the bad
one wrote arrives later rather than never.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from freshet.archive.importers.base import HistoryReader, Observation, row_uid
from freshet.archive.importers.git_files import media_type, page_url
from freshet.archive.importers.git_process import BlobReader, GitRepository
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow, Outcome, Snapshot

REGULAR_FILE_MODES = (b"100644", b"100755", b"100664")
MAX_FILE_BYTES = 50_000_000

UrlOf = Callable[[bytes], str]


@dataclass(frozen=True, slots=True)
class FileChange:
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
    repository = GitRepository(path, ref, tuple(paths))
    name = repository.name
    return GitReader(
        repository,
        name if source is None else source,
        url_of or (lambda file: page_url(name, file)),
    )


class GitReader(HistoryReader):
    """The versions of a repository's files, counted in commits."""

    def __init__(self, repository: GitRepository, source: str, url_of: UrlOf) -> None:
        self._history = CommitWalk(repository)
        super().__init__(self._history.total, source)
        self._url_of = url_of
        self._blobs = repository.blobs

    @property
    def done(self) -> int:
        """Return how many commits were read."""
        return self._history.done

    def __iter__(self) -> Iterator[Observation | BadRow]:
        with self._blobs(MAX_FILE_BYTES) as blobs:
            for touch in self._history.file_changes():
                yield touch if isinstance(touch, BadRow) else self._item(touch, blobs)

    def _item(self, touch: FileChange, blobs: BlobReader) -> Observation | BadRow:
        """Return the version that a commit wrote, or why it cannot be had."""
        if touch.time is None:
            return BadRow(touch.place, "its commit has no usable time")
        url = self._url_of(touch.path)
        uid = row_uid("git", self.source, url, touch.time, touch.commit)
        if touch.blob is None:
            gone = Outcome.GONE
            return Observation(url, self.source, touch.time, uid, outcome=gone, place=touch.place)
        try:
            body = blobs.read(touch.blob)
            kind = media_type(touch.path, body)
        except ValueError as error:
            return BadRow(touch.place, str(error))
        snapshot = Snapshot(url, body, headers=(("content-type", kind),))
        return Observation(url, self.source, touch.time, uid, snapshot, place=touch.place)


class CommitWalk:
    """What the commits of a repository wrote; a commit that cannot be read costs only itself."""

    def __init__(self, repository: GitRepository) -> None:
        self._repository = repository
        self._commits = repository.commits()
        self.total = len(self._commits)
        self._start()

    def _start(self) -> None:
        """Begin before the first commit, where there are no files."""
        self.done = 0
        self._whole = self._commits.empty_tree
        self._gap = False
        self._any_good = False

    def file_changes(self) -> Iterator[FileChange | BadRow]:
        """Yield every page that the commits wrote or deleted, and each commit without a list."""
        self._start()
        if self._commits.fault:
            yield BadRow(self._repository.name, f"the history ends early: {self._commits.fault}")
        with TemporaryFile() as pairs:
            self._commits.write_pairs(pairs)
            while self.done < self.total:
                yield from self._follow(pairs)
                yield from self._pass_over()

    def _follow(self, pairs: IO[bytes]) -> Iterator[FileChange]:
        """Compare each commit with the previous one, in one process, until git stops."""
        with self._repository.diff_chain(pairs, self._commits.pair_offset(self.done)) as fields:
            commit, time = "", None
            for field in fields:
                if field.startswith(b":"):
                    touch = _touch(commit, time, field, next(fields, b""))
                    yield from [touch] if touch else []
                elif field == self._commits.hash(self.done).encode():
                    commit, time = self._accept()
                else:
                    return

    def _pass_over(self) -> Iterator[FileChange | BadRow]:
        """Go past the commit that git stopped at, named if it is bad, and past the gap behind it.

        A next commit that shares what is missing is left to be compared with its previous one.
        """
        fault = (yield from self._leap()) if self.done < self.total else None
        if fault:
            yield self._reject(fault)
            if self.done < self.total:
                yield from self._leap()

    def _leap(self) -> Generator[FileChange, None, str | None]:
        """Compare the next commit with the last one before any gap; return why it cannot be."""
        commit, time = self._commits.hash(self.done), _time(self._commits.seconds(self.done))
        with self._repository.diff(self._whole, commit) as fields:
            for entry in fields:
                touch = _touch(commit, time, entry, next(fields, b""))
                yield from [touch] if touch else []
            fault = fields.fault()
        if not fault:
            self._gap = False
            self._accept()
        return fault

    def _accept(self) -> tuple[str, datetime | None]:
        """Count the next commit as read, and return its hash and time."""
        commit, time = self._commits.hash(self.done), _time(self._commits.seconds(self.done))
        self.done += 1
        self._any_good = True
        if not self._gap:
            self._whole = commit
        return commit, time

    def _reject(self, fault: str) -> BadRow:
        """Count the next commit as bad; refuse a repository of which no commit was good."""
        commit = self._commits.hash(self.done)
        self.done += 1
        self._gap = True
        if self.done == self.total and not self._any_good:
            path = self._repository.path
            raise BadInputError(f"{path}: the history ends early: {fault}; run 'git fsck' there")
        return BadRow(commit[:12], f"its files cannot be listed: {fault}; run 'git fsck' there")


def _time(seconds: int) -> datetime | None:
    """Return a commit's time, unless it lies beyond any calendar."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _touch(commit: str, time: datetime | None, entry: bytes, path: bytes) -> FileChange | None:
    """Read one raw entry, ``:<old mode> <mode> <old blob> <blob> <status>``, if it is of a page."""
    old_mode, mode, old_blob, blob, _ = entry.lstrip(b":").split(b" ")
    if mode in REGULAR_FILE_MODES:
        same = old_mode in REGULAR_FILE_MODES and old_blob == blob
        return None if same else FileChange(commit, time, path, blob.decode())
    return FileChange(commit, time, path, None) if old_mode in REGULAR_FILE_MODES else None
