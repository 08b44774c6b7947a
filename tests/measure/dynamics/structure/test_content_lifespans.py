import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.version_series import build_series
from freshet.measure.dynamics.structure.content_lifespans import path_lifespans
from freshet.measure.dynamics.structure.dom_history import look_timeline
from freshet.measure.dynamics.structure.element_history import ElementHistory, element_history
from tests.measure.dynamics.structure.trees import HOUR, Tree, dom_of, elements_of

Columns = tuple[float, ...]


def lives(history: ElementHistory, *columns: str) -> dict[str, Columns]:
    """Return columns of every path: lifespans in hours."""
    table = path_lifespans(history.elements, history.timeline)
    rows = zip(*(table[name].tolist() for name in ("full_path", *columns)), strict=True)
    return {history.spell_path(path): tuple(values) for path, *values in rows}


def hours(history: ElementHistory, column: str) -> dict[str, float]:
    return {path: value / HOUR for path, (value,) in lives(history, column).items()}


def test_a_text_lives_from_its_first_to_its_last_version():
    versions = [{"/a[0]": text, "/b[0]": "still"} for text in ("one", "one", "one", "two")]
    history = elements_of(versions)
    assert hours(history, "lifespan") == {"/a[0]": 1.0, "/b[0]": 3.0}
    assert lives(history, "changes", "texts") == {"/a[0]": (1, 2), "/b[0]": (0, 1)}


def test_the_papers_example_has_one_text_for_the_first_element_only_by_its_own_text():
    foo_bar = {"/a[0]": "foo", "/a[0]/b[0]": "bar"}
    foo_baz = {"/a[0]": "foo", "/a[0]/b[0]": "baz"}
    history = elements_of([foo_bar, foo_baz])
    assert lives(history, "texts") == {"/a[0]": (2,), "/a[0]/b[0]": (2,)}
    assert hours(history, "lifespan") == {"/a[0]": 0.0, "/a[0]/b[0]": 0.0}


def test_a_text_that_goes_and_comes_back_lives_through_its_absence():
    history = elements_of([{"/a[0]": "x"}, {}, {"/a[0]": "x"}, {"/a[0]": "x"}])
    assert hours(history, "lifespan") == {"/a[0]": 3.0}
    assert hours(history, "run_length") == {"/a[0]": 1.0}


def test_slots_that_rotate_among_a_few_texts_live_long_in_short_runs():
    history = elements_of([{"/a[0]": "xy"[turn % 2]} for turn in range(9)])
    assert hours(history, "lifespan") == {"/a[0]": 7.0}
    assert hours(history, "run_length") == {"/a[0]": 8 / 9}


def test_a_text_is_followed_when_something_is_inserted_above_it():
    def posts(*texts: str) -> Tree:
        return {f"/ul[0]/li[{place}]": text for place, text in enumerate(texts)}

    versions = [{"/ul[0]": ""} | posts(*"cba"[-size:]) for size in (1, 2, 3)]
    history = elements_of(versions)
    spans, page_spans = hours(history, "lifespan"), hours(history, "page_lifespan")
    assert spans["/ul[0]/li[0]"] == 0.0
    assert page_spans["/ul[0]/li[0]"] == (2 + 1 + 0) / 3
    assert np.isnan(page_spans["/ul[0]/li[2]"])


def test_a_text_is_followed_to_another_parent():
    before = {"/div[0]": "", "/div[0]/p[0]": "story", "/div[1]": "", "/div[1]/p[0]": "old"}
    after = {"/div[0]": "", "/div[0]/p[0]": "new", "/div[1]": "", "/div[1]/p[0]": "story"}
    spans = hours(elements_of([before, before, after, after]), "page_lifespan")
    assert spans["/div[0]/p[0]"] == (3 + 1) / 2
    assert spans["/div[1]/p[0]"] == 1


def test_time_of_which_nothing_is_known_is_in_the_lifespan_and_not_in_the_run():
    dom = dom_of({"/a[0]": "x"})
    series = build_series([0, HOUR, 1000 * HOUR, 1001 * HOUR], [0] * 4, [], [dom])
    history = element_history(series, look_timeline(series))
    assert hours(history, "lifespan") == {"/a[0]": 1001.0}
    assert hours(history, "run_length") == {"/a[0]": 6.0}


TREES = st.lists(
    st.dictionaries(st.sampled_from(["/a[0]", "/a[1]", "/b[0]"]), st.sampled_from("xyz")),
    min_size=1,
    max_size=8,
)


@given(TREES)
def test_lifespans_agree_with_the_papers_program(trees: list[Tree]):
    at_path: dict[tuple[str, str], list[int]] = {}
    on_page: dict[str, list[int]] = {}
    for version, tree in enumerate(trees):
        for path, text in tree.items():
            at_path.setdefault((path, text), []).append(version)
            on_page.setdefault(text, []).append(version)
    here: dict[str, list[int]] = {}
    entered: dict[str, list[int]] = {}
    for (path, text), versions in at_path.items():
        here.setdefault(path, []).append(versions[-1] - versions[0])
        if versions[0] == on_page[text][0]:
            entered.setdefault(path, []).append(on_page[text][-1] - on_page[text][0])
    history = elements_of(trees)
    assert hours(history, "lifespan") == {path: np.mean(spans) for path, spans in here.items()}
    page_lifespans = hours(history, "page_lifespan")
    known = {path: value for path, value in page_lifespans.items() if not np.isnan(value)}
    assert known == {path: np.mean(spans) for path, spans in entered.items()}


@given(TREES)
def test_runs_agree_with_following_each_path(trees: list[Tree]):
    expected = {}
    for path in {path for tree in trees for path in tree}:
        texts = [tree.get(path) for tree in trees]
        before = [None, *texts[:-1]]
        begun = [now not in (None, then) for now, then in zip(texts, before, strict=True)]
        known_hours = sum(text is not None for text in texts[:-1])
        expected[path] = (HOUR * known_hours / sum(begun), sum(begun) - 1)
    assert lives(elements_of(trees), "run_length", "changes") == expected


@given(TREES, st.randoms())
def test_lifespans_do_not_depend_on_the_order_of_storage(trees: list[Tree], chance):
    doms = [dom_of(tree) for tree in trees]
    order = list(range(len(trees)))
    chance.shuffle(order)
    stored = build_series(
        [HOUR * index for index in order], range(len(order)), [], [doms[index] for index in order]
    )
    history = element_history(stored, look_timeline(stored))
    assert hours(history, "lifespan") == hours(elements_of(trees), "lifespan")
