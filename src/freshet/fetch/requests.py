"""A class that earlier versions stored in the requests of a Scrapy JOBDIR; it is only read."""


class Trip:
    """The context of a stored request; the state is discarded, and the request gets a new one."""

    def __setstate__(self, state: object) -> None:
        """Discard the state."""
