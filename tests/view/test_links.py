from freshet.core.types import INTERNAL, NOFOLLOW, SAME_HOST, SAME_SCHEME, LinkTable, Snapshot
from freshet.view.bounds import ViewLimits
from freshet.view.parse import parse_snapshot


def links(html: str, url: str = "http://x.org/dir/page") -> LinkTable:
    return parse_snapshot(Snapshot(url, html.encode())).links


def test_targets_are_distinct_and_in_document_order():
    assert links("<a href=b>1</a><area href=/a><a href=b#x>2</a>").urls == (
        "http://x.org/dir/b",
        "http://x.org/a",
    )


def test_the_page_itself_is_not_among_its_links():
    assert links("<a href='#top'>a</a><a href=''>b</a><a href=/dir/page>c</a>").urls == ()


def test_a_base_element_moves_relative_links():
    assert links("<base href=/other/><a href=b>x</a>").urls == ("http://x.org/other/b",)


def test_other_schemes_are_no_links():
    assert (
        links("<a href=mailto:a@x.org>m</a><a href=javascript:x()>j</a><a name=q>n</a>").urls == ()
    )


def test_link_elements_and_templates_hold_no_links():
    assert links("<link rel=next href=/n><template><a href=/t>t</a></template>").urls == ()


def test_anchors_are_on_one_line_and_capped():
    link_table = links(f"<a href=/a> one <div>two</div> </a><a href=/b>{'é' * 300}</a>")
    assert link_table.anchors == ("one two", "é" * ViewLimits().max_anchor_chars)


def test_the_first_anchor_of_a_target_is_kept():
    assert links("<a href=/a>first</a><a href=/a>second</a>").anchors == ("first",)


def test_rels_are_lower_case_and_nofollow_is_a_flag():
    link_table = links(
        "<a href=/a rel='NoFollow UGC'>a</a><a href=https://b.net/ rel=nofollowing>b</a>"
    )
    assert link_table.rels == ("nofollow ugc", "nofollowing")
    assert link_table.flags.tolist() == [INTERNAL | SAME_HOST | SAME_SCHEME | NOFOLLOW, 0]


def test_references_are_decoded_and_without_line_breaks():
    assert links("<a href='/a?b=1&amp;c=\n2&quot;'>x</a>").urls == ("http://x.org/a?b=1&c=2%22",)
