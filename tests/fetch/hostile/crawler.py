"""One crawl in a process of its own, which says at its end how much memory it took."""

import json
import sys
from pathlib import Path

from freshet.fetch.recording_loop import CrawlLimits
from freshet.fetch.run_crawl import run_crawl

AMPLE = "20000000/day"
STATUS = Path("/proc/self/status")


def peak_megabytes() -> float:
    """Return the most memory that this process has had, 0 where the system does not tell."""
    lines = STATUS.read_text().splitlines() if STATUS.exists() else []
    sizes = [line.split()[1] for line in lines if line.startswith("VmHWM")]
    return int(sizes[0]) / 1024 if sizes else 0.0


if __name__ == "__main__":
    run_crawl(Path(sys.argv[1]), budget=AMPLE, limits=CrawlLimits(seconds=float(sys.argv[2])))
    sys.stdout.write(json.dumps({"peak_megabytes": peak_megabytes()}) + "\n")
