"""Content codings: complete, stacked, damaged and hostile."""

import gzip
import random
import tracemalloc
import zlib
from contextlib import suppress

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from freshet.view.content_coding import (
    ContentTooLargeError,
    UndecodableContentError,
    decode_content,
)

TEXT = b"Rain falls on the plain. " * 40
MB = 1 << 20


def raw_deflate(body: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(body) + stream.flush()


ENCODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


@pytest.mark.parametrize("name", ENCODERS)
@given(body=st.binary(max_size=2000))
def test_every_coding_is_decoded(name: str, body: bytes) -> None:
    assert decode_content(ENCODERS[name](body), name, MB) == body


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("piece", [b"0", b"Rain falls. "])
def test_a_highly_compressed_body_is_decoded_completely(name: str, piece: bytes) -> None:
    body = piece * 1_000_003
    assert decode_content(ENCODERS[name](body), name, 16 * MB) == body


def test_raw_deflate_is_decoded() -> None:
    assert decode_content(raw_deflate(TEXT), "deflate", MB) == TEXT


@pytest.mark.parametrize("name", ["", "identity", "none", " , "])
def test_no_coding_leaves_the_body(name: str) -> None:
    assert decode_content(TEXT, name, MB) == TEXT


def test_several_codings_are_decoded_from_the_last() -> None:
    body = zstd.compress(brotli.compress(gzip.compress(TEXT)))
    assert decode_content(body, "GZIP, br,zstd", MB) == TEXT


def test_gzip_members_in_a_row_are_one_body() -> None:
    assert decode_content(gzip.compress(b"a") + gzip.compress(b"b"), "gzip", MB) == b"ab"


@pytest.mark.parametrize("name", ENCODERS)
def test_a_bomb_is_refused_without_being_unpacked(name: str) -> None:
    bomb = ENCODERS[name](bytes(32 * MB))
    tracemalloc.start()
    with pytest.raises(ContentTooLargeError, match="more than 1,048,576 bytes"):
        decode_content(bomb, name, MB)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * MB


def test_a_body_without_coding_is_bound_too() -> None:
    with pytest.raises(ContentTooLargeError):
        decode_content(TEXT, "", 10)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_truncated_stream_is_decoded_up_to_its_end(name: str) -> None:
    body = random.Random(7).randbytes(400_000)
    encoded = ENCODERS[name](body)
    decoded = decode_content(encoded[: len(encoded) * 2 // 3], name, MB)
    assert 0 < len(decoded) < len(body)
    assert body.startswith(decoded)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_stream_cut_before_its_first_byte_is_undecodable(name: str) -> None:
    with pytest.raises(UndecodableContentError):
        decode_content(ENCODERS[name](TEXT)[:3], name, MB)


def test_a_wrong_checksum_costs_at_most_the_end() -> None:
    encoded = gzip.compress(TEXT)
    decoded = decode_content(encoded[:-8] + b"12345678", "gzip", MB)
    assert len(decoded) > len(TEXT) - 100
    assert TEXT.startswith(decoded)


@pytest.mark.parametrize("name", [*ENCODERS, "compress", "gzip," * 9 + "gzip"])
def test_a_body_without_its_declared_coding_is_undecodable(name: str) -> None:
    with pytest.raises(UndecodableContentError, match="keep the body"):
        decode_content(b"<html>plain text</html>", name, MB)


@pytest.mark.parametrize("name", ENCODERS)
@given(body=st.binary(max_size=200))
def test_arbitrary_bytes_are_decoded_or_refused(name: str, body: bytes) -> None:
    with suppress(UndecodableContentError, ContentTooLargeError):
        assert len(decode_content(body, name, 1000)) <= 1000
