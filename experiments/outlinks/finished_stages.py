"""Stores the results of finished stages, so that a run that was ended can go on."""

from dataclasses import dataclass
from pathlib import Path

from experiments.figure_tables import read_tables, write_tables
from experiments.outlinks.result_tables import ROW_TYPES, ExperimentResult

STAGES = "stages"


@dataclass(frozen=True, slots=True)
class StageRecord:
    """A stage: the digest of its pages, its part and split, and its settings."""

    digest: str
    part: str
    split: str
    settings: str


class FinishedStages:
    """Results of stages in a folder, a file each; without a folder nothing is stored.

    A result is used again only for the same pages and settings. The code is not compared: delete
    the files after a change of the models.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder / STAGES if folder else None

    def get(self, data: str, record: StageRecord) -> ExperimentResult | None:
        """Return the stored result; None if the stage was not finished or its settings differ."""
        path = self._path(data, record)
        if path is None or not path.is_file():
            return None
        tables = read_tables(path, {STAGES: StageRecord, **ROW_TYPES})
        if tables.pop(STAGES) != (record,):
            return None
        return ExperimentResult(**tables)

    def put(self, data: str, record: StageRecord, result: ExperimentResult) -> None:
        """Store a result; a kill while it is written leaves the older file."""
        path = self._path(data, record)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_suffix(".part")
        write_tables(written, {STAGES: (record,), **result.tables()})
        written.replace(path)

    def _path(self, data: str, record: StageRecord) -> Path | None:
        if self._folder is None:
            return None
        return self._folder / f"{data}-{record.part}-{record.split}.json"
