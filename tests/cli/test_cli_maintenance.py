"""Keeping a collection sound and small: measure, check, prune, doctor."""

import os
import sqlite3
from pathlib import Path

import pytest

from freshet.archive.warc.lock import ArchiveLock
from freshet.collection import doctor
from tests.cli.cli_runs import NEWS, Run


def damage(collection: Path) -> None:
    """Flip a byte in the middle of the archive."""
    warc = next((collection / "archive").glob("*.warc.gz"))
    content = bytearray(warc.read_bytes())
    content[len(content) // 2] ^= 1
    warc.write_bytes(content)


def test_measuring_again_takes_new_settings_up(run: Run, collection: Path) -> None:
    run("set", "counts_as=words:100", "--page", NEWS)
    assert run("measure", NEWS, "--again", "--json").json == {"measured": 27}
    assert run("show", NEWS, "--json").json["changes"] == 0


def test_everything_is_measured_again_when_no_page_is_named(run: Run, collection: Path) -> None:
    assert run("measure", "--again").out == "Recomputed 155 visits.\n"


def test_measuring_needs_an_option(run: Run, collection: Path) -> None:
    assert run("measure").code == 2
    assert run("measure", "--again", "--tag", "nosuch").code == 3


def test_a_sound_collection_passes_the_check(run: Run, collection: Path) -> None:
    assert run("check").out == "1 file, 168 records, 168 rows: no problems\n"


def test_damage_is_found_and_named(run: Run, collection: Path) -> None:
    damage(collection)
    result = run("check")
    assert result.code == 7
    assert "offset" in result.err
    assert "has no whole record there" in result.err
    assert len(run("check", "--json").json["problems"]) == 2


def test_a_repair_lists_what_it_repaired(run: Run, collection: Path) -> None:
    damage(collection)
    mended = run("check", "--repair", "--json").json["mended"]
    assert any("damaged bytes kept" in line for line in mended)
    assert run("check").out == "1 file, 167 records, 167 rows: no problems\n"
    assert run("status", "--json").json["counts"]["visits"] == 168


def test_a_missing_file_is_damage_that_can_be_repaired(run: Run, collection: Path) -> None:
    next((collection / "archive").glob("*.warc.gz")).unlink()
    assert run("check").code == 7
    assert run("check", "--repair").code == 0
    assert len(run("history", NEWS, "--json").json) == 28
    assert run("show", NEWS, "--text").code == 3


def test_old_versions_are_thinned_after_a_yes(run: Run, collection: Path) -> None:
    plan = run("prune", "--older-than", "1d", "--keep", "week", "--dry-run", "--json").json
    done = run("prune", "--older-than", "1d", "--keep", "week", "--yes", "--json").json
    assert done["versions"] == plan["versions"] > 0
    assert done["freed_bytes"] > 0
    assert run("check").code == 0
    assert len(run("history", NEWS, "--json").json) == 28


def test_nothing_is_thinned_silently(run: Run, collection: Path) -> None:
    result = run("prune", "--older-than", "1d")
    assert result.code == 2
    assert "--yes" in result.err
    assert run("check", "--json").json["records"] == 168


def test_nothing_old_means_nothing_to_do(run: Run, collection: Path) -> None:
    assert run("prune", "--older-than", "900y").out.startswith("Bytes of 0 versions")


def test_an_age_must_be_one(run: Run, collection: Path) -> None:
    for age in ("soon", "10", "999999y"):
        assert run("prune", "--older-than", age).code == 2
    assert run("prune", "--older-than", "1d", "--keep", "hour").code == 2


def test_the_doctor_finds_nothing_wrong(run: Run, collection: Path) -> None:
    result = run("doctor")
    assert result.code == 0
    assert "6 pages, 168 visits" in result.out
    assert all(row["fine"] for row in run("doctor", "--json").json)


def test_the_doctor_reads_requirements_of_any_form(
    run: Run, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = ["scrapy<3,>=2.19", "typer ~=0.1", "no-such-package!=1", 'nor-this; extra == "x"']
    monkeypatch.setattr(doctor, "requires", lambda name: needed)
    assert wrong(run) == {"packages": "missing: no-such-package"}


def test_the_doctor_names_what_is_wrong(run: Run, collection: Path) -> None:
    Path("freshet.toml").write_text('contact = ""\n', "utf-8")
    result = run("doctor")
    assert result.code == 1
    assert "set contact in freshet.toml" in result.out


def wrong(run: Run) -> dict[str, str]:
    """Return what the doctor finds wrong."""
    findings = run("doctor", "--json").json
    return {row["what"]: row["found"] for row in findings if not row["fine"]}


def test_the_doctor_names_the_holder_of_the_lock(run: Run, collection: Path) -> None:
    assert "free" in run("doctor").out
    with ArchiveLock(collection / "archive", command="freshet run"):
        assert "held by 'freshet run'" in run("doctor").out


def test_the_doctor_finds_a_crawl_in_which_nothing_succeeds(run: Run, collection: Path) -> None:
    with ArchiveLock(collection / "archive", command="freshet run"):
        assert "2026-02-01" in wrong(run)["last successful visit"]
    assert wrong(run) == {}


def test_the_doctor_finds_a_missing_trust_store(
    run: Run, collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "nowhere"))
    assert "certificates" in wrong(run)


def test_the_doctor_knows_how_old_the_last_backup_is(
    run: Run, collection: Path, tmp_path: Path
) -> None:
    assert "'freshet backup DIR' makes one" in run("doctor").out
    run("backup", str(tmp_path / "b"))
    assert f"0 days old, in {tmp_path / 'b'}" in run("doctor").out


def test_the_doctor_finds_what_cannot_be_written(
    run: Run, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "catalog.db")
    assert wrong(run) == {"permissions": "not writable: catalog.db"}


def test_the_doctor_finds_a_missing_file(run: Run, collection: Path) -> None:
    [file] = (collection / "archive").glob("*.warc.gz")
    file.unlink()
    assert wrong(run) == {"archive": f"missing: {file.name}"}


def test_the_doctor_finds_a_file_that_a_dead_writer_left_open(run: Run, collection: Path) -> None:
    (collection / "archive" / "left.warc.gz.open").touch()
    assert wrong(run) == {"open files": "left.warc.gz.open"}
    with ArchiveLock(collection / "archive"):
        assert wrong(run) == {}


def test_the_doctor_does_not_miss_a_file_that_a_crawl_is_writing(
    run: Run, collection: Path
) -> None:
    [file] = (collection / "archive").glob("*.warc.gz")
    file.rename(file.with_name(file.name + ".open"))
    with ArchiveLock(collection / "archive"):
        assert wrong(run) == {}
    assert wrong(run) == {"open files": f"{file.name}.open"}


def test_the_doctor_finds_a_policy_class_that_cannot_be_imported(
    run: Run, collection: Path
) -> None:
    with Path("freshet.toml").open("a", encoding="utf-8") as settings:
        settings.write('policy = "no_such_module_of_rules:Recent"\n')
    assert "no_such_module_of_rules" in wrong(run)["policy"]


def test_a_collection_of_a_newer_version_is_refused(run: Run, collection: Path) -> None:
    with sqlite3.connect("catalog.db") as catalog:
        catalog.execute("UPDATE alembic_version SET version_num = '9999'")
    catalog.close()
    result = run("list")
    assert result.code == 5
    assert "install a newer Freshet" in result.err


def test_a_second_writer_is_refused_with_the_first_one(
    run: Run, collection: Path, small_warc: Path
) -> None:
    with ArchiveLock(collection / "archive", command="freshet run"):
        result = run("import", "warc", str(small_warc))
        assert run("tag", "front", NEWS).code == 0
    assert result.code == 6
    assert "'freshet run'" in result.err
    assert str(os.getpid()) in result.err
