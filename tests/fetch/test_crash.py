"""A crawl that is killed anywhere loses no acknowledged visit, doubles none and stays polite."""

from subprocess import CompletedProcess

from tests.warm_process import run_module


def run(module: str, *arguments: str) -> CompletedProcess[str]:
    """Run a program of the harness, which must have a process of its own to fork from."""
    return run_module(f"tests.fetch.{module}", *arguments, timeout=600.0)


def test_a_crawl_that_is_killed_repeatedly_keeps_its_guarantees() -> None:
    done = run("crash", "--kills", "10", "--each", "5", "--step", "9")
    *_, last = done.stdout.splitlines() or [""]
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert last.startswith("10 kills (5 at a write)")


def test_a_crawl_waits_while_the_disk_is_full_and_keeps_what_it_fetched() -> None:
    done = run("crash.trouble", "full-disk", "13")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_crawl_that_is_stopped_while_the_disk_is_full_ends_and_says_why() -> None:
    done = run("crash.trouble", "ending", "13")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_failed_write_ends_a_crawl_with_a_clear_error_and_the_next_continues() -> None:
    done = run("crash.trouble", "failing-disk", "13")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_clock_that_jumps_a_day_leaves_out_no_host_and_exceeds_no_budget() -> None:
    done = run("crash.trouble", "clock")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
