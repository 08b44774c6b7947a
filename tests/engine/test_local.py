import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.errors import BadInputError, FreshetError, UsageError
from freshet.engine.local import LocalEngine
from freshet.engine.result_cache import Columns, ResultCache
from tests.engine.batch_functions import (
    die_at_three,
    double,
    fail_at_three,
    process_info,
    refuse_at_three,
)

numbers = st.lists(st.lists(st.integers(-(2**31), 2**31), max_size=5), max_size=12)


def batches(*lists: Sequence[int]) -> list[Columns]:
    return [{"number": np.array(values, np.int64)} for values in lists]


def plain(results: Iterator[Columns]) -> list[dict[str, list[object]]]:
    return [{name: values.tolist() for name, values in result.items()} for result in results]


@given(numbers)
def test_the_local_engine_equals_a_plain_loop(lists: list[list[int]]) -> None:
    inputs = batches(*lists)
    assert plain(LocalEngine(1).map(double, inputs)) == plain(map(double, inputs))


def test_several_processes_equal_a_plain_loop_in_the_same_order() -> None:
    inputs = batches(*([n, n + 1] for n in range(9)), [])
    assert plain(LocalEngine(2).map(double, inputs)) == plain(map(double, inputs))


def test_work_runs_beside_this_process_with_one_thread_each() -> None:
    results = list(LocalEngine(2).map(process_info, batches(*([n] for n in range(6)))))
    assert os.getpid() not in {int(result["process"][0]) for result in results}
    assert {str(result["threads"]) for result in results} == {"1"}


def test_only_a_few_batches_are_drawn_ahead_of_the_received_results() -> None:
    drawn = 0

    def counted() -> Iterator[Columns]:
        nonlocal drawn
        for batch in batches(*([n] for n in range(40))):
            drawn += 1
            yield batch

    results = LocalEngine(2).map(double, counted())
    for received, _ in enumerate(results, 1):
        assert drawn - received <= 4
    assert drawn == 40


def test_progress_is_reported_after_every_batch() -> None:
    reports: list[tuple[int, int]] = []
    engine = LocalEngine(1)
    inputs = batches([1], [2])
    list(engine.map(double, inputs, total=2, progress=lambda *done: reports.append(done)))
    assert reports == [(1, 2), (2, 2)]


def test_work_that_no_other_process_can_import_is_refused() -> None:
    def work(batch: Columns) -> Columns:
        return batch

    work.__module__ = "__main__"
    with pytest.raises(UsageError, match="put it into a module"):
        list(LocalEngine(2).map(work, batches([1])))
    assert plain(LocalEngine(1).map(work, batches([1]))) == [{"number": [1]}]


def test_a_process_that_dies_is_reported_with_its_batch() -> None:
    with pytest.raises(FreshetError, match=r"batch 3: the process .* killed by signal 9"):
        list(LocalEngine(2).map(die_at_three, batches([1], [2], [3], [4], [5])))


@pytest.mark.parametrize("processes", [1, 2])
def test_a_failure_names_its_batch_and_has_a_traceback(processes: int) -> None:
    with pytest.raises(FreshetError, match="batch 2 failed: ValueError: three") as caught:
        list(LocalEngine(processes).map(fail_at_three, batches([1], [3])))
    assert "fail_at_three" in caught.value.__notes__[0]


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_of_freshet_is_raised_unchanged(processes: int) -> None:
    with pytest.raises(BadInputError, match="three cannot be read"):
        list(LocalEngine(processes).map(refuse_at_three, batches([3])))


@pytest.mark.parametrize("processes", [1, 2])
def test_interrupted_work_continues_from_cached_results(tmp_path: Path, processes: int) -> None:
    cache = ResultCache(tmp_path / "work", "double 1")
    first = LocalEngine(1).map(double, batches([1], [2], [3]), cache=cache)
    next(first), next(first)
    first.close()
    computed: list[Columns] = []

    def recording_double(batch: Columns) -> Columns:
        computed.append(batch)
        return double(batch)

    again = LocalEngine(1).map(recording_double, batches([1], [2], [3]), cache=cache)
    assert plain(again) == plain(map(double, batches([1], [2], [3])))
    assert [batch["number"].tolist() for batch in computed] == [[3]]
    beside = LocalEngine(processes).map(double, batches([3], [1], [4]), cache=cache)
    assert plain(beside) == plain(map(double, batches([3], [1], [4])))


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 cut short"])
def test_a_cached_result_that_cannot_be_read_is_computed_again(
    tmp_path: Path, damage: bytes
) -> None:
    cache = ResultCache(tmp_path, "double 1")
    inputs = batches([1], [2])
    list(LocalEngine(1).map(double, inputs, cache=cache))
    cache.path(inputs[0]).write_bytes(damage)
    results = LocalEngine(1).map(double, inputs, cache=cache)
    assert plain(results) == plain(map(double, inputs))


def test_another_version_of_the_computation_has_no_cached_results(tmp_path: Path) -> None:
    batch = batches([1])[0]
    ResultCache(tmp_path, "double 1").put(batch, double(batch))
    assert ResultCache(tmp_path, "double 1").get(batch) is not None
    assert ResultCache(tmp_path, "double 2").get(batch) is None


def test_results_that_are_not_needed_are_deleted(tmp_path: Path) -> None:
    cache, (old, new) = ResultCache(tmp_path / "work", "double 1"), batches([1], [2])
    cache.put(old, double(old))
    cache.put(new, double(new))
    cache.clear({cache.path(new)})
    assert cache.get(old) is None
    assert cache.get(new) is not None
    cache.clear()
    assert not cache.folder.exists()


def test_columns_of_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="plain values"):
        ResultCache(tmp_path, "x").path({"column": np.array([object()])})


SCRIPT = """
    import numpy as np
    from freshet.engine.local import LocalEngine
    from tests.engine.batch_functions import double

    def forever():
        while True:
            yield {"number": np.arange(3)}

    for done, _ in enumerate(LocalEngine(2).map(double, forever())):
        if done == 3:
            print("going", flush=True)
"""


def test_a_script_without_a_main_guard_may_use_it_and_be_interrupted(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, str(script)], env=environment, stdout=-1, stderr=-1, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "going\n"
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=30)[1]
    assert errors.count("Traceback") == 1
    assert "KeyboardInterrupt" in errors
