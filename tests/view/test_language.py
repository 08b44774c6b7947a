from freshet.core.types import Snapshot
from freshet.view.language import detect_language
from freshet.view.parse import parse_snapshot

SENTENCE = "Der Regen fällt auf die Felder und die Bauern warten auf die Sonne. "


def test_the_language_of_a_long_text_is_guessed() -> None:
    assert detect_language("", SENTENCE * 8) == "de"


def test_every_kind_of_document_is_guessed_alike() -> None:
    for media_type in ("text/html", "text/markdown", "text/plain"):
        snapshot = Snapshot(
            "https://a.org/",
            (SENTENCE * 8).encode(),
            headers=(("Content-Type", media_type + "; charset=utf-8"),),
        )
        assert parse_snapshot(snapshot).language == "de"


def test_a_declared_language_wins_and_is_reduced_to_its_primary_tag() -> None:
    assert detect_language("FR-ca", SENTENCE * 8) == "fr"
    assert detect_language("{{lang}}", SENTENCE * 8) == "de"
