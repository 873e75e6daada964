"""`tablewright design repository` and `tablewright design policy`: a design, printed."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from tests.cli.command import COMMAND, here


def test_a_repository_is_written_checked_and_found_out_of_date(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    words = ("design", "repository", "travel", "--to", tree)
    ran = here(*words)
    assert (ran.code, ran.err) == (0, "")
    assert f"{tree / 'terraform' / 'prod' / 'main.tf'}: written\n" in ran.out
    count = len(ran.out.splitlines())
    ran = here(*words, "--check")
    assert (ran.code, ran.out) == (0, f"{tree}: {count} files, up to date\n")
    (tree / "terraform" / "dev" / "roles.tf").unlink()
    (schema,) = (tree / "schemas" / "skratch-data").glob("*.json")
    schema.write_text(schema.read_text().replace("GSI1", "GSI3"))
    ran = here(*words, "--check")
    assert ran.code == 1
    missing = tree / "terraform" / "dev" / "roles.tf"
    assert ran.out.splitlines() == [f"{missing}: missing", f"{schema}: out of date"]
    ran = here(*words, "--check", "--json")
    assert ran.code == 1
    said = json.loads(ran.out)
    assert (said["missing"], said["left_over"]) == (["terraform/dev/roles.tf"], [])
    assert said["changed"] == [schema.relative_to(tree).as_posix()]
    assert (len(said["files"]), said["environments"]) == (count, ["dev", "prod"])


def test_somebodys_file_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# mine\n")
    ran = here("design", "repository", "travel", "--to", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "was not printed by tablewright: move it away" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_what_is_no_text_is_somebodys_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.tf").write_bytes(b"\xff\xfe")
    assert here("design", "repository", "travel", "--to", tmp_path).code == 0
    assert (tmp_path / "mine.tf").read_bytes() == b"\xff\xfe"
    (tmp_path / "b" / "README.md").mkdir(parents=True)
    for there in (tmp_path / "b", tmp_path / "mine.tf"):
        ran = here("design", "repository", "travel", "--to", there)
        assert (ran.code, ran.out) == (2, "")
        assert "was not printed by tablewright: move it away, or print into another directory" in ran.err


def test_a_design_without_environments_is_told_what_to_add(tmp_path: Path) -> None:
    (tmp_path / "bare.py").write_text(
        "from tablewright.design import Design\n\nbare = Design('bare').build()\n"
    )
    ran = here("design", "repository", f"{tmp_path / 'bare.py'}:bare", "--to", tmp_path / "tree")
    assert (ran.code, ran.out) == (2, "")
    assert "has no environment; add one: design.environment(Environment(NAME, REGION))" in ran.err


@pytest.mark.parametrize(
    "command", ["design policy travel --environment prod", "design repository travel --to"]
)
def test_who_reads_only_the_beginning_is_told_no_fault(command: str, tmp_path: Path) -> None:
    words = [
        *command.split(),
        *([str(tmp_path)] if command.endswith("--to") else ["--account", "123456789012"]),
    ]
    ran = subprocess.run(
        ["/bin/sh", "-c", f"{shlex.join([*COMMAND, *words])} | true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("journey", "--environment", "prod"),
            "no system named journey; choose one of campus, chat, parental, portal, travel",
        ),
        (("travel", "--environment", "sit"), "travel has no environment sit; its design has dev, prod"),
        (
            ("nothing.there:D", "--environment", "sit"),
            "nothing.there could not be imported: No module named 'nothing'",
        ),
        (
            ("tablewright.design:Design", "--environment", "x"),
            "tablewright.design:Design is not a Design or a list of Designs",
        ),
    ],
)
def test_what_is_not_there_is_told_with_what_is(words: tuple[str, ...], said: str) -> None:
    ran = here("design", "policy", *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_design_of_ones_own_can_be_printed(tmp_path: Path) -> None:
    mine = "tablewright.systems.travel.design:TRAVEL"
    assert here("design", "repository", mine, "--to", tmp_path / "a").code == 0
    assert here("design", "repository", "travel", "--to", tmp_path / "b").code == 0
    one, other = ((tmp_path / name / "terraform" / "prod" / "roles.tf").read_text() for name in "ab")
    assert one == other


def test_policies_are_printed_all_or_one_of_them() -> None:
    words = ("design", "policy", "travel", "--environment", "prod", "--account", "123456789012")
    every = json.loads(here(*words).out)
    assert list(every) == ["service", "admin", "public", "deployer", "restorer", "backup"]
    ran = here(*words, "--role", "public")
    assert json.loads(ran.out) == every["public"]
    assert ran.err == ""
    assert "arn:aws:dynamodb:us-east-1:123456789012:table/skratch-data-prod/index/GSI1" in ran.out
    ran = here(*words, "--role", "king")
    assert (ran.code, ran.out) == (2, "")
    assert "travel-prod has no role king; it has service, admin, public" in ran.err


def test_an_account_that_nobody_named_is_told_of() -> None:
    ran = here("design", "policy", "travel", "--environment", "prod", "--role", "service")
    assert ran.code == 0
    assert "arn:aws:dynamodb:us-east-1:*:table/" in ran.out
    assert "the environment has no account" in ran.err
    assert here("design", "policy", "portal", "--environment", "dev", "--role", "service").err == ""


def test_an_account_that_is_none_is_refused() -> None:
    ran = here("design", "policy", "travel", "--environment", "prod", "--account", "12")
    assert (ran.code, ran.out) == (2, "")
    assert "--account must be a number of 12 digits, got '12'" in ran.err
