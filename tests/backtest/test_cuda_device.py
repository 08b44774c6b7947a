"""The GPU device without a GPU: a stand-in runs the kernels in Python."""

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
from tests.backtest.fake_cupy import FakeCupy, MissingGpu
from tests.backtest.traces import by_chance, in_groups

TEXTS = ("t", "2", "t * X", "CG + 0.01 * t", "pow(SAD, t) + AAD / (GAD - n)", "log(NAD) / 0 - t")
KEYS = np.arange(100, 112, dtype=np.uint64)


def some_trace() -> Trace:
    return in_groups(by_chance(50, len(KEYS), seed=3))


@pytest.mark.parametrize("clock", ["visit", "cycle"])
@pytest.mark.parametrize("floor", [-np.inf, 0.6])
def test_the_gpu_device_finds_what_the_processor_finds(clock: WeightClock, floor: float) -> None:
    trace, formulas = some_trace(), [parse_formula(text, PAPER_VARIABLES) for text in TEXTS]
    expected = FormulaBatchCrawl(trace, 4, KEYS, clock=clock).run(formulas, floor=floor)
    device = CudaDevice(FakeCupy())
    results = FormulaBatchCrawl(trace, 4, KEYS, clock=clock, device=device).run(
        formulas, floor=floor
    )
    assert [one.changes_found.tolist() for one in results] == [
        one.changes_found.tolist() for one in expected
    ]
    assert [one.fitness for one in results] == [one.fitness for one in expected]
    assert any(one.is_stopped for one in expected) == (floor > 0)


def test_no_kernel_is_started_when_all_formulas_are_stopped() -> None:
    device = CudaDevice(FakeCupy())
    formulas = [
        parse_formula("0 - X", PAPER_VARIABLES),
        parse_formula("0 - t * X", PAPER_VARIABLES),
    ]
    results = FormulaBatchCrawl(some_trace(), 4, KEYS, device=device).run(formulas, floor=0.8)
    assert [one.is_stopped for one in results] == [True, True]


def test_the_batch_size_follows_the_free_memory() -> None:
    assert CudaDevice(FakeCupy()).max_cells == 2**20 // 64


@pytest.mark.parametrize(
    "source", [NUMBER_EQUAL_ROWS, CHOOSE, REFRESH_COPIES, REASSIGN_PAGES, VALUES]
)
def test_every_constant_in_a_kernel_is_defined(source: str) -> None:
    full_source = define_constants(source, {"ROOM": 16, "BY_CYCLE": 0})
    defined = set(re.findall(r"#define (\w+)", full_source))
    assert set(re.findall(r"\b[A-Z][A-Z_]*\b", re.sub(r'//.*|"C"', "", source))) <= defined


def test_a_machine_without_a_gpu_gives_an_error() -> None:
    with pytest.raises(UsageError, match=r"no GPU can be used \(no CUDA-capable device"):
        CudaDevice(FakeCupy(MissingGpu))


def test_without_cupy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(
        UsageError, match=r"pip install '.\[gpu\]' in the checkout of Freshet, or use"
    ):
        open_device("cuda")
