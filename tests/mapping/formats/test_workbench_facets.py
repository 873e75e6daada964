"""Facets of NoSQL Workbench become entities, and what sample items show keeps its type."""

from typing import Any

import pytest

from tablewright.design import Design
from tablewright.design.files import from_plain
from tablewright.mapping.formats import imported_design, tables_in


def facet(
    name: str, pk: str, sk: str, attributes: tuple[str, ...] = (), *samples: dict[str, Any]
) -> dict[str, Any]:
    return {
        "FacetName": name,
        "KeyAttributeAlias": {"PartitionKeyAlias": pk, "SortKeyAlias": sk},
        "TableData": list(samples),
        "NonKeyAttributes": list(attributes),
    }


def model(
    *facets: dict[str, Any], attributes: dict[str, str] | None = None, data: tuple[dict[str, Any], ...] = ()
) -> dict[str, Any]:
    def key(pk: str, sk: str) -> dict[str, Any]:
        pair = zip(("PartitionKey", "SortKey"), (pk, sk), strict=True)
        return {half: {"AttributeName": name, "AttributeType": "S"} for half, name in pair}

    known = attributes or {}
    table = {
        "TableName": "Clinic",
        "KeyAttributes": key("PK", "SK"),
        "NonKeyAttributes": [
            {"AttributeName": name, "AttributeType": letter} for name, letter in known.items()
        ],
        "TableFacets": list(facets),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "GSI1",
                "KeyAttributes": key("GSI1PK", "GSI1SK"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "TableData": list(data),
    }
    return {"ModelName": "Clinic", "DataModel": [table]}


def imported(value: dict[str, Any]) -> tuple[Design, list[str], dict[str, dict[str, Any]]]:
    document = imported_design("clinic", tables_in(value))
    (table,) = document["tables"]
    return from_plain(document), document["notes"], {each["tag"]: each for each in table["entities"]}


def texts(**values: str) -> dict[str, Any]:
    return {name: {"S": value} for name, value in values.items()}


@pytest.mark.parametrize(
    ("pk", "sk", "expected"),
    [
        ("PET#{pet_id}", "VISIT#{at:ms}", ("PET#{pet_id}", "VISIT#{at:ms}")),
        ("PET#<petId>", "PROFILE", ("PET#{pet_id}", "PROFILE")),
        ("PET#${petId}", "VISIT#[visit no]", ("PET#{pet_id}", "VISIT#{visit_no}")),
        ("PET#petId", "VISIT#at", ("PET#{pet_id}", "VISIT#{at}")),
        ("petId", "visitId", ("{pet_id}", "{visit_id}")),
        ("PK", "SK", ("{pk}", "{sk}")),
    ],
)
def test_what_people_call_the_keys_of_a_facet_is_its_templates(
    pk: str, sk: str, expected: tuple[str, str]
) -> None:
    _, _, entities = imported(model(facet("Pet", pk, sk)))
    assert (entities["pet"]["pk"], entities["pet"]["sk"]) == expected


def test_samples_say_what_is_fixed_in_a_key_and_which_attribute_varies() -> None:
    owner = facet(
        "Owner", "PK", "SK", ("ownerId",),
        texts(PK="OWNER#o1", SK="PROFILE", ownerId="o1"), texts(PK="OWNER#o2", SK="PROFILE", ownerId="o2"),
    )  # fmt: skip
    visit = facet(
        "Visit", "PK", "SK", ("at",),
        texts(PK="OWNER#o1", SK="VISIT#2026-01-02T03:04:05.000Z", at="2026-01-02T03:04:05.000Z"),
    )  # fmt: skip
    design, notes, entities = imported(model(owner, visit, attributes={"ownerId": "S", "at": "S"}))
    assert (entities["owner"]["pk"], entities["owner"]["sk"]) == ("OWNER#{owner_id}", "PROFILE")
    assert (entities["visit"]["pk"], entities["visit"]["sk"]) == ("OWNER#{owner_id}", "VISIT#{at:ms}")
    assert entities["visit"]["fields"]["at"] == "time"
    assert {shape.tag for shape in design.shapes} == {"owner", "visit"}
    assert any("Visit has owner_id in its key; no attribute of the model has it" in note for note in notes)


def test_a_sample_keeps_its_type_whatever_the_list_of_attributes_says() -> None:
    one = facet(
        "Visit", "PET#<pet>", "VISIT#<visit>", ("price", "at", "day", "paid", "labels", "note", "unknown"),
        {"PK": {"S": "PET#1"}, "SK": {"S": "VISIT#1"}, "price": {"N": "12.5"}, "at": {"S": "2026-01-02T03:04:05Z"},
         "day": {"S": "2026-01-02"}, "paid": {"BOOL": True}, "labels": {"SS": ["a"]}, "note": {"S": "2026 was fine"},
         "weight": {"N": "4"}},
    )  # fmt: skip
    _, _, entities = imported(model(one, attributes={"price": "S", "at": "S", "day": "S", "note": "S"}))
    found = entities["visit"]["fields"]
    assert {name: found[name] for name in ("price", "at", "day", "paid", "note", "weight", "unknown")} == {
        "price": "decimal?", "at": "time?", "day": "date?", "paid": "boolean?", "note": "string?", "weight": "decimal?",
        "unknown": "json",
    }  # fmt: skip
    assert found["labels"] == {"set": "string", "optional": True}


def test_samples_of_the_table_count_for_the_only_facet_that_they_fit() -> None:
    pet, visit = (
        facet("Pet", "PET#<pet>", "PROFILE", ("born",)),
        facet("Visit", "PET#<pet>", "V#<v>", ("cost",)),
    )
    data = (
        {**texts(PK="PET#1", SK="PROFILE", born="2026-01-02")},
        {**texts(PK="PET#1", SK="V#1"), "cost": {"N": "3"}},
    )
    _, _, entities = imported(model(pet, visit, attributes={"born": "S"}, data=data))
    assert entities["pet"]["fields"]["born"] == "date?"
    assert entities["visit"]["fields"]["cost"] == "decimal?"


def test_a_facet_stands_in_the_indexes_whose_keys_it_lists() -> None:
    pet = facet("Pet", "PET#<pet>", "PROFILE", ("GSI1PK", "GSI1SK"))
    visit = facet("Visit", "PET#<pet>", "VISIT#<visit>", ("price",))
    design, _, entities = imported(model(visit, pet, attributes={"GSI1PK": "S", "GSI1SK": "S", "price": "N"}))
    assert "indexes" not in entities["visit"]
    assert set(entities["pet"]["indexes"]) == {"GSI1"}
    assert [index.name for index in design.indexes] == ["GSI1"]


def test_facets_with_the_same_keys_are_one_entity_and_a_note_says_so() -> None:
    value = model(
        facet("SongDetails", "songId", "metadata", ("title",)),
        facet("Downloads", "songId", "metadata", ("downloadedAt",)),
        attributes={"title": "S", "downloadedAt": "S"},
    )
    _, notes, entities = imported(value)
    assert set(entities) == {"song_details"}
    assert {"title", "downloaded_at"} <= set(entities["song_details"]["fields"])
    assert any(
        "the facet Downloads has the keys of SongDetails; they are one entity" in each for each in notes
    )


def test_facets_that_cannot_be_told_apart_by_their_keys_are_left_out_by_name() -> None:
    value = model(facet("Pet", "petId", "SK"), facet("Owner", "ownerId", "SK"))
    _, notes, entities = imported(value)
    assert set(entities) == {"clinic"}
    assert any("Clinic: its entities (Pet, Owner) are left out" in each for each in notes)
