"""IAM's decision: statements, wildcards, conditions, variables; what is not known is refused."""

from typing import Any

import pytest

from tablewright.design.iam_evaluation import AccessRequest, NotEvaluated, allows

TABLE = "arn:aws:dynamodb:eu-west-1:123456789012:table/pets"


def policy(*statements: dict[str, Any]) -> dict[str, Any]:
    usual = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}
    return {"Version": "2012-10-17", "Statement": [usual | each for each in statements]}


def request(action: str = "Query", resource: str = TABLE, **more: Any) -> AccessRequest:
    return AccessRequest(f"dynamodb:{action}", resource, **more)


def without(statement: dict[str, Any], *members: str) -> dict[str, Any]:
    (found,) = policy(statement)["Statement"]
    return {"Statement": [{name: value for name, value in found.items() if name not in members}]}


def test_nothing_is_allowed_that_no_statement_allows() -> None:
    assert not allows({"Statement": []}, request())
    assert not allows(policy({"Action": "dynamodb:GetItem"}), request())
    assert not allows(policy({"Resource": f"{TABLE}/index/*"}), request())


def test_a_denial_is_stronger_than_any_allowance() -> None:
    deny = {"Effect": "Deny", "Action": ["dynamodb:Scan"]}
    assert allows(policy({}, deny), request())
    assert not allows(policy({}, deny), request("Scan"))


@pytest.mark.parametrize(
    ("member", "given", "is_allowed"),
    [
        ("Action", "dynamodb:query", True),
        ("Action", "dynamodb:Q?ery", True),
        ("Action", ["dynamodb:Get*", "dynamodb:Que*"], True),
        ("NotAction", ["dynamodb:Scan"], True),
        ("NotAction", ["dynamodb:Q*"], False),
        ("Resource", "arn:aws:dynamodb:*:*:table/pets", True),
        ("Resource", "arn:aws:dynamodb:us-east-1:*:table/pets", False),
        ("Resource", "arn:aws:dynamodb:*:*:table/PETS", False),
        ("NotResource", "arn:aws:dynamodb:*:*:table/people", True),
        ("NotResource", "*", False),
    ],
)
def test_actions_and_resources_match_by_pattern(member: str, given: Any, is_allowed: bool) -> None:
    said = without({member: given}, member.removeprefix("Not") if member.startswith("Not") else "")
    assert allows(said, request()) is is_allowed


LEADING = "dynamodb:LeadingKeys"


@pytest.mark.parametrize(
    ("condition", "given", "is_allowed"),
    [
        ({"ForAllValues:StringEquals": {LEADING: ["A", "B"]}}, {"leading": ("A", "B")}, True),
        ({"ForAllValues:StringEquals": {LEADING: ["A"]}}, {"leading": ("A", "B")}, False),
        ({"ForAllValues:StringEquals": {LEADING: ["A"]}}, {}, True),
        ({"ForAnyValue:StringEquals": {LEADING: ["A"]}}, {"leading": ("A", "B")}, True),
        ({"ForAnyValue:StringEquals": {LEADING: ["A"]}}, {}, False),
        ({"Null": {LEADING: "false"}}, {"leading": ("A",)}, True),
        ({"Null": {LEADING: "false"}}, {}, False),
        ({"ForAllValues:StringLike": {LEADING: "GEO#*"}}, {"leading": ("GEO#fr",)}, True),
        ({"ForAllValues:StringLike": {LEADING: "GEO#*"}}, {"leading": ("GEOGRAPHY",)}, False),
        (
            {"ForAllValues:StringEquals": {"dynamodb:Attributes": ["id"]}},
            {"attributes": ("id", "email")},
            False,
        ),
        (
            {"ForAllValues:StringEquals": {"dynamodb:Attributes": ["id", "email"]}},
            {"attributes": ("id",)},
            True,
        ),
        (
            {"StringEquals": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"}},
            {"select": "SPECIFIC_ATTRIBUTES"},
            True,
        ),
        ({"StringEquals": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"}}, {"select": "ALL_ATTRIBUTES"}, False),
        ({"StringEquals": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"}}, {}, False),
        ({"StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"}}, {}, True),
        ({"StringNotEquals": {"dynamodb:ReturnValues": "ALL_OLD"}}, {"returned": "NONE"}, True),
        ({"StringNotEquals": {"dynamodb:ReturnValues": "ALL_OLD"}}, {"returned": "ALL_OLD"}, False),
        ({"StringNotEquals": {"dynamodb:ReturnValues": "ALL_OLD"}}, {}, True),
        ({"StringEqualsIgnoreCase": {"aws:PrincipalTag/team": "VETS"}}, {"tags": (("team", "vets"),)}, True),
        ({"Bool": {"aws:SecureTransport": "true"}}, {"encrypted": False}, False),
        ({"Bool": {"aws:SecureTransport": "true"}, "Null": {LEADING: "false"}}, {}, False),
    ],
)
def test_each_condition_must_hold(condition: dict[str, Any], given: dict[str, Any], is_allowed: bool) -> None:
    assert allows(policy({"Condition": condition}), request(**given)) is is_allowed


def test_a_variable_is_the_tag_of_the_principal_and_its_wildcards_are_plain_characters() -> None:
    said = policy({"Condition": {"ForAllValues:StringLike": {LEADING: ["USER#${aws:PrincipalTag/id}#*"]}}})

    def reads(key: str, **tags: str) -> bool:
        return allows(said, request(leading=(key,), tags=tuple(tags.items())))

    assert reads("USER#anna#1", id="anna")
    assert not reads("USER#anna#1", id="*")
    assert not reads("USER#anna#1")
    assert not reads("USER##1")
    default = policy(
        {"Condition": {"ForAllValues:StringEquals": {LEADING: "${aws:PrincipalTag/id, 'none'}"}}}
    )
    assert allows(default, request(leading=("none",)))


@pytest.mark.parametrize(
    "condition",
    [
        {"StringEquals": {"aws:SourceIp": "10.0.0.1"}},
        {"NumericLessThan": {"dynamodb:Select": "1"}},
        {"StringEquals": {LEADING: "A"}},
    ],
)
def test_what_is_not_known_is_an_error_and_no_decision(condition: dict[str, Any]) -> None:
    with pytest.raises(NotEvaluated):
        allows(policy({"Condition": condition}), request(leading=("A", "B")))
