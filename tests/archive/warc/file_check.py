"""The strict check of a whole archive file, as tests of archive files need it."""

from collections.abc import Iterator
from pathlib import Path

from freshet.archive.warc.check import record_problems
from freshet.archive.warc.located_record import ArchiveFault
from freshet.archive.warc.read import read_records


def check_file(path: Path, *, seen_uids: set[bytes] | None = None) -> Iterator[ArchiveFault]:
    """Yield every fault of an archive file.

    ``seen_uids`` collects the uids of all records, so that duplicates are found across files. A
    file that ends exactly between two records is valid; only the catalog can tell that records are
    missing.
    """
    seen_uids = set() if seen_uids is None else seen_uids
    for item in read_records(path):
        if isinstance(item, ArchiveFault):
            yield item
        else:
            for problem in record_problems(item, seen_uids):
                yield ArchiveFault(item.path.name, item.offset, problem, item.record.id)
