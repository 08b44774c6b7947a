"""Base class of objects that hold something open and are used in ``with`` statements."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class CloseOnExit(ABC):
    """Closes itself at the end of a ``with`` statement."""

    @abstractmethod
    def close(self) -> None:
        """Release everything that is held open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
