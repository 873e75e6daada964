"""Vector indexes in the design language: searches as values, cost, roles and Terraform."""

from decimal import Decimal

import pytest
from tests.design.notes import NOTES, Note, near, notes, notes_like, table, titles_like

from tablewright.design import KeyPartUnusable, VectorMisfit
from tablewright.design.attributes import decode_values, encode_item
from tablewright.design.cost import cost_of
from tablewright.design.deployment import Deployment
from tablewright.design.policies import service
from tablewright.design.terraform import module_files
from tablewright.design.terraform.hcl import Comment
from tablewright.design.terraform.tables import tables
from tablewright.mapping import create_table

UP = (0.0, 0.0, 1.0)


def test_a_search_is_a_value_of_its_vector_and_its_arguments() -> None:
    search = notes_like(UP, tenant="t1", year=2025)
    assert (search.name, search.index, search.vector, search.top) == ("notes_like", near, UP, 10)
    assert search.equal == (("tenant", {"S": "t1"}), ("year", {"N": "2025"}))
    assert search.best(3).top == 3
    assert titles_like(UP).equal == ()


def test_a_vector_must_fit_its_index() -> None:
    with pytest.raises(VectorMisfit, match="2 dimensions, and near has 3"):
        notes_like((1.0, 2.0), tenant="t1")
    for number in (float("inf"), float("nan"), 1e39):
        with pytest.raises(VectorMisfit, match="32-bit"):
            notes_like((1.0, 2.0, number), tenant="t1")
    with pytest.raises(VectorMisfit, match="1 to 100"):
        notes_like(UP, tenant="t1").best(101)


def test_a_partition_needs_a_value() -> None:
    with pytest.raises(KeyPartUnusable):
        notes_like(UP, tenant=None)  # type: ignore[arg-type]
    with pytest.raises(KeyPartUnusable):
        notes_like(UP, tenant="")


def test_a_vector_is_stored_with_the_digits_of_32_bits() -> None:
    note = Note(tenant="t", id="1", embedding=(0.1, 1e-7, -3.0))
    stored = encode_item(note)["embedding"]
    assert stored == {"L": [{"N": "0.1"}, {"N": "1e-07"}, {"N": "-3.0"}]}
    read = Note(**decode_values(Note, encode_item(note)))
    assert read.embedding == (0.10000000149011612, 1.0000000116860974e-07, -3.0)
    assert encode_item(read) == encode_item(note)


def test_the_table_is_made_with_its_vector_indexes() -> None:
    request = create_table(NOTES, table.table)
    assert [one["AttributeName"] for one in request["AttributeDefinitions"]] == [
        "PK",
        "SK",
        "tenant",
        "kind",
        "year",
    ]
    assert request["VectorIndexes"][0] == {
        "IndexName": "near",
        "VectorAttribute": {"AttributeName": "embedding"},
        "Projection": {"ProjectionType": "ALL"},
        "Dimensions": 3,
        "DistanceFunction": "COSINE",
        "SearchSchema": [
            {"AttributeName": "tenant", "SearchSchemaElementType": "HASH"},
            {"AttributeName": "kind", "SearchSchemaElementType": "INLINE_FILTER"},
            {"AttributeName": "year", "SearchSchemaElementType": "INLINE_FILTER"},
        ],
    }
    # What shows that an item has expired goes along.
    assert request["VectorIndexes"][1]["Projection"] == {
        "ProjectionType": "INCLUDE",
        "NonKeyAttributes": ["tenant", "id", "title", "ttl"],
    }


# --- cost, roles, Terraform ---


def test_cost_has_the_bytes_written_searched_and_stored() -> None:
    report = cost_of(NOTES, NOTES.environments["prod"])
    lines = {line.name: line for line in report.lines}
    # 12 bytes of vector and 2 000 of the item.
    assert lines["note.create in near"].quantity == Decimal("2.012")
    assert lines["note.create in near"].amount == Decimal("2.012") * Decimal("0.52")
    assert lines["notes_like"].quantity == Decimal(5_000 * 2_012 * 100_000) / 10**9
    assert lines["note in near"].part == "storage"
    assert "titles_like" in next(note for note in report.notes if note.startswith("Not priced"))


def test_the_service_may_search_the_indexes_its_searches_name() -> None:
    role = service(Deployment("notes", NOTES.environments["prod"], (NOTES,)))
    (statement,) = [one for one in role.statements if one.sid == "Searches"]
    assert statement.actions == ("dynamodb:SearchVectors",)
    assert not statement.condition
    assert [target.under for target in statement.targets] == ["/index/near", "/index/titles"]  # type: ignore[union-attr]


def test_terraform_says_what_its_provider_cannot() -> None:
    printed = tables(Deployment("notes", NOTES.environments["prod"], (NOTES,)))
    comments = [str(one) for one in printed if isinstance(one, Comment)]
    assert any(
        "Vector index near of notes: Terraform's provider cannot define it" in text for text in comments
    )
    module = module_files([Deployment("notes", NOTES.environments["prod"], (NOTES,))])[
        "dynamodb_table/main.tf"
    ]
    searched = module.partition('resource "aws_dynamodb_table" "searched"')[2]
    assert "ignore_changes = [attribute]" in searched


def test_a_view_is_found_by_its_own_fields() -> None:
    assert titles_like.plan.shape.model.__name__ == "Title"
    assert notes.shape.stored["embedding"].optional
