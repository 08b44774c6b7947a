"""Run git so that it executes nothing from the repository or the user's configuration."""

import hashlib
import os
import subprocess
from array import array
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Self, cast
from uuid import uuid4

from freshet.core.errors import BadInputError

SETTINGS = (
    "safe.directory=*",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "log.showRoot=true",
    "log.showSignature=false",
    "protocol.allow=never",
)
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
LIST_COMMAND = (
    "log", "--first-parent", "--no-patch", "-z", "--no-show-signature", "--format=%H %ct %P",
)  # fmt: skip
DIFF_COMMAND = (
    "diff-tree", "-r", "-z", "--raw", "--root", "--always", "--no-renames", "--no-abbrev",
    "--no-ext-diff", "--no-textconv",
)  # fmt: skip
EMPTY_TREES = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
NO_TIME = (1 << 63) - 1
CHUNK_BYTES = 1 << 16
SHA1_DIGITS = 40


class GitRepository:
    """A git repository, bare or with a work tree, viewed from one commit."""

    def __init__(self, path: Path, ref: str, paths: Sequence[str]) -> None:
        if not path.is_dir():
            raise BadInputError(f"{path}: is not a folder; give a git repository")
        self.path = path.resolve()
        self._ref = ref
        self._paths = paths
        self._check(
            "is not a git repository; give the folder that git cloned", "rev-parse", "--git-dir"
        )
        self._check(
            f"has no commit {ref}; give one with --ref", "rev-parse", "--verify", "--quiet",
            "--end-of-options", f"{ref}^{{commit}}",
        )  # fmt: skip

    @property
    def name(self) -> str:
        """Return the repository's name: its folder's name without ``.git``."""
        folder = self.path.parent if self.path.name == ".git" else self.path
        return folder.name.removesuffix(".git")

    def commits(self) -> "CommitList":
        """Return the commits along the first parents, as far back as they can be read."""
        commits = CommitList()
        commits.fault = self._list_commits(commits, self._ref)
        if commits.fault:
            # Git stops before the commit whose parent is missing, so that one is listed by itself.
            self._list_commits(commits, commits.parent or self._ref, "--no-walk")
        if not commits:
            raise BadInputError(
                f"{self.path}: commit {self._ref} cannot be read: {commits.fault};"
                " run 'git fsck' there"
            )
        return commits

    def _list_commits(self, commits: "CommitList", start: str, *options: str) -> str | None:
        """Add the commits from ``start`` backwards; return why they end early, or None."""
        with self._fields(*LIST_COMMAND, *options, "--end-of-options", start, "--") as fields:
            for field in fields:
                commits.add(field)
            return fields.fault()

    def diff_chain(
        self, pairs: IO[bytes], offset: int
    ) -> AbstractContextManager["GitOutputFields"]:
        """Return the differences of the commits listed in a file, each after its commit's hash."""
        os.lseek(pairs.fileno(), offset, os.SEEK_SET)
        return self._fields(*DIFF_COMMAND, "--stdin", "--", *self._paths, stdin=pairs)

    def diff(self, old: str, new: str) -> AbstractContextManager["GitOutputFields"]:
        """Return the differences of two commits or trees."""
        return self._fields(*DIFF_COMMAND, old, new, "--", *self._paths)

    @contextmanager
    def _fields(
        self, *command: str, stdin: IO[bytes] | int = subprocess.DEVNULL
    ) -> Iterator["GitOutputFields"]:
        """Return the fields that one git process prints."""
        with TemporaryFile() as errors:
            process = self._start(command, errors, stdin)
            with ending_process(process):
                yield GitOutputFields(process, errors)

    def start_blobs(self) -> "subprocess.Popen[bytes]":
        """Start the process that returns file contents."""
        return self._start(("cat-file", "--batch"), subprocess.DEVNULL, subprocess.PIPE)

    def _check(self, complaint: str, *command: str) -> None:
        """Raise an error with the complaint if a short git command fails."""
        with TemporaryFile() as errors:
            process = self._start(command, errors)
            process.communicate()
            if process.returncode:
                raise BadInputError(f"{self.path}: {complaint}{_last_error_line(errors)}")

    def _start(
        self,
        command: Sequence[str],
        errors: IO[bytes] | int,
        stdin: IO[bytes] | int = subprocess.DEVNULL,
    ) -> "subprocess.Popen[bytes]":
        """Start git in this repository, never in one that contains it."""
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        git_command = ["git", "--no-optional-locks", "--no-pager", *settings, "-C", str(self.path)]
        inherited = {key: os.environ[key] for key in os.environ if not key.startswith("GIT_")}
        ceiling = {"GIT_CEILING_DIRECTORIES": str(self.path.parent)}
        try:
            return subprocess.Popen(
                [*git_command, *command],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**inherited, **ENVIRONMENT, **ceiling},
            )
        except FileNotFoundError as error:
            raise BadInputError(
                f"{self.path}: cannot be read without the git program; install git"
            ) from error


class CommitList:
    """Hashes and times of commits, oldest first; ``fault`` says why older ones are missing.

    Commits are added newest first, as git lists them, and take few bytes each.
    """

    def __init__(self) -> None:
        self.fault: str | None = None
        self.parent = ""
        self._hashes = bytearray()
        self._seconds = array("q")

    def __len__(self) -> int:
        return len(self._seconds)

    @property
    def empty_tree(self) -> str:
        """Return the hash of the empty tree, in the hash algorithm of the repository."""
        return EMPTY_TREES[2 * self._hash_bytes]

    def add(self, field: bytes) -> None:
        """Add the next older commit from ``<hash> <epoch seconds> <parents>``."""
        commit, seconds, parents = field.split(b" ", 2)
        self.parent = parents.decode().partition(" ")[0]
        self._hashes += bytes.fromhex(commit.decode())
        has_time = seconds.isdigit() and len(seconds) < len(str(NO_TIME))
        self._seconds.append(int(seconds) if has_time else NO_TIME)

    def hash(self, number: int) -> str:
        """Return the hash of a commit."""
        end = len(self._hashes) - number * self._hash_bytes
        return self._hashes[end - self._hash_bytes : end].hex()

    def time(self, number: int) -> datetime | None:
        """Return the time of a commit, or None if it is missing or out of range."""
        try:
            return datetime.fromtimestamp(self._seconds[-1 - number], UTC)
        except (ValueError, OverflowError, OSError):
            return None

    def write_pairs(self, file: IO[bytes]) -> None:
        """Write a line per commit: its hash and, except for the first, the previous hash."""
        previous = ""
        for commit in map(self.hash, range(len(self))):
            file.write(f"{commit}{previous}\n".encode())
            previous = f" {commit}"
        file.flush()

    def pair_offset(self, number: int) -> int:
        """Return the offset of a commit's line in the output of ``write_pairs``."""
        digits = 2 * self._hash_bytes
        return number and (digits + 1) + (number - 1) * (2 * digits + 2)

    @property
    def _hash_bytes(self) -> int:
        """Return the number of bytes of a hash."""
        return len(self._hashes) // len(self._seconds)


class GitOutputFields:
    """Iterates over the NUL-separated fields of git's output."""

    def __init__(self, process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors
        self._fields = split_fields(process.stdout)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        return next(self._fields)

    def fault(self) -> str | None:
        """Return why the output ended early, or None."""
        if self._process.wait() == 0:
            return None
        return f"git stopped{_last_error_line(self._errors)}"


class BlobReader:
    """Reads file contents by hash from one git process, which is restarted if it dies.

    After each file a name is requested that does not exist. Git announces a damaged object with the
    size that it claims, and the answer to that name marks the real end of the data.
    """

    def __init__(self, repository: GitRepository, max_bytes: int) -> None:
        self._repository = repository
        self._max_bytes = max_bytes
        self._process = repository.start_blobs()
        missing_name = uuid4().hex.encode()
        self._request_end = b"\n" + missing_name + b"\n"
        self._answer_end = b"\n" + missing_name + b" missing\n"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with ending_process(self._process):
            pass

    def read(self, blob: str) -> bytes:
        """Return a file's content; raise ValueError if it is missing, damaged or too large."""
        size = self._size(blob)
        body, length = self._content(size)
        if length is None:
            self._restart()
        elif size > self._max_bytes:
            raise ValueError(f"has {size:,} bytes, more than the limit of {self._max_bytes:,}")
        if length != size or _blob_hash(body, len(blob)) != blob:
            raise ValueError(f"object {blob} is damaged")
        return body

    @property
    def _output(self) -> BufferedReader:
        """Return the output pipe of the process."""
        return cast("BufferedReader", self._process.stdout)

    def _size(self, blob: str) -> int:
        """Request a file and return its announced size."""
        answer = self._answer(blob)
        if len(answer) == 3:
            return int(answer[2])
        if answer:
            self._output.readline()
        else:
            self._restart()
        raise ValueError(f"object {blob} is {'missing' if answer else 'damaged'}")

    def _answer(self, blob: str) -> list[bytes]:
        """Return hash, type and size of the requested file; empty if the process has died."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(blob.encode() + self._request_end)
            self._process.stdin.flush()
        except BrokenPipeError:
            return []
        return self._output.readline().split()

    def _content(self, size: int) -> tuple[bytes, int | None]:
        """Return a file's content, empty if too large, and its length, None if git died."""
        end, tail, length = self._answer_end, b"", 0
        chunks: list[bytes] = []
        while length < size + len(end) and not tail.endswith(end):
            chunk = self._output.read1(CHUNK_BYTES)
            if not chunk:
                return b"", None
            length += len(chunk)
            tail = (tail + chunk)[-len(end) :]
            if size <= self._max_bytes:
                chunks.append(chunk)
        return b"".join(chunks)[: -len(end)], length - len(end)

    def _restart(self) -> None:
        """Restart the process after a damaged object ended it."""
        with ending_process(self._process):
            self._process = self._repository.start_blobs()


@contextmanager
def ending_process(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """End the process in any case."""
    try:
        yield
    finally:
        process.kill()
        process.communicate()


def split_fields(stream: IO[bytes] | None) -> Iterator[bytes]:
    """Yield the bytes before each NUL; a last part without a NUL is incomplete and dropped."""
    assert stream is not None
    unfinished = b""
    while chunk := stream.read(CHUNK_BYTES):
        *complete, unfinished = (unfinished + chunk).split(b"\0")
        yield from complete


def _blob_hash(body: bytes, digits: int) -> str:
    """Return git's hash of a file with this content; ``digits`` selects the algorithm.

    >>> _blob_hash(b"", 40)
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    algorithm = "sha1" if digits == SHA1_DIGITS else "sha256"
    return hashlib.new(
        algorithm, b"blob %d\0" % len(body) + body, usedforsecurity=False
    ).hexdigest()


def _last_error_line(errors: IO[bytes]) -> str:
    """Return the last line of git's error output in brackets."""
    errors.seek(0)
    lines = errors.read()[-2000:].decode(errors="replace").strip().splitlines()
    return f" ({lines[-1]})" if lines else ""
