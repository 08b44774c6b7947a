import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.version_series import build_series
from freshet.measure.dynamics.structure.column_table import ColumnTable, sort_rows
from freshet.measure.dynamics.structure.content_runs import content_runs, path_lifespans
from freshet.measure.dynamics.structure.dom_history import DomHistory, dom_history, look_timeline
from tests.measure.dynamics.structure.trees import HOUR, Tree, dom_of, spelled, structure_of


def content_lifespans(structure: DomHistory, content: str = "subtree_hash") -> ColumnTable:
    return path_lifespans(content_runs(structure.rows, structure.timeline, content))


def lives(structure: DomHistory, content: str = "subtree_hash") -> dict[str, tuple[float, int]]:
    """Return the mean lifespan in hours and the changes of every path."""
    lifespans, names = content_lifespans(structure, content), spelled(structure)
    return {
        path: (float(lifespans["lifespan"][number] / HOUR), int(lifespans["changes"][number]))
        for path, number in names.items()
    }


def test_content_lives_until_other_content_takes_its_place():
    versions = [{"/a[0]": text, "/b[0]": "still"} for text in ("one", "one", "two", "three")]
    assert lives(structure_of(versions)) == {"/a[0]": (1.0, 2), "/b[0]": (3.0, 0)}


def test_slots_that_rotate_among_a_few_texts_are_not_still():
    lifespans = lives(structure_of([{"/a[0]": "xy"[turn % 2]} for turn in range(9)]))
    assert lifespans == {"/a[0]": (8 / 9, 8)}


def test_an_outer_element_changes_with_what_is_in_it_and_its_own_text_does_not():
    structure = structure_of([{"/a[0]": "foo", "/a[0]/b[0]": text} for text in ("bar", "baz")])
    assert [changes for _, changes in lives(structure).values()] == [1, 1]
    assert [changes for _, changes in lives(structure, "node_hash").values()] == [0, 1]


def test_content_that_goes_and_comes_back_begins_again():
    structure = structure_of([{"/a[0]": "x"}, {}, {"/a[0]": "x"}, {"/a[0]": "x"}])
    assert lives(structure) == {"/a[0]": (1.0, 1)}


def test_time_of_which_nothing_is_known_is_not_counted():
    dom = dom_of({"/a[0]": "x"})
    series = build_series([0, HOUR, 1000 * HOUR, 1001 * HOUR], [0] * 4, [], [dom])
    structure = dom_history(series, look_timeline(series))
    assert lives(structure) == {"/a[0]": (6.0, 0)}


TREES = st.lists(
    st.dictionaries(st.sampled_from(["/a[0]", "/a[1]", "/b[0]"]), st.sampled_from("xyz")),
    min_size=1,
    max_size=8,
)


@given(TREES)
def test_lifespans_agree_with_following_each_path(trees: list[Tree]):
    expected = {}
    for path in {path for tree in trees for path in tree}:
        texts = [tree.get(path) for tree in trees]
        before = [None, *texts[:-1]]
        begun = [now not in (None, then) for now, then in zip(texts, before, strict=True)]
        hours = sum(text is not None for text in texts[:-1])
        expected[path] = (hours / sum(begun), sum(begun) - 1)
    assert lives(_every_look_a_version(trees)) == expected


def _every_look_a_version(trees: list[Tree]) -> DomHistory:
    return structure_of([dict(sorted(tree.items())) for tree in trees])


@given(TREES)
def test_parts_of_a_page_measured_apart_give_the_whole(trees: list[Tree]):
    structure = structure_of(trees)
    odd = structure.rows["full_path"] % 2 == 1
    parts = [content_runs(structure.rows.take(rows), structure.timeline) for rows in (odd, ~odd)]
    joined = {name: np.concatenate([table[name] for table in parts]) for name in parts[0].columns}
    apart = sort_rows(path_lifespans(ColumnTable(joined)), "full_path")
    lifespans = content_lifespans(structure)
    assert all((apart[name] == lifespans[name]).all() for name in lifespans.columns)


@given(TREES, st.randoms())
def test_lifespans_do_not_depend_on_the_order_of_storage(trees: list[Tree], chance):
    doms = [dom_of(tree) for tree in trees]
    order = list(range(len(trees)))
    chance.shuffle(order)
    stored = build_series(
        [HOUR * index for index in order], range(len(order)), [], [doms[index] for index in order]
    )
    structure = dom_history(stored, look_timeline(stored))
    assert lives(structure) == lives(structure_of(trees))
    assert np.isfinite(content_lifespans(structure)["lifespan"]).all()
