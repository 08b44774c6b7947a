"""TLS, directly and through a proxy's tunnel, past the guard and with the wire kept."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.fetch.fetcher import Result, fetch_all

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX-Safe: yes\r\n\r\nsecret"
NAME = "safe.example"


def certificate(folder: Path) -> ssl.SSLContext:
    """Return a server's TLS with a certificate that it signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    start = datetime(2026, 1, 1, tzinfo=UTC)
    signed = (
        x509
        .CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=36_500))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "server.pem"
    file.write_bytes(private + signed.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await writer.drain()
        await reader.read()
    writer.close()


class Proxy:
    """Opens tunnels to one port, whatever it is asked for, and notes for what it was asked."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked: list[str] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.asked.append(head.split(b"\r\n")[0].decode())
        inner, outer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(b"HTTP/1.1 200 Open\r\n\r\n")
        await asyncio.gather(pump(reader, outer), pump(inner, writer))


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


class Servers:
    """A server with TLS and a proxy before it, in a thread."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.server = self._run(asyncio.start_server(answer, "127.0.0.1", 0, ssl=context))
        self.proxy = Proxy(port_of(self.server))
        self.front = self._run(asyncio.start_server(self.proxy, "127.0.0.1", 0))

    def stop(self) -> None:
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self.server.close()
        self.front.close()
        here = asyncio.current_task()
        talks = [task for task in asyncio.all_tasks() if task is not here]
        for talk in talks:
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)


def port_of(server: asyncio.Server) -> int:
    return int(server.sockets[0].getsockname()[1])


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Serve for the whole module."""
    servers = Servers(certificate(tmp_path_factory.mktemp("tls")))
    yield servers
    servers.stop()


@pytest.fixture(scope="module")
def results(servers: Servers) -> dict[str, Result]:
    """Return what a single crawl brought."""
    port, front = port_of(servers.server), port_of(servers.front)
    proxy = {"proxy": f"http://gate.example:{front}"}
    requests = {
        "direct": f"https://{NAME}:{port}/x",
        "tunnel": {"url": "https://far.example/x", "meta": proxy},
    }
    names = {NAME: "127.0.0.1", "gate.example": "127.0.0.1"}
    return fetch_all(requests, allow=[f"127.0.0.1/32:{port}", f"127.0.0.1/32:{front}"], names=names)


@pytest.mark.parametrize("way", ["direct", "tunnel"])
def test_the_wire_is_kept_under_tls(results: dict[str, Result], way: str) -> None:
    head = ANSWER.removesuffix(b"secret").decode()
    assert (results[way].why, results[way].body, results[way].head) == ("", "secret", head)
    assert results[way].sent.startswith("GET /x HTTP/1.1\r\n")


def test_a_tunnel_is_asked_for_by_name(servers: Servers, results: dict[str, Result]) -> None:
    assert results["tunnel"].peer == "127.0.0.1"
    assert servers.proxy.asked == ["CONNECT far.example:443 HTTP/1.1"]
