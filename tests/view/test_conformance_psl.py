"""Registrable domains against the checks of the Public Suffix List."""

import os
import re
from pathlib import Path

from ada_url import idna

from freshet.view.url import registrable_domain

DATA = Path(os.environ["FRESHET_DATA"]) / "conformance"
CHECK = re.compile(r"^checkPublicSuffix\((?:'(.*?)'|null), (?:'(.*?)'|null)\);", re.MULTILINE)


def in_ascii(name: str) -> str:
    return idna.encode(name).decode() if name else ""


def test_registrable_domains_are_those_of_the_public_suffix_list() -> None:
    checks = CHECK.findall((DATA / "psl" / "test_psl.txt").read_text())
    wrong = [
        (name, wanted)
        for name, wanted in checks
        if (registrable_domain(in_ascii(name)) or "") != in_ascii(wanted)
    ]
    assert (len(checks), wrong) == (78, [])
