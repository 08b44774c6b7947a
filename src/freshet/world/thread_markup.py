"""Posts as HTML, in the ways that forums write them; the words of a post are the same in most.

A markup takes posts and the moment of the visit. ``WEB_MARKUPS`` show the same words in the same
order, so that they can stand for each other; the others write times in their own way.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from freshet.core.clock import from_epoch
from freshet.core.content.posts import Post

ThreadMarkup = Callable[[Sequence[Post], float], str]

_MINUTE, _HOUR, _DAY = 60.0, 3_600.0, 86_400.0


def printed_time(time: float) -> str:
    """Return a time as the pages of the simulated web print it."""
    return f"{from_epoch(time):%d %B %Y, %H:%M}"


def microdata(posts: Sequence[Post], _visited: float) -> str:
    """Return posts described with schema.org's microdata."""
    return "".join(
        '<article class="entry" itemprop="comment" itemscope itemtype="https://schema.org/Comment" '
        f'id="{post.identity}"><span itemprop="author" itemscope '
        f'itemtype="https://schema.org/Person"><span itemprop="name">{post.author}</span></span>, '
        f'<meta itemprop="datePublished" content="{_iso(post.time)}">{printed_time(post.time)}: '
        f'<span itemprop="text">{post.text}</span></article>\n'
        for post in posts
    )


def time_elements(posts: Sequence[Post], _visited: float) -> str:
    """Return posts with ``time`` elements."""
    return "".join(
        f'<li class="reply" id="{post.identity}"><a class="username" href="/u/{post.author}">'
        f'{post.author}</a>, <time datetime="{_iso(post.time)}">{printed_time(post.time)}</time>: '
        f'<div class="body">{post.text}</div></li>\n'
        for post in posts
    )


def table_rows(posts: Sequence[Post], _visited: float) -> str:
    """Return posts as rows of a table without class names, with times as plain text."""
    rows = "".join(
        f"<tr><td>{post.author}, <br>{printed_time(post.time)}: </td><td>{post.text}</td></tr>\n"
        for post in posts
    )
    return f"<table><tbody>\n{rows}</tbody></table>\n"


def definition_list(posts: Sequence[Post], _visited: float) -> str:
    """Return posts as terms and descriptions, which are siblings of each other."""
    rows = "".join(
        f"<dt><b>{post.author}</b>, {printed_time(post.time)}: </dt><dd>{post.text}</dd>\n"
        for post in posts
    )
    return f"<dl>\n{rows}</dl>\n"


def relative_ages(posts: Sequence[Post], visited: float) -> str:
    """Return posts with their age at the visit, such as "3 hours ago"."""
    return "".join(
        f'<div class="comment" id="{post.identity}"><a href="/user/{post.author}">{post.author}</a>'
        f' <span class="age">{printed_age(visited - post.time)}</span><p>{post.text}</p></div>\n'
        for post in posts
    )


def numeric_dates(posts: Sequence[Post], _visited: float) -> str:
    """Return a table for each post, with numeric dates and a 12-hour clock."""
    return "".join(
        f'<table class="board" id="{post.identity}"><tr><td class="head">'
        f"{from_epoch(post.time):%m-%d-%Y, %I:%M %p}</td><td>#{number}</td></tr><tr><td>"
        f'<a class="bigname" href="member.php?u={post.author}">{post.author}</a><div>Posts: '
        f"{7 * len(post.text)}</div></td><td><div>{post.text}</div><a href='reply.php'>Quote</a>"
        "</td></tr></table>\n"
        for number, post in enumerate(posts, 1)
    )


def nested_comments(posts: Sequence[Post], _visited: float) -> str:
    """Return comments of which every third answers the one before, with epoch attributes."""
    parts = []
    for number, post in enumerate(posts):
        comment = (
            f'<div class="node" data-comment-id="{post.identity}"><p class="tagline">'
            f'<a class="author" href="/user/{post.author}">{post.author}</a> '
            f'<span data-timestamp="{post.time:.0f}">{from_epoch(post.time):%b %d}</span></p>'
            f'<div class="md"><p>{post.text}</p></div><ul><li>permalink</li><li>reply</li></ul>'
        )
        is_parent = number % 3 == 0 and number + 1 < len(posts)
        is_child = number % 3 == 1
        parts.append(comment + ('<div class="child">' if is_parent else "</div>"))
        parts.append("</div></div>\n" if is_child else "")
    return "".join(parts)


def mail_lines(posts: Sequence[Post], _visited: float) -> str:
    """Return posts as messages of a mail archive, in preformatted text."""
    return "".join(
        f"<pre>From: {post.author} @ {from_epoch(post.time):%Y-%m-%d %H:%M} UTC "
        f'(<a href="{post.identity}/">permalink</a>)\n\n{post.text}\n</pre><hr>\n'
        for post in posts
    )


def printed_age(age: float) -> str:
    """Return an age in the largest unit, rounded down.

    >>> printed_age(7300.0), printed_age(30.0)
    ('2 hours ago', 'just now')
    """
    for unit, name in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if age >= unit:
            count = int(age // unit)
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"


def _iso(time: float) -> str:
    moment: datetime = from_epoch(float(int(time)))
    return moment.isoformat()


WEB_MARKUPS: Mapping[str, ThreadMarkup] = {
    "microdata": microdata,
    "time": time_elements,
    "table": table_rows,
    "definitions": definition_list,
}
THREAD_MARKUPS: Mapping[str, ThreadMarkup] = {
    **WEB_MARKUPS,
    "relative": relative_ages,
    "numeric": numeric_dates,
    "nested": nested_comments,
    "mail": mail_lines,
}
