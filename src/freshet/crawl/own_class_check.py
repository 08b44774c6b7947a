"""Checks the classes of the user before a crawl starts: its policy and its measures."""

from freshet.core.settings import Settings
from freshet.crawl.live_policy import configured_policy
from freshet.measure.change.own_measure import check_measure
from freshet.record.collection_reader import CollectionReader
from freshet.schedule.policies import is_own_policy, make_policy


def check_own_classes(reader: CollectionReader) -> None:
    """Raise UsageError if a policy or a measure in use cannot be imported."""
    check_own_policy(reader.settings)
    tables = reader.catalog.settings_with("counts_as")
    measures = {reader.settings.page.counts_as, *(table["counts_as"] for table in tables)}
    for measure in sorted(item for item in measures if isinstance(item, str)):
        check_measure(measure)


def check_own_policy(settings: Settings) -> None:
    """Raise UsageError if the configured policy is a class that cannot be imported or made."""
    policy = configured_policy(settings)
    if isinstance(policy, str) and is_own_policy(policy):
        make_policy(policy)
