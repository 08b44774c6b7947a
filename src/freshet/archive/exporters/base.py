"""What leaves a collection: rows of visits and changes, and files that are whole or not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from freshet.core.errors import NoSpace
from freshet.core.partial_files import held, part_of_output, remove_abandoned_parts
from freshet.core.types import Change, Outcome, Page, Visit


@dataclass(frozen=True, slots=True)
class VisitRow:
    """A visit with its page; ``revisit`` says that its record repeats no bytes."""

    page: Page
    visit: Visit
    language: str = ""
    revisit: bool = False

    @property
    def is_revisit(self) -> bool:
        """Whether the visit's record stands for bytes that were kept before."""
        return self.revisit or self.visit.outcome is Outcome.NOT_MODIFIED


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """What a visit to a page found changed."""

    page: Page
    visit: Visit
    change: Change


@contextmanager
def replacing(path: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """Give a file to write that takes the place of ``path`` once all went well, and only then.

    ``mode`` is who may read and write it, less what the umask takes away.
    """
    remove_abandoned_parts(path)
    part = part_of_output(path)
    try:
        part.touch(mode, exist_ok=True)
        with held(part):
            yield part
        _sync(part)
        part.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoSpace(
            f"{path}: cannot be written ({reason}); free space or choose another place"
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Wait until a file's bytes are on the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
