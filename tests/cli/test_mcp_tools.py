"""The tools of the shipped systems: each has a name and a schema that clients take, and masks what is personal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel
from tests.cli.notes_design import NOTES, Person, people

from tablewright.cli.designs import load_designs, shipped_systems
from tablewright.cli.mcp.design_tools import checked_design, described_design, design_tools, explain_tool
from tablewright.cli.mcp.entity_tools import write_tools
from tablewright.cli.mcp.masks import has_mask, marks_of, masked_by, plain
from tablewright.cli.mcp.pattern_tools import read_tools
from tablewright.cli.mcp.served_designs import ServedDesign
from tablewright.cli.mcp.tools import Tool, ToolRefused, read_arguments, required, schema_of
from tablewright.mapping import Db

# The shortest limit among clients.
NAME = re.compile(r"[A-Za-z0-9_]{1,64}")


def no_tables(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
    raise AssertionError(f"{verb} was called")


def tools_of(system: str) -> list[Tool]:
    designs = {design.name: ServedDesign(design) for design in load_designs(system)}
    found = [*design_tools(designs)]
    for design in (each.started for each in designs.values()):
        db, show = Db(no_tables, design), masked_by(design)
        reads = list(read_tools(design, db, show))
        found += [*reads, *write_tools(design, db, show), explain_tool(reads)]
    return found


@pytest.mark.parametrize("system", shipped_systems())
def test_every_tool_of_a_system_has_a_name_and_a_schema_that_clients_take(system: str) -> None:
    tools = tools_of(system)
    names = [tool.name for tool in tools]
    assert len(set(names)) == len(names)
    assert [name for name in names if not NAME.fullmatch(name)] == []
    for tool in tools:
        schema = schema_of(tool.arguments)
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        references = set(re.findall(r"#/\$defs/([^'\"]+)", str(schema)))
        assert references <= set(schema.get("$defs", {})), tool.name


@pytest.mark.parametrize("system", shipped_systems())
def test_every_design_is_described_with_all_its_patterns_and_entities(system: str) -> None:
    for design in load_designs(system):
        text = str(described_design(ServedDesign(design)))
        assert [plan.name for plan in design.plans if f"\n- {plan.name}(" not in text] == []
        assert [shape.tag for shape in design.shapes if f"\n### Entity {shape.tag}\n" not in text] == []
        left = checked_design(ServedDesign(design)).value["findings"]  # all others are accepted with a reason
        assert {each["severity"] for each in left} <= {"information"}


@pytest.mark.parametrize("system", shipped_systems())
def test_no_field_that_a_system_marks_as_personal_is_shown(system: str) -> None:
    for design in load_designs(system):
        show = masked_by(design)
        for shape in design.shapes:
            marks = marks_of(design, shape)
            stored = {each.stored: each.field for each in shape.attributes if each.field in marks}
            values: dict[str, Any] = dict.fromkeys(stored.values(), "something personal")
            shown = show(shape, shape.model.model_construct(**values))["item"]
            assert {stored.get(name) for name, value in shown.items() if has_mask(value)} == set(values)
            assert "something personal" not in str(shown)


def test_without_masks_an_item_is_whole() -> None:
    person = Person(id="anna", name="Anna", token="t")
    assert plain(people.shape, person)["item"] == {"id": "anna", "name": "Anna", "token": "t"}
    assert masked_by(NOTES)(people.shape, person)["item"]["name"] == "[masked: personal]"


@pytest.mark.parametrize(
    ("value", "is_masked"),
    [("[masked: personal]", True), ({"a": [{"b": "[masked: secret]"}]}, True), ({"a": ["masked"]}, False)],
)
def test_a_mask_is_found_at_any_depth(value: object, is_masked: bool) -> None:
    assert has_mask(value) is is_masked


class Size(BaseModel):
    width: int


def test_a_mistake_inside_of_an_argument_is_named_by_its_path_without_its_value() -> None:
    arguments = (required("size", Size), required("label", str))
    with pytest.raises(ToolRefused) as refused:
        read_arguments(arguments, {"size": {"width": "wide as the sea"}})
    assert str(refused.value) == "size.width must be a whole number. label is required."
