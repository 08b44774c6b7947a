"""The misbehaviours are what the documents say of them."""

from pathlib import Path

import pytest

from freshet.view.content_coding import ContentTooLargeError, decode_content
from tests.fetch.hostile.bombs import CODINGS, UNPACKED, bomb
from tests.fetch.hostile.misbehaviours import KINDS, table

DOCUMENT = Path(__file__).parents[2] / "docs/results/misbehaviour.md"
ENOUGH = 28


def test_there_are_enough_kinds_and_each_has_its_name() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= ENOUGH


def test_every_kind_says_what_it_does_and_what_must_come_of_it() -> None:
    assert all(kind.does.endswith(".") and kind.outcomes for kind in KINDS)


def test_the_document_holds_the_table_of_kinds() -> None:
    assert table() in DOCUMENT.read_text("utf-8")


@pytest.mark.parametrize("coding", CODINGS)
def test_a_bomb_is_small_and_unpacks_far(coding: str) -> None:
    assert len(bomb(coding)) < UNPACKED / 500
    with pytest.raises(ContentTooLargeError):
        decode_content(bomb(coding), coding, UNPACKED // 16)
