"""Which request headers are secrets, and how secrets are removed from output and storage."""

import re
from collections.abc import Mapping
from typing import Any

REDACTED = "[blanked]"

_SECRET_ENDINGS = (
    "auth", "authorization", "authentication", "cookie", "credential", "credentials", "jwt", "key",
    "passwd", "password", "secret", "session", "signature", "token",
)  # fmt: skip
# Twisted writes "invalid hostname: " before a host.
_USER_INFO = re.compile(
    r"(?i)\b([a-z][a-z0-9+.-]*:[/\\]{2,}|invalid hostname: )[^\s/\\?\"<>]+@(?=[^\s@])"
)
_BEFORE_AUTHORITY = re.compile(r"(?i)\s*(?:https?:|[a-z][a-z0-9+.-]*:(?=[/\\]))?[/\\]*")
_HOST_AND_PORT = re.compile(r"(?:\[.*|[^:]*)(?::\d+)?", re.DOTALL)
_URL_USER_INFO = re.compile(r"(?i)(https?:[/\\]{2,})[^/\\?#]*@")


def is_secret_header(header: str) -> bool:
    """Whether the name of a header says that its value is a secret.

    That is so if a part of the name, between hyphens, ends in a word such as key or token.

    >>> names = ("Authorization", "X-Api-Key", "X-CSRFToken", "Accept-Language", "Author")
    >>> [name for name in names if is_secret_header(name)]
    ['Authorization', 'X-Api-Key', 'X-CSRFToken']
    """
    return any(word.endswith(_SECRET_ENDINGS) for word in re.split(r"[-_]", header.lower()))


def redact_user_info(text: str) -> str:
    """Redact the user name and password of every web address in a text.

    >>> redact_user_info("at http://me:pw@example.org/a@b and https://example.org/@me")
    'at http://[blanked]@example.org/a@b and https://example.org/@me'
    """
    if "@" not in text:
        return text
    return _USER_INFO.sub(rf"\1{REDACTED}@", text)


def strip_user_info(url: str) -> str:
    """Return a web address without its user name and password.

    >>> strip_user_info("HTTP://me:pw@example.org/a@b"), strip_user_info("http://example.org/@me")
    ('HTTP://example.org/a@b', 'http://example.org/@me')
    """
    match = _URL_USER_INFO.match(url)
    return url if match is None else match[1] + url[match.end() :]


def redact_url(url: str) -> str:
    """Redact the user name and password of one URL, valid or not.

    They end at the last @ before the path or query. If no host and port follow, as after a
    password with a slash, they end at the last @ of all.

    >>> redact_url("http://me:p#w@[bad/"), redact_url("me:p/w@example.org/@you")
    ('http://[blanked]@[bad/', '[blanked]@you')
    >>> redact_url("example.org:80/@me")
    'example.org:80/@me'
    """
    if "@" not in url:
        return url
    scheme = _BEFORE_AUTHORITY.match(url)
    start = scheme.end() if scheme else 0
    after_scheme = url[start:]
    authority = re.split(r"[/\\?]", after_scheme, maxsplit=1)[0]
    is_host = _HOST_AND_PORT.fullmatch(authority.rpartition("@")[2])
    end = start + (authority if is_host else after_scheme).rfind("@") + 1
    return f"{url[:start]}{REDACTED}@{url[end:]}" if end > start else url


def redact_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Redact the secrets in page settings, given by name.

    >>> redact_settings({"headers": {"Accept": "a", "X-Token": "b"}, "cookies": {"id": "c"}})
    {'headers': {'Accept': 'a', 'X-Token': '[blanked]'}, 'cookies': {'id': '[blanked]'}}
    """
    return {name: redact_setting(name, value) for name, value in settings.items()}


def redact_setting(name: str, value: Any) -> Any:
    """Redact the secrets in the value of a page setting."""
    if name == "cookies" and isinstance(value, Mapping):
        return dict.fromkeys(value, REDACTED)
    if name == "headers" and isinstance(value, Mapping):
        return {key: REDACTED if is_secret_header(key) else item for key, item in value.items()}
    if name == "proxy" and isinstance(value, str):
        return redact_url(value)
    return redact_user_info(value) if isinstance(value, str) else value


def redact_headers(head: bytes) -> bytes:
    r"""Redact the values of secret headers in the head of a request.

    >>> redact_headers(b"GET / HTTP/1.1\r\nCookie: id=1\r\nAccept: a\r\n\r\n")
    b'GET / HTTP/1.1\r\nCookie: [blanked]\r\nAccept: a\r\n\r\n'
    """
    request_line, *lines = head.split(b"\r\n")
    return b"\r\n".join([request_line, *map(_redact_line, lines)])


def _redact_line(line: bytes) -> bytes:
    name, colon, _ = line.partition(b":")
    is_secret = bool(colon) and is_secret_header(name.decode("latin-1").strip())
    return b"%s: %s" % (name, REDACTED.encode()) if is_secret else line
