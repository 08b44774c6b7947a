"""Numeric functions are compiled for this machine at first use and cached for later runs. This
command compiles in advance what `watch`, `run`, `diff`, `plan`, `why` and `demo` use: in a set-up
script, in an image or after an update. It needs no collection and no network, and takes up to two
minutes, or a few seconds if everything is already compiled.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from freshet.cli.compile_notice import announce_compiling
from freshet.cli.options import JsonOption, new_app
from freshet.cli.output import print_json, print_text, progress_bar
from freshet.collection.compile import compile_functions
from freshet.core.clock import monotonic_seconds
from freshet.core.humanize import count_text

app = new_app()


@app.command("compile")
def compile_ahead(as_json: JsonOption = False) -> None:
    """Compile the numeric functions now, not at first use."""
    counter, start = announce_compiling(), monotonic_seconds()
    count_before = counter.count
    with TemporaryDirectory() as folder, progress_bar("compiling", quiet=as_json) as report:
        compile_functions(Path(folder) / "collection", report=report)
    functions, seconds = counter.count - count_before, monotonic_seconds() - start
    if as_json:
        print_json({"functions": functions, "seconds": round(seconds, 1)})
    elif functions:
        print_text(f"Compiled {count_text(functions, 'function')} in {seconds:.0f} s.")
    else:
        print_text("All functions are already compiled.")
