"""Page URLs and media types of files in a repository."""

import pytest

from freshet.archive.importers.git_files import media_type, page_url


@pytest.mark.parametrize(
    ("path", "url"),
    [
        (b"example.org/a?b=c&d.html", "https://example.org/a?b=c&d.html"),
        (b"example.org/a#b", "https://example.org/a%23b"),
        (b"http%3A%2F%2Fexample.org%2Fa%20b", "http://example.org/a%20b"),
        (b"README.md", "git:repo/README.md"),
        (b".github/workflows/run.yml", "git:repo/.github/workflows/run.yml"),
        (b"v1.2/index.html", "git:repo/v1.2/index.html"),
        (b"Some Service/Terms.md", "git:repo/Some%20Service/Terms.md"),
    ],
)
def test_a_path_spells_a_url_or_is_named_after_the_repository(path: bytes, url: str) -> None:
    assert page_url("repo", path) == url


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        (b"a.HTML", b"", "text/html; charset=utf-8"),
        (b"a", b"  <!-- x --> <html lang=en>", "text/html; charset=utf-8"),
        (b"a", b'<?xml version="1.0"?>', "application/xml; charset=utf-8"),
        (b"a", b'[{"a": 1}]', "application/json; charset=utf-8"),
        (b"a.csv", b"a,b", "text/plain; charset=utf-8"),
        (b"a.html", b"caf\xe9", "text/html"),
        (b"a.html", "\ufeffcafé".encode("utf-16-le"), "text/html"),
    ],
)
def test_the_media_type_follows_from_suffix_or_first_bytes(
    path: bytes, body: bytes, kind: str
) -> None:
    assert media_type(path, body) == kind


def test_a_zero_byte_makes_a_file_binary() -> None:
    with pytest.raises(ValueError, match="binary"):
        media_type(b"a.html", b"\x89PNG\0")
