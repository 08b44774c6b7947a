from datetime import UTC, datetime
from pathlib import Path

import pytest

from freshet.core.active_hours import ActiveHours
from freshet.core.errors import SettingsError
from freshet.core.settings import Settings, describe_settings, load_settings, merge_settings


def write(folder: Path, text: str) -> Path:
    path = folder / "freshet.toml"
    path.write_text(text)
    return path


def test_defaults_hold_for_everything_that_is_not_set(tmp_path: Path) -> None:
    assert load_settings(write(tmp_path, ""), {}) == Settings()


def test_the_file_overrides_the_defaults_and_the_environment_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, 'contact = "a@example.org"\n[archive]\nfile_bytes = 5000\n')
    settings = load_settings(path, {"FRESHET_ARCHIVE__FILE_BYTES": "7000", "PATH": "/bin"})
    assert settings.contact == "a@example.org"
    assert settings.archive.file_bytes == 7000


def test_a_page_overrides_its_tags_which_override_the_collection() -> None:
    settings = merge_settings(
        Settings(), {"page": {"importance": 2, "proxy": "http://p:1"}}, origin="toml"
    )
    resolved = settings.for_page({"importance": 3, "counts_as": "links"}, {"importance": 4.5})
    assert (resolved.importance, resolved.counts_as, resolved.proxy) == (4.5, "links", "http://p:1")


def test_tables_of_tag_and_page_are_merged_entry_by_entry() -> None:
    resolved = Settings().for_page({"headers": {"A": "1", "B": "2"}}, {"headers": {"B": "3"}})
    assert resolved.headers == {"A": "1", "B": "3"}


def test_an_unknown_key_is_refused_with_the_nearest_known_name(tmp_path: Path) -> None:
    path = write(tmp_path, "[archive]\nfile_byte = 1\n")
    with pytest.raises(
        SettingsError, match=r"archive\.file_byte; did you mean archive\.file_bytes"
    ):
        load_settings(path, {})


def test_an_unknown_environment_variable_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="unknown setting contac; did you mean contact"):
        load_settings(write(tmp_path, ""), {"FRESHET_CONTAC": "x"})


def test_variables_that_are_not_settings_are_left_alone(tmp_path: Path) -> None:
    assert load_settings(write(tmp_path, ""), {"FRESHET_DATA": "/somewhere"}) == Settings()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"archive": {"file_bytes": 0}}, "must be above 0"),
        ({"page": {"importance": float("inf")}}, "must be above 0"),
        ({"archive": {"file_bytes": "many"}}, "must be a whole number"),
        ({"archive": {"file_bytes": True}}, "must be a whole number"),
        ({"archive": 5}, "is a table of settings"),
        ({"objective": "speed"}, "must be one of freshness, changes, links, timeliness, not"),
        ({"page": {"follow": "some"}}, "follow must be empty or one of site, host"),
        ({"contact": "a\nb"}, "printable"),
        ({"page": {"headers": {"X": "a\r\nHost: b"}}}, "printable"),
        ({"page": {"headers": {"X": 1}}}, "table of texts"),
        ({"page": {"headers": {"X Key": "k"}}}, "'X Key' is not a valid name"),
        ({"page": {"headers": {"": "k"}}}, "'' is not a valid name"),
        ({"page": {"headers": {"X-Schlüssel": "k"}}}, "is not a valid name"),
        ({"page": {"headers": {"X:": "k"}}}, "is not a valid name"),
        ({"page": {"cookies": {"a=b": "k"}}}, "is not a valid name"),
        ({"page": {"cookies": {"session": "a; path=/"}}}, "'session' must not contain a semicolon"),
        ({"page": {"counts_as": "words:0"}}, "words:N"),
        ({"page": {"proxy": "ftp://x"}}, r"http\(s\)"),
        ({"page": {"active_hours": "8-20"}}, "08:00-20:00"),
        ({"page": {"active_hours": "08:00-25:00"}}, "23:59"),
        ({"page": {"active_hours": "08:00-20:00 Mars/Olympus"}}, "time zone"),
    ],
)
def test_a_wrong_value_is_refused_with_its_name(table: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        merge_settings(Settings(), table, origin="here")


def test_a_refused_header_is_named_and_its_value_is_not_shown() -> None:
    with pytest.raises(SettingsError) as refused:
        merge_settings(Settings(), {"page": {"headers": {"X Key": "secret"}}}, origin="here")
    assert "secret" not in str(refused.value)


def test_a_value_that_an_earlier_version_accepted_does_not_stop_a_crawl() -> None:
    assert Settings().for_page({"headers": {"X Key": "k"}}).headers == {"X Key": "k"}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("budget", "999999999999999", "at most 1,000,000,000 a day"),
        ("politeness.delay", 1e300, "at most 86,400"),
        ("politeness.delay", 10**400, "smaller number"),
        ("politeness.delay", float("nan"), "0 or more"),
        ("politeness.longest_delay", 86_401, "at most 86,400"),
        ("politeness.longest_backoff", 1e30, "at most 3,650"),
        ("politeness.robots_hours", 1e9, "at most 8,760"),
        ("politeness.page_interval", float("inf"), "at most 31,536,000"),
        ("politeness.per_host", 10**400, "at most 10,000"),
        ("network.concurrency", 10**6, "at most 10,000"),
        ("limits.seconds", 1e9, "at most 86,400"),
        ("limits.redirects", 1000, "at most 100"),
        ("archive.file_bytes", 10**400, "at most 1,000,000,000,000"),
        ("page.importance", 1e7, "at most 1,000,000"),
    ],
)
def test_an_absurd_value_is_refused_with_its_bound(name: str, value: object, message: str) -> None:
    table: dict[str, object] = {name.rpartition(".")[2]: value}
    if "." in name:
        table = {name.partition(".")[0]: table}
    with pytest.raises(SettingsError, match=f"{name} .*{message}"):
        merge_settings(Settings(), table, origin="test")


def test_a_number_too_long_to_be_read_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "[archive]\nfile_bytes = " + "9" * 5000)
    with pytest.raises(SettingsError, match="correct the file"):
        load_settings(path, {})


def test_a_broken_file_says_where_it_is_broken(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"freshet\.toml.*line 1"):
        load_settings(write(tmp_path, "contact = = 1\n"), {})


def test_active_hours_may_run_over_midnight() -> None:
    night = ActiveHours.parse("22:00-06:00")
    assert night is not None
    assert night.contains(datetime(2026, 1, 1, 23, tzinfo=UTC))
    assert not night.contains(datetime(2026, 1, 1, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "after", "start"),
    [
        ("08:00-09:00", "2026-01-01T07:00", "2026-01-01T08:00"),
        ("08:00-09:00", "2026-01-01T08:00", "2026-01-02T08:00"),
        ("08:00-09:00 Asia/Tokyo", "2026-01-01T22:00", "2026-01-01T23:00"),
        ("08:00-09:00 Europe/Paris", "2026-03-28T12:00", "2026-03-29T06:00"),
    ],
)
def test_active_hours_begin_once_a_day_by_their_zone(text: str, after: str, start: str) -> None:
    hours = ActiveHours.parse(text)
    assert hours is not None
    moment = datetime.fromisoformat(after).replace(tzinfo=UTC)
    assert hours.next_start(moment) == datetime.fromisoformat(start).replace(tzinfo=UTC)


def test_every_setting_says_what_it_does() -> None:
    rows = list(describe_settings())
    assert ("archive.file_bytes", 1_000_000_000, "size at which a WARC file is closed") in rows
    assert all(doc for _, _, doc in rows)


def test_deeply_nested_tables_are_a_settings_error(tmp_path: Path) -> None:
    path = tmp_path / "freshet.toml"
    path.write_text(f"a = {'[' * 100_000}")
    with pytest.raises(SettingsError, match="is nested too deeply; correct the file"):
        load_settings(path, {})
