"""A design and its file are one design: from_json(to_json(design)) sends, costs and is found to be the same."""

from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.design import notes
from tests.design.files.alike import everything
from tests.design.files.designs import designs
from tests.properties.effort import effort

from tablewright.design import Design, DesignMistake, Large
from tablewright.design.diff import changes
from tablewright.design.files import DesignFileRefused, from_json, from_yaml, to_json, to_yaml, written
from tablewright.design.files.text import from_yaml_text, to_yaml_text
from tablewright.design.schemas import schema_of, schema_text
from tablewright.mapping.deployment import deployment_of

SYSTEMS = ("campus", "chat", "parental", "portal", "travel")


def shipped(system: str) -> Design:
    (design,) = import_module(f"tablewright.systems.{system}.design").DESIGNS
    assert isinstance(design, Design)
    return design


def without_notes(design: Design) -> dict[str, Any]:
    return {name: part for name, part in written(design).document.items() if name != "notes"}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_shipped_design_is_the_same_design_as_its_file(system: str) -> None:
    design = shipped(system)
    read = from_json(to_json(design))
    assert everything(read) == everything(design)
    assert without_notes(read) == without_notes(design)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_schemas_of_the_tables_are_the_same_from_a_file(system: str) -> None:
    both = []
    for design in (shipped(system), from_yaml(to_yaml(shipped(system)))):
        deployments = [deployment_of(system, (design,), each) for each in design.environments.values()]
        both.append([schema_text(schema_of(deployments, table)) for table in deployments[0].own])
    # A type's sentence is that of the entity; a model in Python may have another beside it.
    assert both[0] == both[1]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_shipped_design_has_no_change_from_its_file(system: str) -> None:
    design = shipped(system)
    for read in (from_json(to_json(design)), from_yaml(to_yaml(design))):
        assert changes(design, read) == changes(read, design) == ()


@pytest.mark.parametrize("system", SYSTEMS)
def test_yaml_says_what_json_says(system: str) -> None:
    design = shipped(system)
    assert written(from_yaml(to_yaml(design))) == written(from_json(to_json(design)))


def test_vector_indexes_searches_and_views_are_in_a_file() -> None:
    design = notes.NOTES
    read = from_json(to_json(design))
    assert everything(read) == everything(design)
    assert [plan.shape.model.model_fields.keys() for plan in read.searches] == [
        plan.shape.model.model_fields.keys() for plan in design.searches
    ]


class Report(BaseModel):
    id: str
    body: Large
    picture: Large | None = None


def report_key(id: str) -> None: ...


def test_a_large_field_is_large_in_a_file_and_read_back() -> None:
    design = Design("reports")
    design.table("reports", pk="PK").entity(Report, report_key, tag="report", pk="REPORT#{id}")
    design.build()
    entity = written(design).document["tables"][0]["entities"][0]
    assert entity["fields"] == {"id": "string", "body": "large", "picture": "large?"}
    for read in (from_json(to_json(design)), from_yaml(to_yaml(design))):
        assert everything(read) == everything(design)
        assert [each.field for each in read.shape("report").large] == ["body", "picture"]
        assert without_notes(read) == without_notes(design)


def test_a_large_field_inside_of_a_type_is_refused_by_its_place() -> None:
    text = """{"format": "tablewright-design/1", "name": "d", "types": {"T": {"fields": {"body": "large"}}}, "tables": [
      {"name": "t", "pk": "PK", "entities": [{"tag": "e", "pk": "E#{id}", "fields": {"id": "string", "t": "T"}}]}]}"""
    with pytest.raises(DesignMistake, match="make it a field of the entity itself"):
        from_json(text)


@effort(60)
@given(designs())
def test_a_generated_design_is_the_same_design_as_its_file(design: Design | None) -> None:
    assume(design is not None)
    assert design is not None
    meant = everything(design)
    assert everything(from_json(to_json(design))) == meant
    assert everything(from_yaml(to_yaml(design))) == meant


@effort(60)
@given(designs(), st.data())
def test_a_part_that_is_taken_out_of_a_file_is_refused_or_not_needed_but_never_crashes(
    design: Design | None, data: st.DataObject
) -> None:
    assume(design is not None)
    assert design is not None
    document = written(design).document
    part: Any = data.draw(st.sampled_from([each for each in parts(document) if each]))
    key = data.draw(st.sampled_from(list(part) if isinstance(part, dict) else list(range(len(part)))))
    part[key] = data.draw(st.sampled_from([None, 7, "x", [], {}, ["{"], {"type": "string"}, "{x", True]))
    with suppress(DesignMistake):
        from_yaml(to_yaml_text(document))


def parts(value: Any) -> list[Any]:
    """Every object and list in a document."""
    if isinstance(value, dict):
        return [value, *(each for member in value.values() for each in parts(member))]
    if isinstance(value, list):
        return [value, *(each for member in value for each in parts(member))]
    return []


def test_what_a_file_cannot_say_is_named_and_an_item_of_an_older_form_is_refused() -> None:
    design = shipped("travel")
    made = written(design)
    assert "tables[0].entities[9].schema: the upcast function _of_fields" in made.dropped
    assert [f"not in this file: {each}" for each in made.dropped] == made.document["notes"]
    schema = from_json(to_json(design)).shape("visit").schema
    assert schema is not None
    assert schema.version == 2
    with pytest.raises(
        DesignFileRefused, match="an item of visit is of form 1, and its upcast is not in the"
    ):
        schema.upcasts[0]({})


def test_a_model_of_a_file_stores_and_reads_like_that_of_python() -> None:
    design = from_json(to_json(shipped("portal")))
    shape = design.shape("tenant")
    assert shape.fields["date_created"].stored == "dateCreated"
    assert shape.fields["date_created"].kind.encode(datetime(2026, 1, 2, tzinfo=UTC)) == {
        "S": "2026-01-02T00:00:00.000Z"
    }


def test_a_type_that_allows_null_needs_no_quotes_in_braces_or_brackets() -> None:
    text = "{a: time?, b: {list: uuid?}, c: [x?, y ? z], d: \"?\", e: 'x?',\n f?: g?h}"
    assert from_yaml_text(text) == {
        "a": "time?", "b": {"list": "uuid?"}, "c": ["x?", "y ? z"], "d": "?", "e": "x?", "f?": "g?h"
    }  # fmt: skip
    assert from_yaml_text("? a\n: {? b : c}") == {"a": {"b": "c"}}
