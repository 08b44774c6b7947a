import pytest

from freshet.draw import fonts


@pytest.mark.parametrize(("is_installed", "note"), [(True, ""), (False, fonts.NO_FONT_NOTE)])
def test_words_without_a_font_are_noted(
    monkeypatch: pytest.MonkeyPatch, is_installed: bool, note: str
) -> None:
    monkeypatch.setattr(fonts, "has_cjk_font", lambda: is_installed)
    assert fonts.missing_font_note(["model", "模"]) == note
    assert fonts.missing_font_note(["model", "été"]) == ""


def test_a_font_is_found_by_its_file_name(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "opentype").mkdir()
    monkeypatch.setattr(fonts, "FONT_FOLDERS", (str(tmp_path),))
    fonts.has_cjk_font.cache_clear()
    assert not fonts.has_cjk_font()
    (tmp_path / "opentype" / "NotoSansCJK-Regular.ttc").touch()
    fonts.has_cjk_font.cache_clear()
    assert fonts.has_cjk_font()
    fonts.has_cjk_font.cache_clear()
