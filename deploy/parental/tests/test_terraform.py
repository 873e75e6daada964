# Printed by tablewright design repository parental: change the design and print it again.

"""Environments and schemas say the same: tables, tags, backups. The format is that of Terraform, if it is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
TERRAFORM = ROOT / "terraform"
ENVIRONMENTS = sorted(path.parent for path in TERRAFORM.glob("*/*.tfvars"))
SCHEMAS = {
    path: json.loads(path.read_text("utf-8")) for path in sorted((ROOT / "schemas").glob("*/*.schema.json"))
}


def _settings(environment: Path) -> dict[str, Any]:
    """The values of a .tfvars file: texts, numbers, truths and maps of texts."""
    found: dict[str, Any] = {}
    text = (environment / f"{environment.name}.tfvars").read_text("utf-8")
    for name, inside in re.findall(r"^(\w+)\s*= \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        found[name] = dict(re.findall(r'^\s*"?([^"=]+?)"?\s*= "(.*)"$', inside, re.MULTILINE))
    for name, value in re.findall(r'^(\w+)\s*= ("?[^{\n]*)$', text, re.MULTILINE):
        found[name] = json.loads(value)
    return found


def test_there_are_environments() -> None:
    assert ENVIRONMENTS
    assert {path.name for path in (TERRAFORM / "modules").iterdir()} >= {"dynamodb_table", "gsi", "backup"}


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda path: path.name)
def test_an_environment_deploys_every_schema_and_no_other(environment: Path) -> None:
    text = (environment / "main.tf").read_text("utf-8")
    used = re.findall(r"\$\{path\.module\}/\.\./\.\./(schemas/[^\"]+)", text)
    assert sorted(used) == sorted(path.relative_to(ROOT).as_posix() for path in SCHEMAS)


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda path: path.name)
def test_the_modules_that_are_called_are_here(environment: Path) -> None:
    for source in re.findall(r'source\s+= "(\.\./[^"]+)"', (environment / "main.tf").read_text("utf-8")):
        names = {path.name for path in (environment / source).iterdir()}
        assert {"main.tf", "variables.tf", "outputs.tf"} <= names


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda path: path.name)
def test_settings_are_declared_and_given(environment: Path) -> None:
    text = (environment / "variables.tf").read_text("utf-8")
    declared = re.findall(r'^variable "(\w+)" \{(.*?)^\}', text, re.MULTILINE | re.DOTALL)
    assert set(_settings(environment)) == {name for name, body in declared if " default " not in body}


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda path: path.name)
def test_tags_and_backups_are_those_of_the_schemas(environment: Path) -> None:
    settings = _settings(environment)
    for path, schema in SCHEMAS.items():
        tags = settings.get("tags", {})
        assert {key: tags.get(key) for key in schema["tags"]} == schema["tags"], path
        backup = schema["backup"].get(environment.name)
        if backup is not None:
            assert backup["retention"] == settings["backup_keep_days"], path


def test_the_format_is_that_of_terraform() -> None:
    terraform = shutil.which("terraform")
    if terraform is None:
        pytest.skip("terraform is not installed")
    ran = subprocess.run(
        [terraform, "fmt", "-check", "-recursive", "-no-color", str(TERRAFORM)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
