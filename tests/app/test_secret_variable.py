"""Secrets in an environment variable: what is packed is unpacked, for its owner and a time; else it is refused."""

import json
import os
import stat
from pathlib import Path

import pytest
from tests.cli.command import here

from tablewright.app.endpoint import make_secrets
from tablewright.app.secret_variable import (
    MOST_BYTES,
    SecretsTooLarge,
    SecretVariableUnusable,
    packed,
    unpacked,
)
from tablewright.app.systems import SYSTEMS
from tablewright.world import real_world

NAME = "THE_SECRETS"


def files_in(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def test_what_is_packed_is_unpacked_for_its_owner_alone_and_is_gone_afterwards(tmp_path: Path) -> None:
    make_secrets(tmp_path, SYSTEMS, real_world())
    (tmp_path / "systems" / "campus").mkdir()
    (tmp_path / "systems" / "campus" / "campus.json").write_text("{}")
    secrets = files_in(tmp_path)
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "letter").write_text("of a demo")
    with unpacked(NAME, {NAME: packed(tmp_path)}) as directory:
        assert files_in(directory) == secrets
        assert {stat.S_IMODE(path.stat().st_mode) for path in directory.rglob("*")} == {0o600, 0o700}
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert not directory.exists()


def test_the_command_prints_the_value_of_the_variable(tmp_path: Path) -> None:
    printed = here("secrets", tmp_path / "secrets", "--as-variable")
    assert (printed.code, printed.out) == (0, packed(tmp_path / "secrets") + "\n")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        (json.dumps({"../page-tokens.secret": ""}), "not the path of a secret"),
        (json.dumps({"systems/../secrets/x": ""}), "not the path of a secret"),
        (json.dumps({"/page-tokens.secret": ""}), "not the path of a secret"),
        (json.dumps({"mail/letter": ""}), "not the path of a secret"),
        (json.dumps({"page-tokens.secret": "%"}), "page-tokens.secret is not base64"),
        (json.dumps({"page-tokens.secret": 1}), "page-tokens.secret is not base64"),
    ],
)
def test_a_value_that_is_something_else_is_refused_and_not_printed(value: str, why: str) -> None:
    with pytest.raises(SecretVariableUnusable, match=why) as refused, unpacked(NAME, {NAME: value}):
        pass
    assert value not in str(refused.value)


def test_a_variable_that_is_not_set_and_files_that_do_not_fit_are_named(tmp_path: Path) -> None:
    ran = here(
        "serve", "--port", "0", "--endpoint", "http://127.0.0.1:1", "--secrets-variable", "NOT_SET_AT_ALL",
        "--objects", tmp_path, "--url", "http://127.0.0.1:1",
    )  # fmt: skip
    assert (ran.code, "--secrets-variable NOT_SET_AT_ALL: the variable is not set" in ran.err) == (2, True)
    (tmp_path / "page-tokens.secret").write_bytes(os.urandom(MOST_BYTES))
    with pytest.raises(SecretsTooLarge):
        packed(tmp_path)


def test_a_variable_without_a_secret_that_is_needed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NAME, "{}")
    ran = here(
        "serve", "--port", "0", "--endpoint", "http://127.0.0.1:1", "--secrets-variable", NAME,
        "--objects", tmp_path, "--url", "http://127.0.0.1:1",
    )  # fmt: skip
    assert ran.code == 2
    assert f"--secrets-variable {NAME}: page-tokens.secret" in ran.err


def test_backups_need_an_environment_and_an_endpoint(tmp_path: Path) -> None:
    assert "--backups needs --endpoint" in here("serve", "--backups").err
    ran = here("serve", "--endpoint", "http://127.0.0.1:1", "--secrets", tmp_path, "--backups")
    assert "--backups needs --environment" in ran.err
