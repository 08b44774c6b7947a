"""Errors become outcomes, with one line that can be printed anywhere."""

import pytest
from scrapy.exceptions import (
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotSupported,
    ResponseDataLossError,
)
from twisted.internet.error import ConnectionLost
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

from freshet.core.errors import SettingsError
from freshet.core.types import Outcome
from freshet.fetch.network.failures import (
    MAX_REASON_CHARS,
    AddressRefusedError,
    HeadTooLargeError,
    RobotsDisallowedError,
    classify_error,
)


def wrapped(reason: Exception) -> DownloadFailedError:
    """Return an error as Scrapy raises it, with its reason where Twisted puts it."""
    error = DownloadFailedError("[<twisted.python.failure.Failure …>]")
    error.__cause__ = ResponseFailed([Failure(reason)])
    return error


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (AddressRefusedError("no"), Outcome.REFUSED),
        (NotSupported("Unsupported URL scheme 'ftp'"), Outcome.REFUSED),
        (IgnoreRequest("offsite"), Outcome.REFUSED),
        (SettingsError("the guard is not in place"), Outcome.REFUSED),
        (IgnoreRequest("Forbidden by robots.txt"), Outcome.ROBOTS),
        (RobotsDisallowedError("closed"), Outcome.ROBOTS),
        (RobotsDisallowedError("gone", Outcome.UNREACHABLE), Outcome.UNREACHABLE),
        (DownloadTimeoutError(), Outcome.TIMEOUT),
        (ResponseDataLossError(), Outcome.UNREADABLE),
        (wrapped(HeadTooLargeError("64 KiB")), Outcome.TOO_LARGE),
        (wrapped(ValueError("bad length")), Outcome.UNREADABLE),
        (ConnectionLost(), Outcome.UNREACHABLE),
        (ConnectionResetError(), Outcome.UNREACHABLE),
        (RuntimeError("what is this"), Outcome.REFUSED),
        (UnicodeError("label empty or too long"), Outcome.REFUSED),
        (KeyError("a mistake in code"), Outcome.REFUSED),
    ],
)
def test_an_error_has_an_outcome(error: Exception, outcome: Outcome) -> None:
    assert classify_error(error)[0] is outcome


def test_no_error_is_a_look() -> None:
    assert not classify_error(Exception())[0].is_look


def test_a_reason_is_one_short_line_without_control_characters() -> None:
    _, why = classify_error(AddressRefusedError("a\x1b[31m\nb" + "c" * 1_000))
    assert why.startswith("a [31m b")
    assert why.isprintable()
    assert len(why) == MAX_REASON_CHARS
