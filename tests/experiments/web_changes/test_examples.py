"""The examples of Figures 1, 7 and 8 on pages of the simulated web."""

from pathlib import Path

from experiments.web_changes.examples import write_examples

DOCUMENT = Path(__file__).parents[3] / "docs/results/web_changes.md"


def test_the_examples_are_those_of_the_document(tmp_path: Path) -> None:
    (overlay, sheet), snippet = write_examples(tmp_path / "c", tmp_path)
    assert "all 14 days" in overlay.read_text("utf-8")
    assert "unchanged at all looks, for 14 days" in overlay.read_text("utf-8")
    assert "<ins" in sheet.read_text("utf-8")
    lines = DOCUMENT.read_text("utf-8").splitlines()
    quoted = " ".join(line.removeprefix("> ") for line in lines if line.startswith("> "))
    assert snippet == quoted
