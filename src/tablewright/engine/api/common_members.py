"""Members that the requests of several verbs share, as shapes."""

from tablewright.engine.api.shapes import AttributeValue, Flag, ListOf, MapOf, Shape, Struct, Text

FLAG = Flag()
ATTRIBUTES = MapOf(AttributeValue())
NAMES = MapOf(Text(most=65535))
EXPRESSION = Text()
TABLE_NAME = Text(3, 255, "[a-zA-Z0-9_.-]+", or_arn=True)
INDEX_NAME = Text(3, 255, "[a-zA-Z0-9_.-]+")
STREAM_ARN = Text(37, 1024)
SHARD_ID = Text(28, 65)
ATTRIBUTE_NAMES = ListOf(Text(most=65535), least=1)
RETURN_CAPACITY = Text(one_of=("INDEXES", "TOTAL", "NONE"))
RETURN_METRICS = Text(one_of=("SIZE", "NONE"))
# UPDATE_NEW and ALL are misspelled by the service.
RETURN_VALUES = Text(
    one_of=("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"),
    restated=("ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATE_NEW", "NONE"),
)
RETURN_ON_FAILURE = Text(one_of=("ALL_OLD", "NONE"))
SELECT = Text(one_of=("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"))
CONDITIONAL_OPERATOR = Text(one_of=("OR", "AND"), restated=("ALL", "OR"))
_COMPARISONS = "IN NULL BETWEEN LT NOT_CONTAINS EQ GT NOT_NULL NE LE BEGINS_WITH GE CONTAINS"
COMPARISON = Text(one_of=tuple(_COMPARISONS.split()))
CONDITIONS = MapOf(
    Struct(
        "Condition",
        {"ComparisonOperator": COMPARISON, "AttributeValueList": ListOf(AttributeValue())},
        required=("ComparisonOperator",),
    )
)
EXPECTED = MapOf(
    Struct(
        "ExpectedAttributeValue",
        {
            "Value": AttributeValue(),
            "Exists": FLAG,
            "ComparisonOperator": COMPARISON,
            "AttributeValueList": ListOf(AttributeValue()),
        },
    )
)

# What a conditional write carries, alone or inside a transaction.
CONDITIONAL: dict[str, Shape] = {
    "ConditionExpression": EXPRESSION,
    "ExpressionAttributeNames": NAMES,
    "ExpressionAttributeValues": ATTRIBUTES,
    "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
}
# What a single-item write carries besides.
SINGLE_WRITE: dict[str, Shape] = {
    **CONDITIONAL,
    "Expected": EXPECTED,
    "ConditionalOperator": CONDITIONAL_OPERATOR,
    "ReturnConsumedCapacity": RETURN_CAPACITY,
    "ReturnValues": RETURN_VALUES,
    "ReturnItemCollectionMetrics": RETURN_METRICS,
}
