"""Entry point of the freshet command. The module of a command is imported when it is called."""

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

# The commands as the help lists them: the sub-package of cli/commands, its title, its commands.
GROUPS: dict[str, tuple[str, dict[str, str]]] = {
    "pages": (
        "Pages and settings",
        {
            "init": "Create a collection.",
            "add": "Add pages to the collection.",
            "remove": "Remove pages; --purge also deletes their history.",
            "pause": "Stop visiting pages until they are resumed.",
            "resume": "Visit paused pages again.",
            "tag": "Add a tag to pages, or remove it.",
            "set": "Change or show the settings of a page or a tag.",
            "settings": "List every setting with its value, default and meaning.",
            "list": "List pages.",
            "show": "Show the details of one page.",
            "history": "List the visits of a page in time order.",
            "posts": "List the posts of a thread, with the visits that found them.",
            "diff": "Show the differences between two versions of a page.",
            "mask": "Show or edit the noise mask of a page.",
        },
    ),
    "crawl": (
        "Crawling",
        {
            "watch": "Add pages, fetch them now, and show a first forecast.",
            "run": "Crawl within the daily budget until stopped.",
            "check-now": "Request visits that come before all others.",
            "plan": "Show the next visits with their time, value and reason.",
            "why": "Explain when and why a page will be visited.",
            "forecast": "Show how likely a page is to have changed at given times.",
            "host": "Show the state of a host; --reopen ends its back-off.",
            "serve": "Show the collection in a browser, with a JSON API.",
            "status": "Show totals, the daily budget, failing pages and imports.",
            "systemd": "Print a systemd unit that keeps the crawl running.",
            "doctor": "Check the installation and the collection for problems.",
            "compile": "Compile the numeric functions now, not at first use.",
        },
    ),
    "archive": (
        "Stored data",
        {
            "import": "Import histories: warc, wacz, git, csv, bing, parquet.",
            "export": "Export data: parquet, csv, cdxj, wacz, trace.",
            "measure": "Recompute the changes between stored versions.",
            "check": "Verify every record and row; --repair fixes problems.",
            "prune": "Delete the bytes of most old versions.",
            "backup": "Back up the collection, also while a crawl is running.",
            "restore": "Create a collection from a backup.",
        },
    ),
    "research": (
        "Analysis and research",
        {
            "analyse": "Show how one page, or groups of pages, change.",
            "learn": "Learn from the collection's visits to forecast better.",
            "related": "List pages that may tell about the changes of a page.",
            "simulate": "Back-test policies on recorded or generated pages.",
            "evolve": "Learn a ranking formula from a trace.",
            "demo": "Crawl a simulated web on this machine and score policies.",
        },
    ),
}
COMMANDS = {name: summary for _, group in GROUPS.values() for name, summary in group.items()}
INTERRUPTED_MESSAGE = "interrupted; acknowledged visits are kept, run the command again to continue"


class LazyGroup(TyperGroup):
    """A group that lists all commands in sections and imports a command when it is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name, summary in COMMANDS.items():
            self.add_command(TyperCommand(name, help=summary))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section of the help per group of commands."""
        for title, group in GROUPS.values():
            with formatter.section(title):
                formatter.write_dl(list(group.items()))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Import the command named by the first argument."""
        if args and args[0] in COMMANDS:
            self.add_command(load_command(args[0]), args[0])
        return super().resolve_command(ctx, args)


def load_command(name: str) -> Any:
    """Import the module of a command and return the command."""
    file = name.replace("-", "_") + "_" * iskeyword(name)
    package = next(package for package, (_, group) in GROUPS.items() if name in group)
    module = import_module(f"freshet.cli.commands.{package}.{file}")
    if "numba" in sys.modules:
        import_module("freshet.cli.compile_notice").announce_compiling()
    command: Any = get_command(module.app)
    for part in (command, *getattr(command, "commands", {}).values()):
        _hide_argument_types(part)
    command.name, command.help = name, COMMANDS[name] + "\n\n" + (module.__doc__ or "")
    return command


def _hide_argument_types(command: Any) -> None:
    """Omit the Python types of arguments, such as list[str], from the help."""
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None


app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit codes: 0 success, 1 failure, 2 wrong usage or setting, 3 not found, 4 bad input, "
        "5 storage error, 6 locked by another process, 7 damage found, 130 interrupted."
    ),
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"freshet {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
    utc: Annotated[
        bool,
        typer.Option(
            "--utc", help="Show times in UTC instead of the local time zone. Same as TZ=UTC."
        ),
    ] = False,
) -> None:
    """Crawl web pages, learn how they change, and visit them when it is worth most."""
    if utc:
        use_utc()


@print_warnings_safely()
def main() -> None:
    """Run the command line. Every error becomes one line and an exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _escape_unencodable_text()
    try:
        code = app(
            _move_global_options(sys.argv[1:]) or ["--help"],
            prog_name="freshet",
            standalone_mode=False,
        )
        sys.stdout.flush()
    except FreshetError as error:
        _fail(str(error), error.exit_code)
    except typer.TyperException as error:
        _fail(_usage_message(error), error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FreshetError.exit_code)
    except OSError as error:
        _fail(_system_message(error), NoSpaceError.exit_code)
    except typer.Abort:
        _fail("cancelled, nothing was changed", FreshetError.exit_code)
    except Exception as error:
        raise SystemExit(_report_internal_error(error)) from error
    if code == StopRequestedError.exit_code:
        _fail(INTERRUPTED_MESSAGE, StopRequestedError.exit_code)
    sys.exit(code)


def _move_global_options(words: list[str]) -> list[str]:
    """Move --utc before the command, so that it can be given anywhere.

    >>> _move_global_options(["list", "--utc", "--json"])
    ['--utc', 'list', '--json']
    """
    options = words[: words.index("--")] if "--" in words else words
    if "--utc" not in options:
        return words
    index = words.index("--utc")
    return ["--utc", *words[:index], *words[index + 1 :]]


def _escape_unencodable_text() -> None:
    """Escape characters that the encoding of the output does not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _usage_message(error: typer.TyperException) -> str:
    """Return the message for wrong arguments, with a pointer to the help."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "freshet"
    return f"{error.format_message().rstrip('.')}; '{path} --help' shows the usage"


def _system_message(error: OSError) -> str:
    problem = f"{error.filename or 'a file'}: {error.strerror or error}"
    return f"{problem}; check the permissions and the disk, or run 'freshet doctor'"


def _report_internal_error(error: Exception) -> int:
    """Print an unexpected error and how to get its traceback; return the exit code."""
    _print_traceback_if_debugging()
    _print_error(
        f"internal error {type(error).__name__}: {error}; FRESHET_DEBUG=1 prints the traceback"
    )
    return FreshetError.exit_code


def _fail(message: str, code: int) -> NoReturn:
    _print_traceback_if_debugging()
    _print_error(message)
    sys.exit(code)


def _print_error(message: str) -> None:
    typer.echo(f"freshet: {safe_text(redact_user_info(message))}", err=True)


def _print_traceback_if_debugging() -> None:
    error = sys.exc_info()[1]
    if os.environ.get("FRESHET_DEBUG") and error is not None:
        print_traceback(error)
