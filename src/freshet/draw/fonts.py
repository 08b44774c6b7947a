"""Fonts for the texts of charts: whether Chinese, Japanese and Korean characters can be drawn."""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

FONT_FOLDERS = (
    "/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts",
    "/System/Library/Fonts", "/Library/Fonts", "~/Library/Fonts", "C:/Windows/Fonts",
)  # fmt: skip
# Parts of the file names of common fonts with these characters.
CJK_FONT_NAMES = (
    "cjk", "sourcehan", "wqy", "wenquanyi", "droidsansfallback", "unifont", "arphic", "uming",
    "ukai", "ipag", "ipaex", "takao", "vlgothic", "nanum", "unbatang", "baekmuk", "hiragino",
    "pingfang", "applegothic", "arial unicode", "arialuni", "msyh", "simsun", "msgothic", "malgun",
)  # fmt: skip
CJK_RANGES = ((0x1100, 0x11FF), (0x2E80, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF),
              (0x20000, 0x3FFFF))  # fmt: skip
NO_FONT_NOTE = "Chinese, Japanese or Korean words appear as boxes: no font for them is installed"


def missing_font_note(words: Iterable[str]) -> str:
    """Return a note where words need a font that is not installed; else an empty text."""
    return NO_FONT_NOTE if any(map(has_cjk, words)) and not has_cjk_font() else ""


def has_cjk(text: str) -> bool:
    """Return whether a text has Chinese, Japanese or Korean characters.

    >>> has_cjk("模型"), has_cjk("한국"), has_cjk("été")
    (True, True, False)
    """
    return any(first <= ord(char) <= last for char in text for first, last in CJK_RANGES)


@cache
def has_cjk_font() -> bool:
    """Return whether a font with these characters is installed, by the names of font files."""
    return any(_is_cjk_font(name) for folder in FONT_FOLDERS for name in _file_names(folder))


def _is_cjk_font(name: str) -> bool:
    return any(part in name.lower() for part in CJK_FONT_NAMES)


def _file_names(folder: str) -> Iterable[str]:
    for _, _, names in os.walk(Path(folder).expanduser()):
        yield from names
