from freshet.core.types import DomRows, Snapshot
from freshet.view.dom import full_path, type_path
from freshet.view.parse import parse_snapshot
from freshet.view.text_hash import text_hash


def rows(html: str) -> DomRows:
    dom = parse_snapshot(Snapshot("http://x.org/", html.encode()), dom=True).dom
    assert dom is not None
    return dom


def row_of(dom: DomRows, name: str) -> int:
    return dom.tag.tolist().index(dom.names.index(name))


def test_the_papers_example_gives_its_two_rows():
    dom = rows("<a>foo <b>bar</b></a>")
    a, b = row_of(dom, "a"), row_of(dom, "b")
    assert full_path(dom, b) == "/html[0]/body[0]/a[0]/b[0]"
    assert type_path(dom, b) == "(/html/body/a/b)[0]"
    assert dom.node_hash[b] == dom.subtree_hash[b] == text_hash("bar")
    assert full_path(dom, a) == "/html[0]/body[0]/a[0]"
    assert dom.node_hash[a] == text_hash("foo")
    assert dom.subtree_hash[a] == text_hash("foo bar")


def test_the_papers_second_version_changes_only_the_inner_text():
    first, second = rows("<a>foo <b>bar</b></a>"), rows("<a>foo <b>baz</b></a>")
    a, b = row_of(first, "a"), row_of(first, "b")
    assert (first.full_path == second.full_path).all()
    assert first.node_hash[a] == second.node_hash[a]
    assert first.node_hash[b] != second.node_hash[b]
    assert first.subtree_hash[a] != second.subtree_hash[a]


def test_siblings_of_one_name_differ_in_their_index():
    dom = rows("<p>a</p><div>b</div><p>c</p>")
    assert [full_path(dom, row)[len("/html[0]") :] for row in range(3, len(dom))] == [
        "/body[0]/p[0]", "/body[0]/div[0]", "/body[0]/p[1]",
    ]  # fmt: skip
    assert len(set(dom.full_path.tolist())) == len(dom)


def test_a_type_path_counts_over_the_whole_page():
    dom = rows("<div><p>a</p></div><div><p>b</p></div>")
    second = len(dom) - 1
    assert full_path(dom, second) == "/html[0]/body[0]/div[1]/p[0]"
    assert type_path(dom, second) == "(/html/body/div/p)[1]"


def test_own_text_is_joined_by_blanks_and_subtree_text_is_not():
    dom = rows("<p>w<b>or</b>d</p>")
    p = row_of(dom, "p")
    assert dom.node_hash[p] == text_hash("w d")
    assert dom.subtree_hash[p] == text_hash("word")


def test_elements_in_a_template_have_no_rows():
    dom = rows("<template><p>x</p></template><i>y</i>")
    assert "p" not in dom.names
    assert "template" in dom.names


def test_void_elements_have_rows_without_text():
    dom = rows("<p>a<br>b<img src=x></p>")
    assert dom.subtree_hash[row_of(dom, "br")] == 0
    assert dom.subtree_hash[row_of(dom, "p")] == text_hash("a b")


def texts(html: str) -> dict[str, str]:
    """Return the text of the first element of each name, cut out of the page's text."""
    view = parse_snapshot(Snapshot("http://x.org/", html.encode()), dom=True)
    assert view.dom is not None
    written = view.text.encode()
    spans = zip(view.dom.tag, view.dom.start, view.dom.end, strict=True)
    text_by_name: dict[str, str] = {}
    for tag, start, end in spans:
        text_by_name.setdefault(view.dom.names[tag], written[start:end].decode())
    return text_by_name


def test_rows_have_the_range_of_their_text() -> None:
    text_by_name = texts(
        "<p>Zürich <b>grüßt</b> die</p><ul><li> Welt</li><li>x</li></ul><i></i><hr>"
    )
    assert text_by_name["p"] == "Zürich grüßt die"
    assert text_by_name["b"] == "grüßt"
    assert text_by_name["li"] == "Welt"
    assert text_by_name["ul"] == "Welt\nx"
    assert text_by_name["body"] == "Zürich grüßt die\nWelt\nx"
    assert text_by_name["i"] == text_by_name["hr"] == text_by_name["head"] == ""


def test_the_hash_of_a_row_is_that_of_its_text() -> None:
    html = "<div>a <p>b<i> c</i><script>no</script></p> d<br>e</div><p> </p><p>f"
    view = parse_snapshot(Snapshot("http://x.org/", html.encode()), dom=True)
    assert view.dom is not None
    rows = zip(view.dom.start, view.dom.end, view.dom.subtree_hash, strict=True)
    for start, end, hashed in rows:
        text = view.text.encode()[start:end].decode()
        assert (text_hash(" ".join(text.split())) if text else 0) == hashed
