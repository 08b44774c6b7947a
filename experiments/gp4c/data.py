"""The traces: a generated world calibrated to the paper's pages, and real page histories."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from freshet.backtest.trace import Trace
from freshet.backtest.trace_formats.open_trace import open_trace
from freshet.core.errors import BadInputError

WORLD, REAL_TRACES = "world", ("mixed", "snap")
TRACES = (WORLD, *REAL_TRACES)
OBSERVATIONS = "pages/observations.parquet"
PRESET = "brdc"
PAGES, CYCLES, SEED = 400_000, 57, 1


@dataclass(frozen=True, slots=True)
class TraceSource:
    """The origin of a trace: the folder of real pages, or the size and seed of a world."""

    name: str
    folder: str = ""
    pages: int = PAGES
    cycles: int = CYCLES
    seed: int = SEED

    @property
    def is_world(self) -> bool:
        """Whether the pages are generated."""
        return self.name == WORLD


def sources(folder: Path | None, pages: int, *, seed: int = SEED) -> list[TraceSource]:
    """Return the world and, if a folder with ``pages/`` is given, the real traces."""
    world = TraceSource(WORLD, pages=pages, seed=seed)
    if folder is None:
        return [world]
    if not (folder / OBSERVATIONS).is_file():
        raise BadInputError(f"{folder} has no {OBSERVATIONS}; give the folder in which pages/ lies")
    return [
        world,
        *(TraceSource(name, str(folder.resolve() / "pages"), pages=0) for name in REAL_TRACES),
    ]


@lru_cache(maxsize=3)
def open_source(source: TraceSource) -> Trace:
    """Return the trace of a source; a process reads or generates it once."""
    if source.is_world:
        trace = open_trace(
            None, name=PRESET, pages=source.pages, cycles=source.cycles, seed=source.seed
        )
        return replace(trace, name=WORLD)
    return open_trace(Path(source.folder), name=source.name)
