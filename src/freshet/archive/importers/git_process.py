"""The git program, run so that nothing of the repository or the user's settings is executed."""

import hashlib
import os
import subprocess
from array import array
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
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
TIMELESS = (1 << 63) - 1
CHUNK = 1 << 16
SHA1_DIGITS = 40


class GitRepository:
    """A git repository with its work tree or bare, seen from one commit."""

    def __init__(self, path: Path, ref: str, paths: Sequence[str]) -> None:
        if not path.is_dir():
            raise BadInputError(f"{path}: is not a folder; give a git repository")
        self.path = path.resolve()
        self._ref = ref
        self._paths = paths
        self._ask(
            "is not a git repository; give the folder that git cloned", "rev-parse", "--git-dir"
        )
        self._ask(
            f"has no commit {ref}; give one with --ref", "rev-parse", "--verify", "--quiet",
            "--end-of-options", f"{ref}^{{commit}}",
        )  # fmt: skip

    @property
    def name(self) -> str:
        """Return the repository's name: its folder's, without ``.git``."""
        folder = self.path.parent if self.path.name == ".git" else self.path
        return folder.name.removesuffix(".git")

    def commits(self) -> "CommitList":
        """Return the commits that first parents lead through, as far back as they can be read."""
        found = CommitList()
        found.fault = self._list(found, self._ref)
        if found.fault:
            # Git stops before it lists the commit whose parent is missing.
            self._list(found, found.parent or self._ref, "--no-walk")
        if not found:
            raise BadInputError(
                f"{self.path}: commit {self._ref} cannot be read: {found.fault};"
                " run 'git fsck' there"
            )
        return found

    def _list(self, found: "CommitList", start: str, *options: str) -> str | None:
        """Add the commits from ``start`` backwards, and return why they end early if they do."""
        with self._fields(*LIST_COMMAND, *options, "--end-of-options", start, "--") as fields:
            for field in fields:
                found.add(field)
            return fields.fault()

    def diff_chain(
        self, pairs: IO[bytes], offset: int
    ) -> AbstractContextManager["GitOutputFields"]:
        """Give the differences of the commits that a file lists, each after its commit's hash."""
        os.lseek(pairs.fileno(), offset, os.SEEK_SET)
        return self._fields(*DIFF_COMMAND, "--stdin", "--", *self._paths, stdin=pairs)

    def diff(self, old: str, new: str) -> AbstractContextManager["GitOutputFields"]:
        """Give the differences of two commits or trees."""
        return self._fields(*DIFF_COMMAND, old, new, "--", *self._paths)

    @contextmanager
    def _fields(
        self, *command: str, stdin: IO[bytes] | int = subprocess.DEVNULL
    ) -> Iterator["GitOutputFields"]:
        """Give the fields that one process prints."""
        with TemporaryFile() as errors:
            process = self._start(command, errors, stdin)
            with ending_process(process):
                yield GitOutputFields(process, errors)

    def blobs(self, largest: int) -> "BlobReader":
        """Return a reader of file contents, at most ``largest`` bytes each."""
        return BlobReader(self, largest)

    def start_blobs(self) -> "subprocess.Popen[bytes]":
        """Start the one process that gives file contents."""
        return self._start(("cat-file", "--batch"), subprocess.DEVNULL, subprocess.PIPE)

    def _ask(self, complaint: str, *command: str) -> str:
        """Return what a short git command prints, or refuse the repository."""
        with TemporaryFile() as errors:
            process = self._start(command, errors)
            answer, _ = process.communicate()
            if process.returncode:
                raise BadInputError(f"{self.path}: {complaint}{_quoted(errors)}")
        return answer.decode().strip()

    def _start(
        self,
        command: Sequence[str],
        errors: IO[bytes] | int,
        stdin: IO[bytes] | int = subprocess.DEVNULL,
    ) -> "subprocess.Popen[bytes]":
        """Start git in the repository, and in no repository around it."""
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        before = ["git", "--no-optional-locks", "--no-pager", *settings, "-C", str(self.path)]
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        ceiling = {"GIT_CEILING_DIRECTORIES": str(self.path.parent)}
        try:
            return subprocess.Popen(
                [*before, *command],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**clean, **ENVIRONMENT, **ceiling},
            )
        except FileNotFoundError as error:
            raise BadInputError(
                f"{self.path}: cannot be read without the git program; install git"
            ) from error


class CommitList:
    """Hashes and times of a history's commits, oldest first; ``fault`` tells what is before them.

    They are added newest first, as git lists them, and kept in few bytes each.
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
        """Return the tree without files, in the hash that the repository uses."""
        return EMPTY_TREES[2 * self._width]

    def add(self, field: bytes) -> None:
        """Add the next older commit, ``<hash> <epoch seconds> <parents>``."""
        commit, seconds, parents = field.split(b" ", 2)
        self.parent = parents.decode().partition(" ")[0]
        self._hashes += bytes.fromhex(commit.decode())
        usable = seconds.isdigit() and len(seconds) < len(str(TIMELESS))
        self._seconds.append(int(seconds) if usable else TIMELESS)

    def hash(self, number: int) -> str:
        """Return the hash of a commit."""
        end = len(self._hashes) - number * self._width
        return self._hashes[end - self._width : end].hex()

    def seconds(self, number: int) -> int:
        """Return when a commit was made, beyond any calendar where it does not say."""
        return self._seconds[-1 - number]

    def write_pairs(self, file: IO[bytes]) -> None:
        """Write a line for each commit: its hash and, for all but the first, the previous one's."""
        previous = ""
        for commit in map(self.hash, range(len(self))):
            file.write(f"{commit}{previous}\n".encode())
            previous = f" {commit}"
        file.flush()

    def pair_offset(self, number: int) -> int:
        """Return where the line of a commit begins in what ``write_pairs`` wrote."""
        digits = 2 * self._width
        return number and (digits + 1) + (number - 1) * (2 * digits + 2)

    @property
    def _width(self) -> int:
        """Return the bytes of a hash."""
        return len(self._hashes) // len(self._seconds)


class GitOutputFields:
    """The fields between the zero bytes of git's output; ``fault`` tells why it stopped early."""

    def __init__(self, process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors
        self._fields = split_fields(process.stdout)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        return next(self._fields)

    def fault(self) -> str | None:
        """Return why the output ended before its end, if it did."""
        if self._process.wait() == 0:
            return None
        return f"git stopped{_quoted(self._errors)}"


class BlobReader:
    """File contents by their hash, from one process that is started again only if it dies.

    Behind each file a name is asked for that no object has: git announces a damaged object with the
    size that it claims, and its answer to that name shows where what it has ends.
    """

    def __init__(self, repository: GitRepository, largest: int) -> None:
        self._repository = repository
        self._largest = largest
        self._process = repository.start_blobs()
        name = uuid4().hex.encode()
        self._request_end = b"\n" + name + b"\n"
        self._answer_end = b"\n" + name + b" missing\n"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with ending_process(self._process):
            pass

    def read(self, blob: str) -> bytes:
        """Return a file's bytes; ValueError says why they cannot be had."""
        size = self._size(blob)
        body, length = self._content(size)
        if length is None:
            self._restart()
        elif size > self._largest:
            raise ValueError(f"has {size:,} bytes, more than the {self._largest:,} taken")
        if length != size or _hash_of(body, len(blob)) != blob:
            raise ValueError(f"object {blob} is damaged")
        return body

    @property
    def _output(self) -> BufferedReader:
        """Return the pipe that contents come through."""
        return cast("BufferedReader", self._process.stdout)

    def _size(self, blob: str) -> int:
        """Ask for a file and return the size of what is coming."""
        answer = self._answer(blob)
        if len(answer) == 3:
            return int(answer[2])
        if answer:
            self._output.readline()
        else:
            self._restart()
        raise ValueError(f"object {blob} is {'missing' if answer else 'damaged'}")

    def _answer(self, blob: str) -> list[bytes]:
        """Return hash, type and size of what is coming, or nothing when the process has died."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(blob.encode() + self._request_end)
            self._process.stdin.flush()
        except BrokenPipeError:
            return []
        return self._output.readline().split()

    def _content(self, size: int) -> tuple[bytes, int | None]:
        """Read a file, kept unless it is too large, and return its length; None if git has died."""
        end, tail, length = self._answer_end, b"", 0
        kept: list[bytes] = []
        while length < size + len(end) and not tail.endswith(end):
            chunk = self._output.read1(CHUNK)
            if not chunk:
                return b"", None
            length += len(chunk)
            tail = (tail + chunk)[-len(end) :]
            if size <= self._largest:
                kept.append(chunk)
        return b"".join(kept)[: -len(end)], length - len(end)

    def _restart(self) -> None:
        """Start again after the process died of a damaged object."""
        with ending_process(self._process):
            self._process = self._repository.start_blobs()


@contextmanager
def ending_process(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Leave no process behind, however the work ends."""
    try:
        yield
    finally:
        process.kill()
        process.communicate()


def split_fields(stream: IO[bytes] | None) -> Iterator[bytes]:
    """Yield what stands before each zero byte; a last piece without one was cut off."""
    assert stream is not None
    rest = b""
    while chunk := stream.read(CHUNK):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole


def _hash_of(body: bytes, digits: int) -> str:
    """Return the name that git gives to a file with these bytes, in as many digits as it uses.

    >>> _hash_of(b"", 40)
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    kind = "sha1" if digits == SHA1_DIGITS else "sha256"
    return hashlib.new(kind, b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest()


def _quoted(errors: IO[bytes]) -> str:
    """Return the last line that git complained with, in brackets."""
    errors.seek(0)
    lines = errors.read()[-2000:].decode(errors="replace").strip().splitlines()
    return f" ({lines[-1]})" if lines else ""
