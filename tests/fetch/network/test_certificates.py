"""TLS, directly and through a proxy's tunnel, past the guard and with the wire kept."""

import asyncio
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import pytest

from freshet.fetch.network.routes import VERIFY_KEY
from tests.fetch.authority import EXPIRED, Authority
from tests.fetch.fetcher import Result, fetch_all
from tests.fetch.relay import pump

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX-Safe: yes\r\n\r\nsecret"
NAME = "safe.example"


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


class Servers:
    """Servers with TLS and a proxy before the good one, in a thread."""

    def __init__(self, contexts: Mapping[str, ssl.SSLContext]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.servers = {
            name: self._run(asyncio.start_server(answer, "127.0.0.1", 0, ssl=context))
            for name, context in contexts.items()
        }
        self.ports = {name: port_of(server) for name, server in self.servers.items()}
        self.proxy, self.to_bad = Proxy(self.ports["good"]), Proxy(self.ports["self-signed"])
        self.front = self._run(asyncio.start_server(self.proxy, "127.0.0.1", 0))
        self.bad_front = self._run(asyncio.start_server(self.to_bad, "127.0.0.1", 0))

    def stop(self) -> None:
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        for server in (*self.servers.values(), self.front, self.bad_front):
            server.close()
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
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Return the authority that is trusted here."""
    return Authority.make(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def servers(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Serve for the whole module."""
    stranger = Authority.make(tmp_path_factory.mktemp("stranger"), "Stranger")
    servers = Servers({
        "good": authority.serve(NAME, "far.example"),
        "address": authority.serve("127.0.0.1"),
        "self-signed": authority.serve(NAME, self_signed=True),
        "expired": authority.serve(NAME, until=EXPIRED),
        "other name": authority.serve("other.example", "www.other.example"),
        "no name": authority.serve(),
        "stranger": stranger.serve(NAME),
    })
    yield servers
    servers.stop()


@pytest.fixture(scope="module")
def results(servers: Servers, authority: Authority) -> dict[str, Result]:
    """Return what a single crawl brought."""
    ports, front = servers.ports, port_of(servers.front)
    bad_front = port_of(servers.bad_front)
    proxy = {"proxy": f"http://gate.example:{front}"}
    bad_proxy = {"proxy": f"http://gate.example:{bad_front}"}
    requests: dict[str, Any] = {
        name: f"https://{NAME}:{port}/x" for name, port in ports.items() if name != "address"
    } | {
        "address": f"https://127.0.0.1:{ports['address']}/x",
        "name at an address": f"https://127.0.0.1:{ports['good']}/x",
        "dot": f"https://{NAME}.:{ports['good']}/x",
        "tunnel": {"url": "https://far.example/x", "meta": proxy},
        "tunnel to another": {"url": "https://far.example/x", "meta": bad_proxy},
        "waived": {"url": f"https://{NAME}:{ports['expired']}/y", "meta": {VERIFY_KEY: False}},
        "waived tunnel": {"url": "https://far.example/y", "meta": {**bad_proxy, VERIFY_KEY: False}},
    }
    names = {NAME: "127.0.0.1", f"{NAME}.": "127.0.0.1", "gate.example": "127.0.0.1"}
    allow = [f"127.0.0.1/32:{port}" for port in (*ports.values(), front, bad_front)]
    environment = authority.environment
    return fetch_all(requests, allow=allow, names=names, environment=environment)


@pytest.mark.parametrize("way", ["good", "address", "dot", "tunnel", "waived", "waived tunnel"])
def test_the_wire_is_kept_under_tls(results: dict[str, Result], way: str) -> None:
    head = ANSWER.removesuffix(b"secret").decode()
    assert (results[way].why, results[way].body, results[way].head) == ("", "secret", head)
    assert results[way].sent.startswith("GET /")


def test_a_tunnel_is_requested_by_name(servers: Servers, results: dict[str, Result]) -> None:
    assert results["tunnel"].peer == "127.0.0.1"
    assert servers.proxy.asked == ["CONNECT far.example:443 HTTP/1.1"]


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("self-signed", "its certificate is self-signed"),
        ("expired", "its certificate has expired since 2026-03-01"),
        (
            "other name",
            "its certificate is made out for other.example, www.other.example,"
            " not for safe.example",
        ),
        ("no name", "its certificate is made out for no host at all, not for safe.example"),
        (
            "name at an address",
            "its certificate is made out for safe.example, far.example, not for 127.0.0.1",
        ),
        (
            "stranger",
            "its certificate comes from an unknown authority, or the server left part of the"
            " chain out",
        ),
        ("tunnel to another", "its certificate is self-signed"),
    ],
)
def test_an_invalid_certificate_is_untrusted_and_the_problem_named(
    results: dict[str, Result], way: str, why: str
) -> None:
    assert (results[way].outcome, results[way].why) == ("untrusted", why)
    assert results[way].body == ""


def test_a_verified_page_does_not_use_an_unverified_connection(
    servers: Servers, authority: Authority
) -> None:
    url, front = f"https://{NAME}:{servers.ports['expired']}/", port_of(servers.front)
    found = fetch_all(
        {
            "waived": {"url": url, "meta": {VERIFY_KEY: False}},
            "then verified": url,
        },
        allow=[f"127.0.0.1/32:{port}" for port in (servers.ports["expired"], front)],
        names={NAME: "127.0.0.1"},
        environment=authority.environment,
        settings={"CONCURRENT_REQUESTS": 1},
    )
    assert {name: result.outcome for name, result in found.items()} == {
        "waived": "",
        "then verified": "untrusted",
    }


def test_the_waived_check_of_a_whole_crawl_is_a_setting_of_scrapy(servers: Servers) -> None:
    port = servers.ports["self-signed"]
    found = fetch_all(
        {"page": f"https://{NAME}:{port}/"},
        allow=[f"127.0.0.1/32:{port}"],
        names={NAME: "127.0.0.1"},
        settings={"DOWNLOAD_VERIFY_CERTIFICATES": False},
    )
    assert found["page"].body == "secret"
