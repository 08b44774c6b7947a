import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.types import Snapshot
from freshet.draw.page_heatmap import MAX_OPACITY, lifespan_titles, render_heatmap
from freshet.view.parse import parse_snapshot

URL = "http://x.org/news/"
PDF = Snapshot(URL, b"%PDF-1.7 \x00\x01", headers=(("Content-Type", "application/pdf"),))


class TagReader(HTMLParser):
    """Collects the tags, attributes and text of a document."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data


def snapshot(html: str) -> Snapshot:
    return Snapshot(URL, html.encode("utf-8", "replace"))


def rows_of(html: str) -> list[str]:
    dom = parse_snapshot(snapshot(html), dom=True).dom
    assert dom is not None
    return [dom.names[tag] for tag in dom.tag.tolist()]


def render(html: str, shade: float = 0.5) -> TagReader:
    """Return the page in a heatmap with the same shade for every row."""
    document = render_heatmap(snapshot(html), np.full(len(rows_of(html)), shade))
    return TagReader(document[document.index('<div class="freshet-page">') :])


def letters_of(text: str) -> str:
    """Return a text without white space."""
    return "".join(text.split())


def opacity(attributes: dict[str, str]) -> float:
    return float(attributes["style"].rpartition(",")[2].rstrip(")"))


def test_a_shorter_lifespan_has_a_stronger_colour():
    html = "<p>gone</p><p>stays</p><p>unknown</p>"
    names = rows_of(html)
    shades = np.full(len(names), np.nan)
    first = names.index("p")
    shades[first], shades[first + 1] = 0.0, 1.0
    titles = [""] * len(names)
    titles[first] = "stays 3 hours"
    page = TagReader(render_heatmap(snapshot(html), shades, titles))
    gone, stays, unknown = [attributes for tag, attributes in page.tags if tag == "p"]
    assert opacity(gone) == MAX_OPACITY
    assert gone["title"] == "stays 3 hours"
    assert opacity(stays) == 0
    assert unknown == {}


def test_colours_match_dom_rows_although_elements_are_omitted():
    html = (
        "<title>t</title><script>x</script><template><p>no</p></template><svg><g><text>s</text></g>"
        "</svg><iframe>f</iframe><img src=a><custom-x>c</custom-x><p id=wanted>here</p>"
    )
    names = rows_of(html)
    shades = np.full(len(names), np.nan)
    shades[names.index("p")] = 0.25
    page = TagReader(render_heatmap(snapshot(html), shades))
    assert [tag for tag, attributes in page.tags if "rgba" in attributes.get("style", "")] == ["p"]


def test_the_visible_text_of_the_page_is_kept():
    html = (
        "<h1>Rain &amp; &lt;sun&gt;</h1><form><button>Go</button><textarea>area</textarea></form>"
        "<noscript>plain</noscript><object>old</object><xmp><b>raw</b></xmp><math><mi>x</mi></math>"
    )
    assert letters_of(render(html).text) == letters_of(parse_snapshot(snapshot(html)).text)


def test_scripts_frames_handlers_and_pictures_are_gone():
    page = render(
        "<body onload=run()><script>steal()</script><style>p{}</style><link rel=stylesheet href=c>"
        "<iframe src=//e.org></iframe><object data=o></object><embed src=e><img src=//e.org/i.png>"
        "<meta http-equiv=refresh content=0><base href=//e.org><input value=1>"
        "<p onclick=run() style='background:url(//e.org)' class=c>text</p>"
    )
    assert {tag for tag, _ in page.tags} == {"div", "main", "span", "p"}
    names = {name for _, attributes in page.tags for name in attributes}
    assert names == {"style", "class"}
    assert "e.org" not in str(page.tags)
    assert "steal" not in page.text


@pytest.mark.parametrize(
    "href",
    [
        "javascript:run()",
        " java\tscript:run()",
        "JAVASCRIPT:run()",
        "data:text/html,x",
        "vbscript:x",
    ],
)
def test_script_links_are_removed(href: str):
    links = [attributes for tag, attributes in render(f'<a href="{href}">x</a>').tags if tag == "a"]
    assert "href" not in links[0]


def test_links_to_pages_are_written_in_full():
    links = [
        attributes for tag, attributes in render('<a href="../a?b&amp;c">x</a>').tags if tag == "a"
    ]
    assert links[0]["href"] == "http://x.org/a?b&c"


def test_the_first_tags_forbid_loading_anything():
    document = render_heatmap(snapshot("<p>x</p>"), np.full(4, 0.5))
    tags = [tag for tag, _ in TagReader(document).tags]
    policy = TagReader(document).tags[3][1]
    assert tags[:4] == ["html", "head", "meta", "meta"]
    assert policy["http-equiv"] == "Content-Security-Policy"
    assert policy["content"].startswith("default-src 'none';")
    assert not re.search(r"url\(|@import|src=", document)


def test_the_legend_explains_the_colours_and_names_the_page():
    document = render_heatmap(snapshot("<p>x</p>"), np.full(4, 0.5), caption="12 looks <since> May")
    assert "changes all the time" in document
    assert "12 looks &lt;since&gt; May" in document
    assert URL in document


def test_a_page_with_too_few_visits_has_a_note():
    document = render_heatmap(snapshot("<p>x</p>"), np.full(4, np.nan))
    assert "There are too few visits" in document
    assert "<p>x</p>" in document


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PDF, "not a web page (application/pdf)"),
        (Snapshot(URL, b'{"a": 1}'), "not a web page (json content)"),
        (Snapshot(URL, b""), "not a web page"),
    ],
)
def test_content_that_is_not_html_gives_a_message(content: Snapshot, message: str):
    assert message in render_heatmap(content, np.empty(0))


def test_a_page_without_text_gives_a_message():
    assert "has no text" in render_heatmap(snapshot("<html><img src=x>"), np.full(4, 0.5))


def test_numbers_of_another_version_are_refused():
    with pytest.raises(ValueError, match="3 shades for 4 elements"):
        render_heatmap(snapshot("<p>x</p>"), np.full(3, 0.5))
    with pytest.raises(ValueError, match="1 titles for 4 elements"):
        render_heatmap(snapshot("<p>x</p>"), np.full(4, 0.5), ["one"])


def test_shades_beyond_the_scale_count_as_its_ends():
    styles = [opacity(attributes) for tag, attributes in render("<p>x</p>", 7.0).tags if tag == "p"]
    assert styles == [0.0]


def luminance(colour: list[float]) -> float:
    """Return the relative luminance of a colour (WCAG 2)."""
    parts = [
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in colour
    ]
    return sum(
        weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
    )


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_is_readable_on_the_strongest_colour(scheme: int):
    document = render_heatmap(snapshot("<p>x</p>"), np.zeros(4))
    written = [re.findall(f"--{name}: #([0-9a-f]+);", document)[scheme] for name in ("back", "ink")]
    ratios = [
        colour if len(colour) == 6 else "".join(2 * digit for digit in colour) for colour in written
    ]
    back, ink = ([int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)] for colour in ratios)
    red = [int(value) / 255 for value in re.findall(r"rgba\((\d+),(\d+),(\d+)", document)[0]]
    tinted_back = [MAX_OPACITY * a + (1 - MAX_OPACITY) * b for a, b in zip(red, back, strict=True)]
    dark, bright = sorted((luminance(ink), luminance(tinted_back)))
    assert (bright + 0.05) / (dark + 0.05) >= 4.5


def test_titles_say_how_long_content_stays():
    lifespans = np.array([43_200.0, 43_200.0, 0.0, np.nan])
    titles = lifespan_titles(lifespans, lifespans, lifespans, np.arange(4) == 0)
    assert titles == [
        "unchanged at all looks, for 12 hours",
        "a text stays 12 hours here",
        "changes at every look",
        "",
    ]


def test_the_scale_says_what_its_ends_mean():
    html = render_heatmap(
        Snapshot("http://x.org/", b"<p>x</p>"), np.zeros(4), scale_ends=("stays 2 hours", "all <1>")
    )
    assert 'stays 2 hours<span class="freshet-scale"></span>all &lt;1&gt;' in html


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 20_000 + "deep",
        "<svg><style><g>x</g></style>" * 500,
        "<script><!--<script></script>--></script>" * 500 + "<p>x",
        "\0" * 1_000 + "<p>x",
        "<table>" + "x<tr>" * 1_000,
        "<div " + " ".join(f'a{number}="<script>"' for number in range(900)) + ">x",
        "<plaintext></plaintext><script>x",
    ],
    ids=range(7),
)
def test_odd_pages_are_written_like_any_other(html: str):
    page = render("<!doctype html>" + html)
    assert "script" not in {tag for tag, _ in page.tags}
    assert page.text.strip()


PIECES = st.sampled_from([
    "<p>", "</p>", "<b>", "</b>", "<svg>", "</svg>", "<style>", "</style>", "<script>", "</script>",
    "<a href='x'>", "<a href=javascript:x>", "</a>", "<table>", "<td onclick=x>", "<title>",
    "</title>", "<textarea>", "<noscript>", "</noscript>", "<math>", "<mi>", "<desc>", "<iframe>",
    "<img src=x onerror=y>", "<!--", "-->", "<xmp>", "</xmp>", "<template>", "</template>", "&lt;",
    "word", "'", '"', ">", "<", "&", "<frameset>", "<select>", "<option>", "<foreignobject>",
])  # fmt: skip
HARMLESS = {"style", "class", "href", "rel", "title", "open", "lang", "dir", "colspan", "rowspan"}


@given(st.lists(PIECES, max_size=20))
def test_tag_soup_never_fails_and_never_leaves_active_content(pieces: list[str]):
    html = "<!doctype html>" + "".join(pieces)
    page = render(html)
    assert not {"script", "style", "iframe", "img", "svg", "math"} & {tag for tag, _ in page.tags}
    assert {name for _, attributes in page.tags for name in attributes} <= HARMLESS
    assert not [
        attributes for _, attributes in page.tags if "javascript" in attributes.get("href", "")
    ]
    visible = letters_of(parse_snapshot(snapshot(html)).text)
    assert letters_of(page.text) == visible or not visible
