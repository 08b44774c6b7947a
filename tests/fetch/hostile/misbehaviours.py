"""Every kind of misbehaviour, and the table of them for the documents."""

import sys

from tests.fetch.hostile import bombs, contents, floods, framing, lies, redirects, rules, silence
from tests.fetch.hostile.kinds import Misbehaviour, kinds_in

FAMILIES = (silence, framing, bombs, redirects, lies, contents, floods, rules)
KINDS: tuple[Misbehaviour, ...] = tuple(kind for family in FAMILIES for kind in kinds_in(family))


def table() -> str:
    """Return the kinds as a table in Markdown."""
    lines = ["| kind | what the server does | outcome | bound |", "|---|---|---|---|"]
    for kind in KINDS:
        outcomes = " or ".join(f"`{outcome}`" for outcome in kind.outcomes)
        bound = f"`{kind.bound}`" if "." in kind.bound else kind.bound
        lines.append(f"| {kind.name} | {kind.does} | {outcomes} | {bound} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table())
