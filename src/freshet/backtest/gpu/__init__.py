"""Simulated crawl of many formulas side by side as array code, on a GPU or the processor.

This package is optional: ``backtest.devices`` loads it when a device is opened. It makes the same
selections as ``backtest.class_crawl`` and as a policy with the same formula and seed. Pages with
the same history for a formula share one row of a history table; only these rows are scored. A
second table holds the history row of every page, with a row per formula.
"""
