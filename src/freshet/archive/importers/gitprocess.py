"""The git program, run so that nothing of the repository or the user's settings is executed."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Self

from freshet.core.errors import BadInput

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
LOG = (
    "log", "--first-parent", "--diff-merges=first-parent", "--reverse", "--sparse", "--raw", "-z",
    "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-show-signature",
    "--format=commit %H %ct", "--end-of-options",
)  # fmt: skip
CHUNK = 1 << 16


class Repository:
    """A git repository with its work tree or bare, seen from one commit."""

    def __init__(self, path: Path, ref: str, paths: Sequence[str]) -> None:
        if not path.is_dir():
            raise BadInput(f"{path}: is not a folder; give a git repository")
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

    def count_commits(self) -> int:
        """Return how many commits the first parents lead through."""
        command = ("rev-list", "--count", "--first-parent", "--end-of-options", self._ref, "--")
        return int(self._ask("its commits cannot be listed; run 'git fsck' there", *command))

    @contextmanager
    def log(self) -> Iterator["Fields"]:
        """Give the fields of the log of all commits, oldest first, from one process."""
        with TemporaryFile() as errors:
            process = self._start((*LOG, self._ref, "--", *self._paths), errors)
            with ended(process):
                yield Fields(process, errors)

    def blobs(self, largest: int) -> "Blobs":
        """Return a reader of file contents, at most ``largest`` bytes each."""
        return Blobs(self, largest)

    def start_blobs(self) -> "subprocess.Popen[bytes]":
        """Start the one process that gives file contents."""
        return self._start(("cat-file", "--batch"), subprocess.DEVNULL, subprocess.PIPE)

    def _ask(self, complaint: str, *command: str) -> str:
        """Return what a short git command prints, or refuse the repository."""
        with TemporaryFile() as errors:
            process = self._start(command, errors)
            answer, _ = process.communicate()
            if process.returncode:
                raise BadInput(f"{self.path}: {complaint}{_quoted(errors)}")
        return answer.decode().strip()

    def _start(
        self, command: Sequence[str], errors: IO[bytes] | int, stdin: int = subprocess.DEVNULL
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
            raise BadInput(
                f"{self.path}: cannot be read without the git program; install git"
            ) from error


class Fields:
    """The fields between the zero bytes of git's log; ``fault`` tells why it stopped early."""

    def __init__(self, process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors
        self._fields = split(process.stdout)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        return next(self._fields)

    def fault(self) -> str | None:
        """Return why the log ended before its end, if it did."""
        if self._process.wait() == 0:
            return None
        return f"the history ends early{_quoted(self._errors)}; run 'git fsck' there"


class Blobs:
    """File contents by their hash, from one process that is started again only if it dies."""

    def __init__(self, repository: Repository, largest: int) -> None:
        self._repository = repository
        self._largest = largest
        self._process = repository.start_blobs()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with ended(self._process):
            pass

    def read(self, blob: str) -> bytes:
        """Return a file's bytes; ValueError says why they cannot be had."""
        size = self._size(blob)
        if size > self._largest:
            self._skip(size + 1)
            raise ValueError(f"has {size:,} bytes, more than the {self._largest:,} taken")
        body = self._output.read(size + 1)
        if len(body) <= size:
            self._restart()
            raise ValueError(f"object {blob} is damaged")
        return body[:size]

    @property
    def _output(self) -> IO[bytes]:
        """Return the pipe that contents come through."""
        assert self._process.stdout is not None
        return self._process.stdout

    def _size(self, blob: str) -> int:
        """Ask for a file and return the size of what is coming."""
        answer = self._answer(blob)
        if len(answer) == 3:
            return int(answer[2])
        if not answer:
            self._restart()
        raise ValueError(f"object {blob} is {'missing' if answer else 'damaged'}")

    def _answer(self, blob: str) -> list[bytes]:
        """Return hash, type and size of what is coming, or nothing when the process has died."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{blob}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            return []
        return self._output.readline().split()

    def _skip(self, size: int) -> None:
        """Read past what is not wanted."""
        while size > 0:
            size -= len(self._output.read(min(size, CHUNK))) or size

    def _restart(self) -> None:
        """Start again after the process died of a damaged object."""
        with ended(self._process):
            self._process = self._repository.start_blobs()


@contextmanager
def ended(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Leave no process behind, however the work ends."""
    try:
        yield
    finally:
        process.kill()
        process.communicate()


def split(stream: IO[bytes] | None) -> Iterator[bytes]:
    """Yield what stands before each zero byte; a last piece without one was cut off."""
    assert stream is not None
    rest = b""
    while chunk := stream.read(CHUNK):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole


def _quoted(errors: IO[bytes]) -> str:
    """Return the last line that git complained with, in brackets."""
    errors.seek(0)
    lines = errors.read()[-2000:].decode(errors="replace").strip().splitlines()
    return f" ({lines[-1]})" if lines else ""
