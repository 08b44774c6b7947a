from freshet.measure.dynamics.structure.block_moves import block_moves
from freshet.measure.dynamics.structure.dom_history import DomHistory
from tests.measure.dynamics.structure.trees import Tree, spelled, structure_of


def moved(structure: DomHistory) -> list[tuple[int, str, str]]:
    """Return every move as version, path before and path after, in order."""
    names = {number: path for path, number in spelled(structure).items()}
    moves = block_moves(structure)
    columns = (moves[name].tolist() for name in ("version", "before", "after"))
    return sorted((version, names[a], names[b]) for version, a, b in zip(*columns, strict=True))


def items(*texts: str) -> Tree:
    return {"/ul[0]": ""} | {f"/ul[0]/li[{at}]": text for at, text in enumerate(texts)}


def test_a_new_post_on_top_moves_all_below_it():
    structure = structure_of([items("b", "c"), items("a", "b", "c")])
    assert moved(structure) == [
        (1, "/ul[0]/li[0]", "/ul[0]/li[1]"),
        (1, "/ul[0]/li[1]", "/ul[0]/li[2]"),
    ]


def test_two_that_change_places_both_move():
    assert len(moved(structure_of([items("a", "b"), items("b", "a"), items("b", "a")]))) == 2


def test_new_content_at_a_place_has_not_moved():
    assert moved(structure_of([items("a", "b"), items("a", "c")])) == []


def test_content_that_was_away_has_not_moved():
    assert moved(structure_of([items("a", "b"), items("x"), items("b", "a")])) == []


def test_texts_that_stand_twice_cannot_be_followed():
    assert moved(structure_of([items("a", "a", "b"), items("b", "a", "a")])) == [
        (1, "/ul[0]/li[2]", "/ul[0]/li[0]")
    ]


def cards(*texts: str) -> Tree:
    listed = {f"/ul[0]/li[{at}]": "" for at in range(len(texts))}
    links = {f"/ul[0]/li[{at}]/a[0]": text for at, text in enumerate(texts)}
    return {"/ul[0]": ""} | dict(sorted((listed | links).items()))


def test_a_move_within_a_moved_block_is_reported_once():
    assert moved(structure_of([cards("a", "b"), cards("b", "a")])) == [
        (1, "/ul[0]/li[0]", "/ul[0]/li[1]"),
        (1, "/ul[0]/li[1]", "/ul[0]/li[0]"),
    ]


def test_content_under_another_parent_or_in_another_element_has_not_moved():
    before = {"/ul[0]": "", "/ul[0]/li[0]": "a", "/ol[0]": ""}
    assert moved(structure_of([before, {"/ul[0]": "", "/ol[0]": "", "/ol[0]/li[0]": "a"}])) == []
    assert moved(structure_of([before, {"/ul[0]": "", "/ul[0]/p[0]": "a"}])) == []
