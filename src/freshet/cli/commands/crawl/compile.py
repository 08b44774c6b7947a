"""Freshet's inner loops are compiled for this machine when they are first used, and kept for all
later runs. This command compiles beforehand what `watch`, `run`, `diff`, `plan`, `why` and `demo`
need: in a set-up script, an image or right after an update. It needs no collection and no network,
and takes up to two minutes; where everything is compiled already, a few seconds.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from freshet.cli.compile_notice import announce_compiling
from freshet.cli.options import JsonOption, new_app
from freshet.cli.output import format_count, print_json, print_text, progress_bar
from freshet.collection.compile import compile_functions
from freshet.core.clock import monotonic_seconds

app = new_app()


@app.command("compile")
def compile_ahead(as_json: JsonOption = False) -> None:
    """Compile what a crawl needs now, instead of at its first use."""
    counter, began = announce_compiling(), monotonic_seconds()
    before = counter.count
    with TemporaryDirectory() as folder, progress_bar("compiling", quiet=as_json) as report:
        compile_functions(Path(folder) / "collection", report=report)
    functions, seconds = counter.count - before, monotonic_seconds() - began
    if as_json:
        print_json({"functions": functions, "seconds": round(seconds, 1)})
    elif functions:
        print_text(f"Compiled {format_count(functions, 'function')} in {seconds:.0f} s.")
    else:
        print_text("Everything is compiled already.")
