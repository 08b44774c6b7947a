"""Content codings against Scrapy's sample bodies."""

import os
from pathlib import Path

import pytest

from freshet.view.content_coding import ContentTooLargeError, decode_content

DATA = Path(os.environ["FRESHET_DATA"]) / "conformance" / "compress"
LIMIT = 1 << 22
WHOLE, FOR_DEFLATE = 74_837, 74_840


@pytest.mark.parametrize(
    ("name", "codings", "size"),
    [
        ("html-br.bin", "br", WHOLE),
        ("html-gzip.bin", "gzip", WHOLE),
        ("html-gzip-deflate.bin", "gzip, deflate", WHOLE),
        ("html-gzip-deflate-gzip.bin", "gzip, deflate, gzip", WHOLE),
        ("html-rawdeflate.bin", "deflate", FOR_DEFLATE),
        ("html-zlibdeflate.bin", "deflate", FOR_DEFLATE),
        ("html-zstd-static-content-size.bin", "zstd", WHOLE),
        ("html-zstd-static-no-content-size.bin", "zstd", WHOLE),
        ("html-zstd-streaming-no-content-size.bin", "zstd", WHOLE),
        ("feed-sample1.xml.gz", "gzip", 9_950),
    ],
)
def test_complete_bodies_are_decoded(name: str, codings: str, size: int) -> None:
    assert len(decode_content((DATA / name).read_bytes(), codings, LIMIT)) == size


@pytest.mark.parametrize("codings", ["br", "gzip", "deflate", "zstd"])
def test_bombs_are_refused_and_whole_within_their_size(codings: str) -> None:
    bomb = (DATA / f"bomb-{codings}.bin").read_bytes()
    with pytest.raises(ContentTooLargeError):
        decode_content(bomb, codings, LIMIT)
    assert len(decode_content(bomb, codings, 11_511_612)) == 11_511_612


@pytest.mark.parametrize(
    "name", ["truncated-crc-error.gz", "truncated-crc-error-short.gz", "unexpected-eof.gz"]
)
def test_damaged_bodies_are_decoded_up_to_the_damage(name: str) -> None:
    assert decode_content((DATA / name).read_bytes(), "gzip", LIMIT)
