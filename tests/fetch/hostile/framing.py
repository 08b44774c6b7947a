"""Servers whose messages are not what HTTP says they must be."""

from freshet.core.types import Outcome
from tests.fetch.hostile.kinds import CALM, SECONDS, head, misbehaves, plain
from tests.fetch.servers import Exchange

CHUNKED = "Transfer-Encoding: chunked"
TLS_ALERT = b"\x15\x03\x03\x00\x02\x02\x0a"


@misbehaves(Outcome.UNREADABLE)
async def chunk_size_is_no_number(exchange: Exchange) -> None:
    """Sends a chunk whose size is a word."""
    await exchange.send(plain("four\r\nrain\r\n0\r\n\r\n", CHUNKED))


@misbehaves(Outcome.UNREADABLE)
async def chunk_size_is_negative(exchange: Exchange) -> None:
    """Sends a chunk of minus four bytes."""
    await exchange.send(plain("-4\r\nrain\r\n0\r\n\r\n", CHUNKED))


@misbehaves(Outcome.UNREADABLE)
async def chunk_is_longer_than_its_size(exchange: Exchange) -> None:
    """Sends more bytes in a chunk than its size says."""
    await exchange.send(plain("2\r\nrain\r\n0\r\n\r\n", CHUNKED))


@misbehaves(Outcome.UNREADABLE)
async def chunk_size_never_ends(exchange: Exchange) -> None:
    """Sends the size of a chunk as a megabyte of digits."""
    await exchange.send(plain(b"0" * 1_000_000 + b"4\r\nrain\r\n0\r\n\r\n", CHUNKED))


@misbehaves(Outcome.UNREADABLE)
async def last_chunk_is_missing(exchange: Exchange) -> None:
    """Closes the connection before the chunk that ends the body."""
    await exchange.send(plain("4\r\nrain\r\n", CHUNKED))


@misbehaves(Outcome.TIMEOUT, bound=SECONDS)
async def last_chunk_never_comes(exchange: Exchange) -> None:
    """Sends a chunk and then nothing more."""
    await exchange.send(plain("4\r\nrain\r\n", CHUNKED))
    await exchange.hang()


@misbehaves(Outcome.UNREADABLE)
async def length_is_too_long(exchange: Exchange) -> None:
    """Declares 1,000 bytes, sends fewer and closes."""
    await exchange.send(plain(CALM, "Content-Length: 1000"))


@misbehaves(Outcome.TIMEOUT, bound=SECONDS)
async def rest_of_the_length_never_comes(exchange: Exchange) -> None:
    """Declares 1,000 bytes, sends fewer and waits."""
    await exchange.send(plain(CALM, "Content-Length: 1000"))
    await exchange.hang()


@misbehaves(Outcome.OK)
async def length_is_too_short(exchange: Exchange) -> None:
    """Sends more bytes than it declares; the page ends where it was said to."""
    await exchange.send(plain(CALM + "beyond the end" * 1000, f"Content-Length: {len(CALM)}"))


@misbehaves(Outcome.UNREADABLE)
async def length_is_negative(exchange: Exchange) -> None:
    """Declares a length of minus one."""
    await exchange.send(plain(CALM, "Content-Length: -1"))


@misbehaves(Outcome.UNREADABLE)
async def length_is_no_number(exchange: Exchange) -> None:
    """Declares a length that is a word."""
    await exchange.send(plain(CALM, "Content-Length: many"))


@misbehaves(Outcome.UNREADABLE)
async def two_lengths(exchange: Exchange) -> None:
    """Declares two lengths that differ."""
    await exchange.send(plain(CALM, "Content-Length: 10", f"Content-Length: {len(CALM)}"))


@misbehaves(Outcome.UNREADABLE)
async def resets_inside_the_body(exchange: Exchange) -> None:
    """Resets the connection in the middle of the body."""
    await exchange.send(plain(CALM, "Content-Length: 1000"))
    exchange.reset()


@misbehaves(Outcome.UNREADABLE)
async def status_line_is_garbage(exchange: Exchange) -> None:
    """Answers with lines that are not HTTP."""
    await exchange.send(b"\x00\xff garbage \r\n\r\nand more of it\r\n\r\n")


@misbehaves(Outcome.UNREADABLE)
async def status_is_no_number(exchange: Exchange) -> None:
    """Answers with a status that is a word."""
    await exchange.send(b"HTTP/1.1 fine OK\r\nContent-Length: 0\r\n\r\n")


@misbehaves(Outcome.UNREADABLE)
async def speaks_http_0_9(exchange: Exchange) -> None:
    """Sends a page without a status line and without headers."""
    await exchange.send(CALM.encode())


@misbehaves(Outcome.UNREADABLE)
async def status_999(exchange: Exchange) -> None:
    """Answers with a status that no standard knows."""
    await exchange.answer(CALM, 999)


@misbehaves(Outcome.UNREADABLE)
async def switches_protocols(exchange: Exchange) -> None:
    """Answers 101 and speaks something else from there on."""
    await exchange.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\n\r\n\x81\x05hello")


@misbehaves(Outcome.EMPTY)
async def no_content_with_content(exchange: Exchange) -> None:
    """Answers 204 and sends a body all the same."""
    await exchange.answer(CALM, 204)


@misbehaves(Outcome.UNREADABLE)
async def header_without_a_colon(exchange: Exchange) -> None:
    """Sends header lines that are not headers."""
    await exchange.send(plain(CALM, "no colon here", ": no name", f"Content-Length: {len(CALM)}"))


@misbehaves(Outcome.OK)
async def bare_line_feeds(exchange: Exchange) -> None:
    """Ends its lines with line feeds alone."""
    await exchange.send(plain(CALM, f"Content-Length: {len(CALM)}").replace(b"\r\n", b"\n"))


@misbehaves(Outcome.OK)
async def length_and_chunks(exchange: Exchange) -> None:
    """Declares chunks and, against the standard, a length too; the chunks count."""
    chunk = f"{len(CALM):x}\r\n{CALM}\r\n0\r\n\r\n"
    await exchange.send(plain(chunk, CHUNKED, "Content-Length: 3"))


@misbehaves(Outcome.OK)
async def chunks_of_one_byte(exchange: Exchange) -> None:
    """Cuts a page of 20,000 bytes into chunks of one byte each."""
    page = CALM.encode().ljust(20_000)
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in page)
    await exchange.send(plain(chunks + b"0\r\n\r\n", CHUNKED))


@misbehaves(Outcome.UNREADABLE)
async def speaks_tls_on_a_plain_port(exchange: Exchange) -> None:
    """Answers a plain request as a TLS server does."""
    await exchange.send(TLS_ALERT)


@misbehaves(Outcome.UNREACHABLE, scheme="https")
async def speaks_plainly_on_a_tls_port(exchange: Exchange) -> None:
    """Answers a TLS handshake with a plain response."""
    await exchange.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


@misbehaves(Outcome.UNREACHABLE, bound=SECONDS, scheme="https")
async def never_shakes_hands(exchange: Exchange) -> None:
    """Takes a TLS handshake and says nothing."""
    await exchange.hang()


@misbehaves(Outcome.OK)
async def answers_before_and_after(exchange: Exchange) -> None:
    """Sends a second response that nobody asked for behind the first."""
    whole = plain(CALM, f"Content-Length: {len(CALM)}")
    await exchange.send(whole + head("X-Smuggled: yes", "Content-Length: 5") + b"other")
