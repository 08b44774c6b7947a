"""Versions of a page made by hand: the elements' paths and own texts, in document order."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import xxhash

from freshet.core.types import DomRows, HashArray
from freshet.core.version_series import VersionSeries, build_series
from freshet.measure.dynamics.structure.dom_history import DomHistory, dom_history, look_timeline
from freshet.measure.dynamics.structure.element_history import ElementHistory, element_history

HOUR, DAY = 3600.0, 86_400.0
Tree = Mapping[str, str]


def text_hash(text: str) -> int:
    """Return the hash of a text; none has 0, as in the rows of a view."""
    return xxhash.xxh3_64_intdigest(text.encode()) if text else 0


def dom_of(tree: Tree) -> DomRows:
    """Return the rows of a version, given as {"/a[0]": "foo", "/a[0]/b[0]": "bar"}."""
    paths, met = list(tree), Counter[str]()
    steps = [path.rpartition("/") for path in paths]
    names = [step.partition("[")[0] for _, _, step in steps]
    distinct_names = sorted(set(names))
    kinds = [
        "".join("/" + step.partition("[")[0] for step in path[1:].split("/")) for path in paths
    ]
    types = []
    for kind in kinds:
        types.append(f"({kind})[{met[kind]}]")
        met[kind] += 1
    beneath = [
        " ".join(
            text
            for other_path, text in tree.items()
            if (other_path + "/").startswith(path + "/") and text
        )
        for path in paths
    ]
    blank = np.zeros(len(paths), np.int32)
    return DomRows(
        tuple(distinct_names),
        np.array([distinct_names.index(name) for name in names], np.int32),
        np.array([paths.index(above) if above else -1 for above, _, _ in steps], np.int32),
        np.array([int(step.partition("[")[2][:-1]) for _, _, step in steps], np.int32),
        *(_hashes(texts) for texts in (paths, types, list(tree.values()), beneath)),
        blank,
        blank,
    )


def _hashes(texts: Sequence[str]) -> HashArray:
    return np.array([text_hash(text) for text in texts], np.uint64)


def history(versions: Sequence[Tree | None], step: float = HOUR) -> VersionSeries:
    """Return a page that shows these versions one after the other, a step apart."""
    doms = [None if tree is None else dom_of(tree) for tree in versions]
    times = step * np.arange(len(doms))
    return build_series(times.tolist(), list(range(len(doms))), [], doms)


def structure_of(versions: Sequence[Tree | None], step: float = HOUR) -> DomHistory:
    """Return the table of versions that were looked at a step apart."""
    series = history(versions, step)
    return dom_history(series, look_timeline(series))


def elements_of(
    versions: Sequence[Tree | None], names: Collection[str] = (), step: float = HOUR
) -> ElementHistory:
    """Return the runs of elements, and of blocks with these names, of versions a step apart."""
    series = history(versions, step)
    return element_history(series, look_timeline(series), names)


def spell(dom: DomRows, row: int) -> str:
    """Return the path of a row in direct access notation."""
    steps = []
    while row >= 0:
        steps.append(f"/{dom.names[dom.tag[row]]}[{dom.index[row]}]")
        row = int(dom.parent[row])
    return "".join(reversed(steps))


def spelled(structure: DomHistory) -> dict[str, int]:
    """Return the number of every path of a structure by its spelling."""
    numbers = structure.rows["full_path"].tolist()
    return {spell(*structure.locate(row)): number for row, number in enumerate(numbers)}
