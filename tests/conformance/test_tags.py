"""TagResource, UntagResource and ListTagsOfResource: at most fifty pairs, by the table's ARN.

The service locks a table's tags for about two seconds after each change and shows a change late; `tag` and
`tags` wait for that, so the suite runs there too.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from tests.conformance.talk import Answered, Json, NewTable, Refused, Send

TOO_MANY = "Number of Tags exceed the current limit for the provided ResourceArn"
Tag = Callable[[str, dict[str, str]], bytes]
Untag = Callable[[str, list[str]], bytes]


def pairs(tags: dict[str, str]) -> list[Json]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def unlocked(send: Send, verb: str, request: Json) -> bytes:
    for _ in range(20):
        reply = send(verb, request)
        if reply.code != "LimitExceededException":
            break
        time.sleep(0.5)
    assert reply.status == 200, reply.raw.decode()
    return reply.raw


@pytest.fixture
def tag(send: Send) -> Tag:
    return lambda arn, tags: unlocked(send, "TagResource", {"ResourceArn": arn, "Tags": pairs(tags)})


@pytest.fixture
def untag(send: Send) -> Untag:
    return lambda arn, keys: unlocked(send, "UntagResource", {"ResourceArn": arn, "TagKeys": keys})


@pytest.fixture
def arn(answered: Answered, new_table: NewTable) -> str:
    table: Json = answered("DescribeTable", {"TableName": new_table()})["Table"]
    return str(table["TableArn"])


def listed(answered: Answered, arn: str) -> dict[str, str]:
    found: list[Json] = []
    asked = {"ResourceArn": arn}
    while True:
        answer = answered("ListTagsOfResource", asked)
        found += answer["Tags"]
        if "NextToken" not in answer:
            break
        asked = {"ResourceArn": arn, "NextToken": answer["NextToken"]}
    tags = {one["Key"]: one["Value"] for one in found}
    assert len(tags) == len(found), "a tag was listed twice"
    return tags


def shows(answered: Answered, arn: str, expected: dict[str, str]) -> None:
    for _ in range(20):
        if listed(answered, arn) == expected:
            return
        time.sleep(0.25)
    assert listed(answered, arn) == expected


def test_a_new_table_has_no_tags(answered: Answered, arn: str) -> None:
    assert answered("ListTagsOfResource", {"ResourceArn": arn}) == {"Tags": []}


def test_tags_are_added_replaced_and_removed(answered: Answered, arn: str, tag: Tag, untag: Untag) -> None:
    tag(arn, {"env": "test", "team": "zoo"})
    shows(answered, arn, {"env": "test", "team": "zoo"})
    tag(arn, {"env": "live", "cost": ""})
    shows(answered, arn, {"env": "live", "team": "zoo", "cost": ""})
    untag(arn, ["team", "cost"])
    shows(answered, arn, {"env": "live"})


def test_tagging_and_untagging_answer_with_an_empty_body(send: Send, arn: str) -> None:
    assert unlocked(send, "TagResource", {"ResourceArn": arn, "Tags": pairs({"a": "b"})}) == b""
    assert unlocked(send, "UntagResource", {"ResourceArn": arn, "TagKeys": ["a"]}) == b""


def test_letters_digits_and_spaces_of_any_script_make_a_tag(answered: Answered, arn: str, tag: Tag) -> None:
    wide = {"ключ": "café 表 12", "a b": "a+b-c=d.e_f:g/h@i"}
    tag(arn, wide)
    shows(answered, arn, wide)


@pytest.mark.parametrize("text", ["a#b", "a,b", "100%", "it's", "(x)", "a&b", "a*b", "a;b", "~a", "\t", "🔑"])
def test_other_characters_are_refused(refused: Refused, answered: Answered, arn: str, text: str) -> None:
    for tags, expected in (
        ({text: "v"}, f"The Tag Key provided is invalid, Key: {text}"),
        ({"k": text}, f"The Tag Value provided is invalid, Value: {text}"),
    ):
        asked = {"ResourceArn": arn, "Tags": pairs(tags)}
        assert refused("TagResource", asked) == ("ValidationException", expected)
    assert listed(answered, arn) == {}


@pytest.mark.parametrize("key", ["", "k" * 129, "a#b"], ids=["empty", "long", "a character"])
def test_a_key_no_tag_can_have_is_not_untagged(refused: Refused, arn: str, key: str) -> None:
    asked = {"ResourceArn": arn, "TagKeys": ["good", key]}
    expected = f"The Tag Key provided is invalid, Key: {key}"
    assert refused("UntagResource", asked) == ("ValidationException", expected)


@pytest.mark.parametrize("verb", ["TagResource", "UntagResource", "ListTagsOfResource"])
def test_an_index_has_no_tags(refused: Refused, arn: str, verb: str) -> None:
    where = f"{arn}/index/gsi"
    asked = {"ResourceArn": where, "Tags": pairs({"a": "b"}), "TagKeys": ["a"]}
    expected = (
        "One or more parameter values were invalid: Invalid resource arn provided, "
        f"only table or stream is accepted. Provided resource arn: {where}"
    )
    assert refused(verb, asked) == ("ValidationException", expected)


def test_keys_are_told_apart_by_case(answered: Answered, arn: str, tag: Tag) -> None:
    tag(arn, {"Key": "upper", "key": "lower"})
    shows(answered, arn, {"Key": "upper", "key": "lower"})


def test_removing_a_key_that_is_not_there_is_no_mistake(answered: Answered, arn: str, untag: Untag) -> None:
    untag(arn, ["never"])
    assert listed(answered, arn) == {}


def test_fifty_tags_fit_and_every_page_shows_others(
    answered: Answered, refused: Refused, arn: str, tag: Tag
) -> None:
    fifty = {f"key-{number:02}": f"value {number}" for number in range(50)}
    tag(arn, fifty)
    shows(answered, arn, fifty)
    more = {"ResourceArn": arn, "Tags": pairs({"key-00": "new", "key-50": "one too many"})}
    assert refused("TagResource", more) == ("ValidationException", TOO_MANY)
    assert listed(answered, arn) == fifty
    tag(arn, {"key-00": "new"})
    shows(answered, arn, {**fifty, "key-00": "new"})


def test_fifty_one_tags_at_once_are_refused(refused: Refused, answered: Answered, arn: str) -> None:
    many = pairs({f"key-{number}": "" for number in range(51)})
    assert refused("TagResource", {"ResourceArn": arn, "Tags": many}) == ("ValidationException", TOO_MANY)
    assert listed(answered, arn) == {}


def test_the_longest_key_and_value_fit(answered: Answered, arn: str, tag: Tag) -> None:
    tag(arn, {"k" * 128: "v" * 256})
    shows(answered, arn, {"k" * 128: "v" * 256})


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (pairs({"k" * 129: "v"}), f"The Tag Key provided is invalid, Key: {'k' * 129}"),
        (pairs({"k": "v" * 257}), f"The Tag Value provided is invalid, Value: {'v' * 257}"),
        (pairs({"": "v"}), "The Tag Key provided is invalid, Key: "),
        ([{"Key": "k"}], "The Tag Value provided is invalid, Value: null"),
        (pairs({"aws:mine": "v"}), "Tag Key cannot be prefixed with aws:, Key: aws:mine"),
        (
            [{"Key": "k", "Value": "1"}, {"Key": "k", "Value": "2"}],
            "Duplicate Tag Keys provided as input: Duplicate Tag Key found k",
        ),
    ],
    ids=["a long key", "a long value", "an empty key", "no value", "the service's own key", "one key twice"],
)
def test_a_tag_that_breaks_a_rule_is_refused_with_all_the_others(
    refused: Refused, answered: Answered, arn: str, tags: list[Json], expected: str
) -> None:
    asked = {"ResourceArn": arn, "Tags": [*tags, *pairs({"good": "one"})]}
    assert refused("TagResource", asked) == ("ValidationException", expected)
    assert listed(answered, arn) == {}


def test_something_must_be_tagged_or_untagged(refused: Refused, arn: str) -> None:
    expected = ("ValidationException", "Atleast one Tag needs to be provided as Input.")
    assert refused("TagResource", {"ResourceArn": arn, "Tags": []}) == expected
    expected = ("ValidationException", "Atleast one Tag Key needs to be provided as Input.")
    assert refused("UntagResource", {"ResourceArn": arn, "TagKeys": []}) == expected


@pytest.mark.parametrize("verb", ["TagResource", "UntagResource", "ListTagsOfResource"])
def test_a_resource_must_be_named(refused: Refused, verb: str) -> None:
    code, _ = refused(verb, {"Tags": pairs({"a": "b"}), "TagKeys": ["a"]})
    assert code == "ValidationException"


@pytest.mark.parametrize("verb", ["TagResource", "UntagResource"])
def test_what_is_no_arn_is_refused(refused: Refused, verb: str) -> None:
    asked = {"ResourceArn": "not-a-valid-arn", "Tags": pairs({"a": "b"}), "TagKeys": ["a"]}
    assert refused(verb, asked)[0] == "ValidationException"


def test_the_tags_of_somebody_elses_table_are_not_shown(refused: Refused) -> None:
    asked = {"ResourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/nonexistent_table_xyz"}
    assert refused("ListTagsOfResource", asked)[0] == "AccessDeniedException"


@pytest.mark.parametrize("verb", ["TagResource", "UntagResource"])
def test_a_table_that_is_not_there_cannot_be_tagged(refused: Refused, arn: str, verb: str) -> None:
    asked = {"ResourceArn": f"{arn}-not", "Tags": pairs({"a": "b"}), "TagKeys": ["a"]}
    assert refused(verb, asked)[0] == "ResourceNotFoundException"
