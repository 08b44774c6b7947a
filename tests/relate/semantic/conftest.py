"""Selects the tests of semantic vectors that this machine can run."""

import os

collect_ignore = [] if "FRESHET_GPU" in os.environ else ["test_on_a_gpu.py"]
