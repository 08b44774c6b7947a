from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from freshet.collection.collection import Collection
from freshet.core.types import Snapshot
from tests.record.record_samples import NOW, URL, make_collection, observe, record

OPENING = "The river office tells here what is new along the water and in the towns beside it."


def page(*lines: str, banner: str = "none") -> bytes:
    body = "".join(f"<p>{line}</p>" for line in (OPENING, *lines))
    return f"<html><body><main>{body}</main><aside>{banner}</aside></body></html>".encode()


def looked_at(folder: Path, bodies: Sequence[bytes]) -> Collection:
    collection = make_collection(folder)
    record(collection, [observe(day, body) for day, body in enumerate(bodies)])
    return collection


def mask(collection: Collection, pattern: str) -> None:
    body = {"rules": [{"what": pattern}]}
    collection.catalog.add_mask_version(collection.page(URL).id, body, NOW)


def test_news_are_what_came_since(tmp_path: Path) -> None:
    bodies = [page(), page("Ferry runs again."), page("Ferry runs again.", "Lock closed.")]
    with looked_at(tmp_path / "c", bodies) as collection:
        news = collection.page(URL).news(1)
        assert news.text == "Ferry runs again. … Lock closed."
        assert collection.page(URL).news(2).text == "Lock closed."
        assert collection.page(URL).news(3).text == ""
        assert len(collection.page(URL).news(1, limit=10).text) <= 10


def test_what_comes_and_goes_gives_way_to_what_was_never_there(tmp_path: Path) -> None:
    lamps, harbour = "Great lamps by Lumina Works", "Harbour closed after storm"
    bodies = [page(lamps), page("x"), page(lamps, "y"), page("z"), page(lamps, harbour)]
    with looked_at(tmp_path / "c", bodies) as collection:
        assert collection.page(URL).news(4, limit=30).text == harbour


def test_news_leave_out_elements_that_a_mask_names(tmp_path: Path) -> None:
    bodies = [page(banner="Buy red boats"), page(banner="Buy blue tents"), page(banner="Try oars")]
    with looked_at(tmp_path / "c", bodies) as collection:
        assert collection.page(URL).news(2).text == "Try oars"
        mask(collection, "/html/body/aside")
        news = collection.page(URL).news(2)
        assert (news.text, news.change.changed, news.change.text) == ("", False, True)


def test_a_difference_is_judged_under_the_mask_and_shown_whole(tmp_path: Path) -> None:
    with looked_at(tmp_path / "c", [page("Seen 1 times"), page("Seen 2 times")]) as collection:
        mask(collection, "Seen # times")
        difference = collection.page(URL).difference(1, 2)
        assert (difference.change.changed, difference.change.mask, difference.counts_as) == (
            False,
            1,
            "text",
        )
        assert [piece.text for piece in difference.words if piece.kind != "same"] == ["1", "2"]


def test_a_page_that_turned_into_a_file_has_no_news_to_read(tmp_path: Path) -> None:
    with looked_at(tmp_path / "c", [page("Ferry runs again.")]) as collection:
        kind = (("content-type", "application/pdf"),)
        body = b"%PDF-1.7\n\x00\x01\x02"
        turned = replace(observe(1, body), snapshot=Snapshot(URL, body, 200, kind))
        record(collection, [turned])
        news = collection.page(URL).news(1)
        assert news.text == ""
        assert news.change.changed
