"""Simulated crawls of a small generated trace."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from experiments.wild import __main__ as command
from experiments.wild import experiment, variants
from experiments.wild.expected_figures import StoredFigures
from experiments.wild.experiment import (
    CrawlTask,
    ExperimentSize,
    crawl_tasks,
    experiment_sources,
    run_tasks,
)
from experiments.wild.variants import DEFAULTS

(SOURCE,) = experiment_sources(None, is_quick=True)
SMALL = ExperimentSize((0.05,), seeds=2, is_quick=True, processes=1)


@pytest.fixture(autouse=True)
def few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "QUICK_PAGES_PER_SITE", 6)


def test_every_policy_crawls_from_both_starts_with_every_budget() -> None:
    (source,) = experiment_sources(None, is_quick=False)
    tasks = list(crawl_tasks(source, ExperimentSize()))
    assert len(set(tasks)) == len(tasks)
    assert {(task.start, task.budget) for task in tasks if task.policy == "nutch"} == {
        (start, budget) for start in ("warm", "cold") for budget in (0.02, 0.05, 0.1, 0.2)
    }


def test_a_cold_crawl_is_less_fresh_than_a_warm_one() -> None:
    tasks = [CrawlTask("generated", "age", 0.05, start) for start in ("warm", "cold")]
    warm, cold = run_tasks(None, tasks, SMALL)
    assert warm.freshness > cold.freshness
    assert warm.freshness == pytest.approx(warm.page_figures.fresh_shares.mean(), abs=1e-6)
    visits, changes_found = warm.page_figures.visits, warm.page_figures.changes_found
    assert warm.changerate == pytest.approx(changes_found.sum() / visits.sum())


def test_a_default_policy_is_crawled_without_each_of_its_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed_policies = []
    monkeypatch.setattr(variants, "ABLATED_PARTS", {"a part": changed_policies.append})
    names = [variant.name for variant in variants.ablated_policies()]
    assert names == ["bayes-changes without a part", "bayes-freshness without a part"]
    list(run_tasks(None, [CrawlTask("generated", names[0], 0.05, "cold")], SMALL))
    assert [policy.name for policy in changed_policies] == ["bayes-changes"] * 2


@pytest.mark.parametrize("part", variants.ABLATED_PARTS)
def test_a_default_policy_crawls_without_a_part(part: str) -> None:
    tasks = [CrawlTask("generated", f"{name} without {part}", 0.05, "cold") for name in DEFAULTS]
    size = replace(SMALL, seeds=1)
    assert [result.changerate > 0 for result in run_tasks(None, tasks, size)] == [True, True]


@pytest.mark.parametrize(
    ("arguments", "are_stored"),
    [
        ((), False),
        (("--data", "x"), False),
        (("--keep",), False),
        (("--data", "x", "--keep", "--quick"), False),
        (("--data", "x", "--keep"), True),
    ],
)
def test_figures_are_stored_only_on_request_and_from_all_the_real_pages(
    arguments: tuple[str, ...], are_stored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[StoredFigures] = []
    monkeypatch.delenv(command.DATA_VARIABLE, raising=False)
    monkeypatch.setattr(command, "experiment_sources", lambda *_, is_quick: [SOURCE])
    monkeypatch.setattr(command, "safety_net_rows", lambda *_: [])
    monkeypatch.setattr(command, "simulate_source", lambda *_: StoredFigures())
    monkeypatch.setattr(command, "replay_all", lambda _: [])
    monkeypatch.setattr(command, "save_figures", saved.append)
    for options, count in (((), 1), (("--replays",), 2), (("--safety-net",), 1)):
        saved.clear()
        command.main([*arguments, *options])
        assert len(saved) == are_stored * count


@pytest.mark.parametrize(
    ("arguments", "data"),
    [
        (["--data", "x", "replay"], Path("x")),
        (["replay"], Path("y")),
        (["replay", "z"], Path("z")),
        (["--data", "x", "replay", "z"], Path("z")),
    ],
)
def test_a_replay_uses_the_data_and_the_output_of_the_options_before_it(
    arguments: list[str], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(command.DATA_VARIABLE, "y")
    options = command.make_parser().parse_args(arguments)
    assert (command.replayed_folder(options), options.json) == (data, False)
    for json_arguments in (["--json", *arguments], [*arguments, "--json"]):
        assert command.make_parser().parse_args(json_arguments).json


def test_without_data_the_output_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(command.DATA_VARIABLE, raising=False)
    monkeypatch.setattr(command, "QUICK_SIZE", ExperimentSize((0.05,), 1, is_quick=True))
    command.main(["--quick", "--json", "--processes", "1"])
    document = json.loads(capsys.readouterr().out)
    assert document["data"].startswith("generated pages")
    policies = {row["policy"] for row in document["rows"]}
    assert {"age", "nutch", "stormcrawler", "bayes-changes", "bayes-freshness"} < policies
