"""The errors of requests, and the outcomes of visits that end in them."""

from collections.abc import Iterator

from OpenSSL import SSL
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotSupported,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from service_identity import VerificationError
from twisted.internet.error import ConnectError, ConnectionClosed
from twisted.internet.error import TimeoutError as NotInTime
from twisted.web.client import ResponseFailed, ResponseNeverReceived

from freshet.core.errors import SettingsError
from freshet.core.types import Outcome

MAX_REASON_CHARS = 300

# Failures of a page's own route to the host; another page's route may work.
ROUTE_FAILURES = frozenset({Outcome.UNTRUSTED, Outcome.PROXY_ERROR, Outcome.REFUSED})


class AddressRefusedError(IgnoreRequest):
    """An address is refused; the message names the setting that opens it."""


class RobotsDisallowedError(IgnoreRequest):
    """A host's robots.txt disallows a page, or is unavailable."""

    def __init__(self, why: str, outcome: Outcome = Outcome.ROBOTS) -> None:
        super().__init__(why)
        self.outcome = outcome


class UntrustedCertificateError(Exception):
    """A server's certificate is not valid; the message gives the reason."""


class CrawlEndedError(IgnoreRequest):
    """The crawl is ending, so a waiting request is not sent."""


class ProxyFailedError(Exception):
    """A proxy could not be reached, or did not forward a request."""


class BudgetDayOverError(IgnoreRequest):
    """The day whose budget pays for a request ended before it was sent."""


class HeadTooLargeError(Exception):
    """The head of an answer is larger than ``limits.header_bytes``."""


# The first entry that matches the error or one of its causes applies.
_EXPECTED: tuple[tuple[tuple[type[BaseException], ...], Outcome, str], ...] = (
    ((ProxyFailedError,), Outcome.PROXY_ERROR, ""),
    ((UntrustedCertificateError,), Outcome.UNTRUSTED, ""),
    ((IgnoreRequest, NotSupported, UnsupportedURLSchemeError), Outcome.REFUSED, ""),
    ((SettingsError,), Outcome.REFUSED, ""),
    ((HeadTooLargeError,), Outcome.TOO_LARGE, ""),
    ((DownloadTimeoutError, NotInTime), Outcome.TIMEOUT, "no whole answer in limits.seconds"),
    ((DownloadCancelledError,), Outcome.TOO_LARGE, "larger than limits.response_bytes"),
    ((CannotResolveHostError,), Outcome.UNREACHABLE, "the host's name has no address"),
    ((DownloadConnectionRefusedError,), Outcome.UNREACHABLE, "the connection was refused"),
    ((SSL.Error, VerificationError), Outcome.UNREACHABLE, "no TLS could be agreed on"),
    ((ResponseDataLossError,), Outcome.UNREADABLE, "the answer was cut short"),
    ((ResponseNeverReceived,), Outcome.UNREACHABLE, "the server hung up without an answer"),
    ((ResponseFailed,), Outcome.UNREADABLE, "the answer is not HTTP"),
    ((DownloadFailedError, ConnectError, ConnectionClosed, OSError), Outcome.UNREACHABLE, ""),
)


def classify_error(error: BaseException) -> tuple[Outcome, str]:
    """Return the outcome of a visit that ended in an error, and a one-line reason.

    An unexpected error is a fault of Freshet: it says nothing about the host.

    >>> classify_error(DownloadTimeoutError())
    (<Outcome.TIMEOUT: 'timeout'>, 'no whole answer in limits.seconds')
    """
    if isinstance(error, RobotsDisallowedError):
        return error.outcome, _line(error)
    reasons = list(_reasons(error))
    for kinds, outcome, why in _EXPECTED:
        match = next((reason for reason in reasons if isinstance(reason, kinds)), None)
        if match is not None:
            return _scrapy_outcome(match) or outcome, why or _line(match)
    return Outcome.REFUSED, f"the request could not be made: {_line(reasons[-1])}"


def is_expected_error(error: BaseException) -> bool:
    """Whether an error is an expected one; any other is a fault of Freshet."""
    kinds = tuple(kind for kinds, _, _ in _EXPECTED for kind in kinds)
    return any(isinstance(reason, kinds) for reason in _reasons(error))


def _reasons(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its causes, and the reasons that Twisted attached to them."""
    yield error
    for failure in getattr(error, "reasons", ()):
        yield from _reasons(failure.value)
    if error.__cause__ is not None:
        yield from _reasons(error.__cause__)


def _scrapy_outcome(error: BaseException) -> Outcome | None:
    """Return the outcome of a page that Scrapy's own middleware closed by robots.txt."""
    return Outcome.ROBOTS if str(error) == "Forbidden by robots.txt" else None


def _line(error: BaseException) -> str:
    """Return an error's message as one short line without control characters."""
    text = "".join(char if char.isprintable() else " " for char in str(error))
    return " ".join(text.split())[:MAX_REASON_CHARS] or type(error).__name__
