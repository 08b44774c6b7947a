from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from freshet.analysis.figure_collector import FigureCollector
from freshet.core.types import Change, Page
from freshet.engine.result_cache import Columns
from freshet.measure.statistics.page_summary import look_table, summaries_to_columns, summarise_page
from tests.record.record_samples import NOW

LOOKS = look_table([(0.0, None), (86_400.0, Change(False))])


def page(number: int) -> Page:
    return Page(number, f"https://x.org/{number}", "", "x.org", "x.org", "x.org/", NOW)


def label(number: int) -> str:
    return "odd" if number % 2 else "even"


def batches(pages: int) -> Iterator[tuple[list[int], Columns]]:
    """Yield pages in batches, each with as many changes as its number says."""
    for first in range(1, pages + 1, 7):
        ids = list(range(first, min(first + 7, pages + 1)))
        summaries = [replace(summarise_page(LOOKS), changes=n, compared=2 * n) for n in ids]
        yield (
            ids,
            {
                **summaries_to_columns(summaries),
                "page": np.array(ids, np.int64),
                "look_row": np.repeat(np.arange(len(ids), dtype=np.int32), len(LOOKS)),
                "look_time": np.tile(LOOKS.times, len(ids)),
                "look_changed": np.tile(LOOKS.changed, len(ids)),
            },
        )


@given(st.integers(0, 30), st.integers(1, 12))
def test_beyond_a_number_of_pages_a_sample_is_held(pages: int, most: int) -> None:
    collector = FigureCollector(most)
    for ids, columns in batches(pages):
        collector.add_batch(columns, list(map(page, ids)), [(label(number),) for number in ids])
    figures = collector.figures()
    assert collector.page_count == len(collector.rates()) == pages
    assert len(figures) == len(figures.figures) <= most
    assert len(figures) == pages or pages > most
    assert (
        figures.figures.changes[figures.member_rows].tolist()
        == figures.ids[figures.member_rows].tolist()
    )
    names = list(collector.group_numbers)
    assert [names[code] for code in figures.member_groups] == [
        label(n) for n in figures.ids[figures.member_rows].tolist()
    ]


def test_rates_are_learned_and_given_in_hours() -> None:
    collector = FigureCollector()
    for ids, columns in batches(9):
        collector.add_batch(columns, list(map(page, ids)), [()] * len(ids))
    figures = collector.figures()
    np.testing.assert_allclose(figures.figures.expected_hours, 24 / collector.rates(), rtol=1e-5)
    assert len(figures.member_rows) == 0
