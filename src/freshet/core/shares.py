"""Shares in words."""


def percent_text_capitalized(share: float) -> str:
    """Write a share in per cent at the beginning of a sentence.

    >>> percent_text_capitalized(0.001), percent_text_capitalized(0.5)
    ('Fewer than 1%', '50%')
    """
    told = percent_text(share)
    return told[0].upper() + told[1:]


def percent_text(share: float) -> str:
    """Write a share of one in per cent; a little is not nothing, and nearly all is not all.

    >>> percent_text(0.5), percent_text(0.005), percent_text(0.0), percent_text(0.998)
    ('50%', 'fewer than 1%', '0%', 'more than 99%')
    """
    if 0 < share < 0.01:
        return "fewer than 1%"
    return "more than 99%" if 0.99 < share < 1 else f"{share:.0%}"
