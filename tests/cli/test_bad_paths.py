"""Paths that a command cannot use: a sentence that names the path, and code 2, for every command that takes one.

The commands and their arguments are read from the parser itself, so a new one is tested without a line here.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from tests.cli.command import here
from tests.cli.stores import store_of_pets

from tablewright.app.design import app_design
from tablewright.cli.commands import COMMANDS, Command
from tablewright.client import embedded
from tablewright.engine import Engine
from tablewright.mapping import Db
from tablewright.systems.parental.design import PARENTAL

PLACES = ("FILE", "DIR", "PLACE")
# These make their directory.
MAKERS = {"serve --data", "engine serve --data", "serve --buckets", "engine serve --buckets", "db export --to",
          "design repository --to", "design picture --to", "db copies restore --data", "serve --copies",
          "secrets directory"}  # fmt: skip
# These have files of their own to test with.
ELSEWHERE = {"design import --data", "db import source", "db import --data", "db copies restore --data"}
MAIL = ["--smtp", "smtp://a@127.0.0.1:9", "--mail-from", "a@example.com"]
ENDPOINT = ["--endpoint", "http://127.0.0.1:9", "--url", "http://127.0.0.1:8080"]
# Any text is right in these.
OPAQUE = {"serve --smtp-password-file", "engine serve --metrics-token",
          "people password --password-file"}  # fmt: skip
FILLED = {
    "REGION=URL": ["us-east-1=http://127.0.0.1:9"], "REGION": ["us-east-1"], "SYSTEM": ["travel"], "TABLE": ["pets"],
    "OTHER": ["cats"], "OLD": ["travel"],
    "ADDRESS": ["ada@example.com"], "NAME": ["skratch-visits-2"], "BACKUP": ["b"], "CONSUMER": ["c"], "SEQUENCE": ["1"],
}  # fmt: skip
MORE = {
    "db export": ["--to", "{tmp}/out"], "db restore": ["--from", "b", "--to", "cats"],
    "design heat": ["--live"], "design diff": ["--live", "--environment", "prod"],
    "design repository": ["--to", "{tmp}/out"], "design policy": ["--environment", "prod"],
    "deploy plan": ["--environment", "prod"], "deploy apply": ["--environment", "prod"],
    "deploy drift": ["--environment", "prod"],
    "serve": ["--port", "0", "--no-dynamodb"],
    "engine serve": ["--port", "0"], "db copies restore": ["--data", "{tmp}/new"], "people change": ["--no-roles"],
}  # fmt: skip


def parser_of(command: Command) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    import_module(f"tablewright.cli.{command.module}").arguments(parser)
    return parser


PARSERS = {command.words: parser_of(command) for command in COMMANDS if isinstance(command, Command)}


def cases() -> Iterator[tuple[str, str, str]]:
    """Each command with an argument that is a path, and a way in which it is bad."""
    for command, parser in PARSERS.items():
        for action in parser._actions:
            if action.metavar not in PLACES:
                continue
            name = action.option_strings[-1] if action.option_strings else action.dest
            kinds = ["directory", "binary", "text"] if action.metavar == "FILE" else ["file"]
            for kind in ("missing", "below a file", *kinds):
                whole = f"{command} {name}"
                if (
                    whole in ELSEWHERE
                    or (kind == "missing" and whole in MAKERS)
                    or (kind == "text" and whole in OPAQUE)
                ):
                    continue
                yield command, name, kind


def given(tmp: Path, command: str, name: str, bad: Path, store: Path) -> list[str]:
    parser = PARSERS[command]
    words = command.split()
    for action in parser._actions:
        if not action.option_strings:
            filled = [str(bad)] if action.dest == name else FILLED.get(str(action.metavar), [])
            words += filled if action.required or action.dest == name else []
    more = [word.format(tmp=tmp) for word in MORE.get(command, [])]
    if name == "--smtp-password-file":
        more += MAIL
    if command == "serve" and name in ("--secrets", "--objects"):
        here("secrets", tmp / "secrets")
        more = [*more[:2], *ENDPOINT, "--secrets", str(tmp / "secrets"), "--objects", str(tmp / "directory")]
    if name in more:
        at = more.index(name)
        del more[at : at + 2]
    if name == "--data" and "--endpoint" in more:
        more = []
    known = {text for action in parser._actions for text in action.option_strings}
    if "--endpoint" in known and name != "--data" and not {"--data", "--endpoint"} & {*more}:
        more += ["--data", str(store)]
    return [*words, *more, *([name, str(bad)] if name.startswith("--") else [])]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = store_of_pets(tmp_path_factory.mktemp("bad-paths") / "store")
    with Engine.open(store, durability="relaxed") as engine:
        for design in (PARENTAL, app_design):
            Db(embedded(engine), design).create_tables()
    here("db", "recovery", "pets", "--on", "--data", store)
    here("people", "add", "ada@example.com", "--data", store)
    return store


@pytest.mark.parametrize(("command", "name", "kind"), list(cases()))
def test_a_path_that_cannot_be_used_is_named_in_a_sentence(
    tmp_path: Path, store: Path, command: str, name: str, kind: str
) -> None:
    plain = tmp_path / "plain"
    plain.write_text("not { what is wanted\n")
    plain.chmod(0o600)
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00\x81" * 20)
    binary.chmod(0o600)
    (tmp_path / "directory").mkdir()
    bad = {"missing": tmp_path / "nothing", "below a file": plain / "below", "directory": tmp_path / "directory",
           "binary": binary, "text": plain, "file": plain}[kind]  # fmt: skip
    words = given(tmp_path, command, name, bad, store)
    ran = here(*words)
    assert (ran.code, ran.out) == (2, ""), ran
    assert str(bad) in ran.err
    assert "Traceback" not in ran.err
    assert "Errno" not in ran.err
