"""Visit every page of the simulated web, and count recognised noise and hidden changes."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import chain
from random import Random

from experiments.masks.visitor import ComparedVisit, PageVisitor
from freshet.measure.noise.mask import Mask
from freshet.world.simulated_web import SimulatedWeb

START = datetime(2026, 1, 5, tzinfo=UTC)
DAYS, VISITS, LEARNING_VISITS = 60, 40, 10


@dataclass(frozen=True, slots=True)
class MaskRow:
    """Counts of the pages of one kind, after the first ten visits."""

    rounds: str
    kind: str
    noise_only: int
    recognised: int
    real: int
    hidden: int

    @property
    def shares(self) -> tuple[float, float]:
        """Return the share of noise-only versions recognised, and of real changes hidden."""
        return self.recognised / max(self.noise_only, 1), self.hidden / max(self.real, 1)


def visit_pages(seed: int, *, instant: bool) -> Iterator[tuple[str, list[ComparedVisit], Mask]]:
    """Yield each page's name, the comparisons of its visits, and its learned mask."""
    web = SimulatedWeb(seed, START, DAYS)
    for page_index, page in enumerate(web.pages):
        visitor = PageVisitor(web, page_index, instant=instant)
        visits = list(visitor.visits(VISITS, Random(f"{seed} {page_index}")))
        yield f"{page.kind} {web.origins[page.host]}{page.path}", visits, visitor.criteria.mask


def count_row(rounds: str, kind: str, visits: Sequence[ComparedVisit]) -> MaskRow:
    """Count the results of the later visits."""
    later_visits = [visit for visit in visits if visit.visit >= LEARNING_VISITS]
    noise = [visit for visit in later_visits if not visit.really_changed and visit.change.text]
    real = [visit for visit in later_visits if visit.really_changed]
    return MaskRow(
        rounds, kind,
        len(noise), sum(not visit.change.changed for visit in noise),
        len(real), sum(not visit.change.changed for visit in real),
    )  # fmt: skip


def main() -> None:
    """Print a table by kind of page, or with ``--json`` one JSON document."""
    parser = argparse.ArgumentParser(prog="python -m experiments.masks", description=__doc__)
    parser.add_argument("--seed", type=int, action="append", help="world seed; may be repeated")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--rules", action="store_true", help="also print the rules learned for each page"
    )
    options = parser.parse_args()
    rows: list[MaskRow] = []
    for rounds in ("none", "instant"):
        runs = [visit_pages(seed, instant=rounds == "instant") for seed in options.seed or [1]]
        by_kind: dict[str, list[ComparedVisit]] = {"all": []}
        for page, visits, mask in chain.from_iterable(runs):
            by_kind.setdefault(page.partition(" ")[0], []).extend(visits)
            by_kind["all"] += visits
            if options.rules and mask.rules:
                sys.stdout.write(_describe_rules(page, count_row(rounds, page, visits), mask))
        rows += [count_row(rounds, kind, visits) for kind, visits in by_kind.items()]
    sys.stdout.write((_json_document(rows) if options.json else _table(rows)) + "\n")


def _describe_rules(page: str, row: MaskRow, mask: Mask) -> str:
    rules = "".join(f"    {rule.what!r}: {rule.why}\n" for rule in mask.rules)
    return f"{row.rounds} {page} {row.recognised}/{row.noise_only} {row.hidden}/{row.real}\n{rules}"


def _json_document(rows: Sequence[MaskRow]) -> str:
    shares = ("recognised_share", "hidden_share")
    json_rows = [asdict(row) | dict(zip(shares, row.shares, strict=True)) for row in rows]
    return json.dumps({"name": "masks", "data": "generated world", "rows": json_rows})


def _table(rows: Sequence[MaskRow]) -> str:
    lines = [
        f"{'rounds':<10}{'kind':<12}{'noise only':>11}{'recognised':>13}{'real':>7}{'hidden':>9}"
    ]
    lines += [
        f"{row.rounds:<10}{row.kind:<12}{row.noise_only:>11}{row.shares[0]:>13.1%}{row.real:>7}"
        f"{row.shares[1]:>9.2%}"
        for row in rows
    ]
    return "\n".join(lines)
