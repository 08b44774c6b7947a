"""The crawl's way to a GPU: all but the kernels themselves, which a stand-in runs in Python."""

import re
import sys

import numpy as np
import pytest

from freshet.backtest.devices import open_device
from freshet.backtest.gpu.crawl import FormulaBatchCrawl
from freshet.backtest.gpu.cuda import CudaDevice
from freshet.backtest.gpu.cuda_source import (
    CHOOSE,
    NUMBER_EQUAL_ROWS,
    REASSIGN_PAGES,
    REFRESH_COPIES,
    VALUES,
    define_constants,
)
from freshet.backtest.trace import Trace
from freshet.core.errors import UsageError
from freshet.formula.expression import parse_formula
from freshet.formula.variables import PAPER_VARIABLES, WeightClock
from tests.backtest.fake_cupy import Emulated, Missing
from tests.backtest.traces import by_chance, in_groups

TEXTS = ("t", "2", "t * X", "CG + 0.01 * t", "pow(SAD, t) + AAD / (GAD - n)", "log(NAD) / 0 - t")
KEYS = np.arange(100, 112, dtype=np.uint64)


def some_trace() -> Trace:
    return in_groups(by_chance(50, len(KEYS), seed=3))


@pytest.mark.parametrize("clock", ["visit", "cycle"])
@pytest.mark.parametrize("floor", [-np.inf, 0.6])
def test_what_the_kernels_are_given_finds_what_the_processor_finds(
    clock: WeightClock, floor: float
) -> None:
    trace, formulas = some_trace(), [parse_formula(text, PAPER_VARIABLES) for text in TEXTS]
    expected = FormulaBatchCrawl(trace, 4, KEYS, clock=clock).run(formulas, floor=floor)
    device = CudaDevice(Emulated())
    results = FormulaBatchCrawl(trace, 4, KEYS, clock=clock, device=device).run(
        formulas, floor=floor
    )
    assert [one.changes_found.tolist() for one in results] == [
        one.changes_found.tolist() for one in expected
    ]
    assert [one.fitness for one in results] == [one.fitness for one in expected]
    assert any(one.is_stopped for one in expected) == (floor > 0)


def test_no_kernel_is_started_for_formulas_that_are_all_given_up() -> None:
    device = CudaDevice(Emulated())
    formulas = [
        parse_formula("0 - X", PAPER_VARIABLES),
        parse_formula("0 - t * X", PAPER_VARIABLES),
    ]
    results = FormulaBatchCrawl(some_trace(), 4, KEYS, device=device).run(formulas, floor=0.8)
    assert [one.is_stopped for one in results] == [True, True]


def test_as_many_cells_are_crawled_at_a_time_as_the_free_memory_holds() -> None:
    assert CudaDevice(Emulated()).max_cells == 2**20 // 64


@pytest.mark.parametrize(
    "source", [NUMBER_EQUAL_ROWS, CHOOSE, REFRESH_COPIES, REASSIGN_PAGES, VALUES]
)
def test_every_name_in_a_kernel_stands_for_something(source: str) -> None:
    whole = define_constants(source, {"ROOM": 16, "BY_CYCLE": 0})
    defined = set(re.findall(r"#define (\w+)", whole))
    assert set(re.findall(r"\b[A-Z][A-Z_]*\b", re.sub(r'//.*|"C"', "", source))) <= defined


def test_a_machine_without_a_gpu_is_told_so() -> None:
    with pytest.raises(UsageError, match=r"no GPU can be used \(no CUDA-capable device"):
        CudaDevice(Emulated(Missing))


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(
        UsageError, match=r"pip install 'freshet-crawler\[gpu\]', or use the device cpu"
    ):
        open_device("cuda")
