"""Vector indexes and SearchVectors: who is in an index, what is nearest, what a search shows and what is refused.

Must hold: the best `TopK` of the index, or of the searched partition, best first; the vector is left out unless it is
asked for; an item whose vector does not fit is refused, one without vector or partition is not in the index.
Elsewhere: indexes built on a live table, restores, imports (tests/engine/vectors).
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.talk import Answered, Json, NewKey, NewTable, Refused, attribute

INVALID = "One or more parameter values were invalid: "
INVALID_VALUE = "One or more parameter values were invalid. "
CONDITION = "Invalid SearchConditionExpression: "
LIMIT = "Subscriber limit exceeded: "


def vector(*numbers: float) -> list[Json]:
    return [{"N": str(number)} for number in numbers]


def index(name: str = "near", **rest: Any) -> Json:
    return {
        "IndexName": name,
        "VectorAttribute": {"AttributeName": "embedding"},
        "Projection": {"ProjectionType": "ALL"},
        "Dimensions": 3,
        "DistanceFunction": "COSINE",
        **rest,
    }


def search_schema(partition: str | None, *filters: str) -> list[Json]:
    first = [] if partition is None else [(partition, "HASH")]
    return [
        {"AttributeName": name, "SearchSchemaElementType": kind}
        for name, kind in [*first, *((name, "INLINE_FILTER") for name in filters)]
    ]


def attributes(*names: str) -> list[Json]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", *names)]


@pytest.fixture(scope="session")
def table(session_table: NewTable) -> str:
    """pk S; cosine, euclid, dotp over all items; schema by tenant with filters category S and year N."""
    return session_table(
        AttributeDefinitions=[*attributes("tenant", "category"), attribute("year", "N")],
        VectorIndexes=[
            index("cosine"),
            index("euclid", DistanceFunction="EUCLIDEAN"),
            index("dotp", DistanceFunction="DOT_PRODUCT"),
            index("schema", SearchSchema=search_schema("tenant", "category", "year")),
        ],
    )


@pytest.fixture(scope="session")
def letters(session_table: NewTable, answered: Answered) -> str:
    """The items a, b, c and d, in an index of each distance function."""
    name = session_table(
        VectorIndexes=[
            index("cosine"),
            index("euclid", DistanceFunction="EUCLIDEAN"),
            index("dotp", DistanceFunction="DOT_PRODUCT"),
        ]
    )
    for pk, numbers in {"a": (1, 0, 0), "b": (0, 1, 0), "c": (-1, 0, 0), "d": (0.6, 0.8, 0)}.items():
        item = {"pk": {"S": pk}, "label": {"S": f"item {pk}"}, "embedding": {"L": vector(*numbers)}}
        answered("PutItem", {"TableName": name, "Item": item})
    answered("PutItem", {"TableName": name, "Item": {"pk": {"S": "none"}}})
    return name


def search(table: str, name: str = "cosine", top: int = 10, **rest: Any) -> Json:
    return {"TableName": table, "IndexName": name, "SearchVector": vector(1, 0, 0), "TopK": top, **rest}


def within(table: str, tenant: str, top: int = 10, also: str = "", **values: Json) -> Json:
    given = {":t": {"S": tenant}, **{f":{name}": value for name, value in values.items()}}
    condition = f"tenant = :t{also}"
    return search(table, "schema", top, SearchConditionExpression=condition, ExpressionAttributeValues=given)


def keys(answer: Json) -> list[str]:
    return [result["Item"]["pk"]["S"] for result in answer["SearchResults"]]


def scores(answer: Json) -> list[float]:
    return [result["Score"] for result in answer["SearchResults"]]


# ---------------------------------------------------------------- distances


def test_cosine_is_zero_for_the_same_direction_and_two_for_the_opposite(
    answered: Answered, letters: str
) -> None:
    found = answered("SearchVectors", search(letters))
    assert keys(found) == ["a", "d", "b", "c"]
    assert scores(found) == [0.0, 0.3999999761581421, 1.0, 2.0]


def test_euclidean_is_the_distance(answered: Answered, letters: str) -> None:
    found = answered("SearchVectors", search(letters, "euclid"))
    assert keys(found) == ["a", "d", "b", "c"]
    assert scores(found) == [0.0, 0.8944271802902222, 1.4142135381698608, 2.0]


def test_a_larger_dot_product_is_nearer(answered: Answered, letters: str) -> None:
    found = answered("SearchVectors", search(letters, "dotp"))
    assert keys(found) == ["a", "d", "b", "c"]
    assert scores(found) == [1.0, 0.6000000238418579, 0.0, -1.0]


def test_the_best_are_returned_and_no_more(answered: Answered, letters: str) -> None:
    assert keys(answered("SearchVectors", search(letters, top=2))) == ["a", "d"]


def test_a_vector_of_length_zero_is_at_a_right_angle_to_all(answered: Answered, new_table: NewTable) -> None:
    table = new_table(VectorIndexes=[index()])
    answered("PutItem", {"TableName": table, "Item": {"pk": {"S": "0"}, "embedding": {"L": vector(0, 0, 0)}}})
    assert scores(answered("SearchVectors", search(table, "near"))) == [1.0]


def test_a_score_beyond_32_bits_is_the_largest_there_is(answered: Answered, new_table: NewTable) -> None:
    table = new_table(VectorIndexes=[index(DistanceFunction="DOT_PRODUCT")])
    item = {"pk": {"S": "0"}, "embedding": {"L": [{"N": "3E+38"}, {"N": "0"}, {"N": "0"}]}}
    answered("PutItem", {"TableName": table, "Item": item})
    asked = search(table, "near", SearchVector=[{"N": "3E+38"}, {"N": "0"}, {"N": "0"}])
    assert scores(answered("SearchVectors", asked)) == [3.4028234663852886e38]


# ---------------------------------------------------------------- what is shown


def test_the_vector_is_left_out_unless_it_is_asked_for(answered: Answered, letters: str) -> None:
    (first,) = answered("SearchVectors", search(letters, top=1))["SearchResults"]
    assert first["Item"] == {"pk": {"S": "a"}, "label": {"S": "item a"}}
    asked = search(letters, top=2, ProjectionExpression="pk, embedding")
    results = answered("SearchVectors", asked)["SearchResults"]
    assert [sorted(result["Item"]) for result in results] == [["embedding", "pk"]] * 2
    numbers = [float(number["N"]) for number in results[1]["Item"]["embedding"]["L"]]
    assert numbers == [0.6, 0.8, 0.0]


def test_the_index_has_numbers_of_32_bits_and_the_table_what_was_written(
    answered: Answered, new_table: NewTable
) -> None:
    table = new_table(VectorIndexes=[index()])
    written = {"L": [{"N": "0.1234567890123"}, {"N": "0"}, {"N": "0"}]}
    answered("PutItem", {"TableName": table, "Item": {"pk": {"S": "p"}, "embedding": written}})
    asked = search(table, "near", ProjectionExpression="embedding")
    (found,) = answered("SearchVectors", asked)["SearchResults"]
    assert found["Item"]["embedding"]["L"][0] == {"N": "0.12345679"}
    stored = answered("GetItem", {"TableName": table, "Key": {"pk": {"S": "p"}}})
    assert stored["Item"]["embedding"] == written


@pytest.mark.parametrize(
    ("projection", "shown"),
    [
        ({"ProjectionType": "KEYS_ONLY"}, {"pk", "tenant"}),
        ({"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a"]}, {"pk", "tenant", "a"}),
        ({"ProjectionType": "ALL"}, {"pk", "tenant", "a", "b"}),
    ],
    ids=lambda value: value.get("ProjectionType") if isinstance(value, dict) else "",
)
def test_a_search_shows_what_the_index_projects(
    answered: Answered, new_table: NewTable, projection: Json, shown: set[str]
) -> None:
    near = index(Projection=projection, SearchSchema=search_schema(None, "tenant"))
    table = new_table(AttributeDefinitions=attributes("tenant"), VectorIndexes=[near])
    others = {name: {"S": name} for name in ("pk", "tenant", "a", "b")}
    answered("PutItem", {"TableName": table, "Item": {**others, "embedding": {"L": vector(1, 2, 3)}}})
    (found,) = answered("SearchVectors", search(table, "near"))["SearchResults"]
    assert set(found["Item"]) == shown
    # What is not projected is absent, without an error.
    (found,) = answered("SearchVectors", search(table, "near", ProjectionExpression="b, c"))["SearchResults"]
    assert set(found["Item"]) == shown & {"b"}


# ---------------------------------------------------------------- who is in it


def put(answered: Answered, table: str, pk: str, *numbers: float, **others: Json) -> Json:
    item = {"pk": {"S": pk}, "embedding": {"L": vector(*numbers)}, **others}
    return answered("PutItem", {"TableName": table, "Item": item, "ReturnConsumedCapacity": "INDEXES"})


def test_a_partition_holds_its_own_items_only(answered: Answered, table: str, key: NewKey) -> None:
    one, other = key(), key()
    put(answered, table, f"{one}-a", 1, 0, 0, tenant={"S": one})
    put(answered, table, f"{other}-a", 1, 0, 0, tenant={"S": other})
    assert keys(answered("SearchVectors", within(table, one))) == [f"{one}-a"]
    assert keys(answered("SearchVectors", within(table, key()))) == []


def test_filters_are_equalities_joined_by_and(answered: Answered, table: str, key: NewKey) -> None:
    tenant = key()
    for pk, category, year in (("a", "x", "2024"), ("b", "x", "2025"), ("c", "y", "2025.0")):
        fields = {"tenant": {"S": tenant}, "category": {"S": category}, "year": {"N": year}}
        put(answered, table, f"{tenant}-{pk}", 1, 0, 0, **fields)
    put(answered, table, f"{tenant}-d", 1, 0, 0, tenant={"S": tenant})

    def found(also: str, **values: Json) -> list[str]:
        return [
            one[-1]
            for one in sorted(keys(answered("SearchVectors", within(table, tenant, 10, also, **values))))
        ]

    assert found("") == ["a", "b", "c", "d"]
    assert found(" AND category = :c", c={"S": "x"}) == ["a", "b"]
    assert found(" AND (:y = category)", y={"S": "y"}) == ["c"]
    both = within(table, tenant, 10, " AND category = :c AND #year = :y", c={"S": "x"}, y={"N": "2025"})
    assert keys(answered("SearchVectors", both | {"ExpressionAttributeNames": {"#year": "year"}})) == [
        f"{tenant}-b"
    ]


def test_an_item_without_the_partition_s_attribute_is_not_in_the_index(
    answered: Answered, table: str, key: NewKey
) -> None:
    tenant = key()
    put(answered, table, tenant, 1, 0, 0, tenant={"S": tenant})
    assert keys(answered("SearchVectors", within(table, tenant))) == [tenant]
    update = {"TableName": table, "Key": {"pk": {"S": tenant}}, "UpdateExpression": "REMOVE tenant"}
    answered("UpdateItem", update)
    assert keys(answered("SearchVectors", within(table, tenant))) == []
    assert "embedding" in answered("GetItem", {"TableName": table, "Key": {"pk": {"S": tenant}}})["Item"]


def test_an_index_follows_updates_and_deletes(answered: Answered, table: str, key: NewKey) -> None:
    tenant = key()
    own = {"tenant": {"S": tenant}}
    put(answered, table, f"{tenant}-a", 1, 0, 0, **own)
    put(answered, table, f"{tenant}-b", 0, 1, 0, **own)
    change = {
        "TableName": table,
        "Key": {"pk": {"S": f"{tenant}-a"}},
        "UpdateExpression": "SET embedding = :v",
        "ExpressionAttributeValues": {":v": {"L": vector(0, 0, 1)}},
    }
    answered("UpdateItem", change)
    found = answered("SearchVectors", within(table, tenant) | {"SearchVector": vector(0, 1, 0)})
    assert (keys(found), scores(found)) == ([f"{tenant}-b", f"{tenant}-a"], [0.0, 1.0])
    key_only = {"TableName": table, "Key": change["Key"]}
    answered("UpdateItem", {**key_only, "UpdateExpression": "REMOVE embedding"})
    answered("DeleteItem", {"TableName": table, "Key": {"pk": {"S": f"{tenant}-b"}}})
    assert keys(answered("SearchVectors", within(table, tenant))) == []


def test_an_index_follows_batches_transactions_and_statements(
    answered: Answered, table: str, key: NewKey
) -> None:
    tenant = key()

    def item(pk: str) -> Json:
        own = {"pk": {"S": f"{tenant}-{pk}"}, "tenant": {"S": tenant}}
        return {**own, "embedding": {"L": vector(1, 0, 0)}}

    answered("BatchWriteItem", {"RequestItems": {table: [{"PutRequest": {"Item": item("a")}}]}})
    answered("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": table, "Item": item("b")}}]})
    statement = f"INSERT INTO \"{table}\" VALUE {{'pk': ?, 'tenant': ?, 'embedding': ?}}"
    answered("ExecuteStatement", {"Statement": statement, "Parameters": list(item("c").values())})
    assert sorted(keys(answered("SearchVectors", within(table, tenant)))) == [
        f"{tenant}-{pk}" for pk in ("a", "b", "c")
    ]
    delete = {"Statement": f'DELETE FROM "{table}" WHERE pk = ?', "Parameters": [{"S": f"{tenant}-c"}]}
    answered("ExecuteStatement", delete)
    assert len(keys(answered("SearchVectors", within(table, tenant)))) == 2


# ---------------------------------------------------------------- capacity


def test_a_write_reports_the_bytes_of_each_index_it_changes(answered: Answered, new_table: NewTable) -> None:
    near = index(Dimensions=300, Projection={"ProjectionType": "KEYS_ONLY"})
    table = new_table(VectorIndexes=[near, index("small", VectorAttribute={"AttributeName": "other"})])
    used = put(answered, table, "p", *[1.0] * 300, text={"S": "x" * 5000})["ConsumedCapacity"]
    # 1200 for the vector, 9 for its name, 3 for the key.
    assert used["VectorIndexes"] == {"near": {"VectorWriteRequestBytes": 1212.0}}
    assert used["CapacityUnits"] == used["Table"]["CapacityUnits"]
    same = put(answered, table, "p", *[1.0] * 300, text={"S": "y"})["ConsumedCapacity"]
    assert "VectorIndexes" not in same
    asked = {"TableName": table, "Key": {"pk": {"S": "p"}}, "ReturnConsumedCapacity": "INDEXES"}
    deleted = answered("DeleteItem", asked)["ConsumedCapacity"]
    assert deleted["VectorIndexes"] == {"near": {"VectorWriteRequestBytes": 1212.0}}


def test_small_vectors_are_charged_a_kilobyte(answered: Answered, table: str, key: NewKey) -> None:
    tenant = key()
    used = put(answered, table, tenant, 1, 0, 0, tenant={"S": tenant})["ConsumedCapacity"]["VectorIndexes"]
    assert used == {
        name: {"VectorWriteRequestBytes": 1024.0} for name in ("cosine", "euclid", "dotp", "schema")
    }
    for how in ("TOTAL", "INDEXES"):
        found = answered("SearchVectors", within(table, tenant) | {"ReturnConsumedCapacity": how})
        assert found["ConsumedCapacity"] == {"VectorSearchRequestBytes": 1024.0}
    assert "ConsumedCapacity" not in answered("SearchVectors", within(table, tenant))


def test_a_transaction_reports_the_bytes_once(answered: Answered, table: str, key: NewKey) -> None:
    tenant = key()
    item = {"pk": {"S": tenant}, "tenant": {"S": tenant}, "embedding": {"L": vector(1, 0, 0)}}
    asked = {
        "TransactItems": [{"Put": {"TableName": table, "Item": item}}],
        "ReturnConsumedCapacity": "INDEXES",
    }
    (used,) = answered("TransactWriteItems", asked)["ConsumedCapacity"]
    assert used["VectorIndexes"]["schema"] == {"VectorWriteRequestBytes": 1024.0}


# ---------------------------------------------------------------- descriptions


def test_a_description_has_what_was_asked_for(answered: Answered, new_table: NewTable) -> None:
    asked = index(
        SearchSchema=search_schema("tenant", "category"),
        Projection={"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a"]},
    )
    table = new_table(AttributeDefinitions=attributes("tenant", "category"), VectorIndexes=[asked])
    put(answered, table, "p", 1, 0, 0, tenant={"S": "t"})
    (described,) = answered("DescribeTable", {"TableName": table})["Table"]["VectorIndexes"]
    arn = described.pop("IndexArn")
    assert arn.endswith(f":table/{table}/index/near")
    size = 12 + len("embedding") + len("pk") + 1 + len("tenant") + 1
    assert described == {**asked, "IndexStatus": "ACTIVE", "ItemCount": 1, "IndexSizeBytes": size}


# ---------------------------------------------------------------- definitions that are refused


def created(refused: Refused, **definition: Any) -> tuple[str, str]:
    request = {
        "TableName": "conf-vectors-refused",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": attributes(),
        "BillingMode": "PAY_PER_REQUEST",
        **definition,
    }
    return refused("CreateTable", request)


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ({"VectorIndexes": []}, "List of VectorIndexes is empty"),
        (
            {
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
                "VectorIndexes": [index()],
            },
            "Vector indexes are only supported for PAY_PER_REQUEST tables",
        ),
        (
            {"VectorIndexes": [index(Dimensions=4097)]},
            "Number of dimensions must be between 1 and 4096 inclusive.",
        ),
        (
            {"VectorIndexes": [index(SearchSchema=search_schema("tenant"))]},
            "One element in SearchSchema is not defined in attribute definitions",
        ),
        (
            {"VectorIndexes": [index(f"near-{number}") for number in range(6)]},
            "VectorIndex count exceeds the per-table limit of 5",
        ),
        (
            {"VectorIndexes": [index(), index("far", Dimensions=4)]},
            "Conflicting attribute definition for 'embedding'. All VectorIndexes on the same vector attribute must "
            "use the same dimensions.",
        ),
        (
            {"AttributeDefinitions": attributes("embedding"), "VectorIndexes": [index()]},
            "Conflicting attribute definition for 'embedding'. An attribute cannot be defined in "
            "AttributeDefinitions when used as a VectorAttribute.",
        ),
        ({"VectorIndexes": [index(), index()]}, "Duplicate index name: near"),
        (
            {
                "AttributeDefinitions": attributes("one", "two"),
                "VectorIndexes": [index(SearchSchema=[*search_schema("one"), *search_schema("two")])],
            },
            "Value '2' at 'SearchSchema' failed to satisfy constraint: "
            "Member must have HASH count less than or equal to 1",
        ),
        (
            {
                "AttributeDefinitions": attributes("one"),
                "VectorIndexes": [index(SearchSchema=search_schema("one", "one"))],
            },
            "SearchSchema contains a duplicate AttributeName",
        ),
        (
            {"VectorIndexes": [index(Projection={"ProjectionType": "INCLUDE"})]},
            "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_a_definition_that_breaks_a_rule_is_refused(refused: Refused, definition: Json, message: str) -> None:
    assert created(refused, **definition) == ("ValidationException", INVALID + message)


def test_an_index_of_another_kind_may_not_have_the_same_name(refused: Refused) -> None:
    other = {
        "IndexName": "near",
        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    found = created(
        refused,
        AttributeDefinitions=attributes("g"),
        GlobalSecondaryIndexes=[other],
        VectorIndexes=[index()],
    )
    assert found == ("ValidationException", f"{INVALID}Duplicate index name: near")


def test_members_of_a_definition_are_checked(refused: Refused) -> None:
    code, message = created(refused, VectorIndexes=[index(DistanceFunction="MANHATTAN")])
    assert (code, message) == (
        "ValidationException",
        "1 validation error detected: Value 'MANHATTAN' at 'vectorIndexes.1.member.distanceFunction' failed to "
        "satisfy constraint: Member must satisfy enum value set: [DOT_PRODUCT, COSINE, EUCLIDEAN]",
    )
    code, message = created(refused, VectorIndexes=[index(Dimensions=None)])
    assert message == (
        "1 validation error detected: Value null at 'vectorIndexes.1.member.dimensions' failed to satisfy "
        "constraint: Member must not be null"
    )
    code, message = created(refused, VectorIndexes=[index(Dimensions=0)])
    assert message == (
        "1 validation error detected: Value '0' at 'vectorIndexes.1.member.dimensions' failed to satisfy "
        "constraint: Member must have value greater than or equal to 1"
    )


# ---------------------------------------------------------------- items that are refused


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"L": vector(1, 0)}, "Invalid size for parameter embedding, Expected: 3, Actual: 2 IndexName: near"),
        (
            {"L": [{"N": "1"}, {"S": "x"}, {"N": "0"}]},
            "Invalid type for parameter embedding[1], Expected: 32-bit floating point number, Actual: S. "
            "IndexName: near",
        ),
        (
            {"L": [{"N": "1"}, {"N": "0"}, {"N": "1E+39"}]},
            "Invalid type for parameter embedding[2], Expected: 32-bit floating point number, Actual: N. "
            "IndexName: near",
        ),
        (
            {"S": "not a vector"},
            "Invalid type for parameter embedding, Expected: 32-bit floating point number list IndexName: near",
        ),
        (
            {"NS": ["1", "2", "3"]},
            "Invalid type for parameter embedding, Expected: 32-bit floating point number list IndexName: near",
        ),
    ],
    ids=["size", "element", "range", "string", "set"],
)
def test_an_item_whose_vector_does_not_fit_is_refused(
    refused: Refused, answered: Answered, new_table: NewTable, value: Json, message: str
) -> None:
    table = new_table(VectorIndexes=[index()])
    item = {"pk": {"S": "p"}, "embedding": value}
    wanted = ("ValidationException", INVALID_VALUE + message)
    assert refused("PutItem", {"TableName": table, "Item": item}) == wanted
    update = {
        "TableName": table,
        "Key": {"pk": {"S": "p"}},
        "UpdateExpression": "SET embedding = :v",
        "ExpressionAttributeValues": {":v": value},
    }
    assert refused("UpdateItem", update) == wanted
    batch = {"RequestItems": {table: [{"PutRequest": {"Item": item}}]}}
    assert refused("BatchWriteItem", batch) == wanted
    assert answered("Scan", {"TableName": table})["Count"] == 0


def test_the_attribute_of_a_partition_has_its_type_and_is_not_empty(refused: Refused, table: str) -> None:
    item = {"pk": {"S": "p"}, "embedding": {"L": vector(1, 0, 0)}}
    asked = {"TableName": table, "Item": {**item, "tenant": {"S": ""}}}
    assert refused("PutItem", asked) == (
        "ValidationException",
        "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
        "The AttributeValue for a key attribute cannot contain an empty string value. IndexName: schema, "
        "IndexKey: tenant",
    )
    asked = {"TableName": table, "Item": {**item, "tenant": {"N": "1"}}}
    assert refused("PutItem", asked) == (
        "ValidationException",
        f"{INVALID}Type mismatch for Index Key tenant Expected: S Actual: N IndexName: schema",
    )


# ---------------------------------------------------------------- searches that are refused


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"TopK": 101},
            "Provided TopK value '101' is out of valid range. The value must be between 1 and 100 inclusive",
        ),
        (
            {"SearchVector": vector(1, 0)},
            "Input search vector dimension 2 does not match vector index dimension 3",
        ),
        (
            {"SearchVector": [{"L": vector(1, 0, 0)}]},
            "Search vector contains invalid values. All values in the search vector must be a 32-bit floating-point "
            "number attribute",
        ),
        (
            {"SearchVector": [{"N": "1E+39"}, {"N": "0"}, {"N": "0"}]},
            "Search vector contains invalid values. All values in the search vector must be a 32-bit floating-point "
            "number attribute",
        ),
        (
            {"SearchVector": [{"N": "0"}, {"N": "0"}, {"N": "1E+400"}]},
            "Search vector contains invalid values. All values in the search vector must be a 32-bit floating-point "
            "number attribute",
        ),
        ({"IndexName": "nowhere"}, "The table does not have the specified index: nowhere"),
        (
            {
                "SearchConditionExpression": "tenant = :t",
                "ExpressionAttributeValues": {":t": {"S": "t"}},
            },
            "SearchConditionExpression must not contain any attributes that is not in SearchSchema. "
            "Invalid attribute: tenant",
        ),
    ],
    ids=["TopK", "size", "list", "range", "range of 64 bits", "index", "attribute"],
)
def test_a_search_that_breaks_a_rule_is_refused(
    refused: Refused, table: str, asked: Json, message: str
) -> None:
    assert refused("SearchVectors", search(table) | asked) == ("ValidationException", message)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("tenant < :t", f"{CONDITION}Invalid comparator used in SearchConditionExpression"),
        ("tenant <> :t", f"{CONDITION}Invalid comparator used in SearchConditionExpression"),
        (
            "tenant = :t AND category >= :t",
            f"{CONDITION}Invalid comparator used in SearchConditionExpression",
        ),
        ("tenant BETWEEN :t AND :t", f"{CONDITION}Invalid operator used in SearchConditionExpression"),
        ("tenant IN (:t)", f"{CONDITION}Invalid operator used in SearchConditionExpression"),
        ("category = :t", "SearchConditionExpression must be provided when SearchSchema has a HASH key"),
    ],
)
def test_a_condition_is_equalities_with_the_partition(
    refused: Refused, table: str, condition: str, message: str
) -> None:
    asked = search(
        table,
        "schema",
        SearchConditionExpression=condition,
        ExpressionAttributeValues={":t": {"S": "t"}},
    )
    assert refused("SearchVectors", asked) == ("ValidationException", message)


def test_a_partition_must_be_named_with_a_value_of_its_type(refused: Refused, table: str) -> None:
    assert refused("SearchVectors", search(table, "schema")) == (
        "ValidationException",
        "SearchConditionExpression must be provided when SearchSchema has a HASH key",
    )
    asked = search(
        table, "schema", SearchConditionExpression="tenant = :t", ExpressionAttributeValues={":t": {"N": "1"}}
    )
    assert refused("SearchVectors", asked) == (
        "ValidationException",
        "Type of 'tenant' attribute in SearchConditionExpression (N) does not match type in search schema (S)",
    )
    asked["ExpressionAttributeValues"] = {":t": {"S": ""}}
    assert refused("SearchVectors", asked) == (
        "ValidationException",
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
        "string value. Key: tenant",
    )


def test_top_k_is_checked_before_the_table(refused: Refused) -> None:
    code, _ = refused("SearchVectors", search("conf-no-such-table", top=1000))
    assert code == "ValidationException"
    code, _ = refused("SearchVectors", search("conf-no-such-table"))
    assert code == "ResourceNotFoundException"


def test_other_reads_do_not_read_a_vector_index(refused: Refused, answered: Answered, letters: str) -> None:
    query = {
        "TableName": letters,
        "IndexName": "cosine",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
    }
    assert refused("Query", query) == (
        "ValidationException",
        "Query operation not supported on this index type.",
    )
    assert refused("Scan", {"TableName": letters, "IndexName": "cosine"}) == (
        "ValidationException",
        "Scan operation not supported on this index type",
    )
    statement = f'SELECT * FROM "{letters}"."cosine"'
    assert refused("ExecuteStatement", {"Statement": statement}) == (
        "ValidationException",
        "Scan operation not supported on this index type",
    )
    whole = f"SELECT * FROM \"{letters}\" WHERE pk = 'a'"
    (item,) = answered("ExecuteStatement", {"Statement": whole})["Items"]
    assert item["embedding"] == {"L": vector(1, 0, 0)}


# ---------------------------------------------------------------- UpdateTable


def test_an_index_on_a_live_table_is_filled_and_dropped(
    answered: Answered, refused: Refused, new_table: NewTable
) -> None:
    table = new_table()
    put(answered, table, "a", 1, 0, 0, tenant={"S": "t"})
    put(answered, table, "short", 1, 0, tenant={"S": "t"})
    asked = {
        "TableName": table,
        "AttributeDefinitions": attributes("tenant"),
        "VectorIndexUpdates": [{"Create": index(SearchSchema=search_schema("tenant"))}],
    }
    described = answered("UpdateTable", asked)["TableDescription"]
    assert described["TableStatus"] == "UPDATING"
    (made,) = described["VectorIndexes"]
    assert (made["IndexStatus"], made["Backfilling"]) == ("CREATING", False)
    wait_until_active(answered, table)
    asked = search(
        table, "near", SearchConditionExpression="tenant = :t", ExpressionAttributeValues={":t": {"S": "t"}}
    )
    assert keys(answered("SearchVectors", asked)) == ["a"]
    gone = {"TableName": table, "VectorIndexUpdates": [{"Delete": {"IndexName": "near"}}]}
    (made,) = answered("UpdateTable", gone)["TableDescription"]["VectorIndexes"]
    assert made["IndexStatus"] == "DELETING"
    table_now = answered("DescribeTable", {"TableName": table})["Table"]
    if "VectorIndexes" not in table_now:
        assert table_now["AttributeDefinitions"] == attributes()
        assert refused("SearchVectors", asked)[1] == "The table does not have the specified index: near"


def wait_until_active(answered: Answered, table: str) -> None:
    while True:
        (made,) = answered("DescribeTable", {"TableName": table})["Table"]["VectorIndexes"]
        if made["IndexStatus"] == "ACTIVE" and not made.get("Backfilling"):
            assert "Backfilling" not in made
            return


def updated(table: str, *actions: Json, **rest: Any) -> Json:
    return {"TableName": table, "VectorIndexUpdates": list(actions), **rest}


def test_changes_of_a_live_table_that_break_a_rule_are_refused(refused: Refused, new_table: NewTable) -> None:
    table = new_table(VectorIndexes=[index(f"near-{number}") for number in range(5)])
    far = {"Create": index("far")}
    assert refused("UpdateTable", updated(table, far)) == (
        "LimitExceededException",
        f"{LIMIT}Number of vector secondary indexes exceeds per-table limit of 5",
    )
    assert refused("UpdateTable", updated(table, {"Create": index("near-1")})) == (
        "ValidationException",
        "Attempting to create an index which already exists",
    )
    assert refused("UpdateTable", updated(table, far, {"Create": index("wide")})) == (
        "LimitExceededException",
        f"{LIMIT}Only 1 online index can be created or deleted simultaneously per table",
    )
    assert refused("UpdateTable", updated(table)) == (
        "ValidationException",
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates "
        "or SSESpecification or ReplicaUpdates is required",
    )
    code, _ = refused("UpdateTable", updated(table, {"Delete": {"IndexName": "nowhere"}}))
    assert code == "ResourceNotFoundException"
    assert (
        refused("UpdateTable", {"TableName": table, "VectorIndexUpdates": [{}]})[0] == "ValidationException"
    )
    provisioned = {
        "TableName": table,
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
    }
    assert refused("UpdateTable", provisioned) == (
        "ValidationException",
        f"{INVALID}Vector indexes are only supported for PAY_PER_REQUEST tables",
    )


def test_the_attributes_of_a_new_index_are_defined_in_its_request(
    refused: Refused, new_table: NewTable
) -> None:
    near = index(SearchSchema=search_schema("tenant"))
    table = new_table(AttributeDefinitions=attributes("tenant"), VectorIndexes=[near])
    asked = updated(table, {"Create": index("far", SearchSchema=search_schema("tenant"))})
    assert refused("UpdateTable", asked) == (
        "ValidationException",
        f"{INVALID}One element in SearchSchema is not defined in attribute definitions",
    )
    asked = updated(table, {"Create": index("far", VectorAttribute={"AttributeName": "pk"})})
    assert refused("UpdateTable", asked) == (
        "ValidationException",
        f"{INVALID}Attributes cannot be redefined. Please check that your attribute has the same type as previously "
        "defined. Existing schema: Schema:[SchemaElement: key{pk:S:HASH}] New schema: "
        "VectorIndexSchema:[VectorAttribute: key{pk:L:3}]",
    )
    asked = updated(table, {"Create": index("far", Dimensions=4)})
    assert refused("UpdateTable", asked)[1].endswith("must use the same dimensions.")


def test_an_attribute_is_a_vector_or_a_key_and_keeps_its_type(refused: Refused, new_table: NewTable) -> None:
    near = index(SearchSchema=search_schema("tenant"))
    table = new_table(AttributeDefinitions=attributes("tenant"), VectorIndexes=[near])

    def by(name: str, kind: str) -> Json:
        key = [{"AttributeName": name, "KeyType": "HASH"}]
        created = {"IndexName": "by-it", "KeySchema": key, "Projection": {"ProjectionType": "ALL"}}
        definitions = [*attributes(), attribute(name, kind)]
        return {
            "TableName": table,
            "AttributeDefinitions": definitions,
            "GlobalSecondaryIndexUpdates": [{"Create": created}],
        }

    conflict = (
        "ValidationException",
        f"{INVALID}Conflicting attribute definition for 'embedding'. An attribute cannot be defined in "
        "AttributeDefinitions when used as a VectorAttribute.",
    )
    assert refused("UpdateTable", by("embedding", "S")) == conflict
    filtered = index(
        "far", VectorAttribute={"AttributeName": "other"}, SearchSchema=search_schema(None, "embedding")
    )
    asked = updated(table, {"Create": filtered}, AttributeDefinitions=attributes("embedding"))
    assert refused("UpdateTable", asked) == conflict
    assert refused("UpdateTable", by("tenant", "N")) == (
        "ValidationException",
        f"{INVALID}Attempting to change the type of key attribute tenant",
    )
