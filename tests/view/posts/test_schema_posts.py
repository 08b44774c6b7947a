"""Posts in JSON-LD, microdata and RDFa."""

import json

from freshet.view.posts.page_nodes import read_nodes
from freshet.view.posts.schema_posts import json_ld_posts, microdata_posts
from freshet.view.posts.written_time import TimeContext

CONTEXT = TimeContext(2e9)
QUESTION = {
    "@context": "https://schema.org",
    "@graph": [
        {
            "@type": "QAPage",
            "mainEntity": {
                "@type": "Question",
                "name": "Which glue?",
                "text": "Which <b>glue</b> holds?",
                "dateCreated": "2020-01-01T00:00:00Z",
                "author": {"@type": "Person", "name": "Ann"},
                "acceptedAnswer": {
                    "@type": "Answer",
                    "text": "Epoxy.",
                    "datePublished": "2020-01-02T00:00:00Z",
                    "author": [{"name": "Bob"}],
                    "url": "http://x.example/a/2",
                    "comment": [
                        {"@type": "Comment", "text": "True.", "dateCreated": "2020-01-03"},
                        {"@type": "Comment", "text": "No time."},
                    ],
                },
            },
        },
        {"@type": "NewsArticle", "datePublished": "2020-01-01", "headline": "Other"},
    ],
}


def test_questions_answers_and_comments_are_posts() -> None:
    posts = json_ld_posts([json.dumps(QUESTION)])
    assert [(post.author, post.text) for post in posts] == [
        ("Ann", "Which glue holds?"),
        ("Bob", "Epoxy."),
        (None, "True."),
    ]
    assert posts[1].identity == "http://x.example/a/2"


def test_bad_and_repeated_documents_add_nothing() -> None:
    script = json.dumps(QUESTION)
    assert len(json_ld_posts([script, "{", "[" * 10_000, "null", script])) == 3


def test_properties_belong_to_the_nearest_item() -> None:
    nodes = read_nodes(
        '<div itemscope itemtype="https://schema.org/DiscussionForumPosting">'
        '<meta itemprop="datePublished" content="2020-01-01T00:00:00Z">'
        '<span itemprop="author" itemscope itemtype="https://schema.org/Person">'
        '<b itemprop="name">Ann</b></span><p itemprop="articleBody">Which glue?</p>'
        '<div itemprop="comment" itemscope itemtype="https://schema.org/Comment" id="c2">'
        '<span itemprop="creator">Bob</span><time itemprop="dateCreated" datetime="2020-01-02">'
        '</time><p itemprop="text">Epoxy.</p></div></div>'
    )
    posts = microdata_posts(nodes)
    assert [(post.author, post.text, post.identity) for post in posts] == [
        ("Ann", "Which glue?", ""),
        ("Bob", "Epoxy.", "#c2"),
    ]
    assert posts[0].written.moment(CONTEXT) == 1577836800.0


def test_rdfa_is_read_as_microdata() -> None:
    nodes = read_nodes(
        '<article typeof="schema:Comment"><span property="schema:author">Ann</span>'
        '<span property="schema:dateCreated" content="2020-01-01T00:00:00+00:00">x</span>'
        '<div property="schema:text">Hello there.</div></article>'
    )
    assert [(post.author, post.text) for post in microdata_posts(nodes)] == [
        ("Ann", "Hello there.")
    ]
