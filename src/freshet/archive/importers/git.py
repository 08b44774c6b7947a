"""Import the history of a scraping repository: each file is a page, each commit to it a version.

Commits are followed along the first parent, oldest first, at the committer's time; changes from a
merged branch count at the merge. A deleted file is a page that is gone. Symbolic links and
submodules are ignored; binary files and files over 50 MB become bad rows. A commit whose files
cannot be listed becomes a bad row, too; the next commit is then compared with the last readable
one, so that its changes are imported later.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from freshet.archive.importers.base import HistoryReader, row_uid
from freshet.archive.importers.git_files import media_type, page_url
from freshet.archive.importers.git_process import BlobReader, GitRepository
from freshet.archive.observation import Observation
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow, Outcome, Snapshot

REGULAR_FILE_MODES = (b"100644", b"100755", b"100664")
MAX_FILE_BYTES = 50_000_000

PathToUrl = Callable[[bytes], str]


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that a commit wrote, or deleted if ``blob`` is None; an invalid time is None."""

    commit: str
    time: datetime | None
    path: bytes
    blob: str | None

    @property
    def place(self) -> str:
        """Return the position in the history, for messages."""
        return f"{self.commit[:12]}, {self.path.decode(errors='backslashreplace')}"


def read(
    path: Path,
    *,
    source: str | None = None,
    paths: Sequence[str] = (),
    ref: str = "HEAD",
    url_of: PathToUrl | None = None,
) -> "GitReader":
    """Read a repository's history, of all files or of those that match git's pathspecs ``paths``.

    The default source is the repository's name. ``url_of`` maps a path to the URL of a page; the
    default is ``page_url``.
    """
    repository = GitRepository(path, ref, tuple(paths))
    name = repository.name
    return GitReader(
        repository,
        name if source is None else source,
        url_of or (lambda file_path: page_url(name, file_path)),
    )


class GitReader(HistoryReader):
    """Reads the versions of a repository's files; progress is counted in commits."""

    def __init__(self, repository: GitRepository, source: str, url_of: PathToUrl) -> None:
        self._repository = repository
        self._history = CommitWalk(repository)
        self._url_of = url_of
        super().__init__(self._history.total, source)

    @property
    def done(self) -> int:
        """Return the number of commits read."""
        return self._history.done

    def __iter__(self) -> Iterator[Observation | BadRow]:
        with BlobReader(self._repository, MAX_FILE_BYTES) as blobs:
            for item in self._history.file_changes():
                yield item if isinstance(item, BadRow) else self._read_version(item, blobs)

    def _read_version(self, change: FileChange, blobs: BlobReader) -> Observation | BadRow:
        """Return the version that a commit wrote, or a bad row."""
        if change.time is None:
            return BadRow(change.place, "its commit has no usable time")
        url = self._url_of(change.path)
        uid = row_uid("git", self.source, url, change.time, change.commit)
        observation = Observation(url, self.source, change.time, uid, place=change.place)
        if change.blob is None:
            return replace(observation, outcome=Outcome.GONE)
        try:
            body = blobs.read(change.blob)
            headers = (("content-type", media_type(change.path, body)),)
        except ValueError as error:
            return BadRow(change.place, str(error))
        return replace(observation, snapshot=Snapshot(url, body, headers=headers))


class CommitWalk:
    """Reads the file changes of all commits; an unreadable commit does not stop it."""

    def __init__(self, repository: GitRepository) -> None:
        self._repository = repository
        self._commits = repository.commits()
        self.total = len(self._commits)
        self._reset()

    def _reset(self) -> None:
        """Reset to before the first commit, where there are no files."""
        self.done = 0
        self._last_complete = self._commits.empty_tree
        self._has_gap = False
        self._any_readable = False

    def file_changes(self) -> Iterator[FileChange | BadRow]:
        """Yield each file that a commit wrote or deleted, and each unreadable commit."""
        self._reset()
        if self._commits.fault:
            yield BadRow(self._repository.name, f"the history ends early: {self._commits.fault}")
        with TemporaryFile() as pairs:
            self._commits.write_pairs(pairs)
            while self.done < self.total:
                yield from self._read_chain(pairs)
                yield from self._skip_unreadable()

    def _read_chain(self, pairs: IO[bytes]) -> Iterator[FileChange]:
        """Compare each commit with the previous one, in one git process, until git stops."""
        with self._repository.diff_chain(pairs, self._commits.pair_offset(self.done)) as fields:
            commit, time = "", None
            for field in fields:
                if field.startswith(b":"):
                    yield from _parse_entry(commit, time, field, next(fields, b""))
                elif field == self._commits.hash(self.done).encode():
                    commit, time = self._mark_read()
                else:
                    return

    def _skip_unreadable(self) -> Iterator[FileChange | BadRow]:
        """Continue behind the commit at which git stopped; yield a bad row if it is unreadable.

        The next commit is compared with the last complete one. If that fails as well, it shares
        what is missing, and it is left to be compared with its previous commit.
        """
        fault = (yield from self._read_one()) if self.done < self.total else None
        if fault:
            yield self._mark_unreadable(fault)
            if self.done < self.total:
                yield from self._read_one()

    def _read_one(self) -> Generator[FileChange, None, str | None]:
        """Compare the next commit with the last complete one; return the fault, if any."""
        commit, time = self._commits.hash(self.done), self._commits.time(self.done)
        with self._repository.diff(self._last_complete, commit) as fields:
            for entry in fields:
                yield from _parse_entry(commit, time, entry, next(fields, b""))
            fault = fields.fault()
        if not fault:
            self._has_gap = False
            self._mark_read()
        return fault

    def _mark_read(self) -> tuple[str, datetime | None]:
        """Count the next commit as read; return its hash and time."""
        commit, time = self._commits.hash(self.done), self._commits.time(self.done)
        self.done += 1
        self._any_readable = True
        if not self._has_gap:
            self._last_complete = commit
        return commit, time

    def _mark_unreadable(self, fault: str) -> BadRow:
        """Count the next commit as unreadable; raise an error if no commit at all was readable."""
        commit = self._commits.hash(self.done)
        self.done += 1
        self._has_gap = True
        if self.done == self.total and not self._any_readable:
            path = self._repository.path
            raise BadInputError(f"{path}: the history ends early: {fault}; run 'git fsck' there")
        return BadRow(commit[:12], f"its files cannot be listed: {fault}; run 'git fsck' there")


def _parse_entry(
    commit: str, time: datetime | None, entry: bytes, path: bytes
) -> Iterator[FileChange]:
    """Yield the change in ``:<old mode> <mode> <old blob> <blob> <status>``, if it is of a page."""
    old_mode, mode, old_blob, blob, _ = entry.lstrip(b":").split(b" ")
    was_page = old_mode in REGULAR_FILE_MODES
    if mode not in REGULAR_FILE_MODES:
        yield from [FileChange(commit, time, path, None)] if was_page else []
    elif not was_page or old_blob != blob:
        yield FileChange(commit, time, path, blob.decode())
