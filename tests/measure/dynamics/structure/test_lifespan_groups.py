from freshet.measure.dynamics.structure.blocks import block_outline
from freshet.measure.dynamics.structure.lifespan_groups import similar_lifespans
from tests.measure.dynamics.structure.trees import HOUR, elements_of


def groups(*texts: str) -> list[tuple[tuple[int, ...], float, float]]:
    """Return the groups of blocks, for texts of one character a version."""
    versions = [
        {f"/p[{place}]": text for place, text in enumerate(texts_at_look)}
        for texts_at_look in zip(*texts, strict=True)
    ]
    found = similar_lifespans(block_outline(elements_of(versions, {"p"})))
    return [(group.blocks, group.shortest / HOUR, group.longest / HOUR) for group in found]


def test_places_of_similar_lifespan_are_a_group_though_they_change_at_other_times():
    assert groups("000011112222", "333344445555", "aaaabbbbcccc"[::-1], "001122334455") == [
        ((0, 1, 2), 3.0, 3.0)
    ]
    assert groups("000001111122", "333334444445") == [((0, 1), 3.0, 3.0)]


def test_lifespans_within_a_factor_are_similar():
    assert groups("000000111111", "000000011111", "010203040506") == [((0, 1), 5.0, 5.0)]
    assert groups("00001111", "00000001", "01234567", "76543210") == [
        ((2, 3), 0.0, 0.0),
        ((0, 1), 3.0, 3.0),
    ]


def test_a_block_alone_and_blocks_that_never_change_are_in_no_group():
    assert groups("00000000", "11111111", "01234567") == []
