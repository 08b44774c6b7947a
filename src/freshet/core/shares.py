"""Shares in words."""


def percent_first(share: float) -> str:
    """Write a share in per cent at the beginning of a sentence.

    >>> percent_first(0.001), percent_first(0.5)
    ('Fewer than 1%', '50%')
    """
    told = percent(share)
    return told[0].upper() + told[1:]


def percent(share: float) -> str:
    """Write a share of one in per cent; a little is not nothing, and nearly all is not all.

    >>> percent(0.5), percent(0.005), percent(0.0), percent(0.998)
    ('50%', 'fewer than 1%', '0%', 'more than 99%')
    """
    if 0 < share < 0.01:
        return "fewer than 1%"
    return "more than 99%" if 0.99 < share < 1 else f"{share:.0%}"
