from freshet.core.types import DomRows, Snapshot
from freshet.view.dom import full_path, type_path
from freshet.view.parse import parse_snapshot
from freshet.view.text_hash import text_hash


def rows(html: str) -> DomRows:
    found = parse_snapshot(Snapshot("http://x.org/", html.encode()), dom=True).dom
    assert found is not None
    return found


def row_of(found: DomRows, name: str) -> int:
    return found.tag.tolist().index(found.names.index(name))


def test_the_papers_example_gives_its_two_rows():
    found = rows("<a>foo <b>bar</b></a>")
    a, b = row_of(found, "a"), row_of(found, "b")
    assert full_path(found, b) == "/html[0]/body[0]/a[0]/b[0]"
    assert type_path(found, b) == "(/html/body/a/b)[0]"
    assert found.node_hash[b] == found.subtree_hash[b] == text_hash("bar")
    assert full_path(found, a) == "/html[0]/body[0]/a[0]"
    assert found.node_hash[a] == text_hash("foo")
    assert found.subtree_hash[a] == text_hash("foo bar")


def test_the_papers_second_version_changes_only_the_inner_text():
    first, second = rows("<a>foo <b>bar</b></a>"), rows("<a>foo <b>baz</b></a>")
    a, b = row_of(first, "a"), row_of(first, "b")
    assert (first.full_path == second.full_path).all()
    assert first.node_hash[a] == second.node_hash[a]
    assert first.node_hash[b] != second.node_hash[b]
    assert first.subtree_hash[a] != second.subtree_hash[a]


def test_siblings_of_one_name_are_told_apart_by_their_place():
    found = rows("<p>a</p><div>b</div><p>c</p>")
    assert [full_path(found, row)[len("/html[0]") :] for row in range(3, len(found))] == [
        "/body[0]/p[0]", "/body[0]/div[0]", "/body[0]/p[1]",
    ]  # fmt: skip
    assert len(set(found.full_path.tolist())) == len(found)


def test_a_type_path_counts_over_the_whole_page():
    found = rows("<div><p>a</p></div><div><p>b</p></div>")
    second = len(found) - 1
    assert full_path(found, second) == "/html[0]/body[0]/div[1]/p[0]"
    assert type_path(found, second) == "(/html/body/div/p)[1]"


def test_own_text_is_joined_by_a_blank_and_beneath_it_read_as_it_stands():
    found = rows("<p>w<b>or</b>d</p>")
    p = row_of(found, "p")
    assert found.node_hash[p] == text_hash("w d")
    assert found.subtree_hash[p] == text_hash("word")


def test_what_is_in_a_template_has_no_rows():
    found = rows("<template><p>x</p></template><i>y</i>")
    assert "p" not in found.names
    assert "template" in found.names


def test_void_elements_have_rows_without_text():
    found = rows("<p>a<br>b<img src=x></p>")
    assert found.subtree_hash[row_of(found, "br")] == 0
    assert found.subtree_hash[row_of(found, "p")] == text_hash("a b")


def texts(html: str) -> dict[str, str]:
    """Return the text of the first element of each name, cut out of the page's text."""
    view = parse_snapshot(Snapshot("http://x.org/", html.encode()), dom=True)
    assert view.dom is not None
    written = view.text.encode()
    spans = zip(view.dom.tag, view.dom.start, view.dom.end, strict=True)
    found: dict[str, str] = {}
    for tag, start, end in spans:
        found.setdefault(view.dom.names[tag], written[start:end].decode())
    return found


def test_rows_say_where_their_text_stands() -> None:
    found = texts("<p>Zürich <b>grüßt</b> die</p><ul><li> Welt</li><li>x</li></ul><i></i><hr>")
    assert found["p"] == "Zürich grüßt die"
    assert found["b"] == "grüßt"
    assert found["li"] == "Welt"
    assert found["ul"] == "Welt\nx"
    assert found["body"] == "Zürich grüßt die\nWelt\nx"
    assert found["i"] == found["hr"] == found["head"] == ""


def test_the_text_of_a_row_is_what_its_hash_was_taken_of() -> None:
    html = "<div>a <p>b<i> c</i><script>no</script></p> d<br>e</div><p> </p><p>f"
    view = parse_snapshot(Snapshot("http://x.org/", html.encode()), dom=True)
    assert view.dom is not None
    rows = zip(view.dom.start, view.dom.end, view.dom.subtree_hash, strict=True)
    for start, end, hashed in rows:
        text = view.text.encode()[start:end].decode()
        assert (text_hash(" ".join(text.split())) if text else 0) == hashed
