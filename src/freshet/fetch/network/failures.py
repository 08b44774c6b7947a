"""What can go wrong with a request, and what a visit that met it is called."""

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
    """An address may not be fetched; the message names the setting that would open it."""


class RobotsDisallowedError(IgnoreRequest):
    """A host's robots.txt keeps a page closed, or cannot be had."""

    def __init__(self, why: str, outcome: Outcome = Outcome.ROBOTS) -> None:
        super().__init__(why)
        self.outcome = outcome


class UntrustedCertificateError(Exception):
    """A server's certificate is not valid; the message says what is wrong with it."""


class CrawlEndedError(IgnoreRequest):
    """The crawl is ending, so a request that waited for its host is not made."""


class ProxyFailedError(Exception):
    """A proxy could not be reached, or did not pass a request on."""


class BudgetDayOverError(IgnoreRequest):
    """The day whose budget was to pay for a request has ended before it went out."""


class HeadTooLargeError(Exception):
    """The head of an answer is larger than ``limits.header_bytes``."""


# In order: the first that fits the error, or anything that lies beneath it.
_KNOWN: tuple[tuple[tuple[type[BaseException], ...], Outcome, str], ...] = (
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
    """Return what a visit that ended in an error is called, and in one line why.

    An error that is not known is ours: the request could not be made, and says nothing of the host.

    >>> classify_error(DownloadTimeoutError())
    (<Outcome.TIMEOUT: 'timeout'>, 'no whole answer in limits.seconds')
    """
    if isinstance(error, RobotsDisallowedError):
        return error.outcome, _line(error)
    reasons = list(_reasons(error))
    for kinds, outcome, why in _KNOWN:
        found = next((reason for reason in reasons if isinstance(reason, kinds)), None)
        if found is not None:
            return _of_scrapy(found) or outcome, why or _line(found)
    return Outcome.REFUSED, f"the request could not be made: {_line(reasons[-1])}"


def is_expected_error(error: BaseException) -> bool:
    """Whether an error is one that requests end in; any other is a fault to be looked into."""
    kinds = tuple(kind for known, _, _ in _KNOWN for kind in known)
    return any(isinstance(reason, kinds) for reason in _reasons(error))


def _reasons(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what caused it, and what Twisted wrapped up in either."""
    yield error
    for failure in getattr(error, "reasons", ()):
        yield from _reasons(failure.value)
    if error.__cause__ is not None:
        yield from _reasons(error.__cause__)


def _of_scrapy(error: BaseException) -> Outcome | None:
    """Recognise a page that Scrapy's own middleware found closed by robots.txt."""
    return Outcome.ROBOTS if str(error) == "Forbidden by robots.txt" else None


def _line(error: BaseException) -> str:
    """Return an error's message on one line, short, with nothing in it that a terminal obeys."""
    text = "".join(char if char.isprintable() else " " for char in str(error))
    return " ".join(text.split())[:MAX_REASON_CHARS] or type(error).__name__
