"""The strict measurement: every misbehaviour at once, and what a healthy host keeps of its rate."""

import sys
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from tests.fetch.hostile import laws
from tests.fetch.hostile.floods import floods
from tests.fetch.hostile.misbehaviours import KINDS
from tests.fetch.hostile.run import CrawlBounds, CrawlRun, crawl_over, healthy_site

LARGE = 8_000_000
SECONDS = 60.0
REPEATS = 2
SHARE = 0.9
BOUNDS = CrawlBounds(page_interval=20.0)
LARGE_BOUNDS = CrawlBounds(page_interval=20.0, response_bytes=2 * LARGE, decoded_bytes=8 * LARGE)


def main() -> int:
    """Crawl calmly and among misbehaving hosts in turn; print the figures, and judge them."""
    sites = {"healthy": healthy_site(pages=400)}
    shares, wrong, problems = [], {}, []
    for _ in range(REPEATS):
        with TemporaryDirectory() as folder:
            calm = crawl_over(Path(folder) / "calm", sites, seconds=SECONDS, bounds=BOUNDS)
            wild = crawl_over(Path(folder) / "wild", sites, KINDS, seconds=SECONDS, bounds=BOUNDS)
        shares.append(laws.request_share(wild, calm, "healthy", SECONDS))
        wrong |= laws.wrong_outcomes(wild, KINDS)
        problems += wild.problems
        _say(f"calm: {_figures(calm)}")
        _say(f"wild: {_figures(wild)}, {shares[-1]:.3f} kept")
    for kind in floods(LARGE):
        with TemporaryDirectory() as folder:
            run = crawl_over(
                Path(folder) / "large", sites, (kind,), seconds=SECONDS, bounds=LARGE_BOUNDS
            )
        wrong |= laws.wrong_outcomes(run, (kind,))
        problems += run.problems
        _say(f"{kind.name}, {LARGE:,} bytes: {_figures(run)}")
    for name, outcomes in wrong.items():
        _say(f"wrong: {name}: {', '.join(outcomes)}")
    _say(f"{len(KINDS)} kinds, {len(wrong)} wrong; share kept on average {mean(shares):.3f}")
    return int(bool(wrong or problems) or mean(shares) < SHARE)


def _figures(run: CrawlRun) -> str:
    visits = sum(map(len, run.visits.values()))
    longest = max((entry.ended or entry.began) - entry.began for entry in run.entries)
    sent = max(entry.sent for entry in run.entries) / 1e6
    healthy = run.requests("healthy")
    return (
        f"{visits} visits, {run.peak_megabytes:.0f} MB, longest request {longest:.1f} s, largest"
        f" {sent:.1f} MB; {len(healthy)} requests to the healthy host, longest pause"
        f" {laws.longest_gap(healthy):.1f} s"
    )


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
