"""Learns from all looks of the collection how to correct the default forecast, and stores the model
in `models/change-model.json`. The model sees what was known before each look: when and how often
the page has changed, how large its changes were, what followed looks at which the page was like
now, and how other pages of its host have changed lately. It is tested on the last quarter of the
looks, which it has not seen, against the default forecast, the page's own share of looks with a
change, and the result of the last look. `forecast` and the crawl use it only if it is better than
the default forecast beyond chance. A running crawl takes a new model within the hour. The estimator
`trees` needs the extra `learning`; others are classes of your own, given as `module:Class` or by
the name of an entry point. Of several, the best one on the last looks before those of the test is
chosen. A model that is not better does not replace one that is used.

With enough new links in the looks, a model of them is learned too (`models/link-model.json`), from
the new links of the page and of other pages of its site in past weeks, or in past days if there are
few weeks. It is tested on the last quarter of the weeks against the default forecast, the previous
week (NNL-Pr), the mean of the past weeks (NNL-Av), and the share of past weeks with a new link
(LCR-history). `forecast` uses it for expected new links only if it is better than the default
forecast beyond chance, and no worse than each of the three rules. It needs the extra `learning`.

With enough posts of threads, the forecast of the next post is trained on them
(`models/post-model.json`). It is tested at the last quarter of the looks at threads, by whether
they found a new post, against the forecast that Freshet comes with, decayed counts of posts without
training, and the mean rate of each thread. `forecast`, `why`, `plan` and the crawl use it only if
it is better than the forecast that Freshet comes with, beyond chance. It needs the extra
`learning`.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from freshet.cli.interrupts import interruptible
from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_table, print_text, progress_bar
from freshet.core.errors import UsageError
from freshet.core.humanize import count_text, duration_text
from freshet.core.local_time import format_to_second
from freshet.core.setting_checks import TREES, check_estimators
from freshet.learning.change_model.examples import MAX_EXAMPLES, MAX_LOOKS
from freshet.learning.change_model.learn import LearningResult, learn_changes
from freshet.learning.link_model.learn import LinkLearningResult, learn_links
from freshet.learning.post_model.learn import PostLearningResult, learn_posts
from freshet.predict.change_model import (
    BASELINES,
    DEFAULT_FORECAST,
    LEARNED,
    PLAIN_RULES,
    ChangeModel,
    LookSummary,
    ModelValidation,
    score_name,
)
from freshet.predict.forecast_scores import ForecastScores
from freshet.predict.outlinks.link_model import DEFAULT_LINK_FORECAST, LinkValidation
from freshet.record.collection_store import CollectionStore

MODEL_FIELDS = ("made", "made_with", "trained", "validation")
LINK_FIELDS, POST_FIELDS = ("interval_days", *MODEL_FIELDS), ("posts", *MODEL_FIELDS)

app = new_app()

EstimatorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--estimator",
        metavar="NAME",
        help="Estimator to try instead of those of the setting estimators: trees, or a class of "
        "your own (module:Class or entry point). Can be repeated.",
    ),
]


@app.command()
def learn(
    collection: CollectionOption = DEFAULT_COLLECTION,
    estimators: EstimatorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Learn from the collection's visits to forecast better."""
    names = tuple(estimators or ())
    if names and (problem := check_estimators(names)):
        raise UsageError(problem)
    with (
        CollectionStore.open(collection) as store,
        progress_bar("forecasting past looks", quiet=as_json) as bar,
        interruptible(bar) as report_progress,
    ):
        result = learn_changes(store, estimators=names, progress=report_progress)
        links = learn_links(store, progress=report_progress)
        posts = learn_posts(store, progress=report_progress)
    if as_json:
        print_json(
            _document(result)
            | {
                "links": _model_document(links, LINK_FIELDS),
                "posts": _model_document(posts, POST_FIELDS),
            }
        )
        return
    if result.model is None:
        print_text(f"Nothing was learned: {result.why}. Forecasts of changes stay as they were.")
    else:
        _print_model(result.model, result)
    _print_links(links)
    _print_posts(posts)


def _document(result: LearningResult) -> dict[str, object]:
    model = result.model
    if model is None:
        return {"model": None, "used": result.used, "why": result.why, "kept_model": None}
    summary = {
        name: getattr(model, name)
        for name in (
            "policy",
            "estimator",
            "made",
            "made_with",
            "trained",
            "left_out",
            "validation",
        )
    }
    return {
        "model": summary,
        "used": result.used,
        "why": result.why,
        "kept_model": result.kept_model and result.kept_model.title,
    }


def _model_document(
    result: LinkLearningResult | PostLearningResult, names: Sequence[str]
) -> dict[str, object]:
    """Return a result with the given fields of its model."""
    model = result.model
    return {
        "model": None if model is None else {name: getattr(model, name) for name in names},
        "used": result.used,
        "why": result.why,
        "kept_model": result.kept_model and result.kept_model.title,
    }


def _print_links(result: LinkLearningResult) -> None:
    if result.model is None:
        print_text(f"No model of new links was learned: {result.why}.")
        return
    trained, validation = result.model.trained, result.model.validation
    length = duration_text(result.model.interval_days)
    intervals = f"{count_text(trained.intervals, 'interval')} of {length}"
    print_text(
        f"New links: learned on {trained.new_links:,} of {count_text(trained.pages, 'page')} in "
        f"{intervals}, tested on {validation.intervals.intervals:,} later ones."
    )
    rows = [
        (name, f"{scores.deviance:.3f}", f"{scores.error:.3f}", f"{scores.auc:.3f}")
        for name, scores in validation.scores.items()
    ]
    print_table(("new links by", "deviance", "absolute error", "AUC"), rows)
    print_text(_gain_text("deviance", validation))
    if result.used:
        verdict = "'freshet forecast' uses the learned model of new links from now on"
    elif result.kept_model is not None:
        verdict = f"'freshet forecast' goes on using the model of before, {result.kept_model.title}"
    else:
        verdict = f"'freshet forecast' uses the {DEFAULT_LINK_FORECAST} of new links"
    print_text(f"{verdict}. Reason: {result.why}.")


def _print_posts(result: PostLearningResult) -> None:
    if result.model is None:
        print_text(f"No model of posts was learned: {result.why}.")
        return
    trained, validation = result.model.trained, result.model.validation
    later = validation.looks
    print_text(
        f"Posts: learned on {result.model.posts:,} of {count_text(trained.pages, 'thread')}, "
        f"tested at {count_text(later.looks, 'later look')}, {later.changes:,} of which found new "
        "ones."
    )
    _print_scores("new post by", validation.scores)
    print_text(_gain_text("log-loss", validation))
    if result.used:
        verdict = (
            "The learned model forecasts posts from now on, in a running crawl within the hour"
        )
    elif result.kept_model is not None:
        verdict = f"The model of before goes on forecasting posts, {result.kept_model.title}"
    else:
        verdict = f"Posts are forecast by the {DEFAULT_FORECAST}"
    print_text(f"{verdict}. Reason: {result.why}.")


def _print_scores(forecast: str, scores: Mapping[str, ForecastScores]) -> None:
    rows = [
        (name, f"{item.log_loss:.3f}", f"{item.auc:.3f}", f"{item.brier:.3f}")
        for name, item in scores.items()
    ]
    print_table((forecast, "log-loss", "AUC", "Brier score"), rows)


def _print_model(model: ChangeModel, result: LearningResult) -> None:
    validation = model.validation
    print_text(f"Learned on {_summary_text(model.trained)}.")
    if model.left_out:
        print_text(
            f"Older looks were left out: {model.left_out:,}. At most the latest "
            f"{MAX_EXAMPLES:,} compared ones are learned from, of the latest {MAX_LOOKS:,} looks."
        )
    print_text(f"Tested on later looks that it had not seen: {_summary_text(validation.looks)}.")
    has_several = len(validation.scores) > len(BASELINES) + 1
    _print_scores(
        "forecast",
        {
            TREES if has_several and name == LEARNED else name: scores
            for name, scores in validation.scores.items()
        },
    )
    if has_several:
        print_text(f"The best estimator is {model.estimator}.")
    print_text(_gain_text("log-loss", validation))
    print_text(f"{_verdict_text(model, result)}. Reason: {result.why}.")
    if rule_text := _better_rule_text(model, used=result.used):
        print_text(rule_text)


def _verdict_text(model: ChangeModel, result: LearningResult) -> str:
    """Say which forecast is used, and since when."""
    if result.used:
        name = f"the {LEARNED}" if model.estimator == TREES else model.estimator
        return f"'freshet forecast' uses {name} from now on, and a running crawl within the hour"
    if result.kept_model is not None:
        return (
            "The new model is not stored. The crawl and 'freshet forecast' go on using the one of "
            f"before, {result.kept_model.title}"
        )
    return f"No model is better yet: the crawl and 'freshet forecast' use the {DEFAULT_FORECAST}"


def _better_rule_text(model: ChangeModel, *, used: bool) -> str:
    """Say which plain rule was better than the forecast that is used; empty if none was."""
    losses = {name: scores.log_loss for name, scores in model.validation.scores.items()}
    name = score_name(model.estimator) if used else DEFAULT_FORECAST
    rule = min(PLAIN_RULES, key=losses.__getitem__)
    if losses[rule] >= losses[name]:
        return ""
    return (
        f"On these looks a plain rule was better than what is used, the {rule}: log-loss "
        f"{losses[rule]:.3f} against {losses[name]:.3f}. It is not used, because it says the same "
        "however long ago the last look was."
    )


def _gain_text(measure: str, validation: ModelValidation | LinkValidation) -> str:
    if validation.gain == 0:
        difference = "equal to"
    else:
        direction = "lower" if validation.gain > 0 else "higher"
        difference = f"{abs(validation.gain):.4f} {direction} than"
    return (
        f"Its {measure} is {difference} that of the {DEFAULT_FORECAST} (95 % interval "
        f"of the gain: {validation.gain_low:.4f} to {validation.gain_high:.4f})."
    )


def _summary_text(looks: LookSummary) -> str:
    counts = f"{count_text(looks.looks, 'look')} at {count_text(looks.pages, 'page')}"
    times = f"{format_to_second(looks.since)} to {format_to_second(looks.until)}"
    return f"{counts}, {count_text(looks.changes, 'change')}, {times}"
