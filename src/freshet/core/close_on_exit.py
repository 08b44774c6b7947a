"""What holds something open can be used in a ``with`` statement."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class CloseOnExit(ABC):
    """Closes itself at the end of a ``with`` statement."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is held open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
