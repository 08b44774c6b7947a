"""What may reach a terminal: text that cannot steer it."""

KEPT = frozenset("\u200c\u200d")


def safe(text: str) -> str:
    """Return text on one line without control characters, so that it cannot steer a terminal.

    The joiners of Persian and Indic scripts stay, other invisible characters become a mark.

    >>> safe("a\\x1b[31mb\\nc\\xa0d")
    'a?[31mb c d'
    """
    if text.isprintable():
        return text
    return "".join(_safe(char) for char in text)


def _safe(char: str) -> str:
    if char.isprintable() or char in KEPT:
        return char
    return " " if char.isspace() else "?"
