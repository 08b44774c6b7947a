"""Shares in words."""


def percent(share: float) -> str:
    """Write a share of one in per cent; a little is not nothing, and nearly all is not all.

    >>> percent(0.5), percent(0.005), percent(0.0), percent(0.998)
    ('50%', 'fewer than 1%', '0%', 'more than 99%')
    """
    if 0 < share < 0.01:
        return "fewer than 1%"
    return "more than 99%" if 0.99 < share < 1 else f"{share:.0%}"
