from freshet.measure.dynamics.structure.blocks import block_outline, blocks_of_outline
from freshet.measure.dynamics.structure.co_change import (
    CoChangingPaths,
    co_changing_blocks,
    co_changing_paths,
)
from freshet.measure.dynamics.structure.element_history import ElementHistory
from tests.measure.dynamics.structure.trees import HOUR, elements_of

STILL = "0000000000"


def together(structure: ElementHistory, least_changes: int = 2) -> tuple[CoChangingPaths, ...]:
    return co_changing_paths(structure.elements, structure.timeline, least_changes)


def groups(least_changes: int = 2, **texts: str) -> list[tuple[set[str], list[float]]]:
    """Return the groups of paths, for texts of one character a version; a dash is none."""
    versions = [
        {
            f"/{name}[0]": text
            for name, text in zip(texts, texts_at_look, strict=True)
            if text != "-"
        }
        for texts_at_look in zip(*texts.values(), strict=True)
    ]
    structure = elements_of(versions)
    names = [structure.spell_path(path)[1] for path in range(len(structure.paths))]
    groups_found = together(structure, least_changes)
    return [
        (
            {names[path] for path in texts_at_look.paths.tolist()},
            (texts_at_look.times / HOUR).tolist(),
        )
        for texts_at_look in groups_found
    ]


def test_paths_that_change_at_the_same_times_are_a_group():
    groups_found = groups(a="0011112222", b="xxyyyyzzzz", c="0000001111", d=STILL)
    assert groups_found == [({"a", "b"}, [2.0, 6.0])]


def test_the_largest_group_comes_first():
    groups_found = groups(
        a="0011112222", b="0011112222", c="0100000002", d="0100000002", e="0300000004"
    )
    assert [paths for paths, _ in groups_found] == [{"c", "d", "e"}, {"a", "b"}]


def test_paths_that_change_at_every_look_or_never_are_in_no_group():
    assert groups(a="0123456789", b="9876543210", c=STILL, d=STILL) == []


def test_one_change_of_the_whole_page_is_no_bond_by_default():
    assert groups(a="0000011111", b="xxxxxyyyyy") == []
    assert groups(1, a="0000011111", b="xxxxxyyyyy") == [({"a", "b"}, [5.0])]


def test_looks_that_show_the_same_count_as_looks():
    groups_found = groups(a="0000111222", b="0000111222")
    assert groups_found == [({"a", "b"}, [4.0, 7.0])]


def test_other_text_after_an_absence_is_no_change_that_was_seen():
    assert groups(a="000-112222", b="0000112222") == []
    assert groups(a="000011222-", b="0000112222") == [({"a", "b"}, [4.0, 6.0])]


def test_a_page_without_rows_has_no_groups():
    assert together(elements_of([])) == ()


def test_blocks_whose_text_is_in_what_they_hold_are_bound_too():
    versions = [
        {
            "/ul[0]": "",
            "/ul[0]/li[0]": "",
            "/ul[0]/li[0]/a[0]": first_text,
            "/p[0]": second_text,
            "/p[1]": "x",
        }
        for first_text, second_text in zip("0011112222", "aabbbbcccc", strict=True)
    ]
    groups_found = block_outline(elements_of(versions, {"ul", "li", "p"}))
    paths = [block.path for block in blocks_of_outline(groups_found)]
    [bound] = co_changing_blocks(groups_found)
    assert {paths[index] for index in bound.blocks} == {"/ul[0]/li[0]", "/p[0]"}
    assert (bound.times / HOUR).tolist() == [2.0, 6.0]
