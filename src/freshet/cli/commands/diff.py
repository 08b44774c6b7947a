"""Versions are numbers (1 the first, -1 the last) or times (`2026-03-01`, `2026-03-01T12:00`).
Without any, the last change is shown. Removed words are red and struck through, added words green;
without colour they stand in [-…-] and {+…+}.
"""

from typing import Annotated

import typer
from rich.text import Text

from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, PageUrl, Source, new_app
from freshet.cli.output import console, counted, print_json, say
from freshet.cli.terminal import safe
from freshet.core.errors import UsageError
from freshet.flow.collection import Collection
from freshet.flow.page import Difference
from freshet.measure.wording import Fate, Piece

STYLES = {Fate.SAME: "", Fate.REMOVED: "red strike", Fate.ADDED: "bold green"}
MARKS = {Fate.SAME: ("", ""), Fate.REMOVED: ("[-", "-]"), Fate.ADDED: ("{+", "+}")}

app = new_app()


@app.command(context_settings={"ignore_unknown_options": True})
def diff(
    url: PageUrl,
    old: Annotated[str | None, typer.Argument(metavar="A", help="The earlier version.")] = None,
    new: Annotated[
        str | None, typer.Argument(metavar="B", help="The later version; else the last.")
    ] = None,
    context: Annotated[
        int, typer.Option(min=0, metavar="N", help="Lines of unchanged text around a change.")
    ] = 2,
    source: Source = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Show what changed between two versions of a page."""
    for word in (url, old, new):
        refuse_option(word)
    with Collection.open(collection) as opened:
        found = opened.page(url, source=source).difference(old, new)
    if as_json:
        print_json(found)
    else:
        _print(url, found, context)


def refuse_option(word: str | None) -> None:
    """Refuse a word that looks like an option: unknown ones are let through for versions as -1."""
    if word and word.startswith("-") and not word[1:].isdecimal():
        raise UsageError(f"no such option: {word}; 'freshet diff --help' lists what there is")


def _print(url: str, found: Difference, context: int) -> None:
    change = found.change
    say(f"{url}  {found.old.time:%Y-%m-%d %H:%M} (v{found.old.number}) → "
        f"{found.new.time:%Y-%m-%d %H:%M} (v{found.new.number})", "bold")  # fmt: skip
    links = f"{counted(len(change.new_links), 'new link')}, {len(change.removed_links):,} removed"
    say(f"Dice {change.dice:.3f}, {counted(change.words or 0, 'word')} changed, {links}")
    for hunk in found.hunks(context=context):
        say("───")
        console.print(_coloured(hunk), soft_wrap=not console.is_terminal)
    if not change.text:
        say("The text is the same.")
    for mark, urls, style in (("+", change.new_links, "green"), ("-", change.removed_links, "red")):
        for link in urls:
            say(f"{mark} {link}", style)


def _coloured(hunk: tuple[Piece, ...]) -> Text:
    """Colour a hunk; where there is no colour, marks say what came and went."""
    text = Text()
    colourless = console.color_system is None or console.no_color
    for piece in hunk:
        clean = "\n".join(safe(line) for line in piece.text.split("\n"))
        before, after = MARKS[piece.kind] if colourless else ("", "")
        text.append(before + clean + after, STYLES[piece.kind])
    return text
