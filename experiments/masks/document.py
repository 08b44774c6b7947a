"""The tables of ``docs/results/masks.md``, from the stored counts.

``python -m experiments.masks.document FILE`` writes them anew.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.document_tables import replace_tables

EXPECTED = Path(__file__).with_name("expected.json")
KINDS = {
    "news": "news that never rests, with adverts and a time",
    "thread": "thread with a visitor counter",
    "shop": "shop list with three suggestions of twelve",
    "adverts": "still text among adverts",
    "status": "status page with the time",
}

Counts = Sequence[Mapping[str, Any]]
Lines = Iterator[Sequence[str]]


def demo_text() -> str:
    """Return the counts of the demo as it prints them."""
    demo = json.loads(EXPECTED.read_text("utf-8"))["demo"]
    return (
        f"{demo['recognised']} of {demo['noise_only']} noisy versions recognised, "
        f"{demo['hidden']} of {demo['real']} changes hidden"
    )


def expected_counts() -> Counts:
    """Return the stored counts: one row for each set of seeds, kind of burst and kind of page."""
    counts: Counts = json.loads(EXPECTED.read_text("utf-8"))["counts"]
    return counts


def fill_tables(text: str, counts: Counts) -> str:
    """Return a document with new tables."""
    return replace_tables(text, lambda name: TABLES[name](counts))


def totals(counts: Counts) -> Lines:
    """Yield noise recognised and real changes hidden, of all pages."""
    yield (
        "seeds", "bursts", "noise recognised (at least 95 % required)",
        "real changes hidden (at most 1 % allowed)",
    )  # fmt: skip
    for row in counts:
        if row["kind"] == "all":
            share = row["recognised"] / row["noise_only"]
            recognised = f"{row['recognised']} of {row['noise_only']} ({share:.1%})"
            hidden = f"{row['hidden']} of {row['real']:,}"
            yield row["seeds"], row["rounds"], recognised.replace("%", " %"), hidden


def kinds(counts: Counts) -> Lines:
    """Yield noise recognised by kind of page, on the seeds that were not used in development."""
    yield "page", "noise", "without bursts", "with"
    seeds = counts[-1]["seeds"]
    rows = {(row["kind"], row["rounds"]): row for row in counts if row["seeds"] == seeds}
    for kind, description in KINDS.items():
        without, instant = rows[kind, "none"], rows[kind, "instant"]
        yield (
            description, str(without["noise_only"]), str(without["recognised"]),
            str(instant["recognised"]),
        )  # fmt: skip


TABLES: Mapping[str, Callable[[Counts], Lines]] = {"totals": totals, "kinds": kinds}


def main() -> None:
    """Write the tables of a document."""
    path = Path(sys.argv[1])
    path.write_text(fill_tables(path.read_text("utf-8"), expected_counts()), "utf-8")


if __name__ == "__main__":
    main()
