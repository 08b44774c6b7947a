"""The sort-friendly form of a URL that web archives index by (SURT): ``org,example)/path?query``.

The rules are those that pywb looks captures up by: scheme, ``www.``, user, default port, fragment
and session ids go; host labels are reversed; path and query are lower case, parameters in order.
"""

import re
from urllib.parse import quote, unquote_to_bytes

from ada_url import URL, HostType

WWW = re.compile(r"^www\d*\.")
SLASHES = re.compile(r"/{2,}")
KEPT = "!\"$&'()*+,/:;<=>?@[\\]^`{|}~"
PATH_SESSION = re.compile(r"(?<=/)\((?:[a-z]\([0-9a-z]{24}\))+\)/")
QUERY_SESSION = re.compile(
    r"(?:^|(?<=&))(?:(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}"
    r"|cfid=[^&]+&cftoken=[^&]+)(?:&|$)"
)


def surt(url: str) -> str:
    """Return the key of a URL; what has no host stays as it is, without white space.

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
    return f"{_host(parts)}{port}){_path(parts.pathname)}{_query(parts.search)}"


def _host(parts: URL) -> str:
    """Return the host's labels from the last to the first, the numbers of an IPv4 address too.

    >>> surt("http://127.0.0.1:8080/")
    '1,0,0,127:8080)/'
    >>> surt("http://[::1]/")
    '::1)/'
    """
    if parts.host_type == HostType.IPV6:
        return parts.hostname.strip("[]")
    name = WWW.sub("", parts.hostname.rstrip("."))
    return ",".join(reversed(name.split(".")))


def _path(path: str) -> str:
    """Return the path in lower case, without doubled slashes, session ids and its last slash."""
    plain = SLASHES.sub("/", _unescaped(path))
    return PATH_SESSION.sub("", plain).rstrip("/") or "/"


def _query(search: str) -> str:
    """Return the query in lower case, its parameters in order and without session ids."""
    query = QUERY_SESSION.sub("", _unescaped(search.removeprefix("?")))
    parameters = sorted(query.split("&"), key=lambda parameter: parameter.split("=", 1))
    return "?" + "&".join(parameters) if query else ""


def _unescaped(text: str) -> str:
    """Undo every percent escape that need not be, and lower what is left.

    >>> _unescaped("/%7EA%2541%20b")
    '/~aa%20b'
    """
    if "%" not in text:
        return text.lower()
    plain = text.encode()
    while (again := unquote_to_bytes(plain)) != plain:
        plain = again
    return quote(plain, safe=KEPT).lower()


def _escaped(text: str) -> str:
    """Return the text in lower case after its scheme, without white space and control characters.

    >>> _escaped("GIT:A b")
    'GIT:a%20b'
    """
    scheme, colon, rest = text.partition(":")
    return quote(scheme + colon + rest.lower() if colon else text.lower(), safe=KEPT + "%#")
