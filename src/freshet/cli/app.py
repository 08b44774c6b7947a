"""The freshet command: its commands by name, each loaded only when it is called."""

import os
import signal
import sys
from importlib import import_module
from io import TextIOWrapper
from keyword import iskeyword
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from freshet.cli.terminal import print_traceback, print_warnings_safely, safe_text
from freshet.core import __version__
from freshet.core.errors import FreshetError, NoSpaceError, StopRequestedError
from freshet.core.local_time import use_utc
from freshet.core.redaction import redact_user_info

COMMANDS = {
    "init": "Make a collection.",
    "add": "Add pages to the collection.",
    "remove": "Remove pages; --purge deletes their history too.",
    "pause": "Stop visiting pages for now.",
    "resume": "Visit paused pages again.",
    "tag": "Give pages a tag, or take it away.",
    "set": "Set headers, cookies, proxy, hours, importance; or show them.",
    "settings": "List every setting with its value, default and meaning.",
    "watch": "Add pages, fetch them now, and show what to expect.",
    "run": "Keep the pages fresh, within the budget, until stopped.",
    "check-now": "Ask for visits now, before all others.",
    "plan": "Show what would be fetched next, and for what value.",
    "why": "Explain a page's place in the plan.",
    "host": "Show how a host is treated; --reopen clears its back-off.",
    "forecast": "Show how likely a page is to have changed by when.",
    "list": "List the pages.",
    "status": "Show what is held, how it grows, and the day's budget.",
    "show": "Show one page: what is known of it.",
    "history": "Show a page's visits in time order.",
    "diff": "Show what changed between two versions of a page.",
    "analyse": "Show how pages change: one in full, or all in groups.",
    "mask": "Show or edit what is left out of a page as noise.",
    "simulate": "Back-test policies on recorded or generated pages.",
    "evolve": "Learn the formula that ranks pages best, from a trace.",
    "import": "Bring histories in: warc, wacz, git, csv, bing, parquet.",
    "export": "Take tables out: parquet, csv, cdxj, wacz, trace.",
    "measure": "Measure stored versions again.",
    "check": "Verify every record and row; --repair mends what can be.",
    "prune": "Thin old versions, never silently.",
    "backup": "Copy the collection into a backup folder, also during a crawl.",
    "restore": "Make a collection from a backup.",
    "systemd": "Print a systemd unit that keeps the crawl running.",
    "doctor": "Look for what is wrong with the set-up.",
    "compile": "Compile what a crawl needs now, instead of at its first use.",
    "demo": "Crawl a living web on this machine, and race other rules.",
}
INTERRUPTED_MESSAGE = "interrupted; what was acknowledged is kept, run the command again to go on"
# The package below cli/commands that each command is in.
PACKAGES = {
    "pages": "init add remove pause resume tag set settings list show history diff mask",
    "crawl": "watch run check-now plan why forecast host status systemd doctor compile",
    "archive": "import export measure check prune backup restore",
    "research": "analyse simulate evolve demo",
}


class LazyGroup(TyperGroup):
    """Lists every command from the table and imports a command's module when it is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name, summary in COMMANDS.items():
            self.add_command(TyperCommand(name, help=summary))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Load the command that the first argument names."""
        if args and args[0] in COMMANDS:
            self.add_command(load_command(args[0]), args[0])
        return super().resolve_command(ctx, args)


def load_command(name: str) -> Any:
    """Import the module of a command and return the command."""
    file = name.replace("-", "_") + "_" * iskeyword(name)
    package = next(group for group, names in PACKAGES.items() if name in names.split())
    module = import_module(f"freshet.cli.commands.{package}.{file}")
    if "numba" in sys.modules:
        import_module("freshet.cli.compile_notice").announce_compiling()
    command = get_command(module.app)
    command.name, command.help = name, COMMANDS[name] + "\n\n" + (module.__doc__ or "")
    return command


app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit codes: 0 done, 1 failed, 2 wrong usage or setting, 3 not found, 4 bad input, "
        "5 storage, 6 locked by another process, 7 damage found, 130 interrupted."
    ),
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"freshet {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Say which it is."),
    ] = False,
    utc: Annotated[
        bool,
        typer.Option(
            "--utc", help="Show times in UTC instead of this machine's zone; also TZ=UTC."
        ),
    ] = False,
) -> None:
    """Freshet learns how each page changes, and visits where it finds the most that is new."""
    if utc:
        use_utc()


@print_warnings_safely()
def main() -> None:
    """Run the command line: whatever goes wrong becomes one line and an exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _write_any_text()
    try:
        code = app(
            _global_first(sys.argv[1:]) or ["--help"], prog_name="freshet", standalone_mode=False
        )
        sys.stdout.flush()
    except FreshetError as error:
        _fail(str(error), error.exit_code)
    except typer.TyperException as error:
        _fail(_usage(error), error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FreshetError.exit_code)
    except OSError as error:
        _fail(_system(error), NoSpaceError.exit_code)
    except typer.Abort:
        _fail("nothing was done", FreshetError.exit_code)
    except Exception as error:
        raise SystemExit(_report_fault(error)) from error
    if code == StopRequestedError.exit_code:
        _fail(INTERRUPTED_MESSAGE, StopRequestedError.exit_code)
    sys.exit(code)


def _global_first(words: list[str]) -> list[str]:
    """Put --utc before the command, so that it may stand behind it too.

    >>> _global_first(["list", "--utc", "--json"])
    ['--utc', 'list', '--json']
    """
    options = words[: words.index("--")] if "--" in words else words
    if "--utc" not in options:
        return words
    place = words.index("--utc")
    return ["--utc", *words[:place], *words[place + 1 :]]


def _write_any_text() -> None:
    """Let output hold any text, also where the terminal or a file name is not UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _usage(error: typer.TyperException) -> str:
    """Say what is wrong with the words given, and where the right ones are explained."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "freshet"
    return f"{error.format_message().rstrip('.')}; '{path} --help' lists what there is"


def _system(error: OSError) -> str:
    what = f"{error.filename or 'a file'}: {error.strerror or error}"
    return f"{what}; check its permissions and the disk, 'freshet doctor' looks at both"


def _report_fault(error: Exception) -> int:
    """Say that Freshet itself is at fault, and how to see more of it."""
    _show_trace()
    what = f"{type(error).__name__}: {error}"
    _say(f"unexpected {what}; a fault of Freshet, FRESHET_DEBUG=1 shows where")
    return FreshetError.exit_code


def _fail(message: str, code: int) -> NoReturn:
    _show_trace()
    _say(message)
    sys.exit(code)


def _say(message: str) -> None:
    typer.echo(f"freshet: {safe_text(redact_user_info(message))}", err=True)


def _show_trace() -> None:
    error = sys.exc_info()[1]
    if os.environ.get("FRESHET_DEBUG") and error is not None:
        print_traceback(error)
