"""The days of a scraping repository."""

import numpy as np

from freshet.backtest.day_grid import cells_of_all_days
from freshet.backtest.trace_formats.git_versions import GitVersions
from freshet.core.types import Outcome
from tests.record.record_samples import html, observe

A, B = "git:terms/a.html", "git:terms/b.html"


def drawn(versions: GitVersions) -> dict[str, str]:
    """Return each page's cells by its URL."""
    table = versions.build()
    trace_cells = cells_of_all_days(table, min_known_share=0.0)
    lines = np.where(trace_cells.unknown, "?", np.where(trace_cells.changed, "x", "."))
    return {
        table.urls[page]: "".join(line) for page, line in zip(trace_cells.pages, lines, strict=True)
    }


def test_a_run_that_left_a_page_as_it_was_found_it_unchanged() -> None:
    versions = GitVersions()
    for day in (0, 1, 2, 4, 5):
        versions.add(observe(day, html(f"{day}"), url=A))
    for day in (0, 4):
        versions.add(observe(day, html(f"{day}"), url=B))
    assert drawn(versions) == {A: "xx?xx", B: "..?x."}


def test_a_version_with_the_same_text_is_no_change() -> None:
    versions = GitVersions()
    for day, body in enumerate((html("one"), html("one").replace(b"<p>", b"<p id=2>"))):
        versions.add(observe(day, body, url=A))
    assert drawn(versions) == {A: "."}


def test_a_page_is_not_known_before_its_first_version_nor_while_it_is_gone() -> None:
    versions = GitVersions()
    for day in range(7):
        versions.add(observe(day, html(f"{day}"), url=A))
    versions.add(observe(1, html("one"), url=B))
    versions.add(observe(3, url=B, outcome=Outcome.GONE))
    versions.add(observe(5, html("one"), url=B))
    assert drawn(versions) == {A: "xxxxxx", B: "?.??x."}


def test_a_version_that_is_no_look_leaves_its_days_unknown() -> None:
    versions = GitVersions()
    for day in range(6):
        versions.add(observe(day, html(f"{day}"), url=A))
    versions.add(observe(0, html("one"), url=B))
    versions.add(observe(2, b"", url=B))
    versions.add(observe(4, html("one"), url=B))
    assert drawn(versions) == {A: "xxxxx", B: ".??.."}


def test_new_links_are_those_that_the_version_before_had_not() -> None:
    versions = GitVersions()
    for day, links in enumerate(("a", "ab", "bcd", "a")):
        versions.add(observe(day, html(f"{day}", *links), url="https://example.org/"))
    trace_cells = cells_of_all_days(versions.build())
    assert trace_cells.new_links is not None
    assert trace_cells.new_links.tolist() == [[1, 2, 1]]


def test_a_repository_without_pages_has_no_days() -> None:
    assert len(GitVersions().build()) == 0
