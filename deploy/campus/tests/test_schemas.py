# Printed by tablewright design repository campus: change the design and print it again.

"""Every schema is valid, and the validator refuses what is not, by its field."""

from __future__ import annotations

import copy
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "validate_schemas.py"
PATHS = sorted((ROOT / "schemas").glob("*/*.schema.json"))
SCHEMAS = {path.parent.name: json.loads(path.read_text("utf-8")) for path in PATHS}


def _validator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("validate_schemas", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


VALIDATOR = _validator()


def test_there_are_schemas() -> None:
    assert PATHS


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.parent.name)
def test_a_schema_is_valid_and_has_a_readme(path: Path) -> None:
    assert VALIDATOR.read(path)[1] == []
    assert (path.parent / "README.md").is_file()


def test_the_command_says_that_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert VALIDATOR.main([]) == 0
    assert f"{len(PATHS)} schemas, no problem" in capsys.readouterr().out


def test_the_command_names_the_file_and_the_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pets").mkdir()
    (tmp_path / "pets" / "pet.schema.json").write_text('{"tableName": 3}')
    assert VALIDATOR.main([str(tmp_path)]) == 1
    assert "pet.schema.json: tableName: must be text" in capsys.readouterr().out
    assert VALIDATOR.main([str(tmp_path / "nothing")]) == 2


BAD: list[tuple[str, Any, str]] = [
    ("tableName", "a b", "tableName: must have 3 to 255"),
    ("capacityMode", "FREE", "capacityMode: must be ON_DEMAND or PROVISIONED"),
    ("colour", "red", "colour: is not a field of a schema"),
    ("pitr", {"enabled": "yes"}, "pitr.enabled: must be true or false"),
    ("streams", {"enabled": True, "viewType": "ALL"}, "streams.viewType: must be one of"),
    ("backup", {"prod": {"frequency": "often", "retention": 1}}, "backup.prod.frequency: must be"),
    ("backup", {"prod": {"frequency": "daily", "retention": 0}}, "backup.prod.retention: must be"),
    ("tags", {"Owner": 1}, "tags.Owner: must be text"),
    ("attributes", [], "primaryKey.partitionKey.name: "),
    (
        "attributes",
        [{"name": "x", "type": "TEXT", "required": True, "description": "X"}],
        "attributes[0].type: ",
    ),
]


@pytest.mark.parametrize(("field", "value", "problem"), BAD, ids=[case[2] for case in BAD])
def test_a_bad_field_is_refused_by_its_name(field: str, value: Any, problem: str) -> None:
    schema = copy.deepcopy(next(iter(SCHEMAS.values())))
    schema[field] = value
    assert any(found.startswith(problem) for found in VALIDATOR.problems(schema))


@pytest.mark.parametrize("field", [name for name, (_, required) in VALIDATOR.TABLE.items() if required])
def test_a_missing_field_is_refused_by_its_name(field: str) -> None:
    schema = copy.deepcopy(next(iter(SCHEMAS.values())))
    del schema[field]
    assert f"{field}: is missing" in VALIDATOR.problems(schema)


def test_a_truth_cannot_be_the_key_of_an_index() -> None:
    schema = copy.deepcopy(next(iter(SCHEMAS.values())))
    schema["attributes"].append({"name": "isOn", "type": "BOOL", "required": True, "description": "Is on"})
    index = {"indexName": "OnIndex", "partitionKey": "isOn", "sortKey": None, "projectionType": "ALL"}
    schema["globalSecondaryIndexes"] = [{**index, "description": "On"}]
    assert VALIDATOR.problems(schema) == [
        "globalSecondaryIndexes[0].partitionKey: 'isOn' is of type BOOL; a key is one of S, N, B"
    ]
