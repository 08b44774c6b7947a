"""Print the accuracy of the shape classifier: ``python -m experiments.curve_shapes [--json]``."""

import argparse
import json
import sys
from dataclasses import asdict, fields

from experiments.curve_shapes.evaluation import ShapeRow
from experiments.curve_shapes.experiment import measure, retrain


def main() -> None:
    """Evaluate the stumps of the package, or with ``--train`` new ones that replace them."""
    parser = argparse.ArgumentParser(prog="experiments.curve_shapes", description=__doc__)
    parser.add_argument(
        "--train", action="store_true", help="train new stumps and store them with the package"
    )
    parser.add_argument(
        "--curves", type=int, default=200, help="number of held-out curves in each row"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    stumps = retrain() if options.train else None
    rows = list(measure(options.curves, stumps))
    sys.stdout.write((as_json(rows) if options.json else as_table(rows)) + "\n")


def as_json(rows: list[ShapeRow]) -> str:
    """Return the experiment's JSON document."""
    json_rows = [asdict(row) for row in rows]
    return json.dumps({"name": "curve_shapes", "data": "generated", "rows": json_rows})


def as_table(rows: list[ShapeRow]) -> str:
    """Return a line per row, figures as shares."""
    names = [field.name for field in fields(ShapeRow)]
    lines = ["Generated pages, none of which was trained on.", "".join(f"{n:>18}" for n in names)]
    lines += ["".join(map(_cell, asdict(row).values())) for row in rows]
    return "\n".join(lines)


def _cell(value: object) -> str:
    return f"{value:>18.3f}" if isinstance(value, float) else f"{value or '':>18}"


if __name__ == "__main__":
    main()
