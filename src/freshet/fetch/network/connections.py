"""HTTP connections that record both heads and are bounded against hostile servers.

They extend Scrapy's and Twisted's connections by limits for: the total size of the headers, answers
of unknown length that break off, and bytes after an answer's end.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from scrapy.core.downloader.handlers.http11 import (
    TunnelError,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
    _ScrapyProxyAgent,
    _TunnelingAgent,
    _TunnelingTCP4ClientEndpoint,
)
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.error import ConnectionDone
from twisted.internet.interfaces import IAddress
from twisted.python.failure import Failure
from twisted.web._newclient import STATUS
from twisted.web.client import URI

from freshet.core.redaction import redact_headers
from freshet.fetch.network.failures import HeadTooLargeError

# The keys of ``request.meta`` for the heads of the answer and of the request.
RESPONSE_HEAD_KEY = "freshet_head"
REQUEST_HEAD_KEY = "freshet_sent"
MAX_HEAD_BYTES = 65_536
KEEP_ALIVE_VERSION = (1, 1)


class BoundedResponseParser(_LenientHTTPClientParser):
    """Keeps the lines of an answer's head and bounds their total size.

    Twisted creates the parser and allows no other, so its class is replaced after creation.
    """

    response: Any
    lines: list[bytes]
    pieces: list[bytes]
    deliver: Callable[[bytes], None]
    received = 0

    def lineReceived(self, line: bytes) -> None:
        """Add a line; the head of an interim answer counts, but is not kept."""
        self.received += len(line) + 1
        if self.received > self.MAX_LENGTH:
            self.lineLengthExceeded(line)
        if self.state == STATUS:
            self.lines = []
        self.lines.append(line)
        super().lineReceived(line)

    def lineLengthExceeded(self, line: bytes) -> None:
        """Refuse the answer."""
        raise HeadTooLargeError(
            f"the head is larger than limits.header_bytes ({self.MAX_LENGTH:,} bytes)"
        )

    def switchToBodyMode(self, decoder: Any) -> None:
        """Collect the decoder's output, to be delivered once for each received piece."""
        self.deliver, self.pieces = decoder.dataCallback, []
        decoder.dataCallback = self.pieces.append
        super().switchToBodyMode(decoder)

    def rawDataReceived(self, data: bytes) -> None:
        """Add a part of the body, with any number of chunks."""
        super().rawDataReceived(data)
        self._deliver_pieces()

    def _deliver_pieces(self) -> None:
        if self.pieces:
            data = b"".join(self.pieces)
            self.pieces.clear()
            self.deliver(data)

    def connectionLost(self, reason: Any = None) -> None:
        """Note whether the connection broke or its closing ended the answer."""
        if self.bodyDecoder is not None and isinstance(reason, Failure):
            self.response.is_cut = not reason.check(ConnectionDone)
        super().connectionLost(reason)

    def _finished(self, remaining_data: bytes) -> None:
        """End the answer; a connection that closes soon or has more data is not reused."""
        if remaining_data or self.response.version[1:] < KEEP_ALIVE_VERSION:
            self.connHeaders.setRawHeaders(b"connection", [b"close"])
        if self.bodyDecoder is not None:
            self._deliver_pieces()
        super()._finished(remaining_data)


class HttpConnection(_LenientHTTP11ClientProtocol):
    """A connection whose answers carry the heads of answer and request."""

    transport: Any
    _parser: Any

    def __init__(self, limit: int, quiescent: Any) -> None:
        super().__init__(quiescent)
        self._limit = limit

    def request(self, request: Any) -> Deferred[Any]:
        """Send a request."""
        answer = super().request(request)
        self._parser.__class__ = BoundedResponseParser
        self._parser.MAX_LENGTH = self._limit
        return answer.addCallback(_described, request, self._parser)

    def _giveUp(self, reason: Failure) -> None:
        """End the connection; abort it if its data is invalid or belongs to no request."""
        if not reason.check(ConnectionDone):
            self.transport.abortConnection()
        super()._giveUp(reason)


class HttpConnectionFactory(_LenientHTTP11ClientFactory):
    """Creates connections with bounded heads."""

    def __init__(self, limit: int, quiescent: Any, metadata: str) -> None:
        super().__init__(quiescent, metadata)
        self._limit = limit

    def buildProtocol(self, addr: IAddress | None) -> HttpConnection:
        """Return a new connection."""
        return HttpConnection(self._limit, self._quiescentCallback)


class ProxyReachability:
    """Whether a proxy was reached, and has opened a tunnel if one is needed."""

    is_open = True

    def watch(self, connecting: Deferred[Any]) -> Deferred[Any]:
        """Watch a connection attempt."""
        self.is_open = False
        return connecting.addCallback(self._opened)

    def _opened(self, connection: Any) -> Any:
        self.is_open = True
        return connection


class WatchedEndpoint:
    """An endpoint whose connection attempts are watched."""

    def __init__(self, endpoint: Any, reach: ProxyReachability) -> None:
        self._endpoint = endpoint
        self._reach = reach

    def connect(self, protocolFactory: Any) -> Deferred[Any]:
        """Connect."""
        return self._reach.watch(self._endpoint.connect(protocolFactory))


class CheckedPool:
    """A pool for one request; a check runs before it hands out a connection."""

    def __init__(self, pool: Any, check: Callable[[], None]) -> None:
        self.persistent = pool.persistent
        self._pool = pool
        self._check = check

    def getConnection(self, key: Any, endpoint: Any) -> Deferred[Any]:
        """Return a connection for the request."""
        connected: Deferred[Any] = self._pool.getConnection(key, endpoint)
        return connected.addCallback(self._checked, key)

    def _checked(self, connection: Any, key: Any) -> Any:
        """Return the connection; if the check raises an error, put it back unused."""
        try:
            self._check()
        except BaseException:
            self._pool._putConnection(key, connection)
            raise
        return connection


class ProxyTunnel(_TunnelingTCP4ClientEndpoint):
    """A tunnel through a proxy; the guard resolves the proxy's address as any other."""

    _protocol: Any

    def connect(self, protocolFactory: Any) -> Deferred[Any]:
        """Connect to the proxy and request a tunnel."""
        self._protocolFactory = protocolFactory
        proxy = HostnameEndpoint(
            self._reactor, self._host, self._port, self._timeout, self._bindAddress
        )
        connected: Deferred[Any] = proxy.connect(protocolFactory)
        connected.addCallback(self.requestTunnel)
        connected.addErrback(self.connectFailed)
        return self._tunnelReadyDeferred

    def processProxyResponse(self, data: bytes) -> None:
        """Read the proxy's answer up to a maximum size."""
        if len(self._connectBuffer) + len(data) > MAX_HEAD_BYTES:
            self._protocol.transport.abortConnection()
            self._tunnelReadyDeferred.errback(TunnelError("the proxy's answer has no end"))
            return
        super().processProxyResponse(data)


class TunnelingAgent(_TunnelingAgent):
    """Connects to proxies through the guard."""

    _reactor: Any
    reach: ProxyReachability

    def _getEndpoint(self, uri: URI) -> Any:
        factory = self._endpointFactory
        tunnel = ProxyTunnel(
            self._reactor, uri.host, uri.port, self._proxyConf, self._contextFactory,
            factory._connectTimeout, factory._bindAddress,
        )  # fmt: skip
        return WatchedEndpoint(tunnel, self.reach)


class ProxyAgent(_ScrapyProxyAgent):
    """Watches whether a proxy was reached."""

    reach: ProxyReachability

    def _getEndpoint(self, uri: URI) -> WatchedEndpoint:
        return WatchedEndpoint(super()._getEndpoint(uri), self.reach)


def _described(answer: Any, request: Any, parser: BoundedResponseParser) -> Any:
    """Attach the heads of request and answer to an answer.

    Secrets in the request are blanked, because archives are shared.
    """
    sent: list[bytes] = []
    body = request.bodyProducer
    length = None if body is None else b"Content-Length: %d\r\n" % body.length
    request._writeHeaders(SimpleNamespace(writeSequence=sent.extend), length)
    answer.sent = redact_headers(b"".join(sent))
    answer.head = b"\n".join([*parser.lines, b""])
    return answer
