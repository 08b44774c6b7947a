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
    SourceOption,
    new_app,
)
from freshet.cli.output import console, format_count, print_json, print_text
from freshet.cli.terminal import safe_text
from freshet.collection.page import CollectionPage, VersionDifference, VersionNews
from freshet.core.errors import UsageError
from freshet.core.files import atomic_output
from freshet.core.local_time import format_to_minute
from freshet.draw.diff_sheet import render_diff_sheet
from freshet.measure.change.word_diff import DiffKind, DiffPiece
from freshet.record.store import CollectionStore
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
    source: SourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show what changed between two versions of a page."""
    for word in (url, old, new):
        reject_option(word)
    if since is not None and (old, html) != (None, None):
        raise UsageError("--since stands alone; leave out the versions and --html")
    with CollectionStore.open(collection) as opened:
        page = CollectionPage(opened.find_page(url, source=source), opened)
        found = page.difference(old, new) if since is None else page.news(since)
    if html is not None and isinstance(found, VersionDifference):
        _write(url, found, html)
    if as_json:
        print_json(found)
    elif isinstance(found, VersionNews):
        _tell(url, found)
    elif html is not None:
        print_text(f"Wrote {html}.")
    else:
        _print(url, found, context)


def reject_option(word: str | None) -> None:
    """Refuse a word that looks like an option: unknown ones are let through for versions as -1."""
    if word and word.startswith("-") and not word[1:].isdecimal():
        raise UsageError(f"no such option: {word}; 'freshet diff --help' lists what there is")


def _print(url: str, found: VersionDifference, context: int) -> None:
    change = found.change
    print_text(f"{url}  {_between(found.old, found.new)}", "bold")
    print_text(_measures(found))
    for hunk in found.hunks(context=context):
        print_text("───")
        console.print(_coloured(hunk), soft_wrap=not console.is_terminal)
    verdict = _verdict(found)
    if verdict:
        print_text(verdict)
    for mark, urls, style in (("+", change.new_links, "green"), ("-", change.removed_links, "red")):
        for link in urls:
            print_text(f"{mark} {link}", style)


def _tell(url: str, found: VersionNews) -> None:
    print_text(f"{url}  {_between(found.old, found.new)}", "bold")
    if found.text:
        print_text(found.text)
    elif found.old.number == found.new.number:
        print_text("No version is newer.")
    else:
        print_text("Nothing new to read.")


def _write(url: str, found: VersionDifference, path: Path) -> None:
    if path == Path("-") or path.is_dir():
        raise UsageError(f"{path} is no file; name the file to write")
    verdict = _verdict(found)
    facts = [_between(found.old, found.new), _measures(found), *([verdict] if verdict else [])]
    sheet = render_diff_sheet(
        url,
        facts,
        found.words,
        new_links=found.change.new_links,
        removed_links=found.change.removed_links,
    )
    with atomic_output(path) as part:
        part.write_text(sheet, "utf-8")


def _between(old: StoredVersion, new: StoredVersion) -> str:
    return f"{format_to_minute(old.time)} (v{old.number}) → {format_to_minute(new.time)} (v{new.number})"


def _measures(found: VersionDifference) -> str:
    change = found.change
    links = (
        f"{format_count(len(change.new_links), 'new link')}, {len(change.removed_links):,} removed"
    )
    return f"Dice {change.dice:.3f}, {format_count(change.words or 0, 'word')} changed, {links}"


def _verdict(found: VersionDifference) -> str:
    """Say where nothing differs, or where what differs counts for nothing."""
    change = found.change
    if not change.text:
        return "The text is the same."
    if change.changed:
        return ""
    mask = f" and mask {change.mask}" if change.mask else ""
    return f"That counts as no change, by counts_as {found.counts_as}{mask}."


def _coloured(hunk: tuple[DiffPiece, ...]) -> Text:
    """Colour a hunk; where there is no colour, marks say what came and went."""
    text = Text()
    colourless = console.color_system is None or console.no_color
    for piece in hunk:
        clean = "\n".join(safe_text(line) for line in piece.text.split("\n"))
        text.append(_marked(piece.kind, clean) if colourless else clean, STYLES[piece.kind])
    return text


def _marked(kind: DiffKind, text: str) -> str:
    """Return a piece between its marks; line breaks around it stay outside of them."""
    inner = text.strip("\n")
    if kind is DiffKind.SAME:
        return text
    before, after = MARKS[kind]
    start = text.index(inner)
    return text[:start] + before + inner + after + text[start + len(inner) :]
