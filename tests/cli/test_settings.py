"""Options of `serve` and `engine serve` from the environment and from a file, and the command that shows them."""

import json
from pathlib import Path

import pytest
from tests.cli.command import here

from tablewright.cli.parser import parse


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _write(text: str, name: str = "tablewright.toml") -> Path:
    path = Path(name)
    path.write_text(text)
    return path


def test_the_command_line_beats_the_environment_and_the_environment_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _write('[serve]\nport = 1001\nhost = "127.0.0.2"\ndurability = "relaxed"')
    monkeypatch.setenv("TABLEWRIGHT_SERVE_PORT", "1002")
    monkeypatch.setenv("TABLEWRIGHT_SERVE_HOST", "127.0.0.3")
    given = parse(["serve", "--port", "1003"])
    assert (given.port, given.host, given.durability) == (1003, "127.0.0.3", "relaxed")


def test_each_command_has_its_own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    _write("[serve]\nport = 1001\n[engine-serve]\nport = 2001")
    assert parse(["engine", "serve"]).port == 2001
    monkeypatch.setenv("TABLEWRIGHT_ENGINE_SERVE_PORT", "2002")
    assert (parse(["engine", "serve"]).port, parse(["serve"]).port) == (2002, 1001)


def test_lists_and_switches_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    _write('[serve]\nname = ["a.example", "b.example"]\nno-dynamodb = true\nttl-lag = 60')
    monkeypatch.setenv("TABLEWRIGHT_SERVE_PROXY", "10.0.0.1, 10.0.0.2")
    given = parse(["serve"])
    assert (given.name, given.no_dynamodb, given.ttl_lag.seconds) == (["a.example", "b.example"], True, 60)
    assert given.proxy == ["10.0.0.1", "10.0.0.2"]


def test_an_option_on_the_command_line_removes_those_that_exclude_it() -> None:
    _write("[serve]\nmemory = true\nno-dynamodb = true")
    given = parse(["serve", "--data", "here", "--dynamodb-port", "8001"])
    assert (given.data, given.memory, given.dynamodb_port, given.no_dynamodb) == ("here", False, 8001, False)


def test_the_file_is_named_by_an_option_or_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    _write("[serve]\nport = 1001", "one.toml")
    _write("[serve]\nport = 1002", "two.toml")
    assert parse(["serve", "--config", "one.toml"]).port == 1001
    monkeypatch.setenv("TABLEWRIGHT_CONFIG", "two.toml")
    assert parse(["serve"]).port == 1002
    assert parse(["serve", "--config=one.toml"]).port == 1001


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[serve]\nport = 99999", "tablewright.toml, [serve] port: must be a port number from 0 to 65535"),
        ("[serve]\nprot = 1", "tablewright.toml, [serve]: there is no option prot"),
        ('[serve]\ndurability = "some"', "must be one of durable, relaxed, got 'some'"),
        ('[serve]\nmemory = "maybe"', "[serve] memory: must be true or false, got 'maybe'"),
        ("[serve]\nport = [1]", "[serve] port: must be one value, got [1]"),
        ("serve = 1", "tablewright.toml, serve: must be a table: [serve]"),
        ("[serve", "tablewright.toml: not TOML"),
        (
            "[serv]\nport = 1",
            "tablewright.toml: there is no command serv; options are in [serve] or [engine-serve]",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(text: str, sentence: str) -> None:
    _write(text)
    ran = here("serve")
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err


def test_a_wrong_variable_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEWRIGHT_SERVE_PORT", "many")
    assert "TABLEWRIGHT_SERVE_PORT: must be a port number" in here("serve").err
    assert "TABLEWRIGHT_SERVE_PORT: must be a port number" in here("config").err


def test_a_variable_with_a_misspelt_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEWRIGHT_SERVE_PROT", "1")
    assert "TABLEWRIGHT_SERVE_PROT: there is no such option" in here("serve").err
    assert here("config", "engine serve").code == 0


def test_config_shows_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEWRIGHT_SERVE_CACHE", "redis://:hunter2@cache:6379/0")
    for shown in (here("config").out, here("config", "--json").out):
        assert "hunter2" not in shown
        assert "redis://:...@cache:6379/0" in shown


def test_config_shows_no_password_with_an_at_sign_and_of_a_webhook_only_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TABLEWRIGHT_SERVE_CACHE", "redis://:hun@ter2@cache:6379/0")
    monkeypatch.setenv(
        "TABLEWRIGHT_SERVE_ALARM_WEBHOOK", "https://me:hun@hooks.example.com/services/ter2?key=3rd"
    )
    for shown in (here("config").out, here("config", "--json").out):
        assert not [secret for secret in ("hun", "ter2", "3rd") if secret in shown]
        assert "redis://:...@cache:6379/0" in shown
        assert "https://hooks.example.com/..." in shown


def test_a_file_that_is_missing_is_refused_only_if_it_was_named() -> None:
    assert parse(["serve"]).port == 8080
    ran = here("serve", "--config", "gone.toml")
    assert (ran.code, "--config: " in ran.err, "gone.toml" in ran.err) == (2, True, True)


def test_config_shows_every_option_with_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    _write('[serve]\nname = ["a.example"]')
    monkeypatch.setenv("TABLEWRIGHT_SERVE_PORT", "1002")
    shown = {each["option"]: each for each in json.loads(here("config", "--json").out)}
    assert shown["--port"] == {"option": "--port", "value": 1002, "source": "TABLEWRIGHT_SERVE_PORT"}
    assert shown["--name"]["source"] == "tablewright.toml, [serve] name"
    assert shown["--host"]["source"] == "default"
    text = here("config").out.splitlines()
    assert text[0].split() == ["option", "value", "source"]
    assert any(line.split()[:2] == ["--no-dynamodb", "off"] for line in text)


def test_config_of_another_command_is_its_own() -> None:
    shown = {each["option"] for each in json.loads(here("config", "engine serve", "--json").out)}
    assert "--credentials" in shown
    assert "--only" not in shown
