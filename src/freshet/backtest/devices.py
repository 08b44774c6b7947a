"""Devices of the batch crawl by name; the package ``backtest.gpu`` is loaded when one is opened."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.trace import Trace
from freshet.core.errors import UsageError
from freshet.core.extras import installation_advice
from freshet.formula.variables import WeightClock

if TYPE_CHECKING:
    from freshet.backtest.gpu.crawl import FormulaBatchCrawl
    from freshet.backtest.gpu.device import ArrayDevice

DEVICES = ("cpu", "cuda")


def open_device(name: str) -> "ArrayDevice":
    """Return a device by name; ``cuda`` needs the optional package cupy."""
    if name not in DEVICES:
        raise UsageError(f"device {name!r} is unknown; use one of {', '.join(DEVICES)}")
    module = import_module(f"freshet.backtest.gpu.{name}")
    device: ArrayDevice = module.CpuDevice() if name == "cpu" else module.CudaDevice(_cupy())
    return device


def batch_crawl(
    trace: Trace, k: int, keys: NDArray[np.uint64], *, clock: WeightClock, device: "ArrayDevice"
) -> "FormulaBatchCrawl":
    """Return a crawl of many formulas side by side on a device, with k visits a cycle.

    ``keys`` are the tie break keys of the cycles.
    """
    module = import_module("freshet.backtest.gpu.crawl")
    crawl: FormulaBatchCrawl = module.FormulaBatchCrawl(trace, k, keys, clock=clock, device=device)
    return crawl


def _cupy() -> Any:
    try:
        return import_module("cupy")
    except ImportError as error:
        raise UsageError(
            f"device 'cuda' needs the package cupy, which cannot be imported ({error});"
            f" {installation_advice('gpu')}, or use the device cpu"
        ) from error
