"""Which tests of fetching this machine can run."""

import os

collect_ignore_glob = [] if "FRESHET_DATA" in os.environ else ["*/test_conformance_*.py"]
