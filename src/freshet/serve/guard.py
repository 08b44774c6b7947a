"""The guard in front of every route: access, rate, size, and headers that browsers obey."""

from collections import OrderedDict
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from freshet.core.clock import monotonic_seconds
from freshet.serve.access import SAFE_METHODS, AccessRules

MAX_BODY_BYTES = 1 << 20
MAX_PATH_BYTES, MAX_QUERY_BYTES = 512, 8_192
REQUESTS_PER_SECOND, BURST_REQUESTS = 200.0, 400.0
MAX_CLIENTS = 10_000
API_PREFIX = "/api/"
COMMON_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class RateLimit:
    """A token bucket for each client address."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, client: str, now: float) -> bool:
        """Take one request of a client; False if it has none left at this time (seconds).

        >>> limit = RateLimit(1.0, 2.0)
        >>> [limit.allows("me", now) for now in (0.0, 0.0, 0.0, 1.0)]
        [True, True, False, True]
        """
        level, before = self._buckets.pop(client, (self._burst, now))
        level = min(self._burst, level + (now - before) * self._per_second)
        is_allowed = level >= 1.0
        self._buckets[client] = (level - 1.0 if is_allowed else level, now)
        if len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return is_allowed


class BodyTooLargeError(Exception):
    """A request has a larger body than is read."""


class RequestGuard:
    """Refuses what the access rules and the limits forbid, and adds headers to every answer."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        rules: AccessRules,
        content_policy: Callable[[str], str],
        open_paths: tuple[str, ...] = (),
        rate: RateLimit | None = None,
    ) -> None:
        self._app = app
        self._rules = rules
        self._content_policy = content_policy
        self._open_paths = open_paths
        self._rate = rate or RateLimit(REQUESTS_PER_SECOND, BURST_REQUESTS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        policy = self._content_policy(headers.get("host", ""))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(MutableHeaders(scope=message), policy)
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send_with_headers)
            return
        await self._app(scope, _limited(receive), send_with_headers)

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """Return the answer to a request that is refused, None if it is allowed."""
        path, method = scope["path"], scope["method"]
        if not self._rules.knows_host(headers.get("host", "")):
            return refuse(path, 421, "this server does not have that name")
        client = scope["client"][0] if scope.get("client") else ""
        if not self._rate.allows(client, monotonic_seconds()):
            return refuse(path, 429, "too many requests", {"Retry-After": "1"})
        path_bytes, query_bytes = len(scope.get("raw_path") or b""), len(scope["query_string"])
        if path_bytes > MAX_PATH_BYTES or query_bytes > MAX_QUERY_BYTES:
            return refuse(path, 414, "the path is longer than 512 bytes, or the query than 8 KiB")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            return refuse(path, 413, "the body is larger than 1 MiB")
        if not self._rules.needs_token(method) or path in self._open_paths:
            return None
        if method not in SAFE_METHODS and not self._rules.is_same_origin(headers):
            return refuse(path, 403, "the request comes from another site")
        if not self._rules.is_authorised(headers):
            return self._ask_for_token(path, method)
        return None

    def _ask_for_token(self, path: str, method: str) -> Response:
        message = "this needs the token that 'freshet serve' printed at its start"
        if path.startswith(API_PREFIX) or method != "GET":
            return refuse(path, 401, message, {"WWW-Authenticate": "Bearer"})
        return Response(status_code=303, headers={"Location": "/session"})


def refuse(
    path: str, status: int, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer to a request that cannot be carried out."""
    if path.startswith(API_PREFIX):
        return JSONResponse({"error": message}, status, headers)
    return PlainTextResponse(f"freshet: {message}\n", status, headers)


def _add_headers(headers: MutableHeaders, content_policy: str) -> None:
    for name, value in COMMON_HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("Content-Security-Policy", content_policy)
    headers.setdefault("Cache-Control", "no-store")


def _limited(receive: Receive) -> Receive:
    """Return a function that reads a body up to the largest size."""
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MAX_BODY_BYTES:
            raise BodyTooLargeError
        return message

    return receive_limited
