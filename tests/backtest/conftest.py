"""Selects the backtest tests that this machine can run."""

import os

NEEDS = {"FRESHET_DATA": "test_conformance_*.py", "FRESHET_GPU": "test_on_a_gpu.py"}
collect_ignore_glob = [tests for needed, tests in NEEDS.items() if needed not in os.environ]
