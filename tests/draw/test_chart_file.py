"""Charts as files."""

import json
import re
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from freshet.core.errors import UsageError
from freshet.core.types import Change
from freshet.draw.chart_file import render_chart, save_chart
from freshet.draw.png import SIGNATURE, recompress
from freshet.draw.scatter import page_changes_scatter, page_means_scatter
from freshet.draw.theme import Chart
from freshet.measure.statistics.page_summary import look_table

HOSTILE = 'https://example.org/</script><script>alert("<b>")</script>'


@pytest.fixture(scope="module")
def chart() -> Chart:
    looks = [(0.0, None), (3600.0, Change(changed=True, dice=0.5))]
    return page_changes_scatter(look_table(looks), page=HOSTILE)


@pytest.fixture(scope="module")
def page(chart: Chart) -> str:
    return render_chart(chart, "html").decode()


def pixels(png: bytes) -> bytes:
    """Return the unpacked image of a PNG file."""
    offset, body = len(SIGNATURE), b""
    while offset < len(png):
        length, kind = struct.unpack_from(">I4s", png, offset)
        body += png[offset + 8 : offset + 8 + length] if kind == b"IDAT" else b""
        offset += 12 + length
    return zlib.decompress(body)


def test_a_file_is_what_its_name_ends_with(chart: Chart, tmp_path: Path) -> None:
    for kind, begins in (("png", SIGNATURE), ("svg", b"<svg"), ("json", b"{")):
        path = tmp_path / f"picture.{kind}"
        save_chart(chart, path)
        assert path.read_bytes().startswith(begins)


def test_an_unknown_file_format_is_refused(chart: Chart, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"picture.gif is no chart format; end the name with .png"):
        save_chart(chart, tmp_path / "picture.gif")
    assert not list(tmp_path.iterdir())


def test_packing_keeps_every_pixel(chart: Chart) -> None:
    png = render_chart(chart, "png")
    loose = packed_loosely(png)
    assert pixels(recompress(loose)) == pixels(loose) == pixels(png)
    assert len(png) < len(loose)
    width, height = struct.unpack_from(">II", png, len(SIGNATURE) + 8)
    assert len(pixels(png)) == height * (1 + 4 * width)


def packed_loosely(png: bytes) -> bytes:
    """Return a PNG file whose image is not packed at all, in two chunks."""
    body = zlib.compress(pixels(png), 0)
    head = png[: len(SIGNATURE) + 25]
    halves = (body[: len(body) // 2], body[len(body) // 2 :])
    chunks = [(b"IDAT", half) for half in halves]
    return head + b"".join(
        struct.pack(">I", len(half)) + kind + half + struct.pack(">I", zlib.crc32(kind + half))
        for kind, half in [*chunks, (b"IEND", b"")]
    )


def test_a_page_loads_nothing_from_elsewhere(page: str) -> None:
    assert "default-src 'none'" in page
    assert not re.findall(r"<script[^>]+src|<link|<iframe|@import", page)
    ours = page.rpartition("vegaEmbed(")[2]
    assert set(re.findall(r"https?://[^\s\"\\]+", ours)) == {"https://example.org/"}


def test_a_page_cannot_be_broken_by_what_it_shows(page: str) -> None:
    assert "alert(" not in page.partition("</title>")[0].partition("&lt;/script&gt;")[0]
    assert page.count("</script>") == 2
    assert "<script>alert" not in page
    assert "\\u003c/script\\u003e" in page


def test_the_json_holds_the_data(chart: Chart) -> None:
    specification = json.loads(render_chart(chart, "json"))
    assert specification["datasets"]
    assert specification["description"].startswith("Half of the changes")


def test_charts_of_the_same_data_are_the_same_bytes() -> None:
    hours, dice = np.array([2.0]), np.array([0.5])
    first, second = (page_means_scatter(hours, dice) for _ in range(2))
    assert render_chart(first, "svg") == render_chart(second, "svg")
