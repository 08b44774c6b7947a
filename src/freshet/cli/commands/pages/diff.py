"""A version is a number (1 is the first, -1 the last) or a time in the local time zone
(`2026-03-01`, `2026-03-01T12:00`). Without versions the last change is shown. Removed words are red
and struck through, added words are green; without colour they are written as [-removed-] and
{+added+}. Differences that do not count as a change, because of the page's mask or `counts_as`, are
shown too; a line at the end says so. Dice is the similarity of the words of two versions: 0 means
no common words, 1 the same words.

--since prints a short text instead: what is new in the last version, in at most 300 characters,
without the masked parts.
"""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PageArgument,
    PageSourceOption,
    new_app,
)
from freshet.cli.output import console, print_json, print_text
from freshet.cli.terminal import safe_text
from freshet.collection.page import CollectionPage, VersionDifference, VersionNews
from freshet.core.errors import UsageError
from freshet.core.files import atomic_output
from freshet.core.humanize import count_text
from freshet.core.local_time import format_to_minute
from freshet.draw.diff_sheet import render_diff_sheet
from freshet.measure.change.word_diff import DiffKind, DiffPiece
from freshet.record.collection_store import CollectionStore
from freshet.record.stored_page import StoredVersion

STYLES = {DiffKind.SAME: "", DiffKind.REMOVED: "red strike", DiffKind.ADDED: "bold green"}
MARKS = {DiffKind.SAME: ("", ""), DiffKind.REMOVED: ("[-", "-]"), DiffKind.ADDED: ("{+", "+}")}

app = new_app()


@app.command(context_settings={"ignore_unknown_options": True})
def diff(
    url: PageArgument,
    old: Annotated[
        str | None, typer.Argument(metavar="A", help="Older version: a number or a time.")
    ] = None,
    new: Annotated[
        str | None, typer.Argument(metavar="B", help="Newer version. Default: the last one.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="T", help="Print a short text about what is new since this version or time."
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the differences to this HTML file, which loads no other files.",
        ),
    ] = None,
    context: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Lines of unchanged text shown around each change."),
    ] = 2,
    source: PageSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show the differences between two versions of a page."""
    for word in (url, old, new):
        reject_option(word)
    if since is not None and (old, html) != (None, None):
        raise UsageError("--since cannot be combined with versions or --html")
    with CollectionStore.open(collection) as store:
        page = CollectionPage(store.find_page(url, source=source), store)
        result = page.difference(old, new) if since is None else page.news(since)
    if html is not None and isinstance(result, VersionDifference):
        _write_html(url, result, html)
    if as_json:
        print_json(result)
    elif isinstance(result, VersionNews):
        _print_news(url, result)
    elif html is not None:
        print_text(f"Wrote {html}.")
    else:
        _print_difference(url, result, context)


def reject_option(word: str | None) -> None:
    """Reject unknown options, which the parser accepts because versions can be -1."""
    if word and word.startswith("-") and not word[1:].isdecimal():
        raise UsageError(f"no such option: {word}; 'freshet diff --help' shows the usage")


def _print_difference(url: str, difference: VersionDifference, context: int) -> None:
    change = difference.change
    print_text(f"{url}  {_format_versions(difference.old, difference.new)}", "bold")
    print_text(_format_measures(difference))
    for hunk in difference.hunks(context=context):
        print_text("───")
        console.print(_colour_hunk(hunk), soft_wrap=not console.is_terminal)
    verdict = _explain_no_change(difference)
    if verdict:
        print_text(verdict)
    for mark, urls, style in (("+", change.new_links, "green"), ("-", change.removed_links, "red")):
        for link in urls:
            print_text(f"{mark} {link}", style)


def _print_news(url: str, news: VersionNews) -> None:
    print_text(f"{url}  {_format_versions(news.old, news.new)}", "bold")
    if news.text:
        print_text(news.text)
    elif news.old.number == news.new.number:
        print_text("There is no newer version.")
    else:
        print_text("There is no new text.")


def _write_html(url: str, difference: VersionDifference, path: Path) -> None:
    if path == Path("-") or path.is_dir():
        raise UsageError(f"{path} is not a file; give the name of the file to write")
    verdict = _explain_no_change(difference)
    facts = [
        _format_versions(difference.old, difference.new),
        _format_measures(difference),
        *([verdict] if verdict else []),
    ]
    sheet = render_diff_sheet(
        url,
        facts,
        difference.words,
        new_links=difference.change.new_links,
        removed_links=difference.change.removed_links,
    )
    with atomic_output(path) as temporary_file:
        temporary_file.write_text(sheet, "utf-8")


def _format_versions(old: StoredVersion, new: StoredVersion) -> str:
    times = format_to_minute(old.time), format_to_minute(new.time)
    return f"{times[0]} (v{old.number}) → {times[1]} (v{new.number})"


def _format_measures(difference: VersionDifference) -> str:
    change = difference.change
    links = (
        f"{count_text(len(change.new_links), 'new link')}, {len(change.removed_links):,} removed"
    )
    return f"Dice {change.dice:.3f}, {count_text(change.words or 0, 'word')} changed, {links}"


def _explain_no_change(difference: VersionDifference) -> str:
    """Return why the differences do not count as a change, or an empty text if they do."""
    change = difference.change
    if not change.text:
        return "The text is unchanged."
    if change.changed:
        return ""
    mask = f" and mask {change.mask}" if change.mask else ""
    reason = f"counts_as {difference.counts_as}{mask}"
    return f"These differences do not count as a change because of {reason}."


def _colour_hunk(hunk: tuple[DiffPiece, ...]) -> Text:
    """Return a hunk in colours, or with marks if the terminal has no colours."""
    text = Text()
    colourless = console.color_system is None or console.no_color
    for piece in hunk:
        clean = "\n".join(safe_text(line) for line in piece.text.split("\n"))
        text.append(_mark_piece(piece.kind, clean) if colourless else clean, STYLES[piece.kind])
    return text


def _mark_piece(kind: DiffKind, text: str) -> str:
    """Return a piece between its marks, without the line breaks around it."""
    inner = text.strip("\n")
    if kind is DiffKind.SAME:
        return text
    before, after = MARKS[kind]
    start = text.index(inner)
    return text[:start] + before + inner + after + text[start + len(inner) :]
