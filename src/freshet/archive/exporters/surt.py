"""Sort-friendly URL keys of web archives (SURT): ``org,example)/path?query``.

The rules are those of pywb. Scheme, ``www.``, user info, default port, fragment and session ids are
removed; host labels are reversed; path and query are in lower case; parameters are sorted.
"""

import re
from urllib.parse import quote, unquote_to_bytes

from ada_url import URL, HostType

WWW = re.compile(r"^www\d*\.")
SLASHES = re.compile(r"/{2,}")
UNESCAPED = "!\"$&'()*+,/:;<=>?@[\\]^`{|}~"
PATH_SESSION = re.compile(r"(?<=/)\((?:[a-z]\([0-9a-z]{24}\))+\)/")
QUERY_SESSION = re.compile(
    r"(?:^|(?<=&))(?:(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}"
    r"|cfid=[^&]+&cftoken=[^&]+)(?:&|$)"
)


def surt(url: str) -> str:
    """Return the key of a URL; a URL without a host is only escaped and put into lower case.

    >>> surt("https://www.Example.org:443/News//?b=2&a=1#top")
    'org,example)/news?a=1&b=2'
    >>> surt("git:terms/Privacy Policy.md")
    'git:terms/privacy%20policy.md'
    """
    try:
        parts = URL(url)
    except ValueError:
        return _escaped(url)
    if not parts.hostname:
        return _escaped(url)
    port = f":{parts.port}" if parts.port else ""
    path, query = _normal_path(parts.pathname), _normal_query(parts.search)
    return f"{_reversed_host(parts)}{port}){path}{query}"


def _reversed_host(parts: URL) -> str:
    """Return the host's labels in reverse order; also the numbers of an IPv4 address.

    >>> surt("http://127.0.0.1:8080/")
    '1,0,0,127:8080)/'
    >>> surt("http://[::1]/")
    '::1)/'
    """
    if parts.host_type == HostType.IPV6:
        return parts.hostname.strip("[]")
    name = WWW.sub("", parts.hostname.rstrip("."))
    return ",".join(reversed(name.split(".")))


def _normal_path(path: str) -> str:
    """Return the path in lower case, without double slashes, session ids and trailing slash."""
    unescaped = SLASHES.sub("/", _unescaped(path))
    return PATH_SESSION.sub("", unescaped).rstrip("/") or "/"


def _normal_query(search: str) -> str:
    """Return the query in lower case, with sorted parameters and without session ids."""
    query = QUERY_SESSION.sub("", _unescaped(search.removeprefix("?")))
    parameters = sorted(query.split("&"), key=lambda parameter: parameter.split("=", 1))
    return "?" + "&".join(parameters) if query else ""


def _unescaped(text: str) -> str:
    """Undo all percent escapes that are not needed and put the text into lower case.

    >>> _unescaped("/%7EA%2541%20b")
    '/~aa%20b'
    """
    if "%" not in text:
        return text.lower()
    decoded = text.encode()
    while (decoded_again := unquote_to_bytes(decoded)) != decoded:
        decoded = decoded_again
    return quote(decoded, safe=UNESCAPED).lower()


def _escaped(text: str) -> str:
    """Escape white space and control characters; put everything after the scheme into lower case.

    >>> _escaped("GIT:A b")
    'GIT:a%20b'
    """
    scheme, colon, remainder = text.partition(":")
    lowered = scheme + colon + remainder.lower() if colon else text.lower()
    return quote(lowered, safe=UNESCAPED + "%#")
