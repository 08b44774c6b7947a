"""Classes of the user are checked before a crawl starts."""

from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from freshet.core.errors import UsageError
from freshet.crawl.own_class_check import check_own_classes
from freshet.record.collection_store import CollectionStore
from tests.crawl.crawl_samples import make_folder, url

MISSING = {"counts_as": "no.such:Measure"}


@pytest.mark.parametrize("is_removed", [False, True])
@pytest.mark.parametrize("is_tag", [False, True])
def test_the_measures_of_live_pages_and_of_their_tags_are_checked(
    tmp_path: Path, is_removed: bool, is_tag: bool
) -> None:
    folder = make_folder(tmp_path / "c")
    with Collection.open(folder) as collection:
        collection.add(url(1), tags=("news",))
    with CollectionStore.open(folder) as store:
        check_own_classes(store)
        page = store.page(url(1))
        if is_tag:
            store.catalog.set_tag_settings("news", MISSING)
        else:
            store.catalog.set_page_settings(page.id, MISSING)
        if is_removed:
            store.catalog.remove_pages([page.id], store.clock.now())
            check_own_classes(store)
        else:
            with pytest.raises(UsageError, match=r"'no\.such:Measure' cannot be imported"):
                check_own_classes(store)
