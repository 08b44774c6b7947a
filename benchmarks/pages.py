"""The pages that benchmarks read: real ones where FRESHET_DATA names a folder, else generated."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

WORDS_PER_BLOCK = 20

PageVersions = Sequence[str]


def load_pages(count: int, *, versions: int) -> list[PageVersions]:
    """Return pages, each as its first versions in HTML."""
    folder = os.environ.get("FRESHET_DATA")
    if not folder:
        return generate_pages(count, versions, np.random.default_rng(1))
    return read_pages(Path(folder), count, versions)


def read_pages(folder: Path, count: int, versions: int) -> list[PageVersions]:
    """Return the first versions of real pages, a seeded choice over all snapshot parts."""
    pages_read: list[PageVersions] = []
    for file in sorted((folder / "pages").glob("versions_ota_*_snap*.parquet")):
        rows = pl.scan_parquet(file).filter(pl.col("kind") == "html").select("page", "html")
        pages = rows.group_by("page", maintain_order=True).head(versions).collect()
        pages_read += [page["html"].to_list() for page in pages.partition_by("page")]
    complete_pages = [page for page in pages_read if len(page) == versions]
    order = np.random.default_rng(1).permutation(len(complete_pages))
    return [complete_pages[index] for index in order[:count]]


def generate_pages(count: int, versions: int, rng: np.random.Generator) -> list[PageVersions]:
    """Return pages of numbered words; in each version some forty words are new."""
    return [_versions([f"word{n}" for n in rng.integers(0, 1500, 4000)], versions)
            for _ in range(count)]  # fmt: skip


def _versions(words: list[str], versions: int) -> PageVersions:
    pages = []
    for number in range(versions):
        fresh = [f"fresh{number}x{n}" for n in range(2 * WORDS_PER_BLOCK)] if number else []
        start = number * 100
        pages.append(_page(words[:start] + fresh + words[start + len(fresh) :]))
    return pages


def _page(words: list[str]) -> str:
    lines = (words[at : at + WORDS_PER_BLOCK] for at in range(0, len(words), WORDS_PER_BLOCK))
    blocks = (
        f'<div class="block"><h2>{line[-1]}</h2><p class="text">{" ".join(line)} '
        f'<a class="more" href="/{line[0]}">more</a></p></div>'
        for line in lines
    )
    return f"<html><head><title>{words[0]}</title></head><body>{''.join(blocks)}</body></html>"
