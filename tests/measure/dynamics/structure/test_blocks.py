import numpy as np
import pytest

from freshet.measure.dynamics.structure.blocks import (
    BlockBehaviour,
    DomBlock,
    block_contents,
    block_outline,
    blocks_of_outline,
    lifespan_shades,
    rows_of_blocks,
)
from freshet.measure.dynamics.structure.dom_history import look_timeline
from freshet.measure.dynamics.structure.element_history import ElementHistory, element_history
from tests.measure.dynamics.structure.test_dom_history import deep_series
from tests.measure.dynamics.structure.trees import HOUR, Tree, dom_of, elements_of, spell, text_hash

NAMES = frozenset({"html", "body", "div", "p", "ul", "li"})


def structure_of(versions: list[Tree | None]) -> ElementHistory:
    return elements_of(versions, NAMES)


def found(structure: ElementHistory) -> dict[str, DomBlock]:
    return {block.path: block for block in blocks_of_outline(block_outline(structure))}


def page(news: str = "news", clock: str = "12:00", posts: tuple[str, ...] = ("a", "b")) -> Tree:
    top = {"/body[0]": "", "/body[0]/div[0]": "", "/body[0]/div[0]/p[0]": "read"}
    inline = {"/body[0]/div[0]/p[0]/b[0]": news, "/body[0]/p[0]": clock, "/body[0]/ul[0]": ""}
    listed = {f"/body[0]/ul[0]/li[{at}]": "" for at in range(len(posts))}
    links = {f"/body[0]/ul[0]/li[{at}]/a[0]": text for at, text in enumerate(posts)}
    return top | inline | dict(sorted((listed | links).items()))


def test_the_blocks_are_the_smallest_that_hold_text_in_document_order():
    assert list(found(structure_of([page(), page(clock="12:01")]))) == [
        "/body[0]/div[0]/p[0]", "/body[0]/p[0]", "/body[0]/ul[0]/li[0]", "/body[0]/ul[0]/li[1]",
    ]  # fmt: skip


def test_a_block_says_how_long_its_content_stays_and_when_it_changed():
    versions = [page(), page(news="more"), page(news="more"), page(news="last")]
    block = found(structure_of(versions))["/body[0]/div[0]/p[0]"]
    assert block.lifespan == HOUR / 3
    assert block.run_length == HOUR
    assert block.changes == 2
    assert block.last_change == 3 * HOUR
    assert block.presence == 1.0


@pytest.mark.parametrize(
    ("clocks", "habit"),
    [
        ("0000000000", BlockBehaviour.STAYS),
        ("0123456789", BlockBehaviour.ALWAYS),
        ("0112233344", BlockBehaviour.OFTEN),
        ("0000001111", BlockBehaviour.CHANGES),
    ],
)
def test_a_block_has_a_habit(clocks: str, habit: BlockBehaviour):
    versions = [page(clock=clock, news=str(look)) for look, clock in enumerate(clocks)]
    assert found(structure_of(versions))["/body[0]/p[0]"].behaviour == habit


def test_a_list_whose_items_move_down_moves_and_its_top_changes():
    posts = [tuple("zyxwvu"[-look - 3 : 6 - look]) for look in range(4)]
    listed = found(structure_of([page(posts=post) for post in posts]))
    assert listed["/body[0]/ul[0]/li[1]"].behaviour == BlockBehaviour.MOVES
    assert listed["/body[0]/ul[0]/li[1]"].moves == 3
    assert listed["/body[0]/ul[0]/li[0]"].behaviour == BlockBehaviour.ALWAYS


def test_a_block_with_blocks_inside_counts_only_with_its_own_text():
    versions = [{"/body[0]": "stray", "/body[0]/p[0]": str(look)} for look in range(5)]
    listed = found(structure_of(versions))
    assert listed["/body[0]"].behaviour == BlockBehaviour.STAYS
    assert listed["/body[0]/p[0]"].behaviour == BlockBehaviour.ALWAYS


def test_inline_text_of_an_outer_block_is_its_own():
    versions = [
        {"/body[0]": "", "/body[0]/b[0]": str(look), "/body[0]/p[0]": "still"} for look in range(5)
    ]
    assert found(structure_of(versions))["/body[0]"].changes == 4


def test_a_block_that_was_there_for_some_of_the_looks_says_so():
    versions = [page(posts=("a",)), page(), page(posts=("a",)), page(posts=("a",))]
    block = found(structure_of(versions))["/body[0]/ul[0]/li[1]"]
    assert (block.presence, block.changes, block.is_constant) == (0.25, 0, False)


def test_samples_are_requested_by_the_hash_of_the_path():
    structure = structure_of([page(), page(clock="12:01")])
    listed = blocks_of_outline(block_outline(structure), str)
    assert [block.sample for block in listed] == [str(text_hash(block.path)) for block in listed]


def test_a_masthead_that_never_changes_stays_for_all_looks():
    versions = [page(clock=str(look)) for look in range(23)]
    block = found(structure_of(versions))["/body[0]/div[0]/p[0]"]
    assert block.is_constant
    assert block.lifespan == block.page_lifespan == 22 * HOUR


def test_a_post_that_moves_down_stays_on_the_page_longer_than_in_its_place():
    posts = [tuple("zyxwvu"[-look - 3 : 6 - look]) for look in range(4)]
    listed = found(structure_of([page(posts=post) for post in posts]))
    top, second = listed["/body[0]/ul[0]/li[0]"], listed["/body[0]/ul[0]/li[1]"]
    assert (top.lifespan, top.texts) == (0, 4)
    assert top.page_lifespan == (2 + 2 + 1 + 0) / 4 * HOUR
    assert second.page_lifespan == HOUR


def test_blocks_beyond_the_bound_are_left_out_and_counted():
    structure = structure_of([page(), page(posts=("a",)), page(posts=("a",))])
    outline = block_outline(structure, 3)
    assert outline.left_out == 1
    assert "/body[0]/ul[0]/li[1]" not in [block.path for block in blocks_of_outline(outline)]


def test_the_stays_of_blocks_are_their_contents_one_after_the_other():
    versions = [page(), page(clock="12:01"), page(clock="12:02")]
    stays = block_contents(block_outline(structure_of(versions)))
    clock = stays.block == 1
    assert (stays.start[clock] / HOUR).tolist() == [0, 1, 2]
    assert (stays.end[clock] / HOUR).tolist() == [1, 2, 2]
    assert stays.ended[clock].tolist() == [1, 1, 0]
    assert stays.ended[~clock].tolist() == [0, 0, 0]


def test_rows_of_a_version_get_the_lifespan_of_their_blocks_and_others_none():
    structure = structure_of([page(), page(clock="12:01"), page(clock="12:02")])
    outlined = block_outline(structure)
    other_dom = dom_of(page() | {"/body[0]/p[1]": "never seen"})
    rows = rows_of_blocks(outlined, other_dom)
    known_lifespans = {
        spell(other_dom, row): outlined.table["lifespan"][rows[row]] / HOUR
        for row in np.flatnonzero(rows >= 0)
    }
    assert known_lifespans == {
        "/body[0]/div[0]/p[0]": 2.0,
        "/body[0]/p[0]": 0.0,
        "/body[0]/ul[0]/li[0]": 2.0,
        "/body[0]/ul[0]/li[1]": 2.0,
    }


def test_shades_run_from_what_is_gone_at_once_to_what_stays_through():
    structure = structure_of([page(), page(clock="12:01"), page(clock="12:02")])
    assert lifespan_shades(np.array([0.0, 2 * HOUR, np.nan]), structure)[:2].tolist() == [0.0, 1.0]
    assert lifespan_shades(np.array([HOUR, 2 * HOUR]), structure).tolist() == [0.0, 1.0]
    assert lifespan_shades(np.array([2 * HOUR, np.nan]), structure)[:1].tolist() == [1.0]
    once = structure_of([page()])
    assert np.isnan(lifespan_shades(np.zeros(2), once)).all()


def test_a_page_without_rows_has_no_blocks():
    assert found(structure_of([])) == {}
    assert len(block_contents(block_outline(structure_of([None]))).block) == 0
    assert (rows_of_blocks(block_outline(structure_of([])), dom_of(page())) == -1).all()


def test_a_text_nested_a_hundred_thousand_deep_is_one_block():
    series = deep_series()
    listed = block_outline(element_history(series, look_timeline(series), frozenset({"div"})))
    assert len(listed) == 1
    assert listed.table["changes"].tolist() == [2]
