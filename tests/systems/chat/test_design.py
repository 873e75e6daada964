"""The design is that of the document: names, keys, indexes, what an item has (A.0, A.2), and what a message costs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.places import scan
from tests.systems.chat.place import SECRET, Json, Place

from tablewright import testing
from tablewright.client import embedded
from tablewright.design import Index
from tablewright.kit.tables import Actor
from tablewright.mapping import Db
from tablewright.mapping.deploy import apply, live_tables, plan
from tablewright.mapping.tables import create_table
from tablewright.systems.chat import design as d
from tablewright.systems.chat.chat import Chat, open_chat
from tablewright.systems.chat.model import Draft
from tablewright.systems.chat.rules import stamp
from tablewright.systems.chat.talk.message_writes import counted

# The ten tables that exist, the new one, and the access log (ZC-1, A.0).
DOCUMENT = {
    "animal", "animal-config", "animal-details", "conversation", "family", "guardrails", "knowledge", "session", "user",
    "user-details", "conversation-v2", "access-log",
}  # fmt: skip
FAMILY_CARRIES = ("conversationId", "animalId", "userId", "messageCount", "lastActivity")
KEYS = {
    "conversation": ("USER#{user_id}", "CONV#{conversation_id}"),
    "message": ("USER#{user_id}", "MSG#{conversation_id}#{timestamp:us}#{message_id}"),
    "summary": ("USER#{user_id}", "SUMMARY#{conversation_id}#{batch_id}"),
    "context": ("USER#{user_id}", "CONTEXT#{category}"),
    "alias": ("LEGACY#{legacy_conversation_id}", "ALIAS"),
}
# ZC-5 to ZC-9, with what was added to them.
CONVERSATION = {
    "entityType", "ttl", "created", "modified", "conversationId", "userId", "animalId", "animalName", "messageCount",
    "summaryCount", "startTime", "lastActivity", "status", "metadata", "retentionClass", "summarizedCount", "version",
    "statusShard", "lastActivityDay",
}  # fmt: skip
MESSAGE = {
    "entityType", "ttl", "created", "modified", "messageId", "conversationId", "role", "text", "timestamp", "metadata",
}  # fmt: skip


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_the_tables_of_the_document_have_the_names_of_the_document(environment: str) -> None:
    """ZC-1, ZC-D20."""
    place = d.CHAT.environments[environment]
    assert d.CHAT.tables.keys() >= DOCUMENT
    assert place.physical("conversation-v2") == f"quest-{environment}-conversation-v2"
    assert place.physical("conversation") == f"quest-{environment}-conversation"
    assert place.region == "us-west-2"


@pytest.mark.parametrize("tag", sorted(KEYS))
def test_entities_have_the_keys_of_the_document(tag: str) -> None:
    """ZC-5, ZC-8, ZC-9, ZC-D5, ZC-D10, ZC-D17."""
    shape = d.CHAT.shape(tag)
    assert shape.sk is not None
    assert (shape.pk.text, shape.sk.text) == KEYS[tag]


@pytest.mark.parametrize(
    ("index", "name", "keys"),
    [
        (d.family_index, "family-conversations-index", ("familyId", "created")),
        (d.animal_index, "animal-conversations-index", ("animalId", "created")),
        (d.status_index, "status-index", ("statusShard", "lastActivityDay")),
    ],
    ids=lambda value: value.name if isinstance(value, Index) else "",
)
def test_indexes_have_the_names_and_keys_of_the_document(
    index: Index, name: str, keys: tuple[str, str]
) -> None:
    """ZC-10, ZC-D51."""
    assert (index.name, index.key_names) == (name, keys)
    assert d.family_index.project == FAMILY_CARRIES


def test_only_conversations_are_in_the_indexes(at: Place) -> None:
    """ZC-D32."""
    child = at.child(family_id="family_1")
    chat = at.talk(child)
    at.say(chat, "one")
    by_entity = {item["entityType"]["S"]: item for item in scan(at.db, at.call, "conversation-v2")}
    keys = {"familyId", "animalId", "statusShard", "lastActivityDay", "conversationKey"}
    assert keys <= by_entity["conversation"].keys()
    assert not keys & by_entity["message"].keys()


def test_items_have_the_attributes_of_the_document(at: Place) -> None:
    """ZC-6, ZC-7, ZC-D52."""
    at.say(at.talk(at.child()), "one")
    by_entity = {item["entityType"]["S"]: item for item in scan(at.db, at.call, "conversation-v2")}
    assert by_entity["conversation"].keys() >= CONVERSATION
    assert by_entity["message"].keys() >= MESSAGE


def test_an_optional_index_key_that_is_absent_is_left_out(at: Place) -> None:
    """ZC-D3."""
    at.talk(at.child())
    (item,) = scan(at.db, at.call, "conversation-v2")
    assert "familyId" not in item
    assert {"NULL": True} not in item.values()


def test_zc_d7_a_second_message_of_a_day_writes_the_family_index_and_no_other(at: Place) -> None:
    chat = at.talk(at.child(family_id="family_1"))
    at.say(chat, "one")
    at.later(seconds=1)
    at.say(chat, "two")
    at.later(seconds=1)
    header = at.again(chat)
    write = counted(
        header, at.chat.messages._made(header, [Draft(role="user", text="three", message_id="m3")])
    )
    request = {"TransactItems": at.db.wire(write), "ReturnConsumedCapacity": "INDEXES"}
    (spent,) = at.call("TransactWriteItems", request)["ConsumedCapacity"]
    written = {name: units["CapacityUnits"] for name, units in spent["GlobalSecondaryIndexes"].items()}
    assert written == {"family-conversations-index": 1.0}


def test_a_header_has_no_topics_and_one_that_was_stored_with_them_is_read(at: Place) -> None:
    chat = at.talk(at.child())
    (item,) = [one for one in scan(at.db, at.call, "conversation-v2") if one["SK"]["S"].startswith("CONV#")]
    assert "topicsDiscussed" not in item["metadata"]["M"]
    item["metadata"]["M"]["topicsDiscussed"] = {"L": []}
    at.call("PutItem", {"TableName": at.db.physical("conversation-v2"), "Item": item})
    assert at.again(chat) == chat
    at.say(chat, "one")
    assert at.again(chat).message_count == 2


def test_zc_2_the_first_versions_table_has_the_conversation_id_as_its_key_and_no_index() -> None:
    request = create_table(d.CHAT, d.v1_table.table, d.CHAT.environments["dev"])
    assert request["KeySchema"] == [{"AttributeName": "conversationId", "KeyType": "HASH"}]
    assert request["BillingMode"] == "PAY_PER_REQUEST"
    assert not request.keys() & {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"}


def test_zc_32_the_stated_load_is_that_of_a_thousand_users() -> None:
    created = [shape.load["create"].per_month for shape in (d.conversations.shape, d.messages.shape)]
    assert [round(each * 12 / 1_000_000, 1) for each in created] == [0.1, 5.0]


def test_zc_63_no_reserved_word_stands_in_an_expression(at: Place) -> None:
    """ZC-D1, ZC-D2: names are always aliased, and each request has its values once."""
    talk = at.talk(at.child())
    calls: list[Any] = []
    chat = _recorded(at, lambda verb, request: calls.append(request))
    (said,) = chat.messages.append(at.again(talk), [Draft(role="user", text="hello")])
    chat.messages.rate(talk, said, "up")
    chat.messages.history(at.again(talk))
    chat.conversations.archive(at.again(talk))
    list(chat.repository.db.all(d.conversations_by_status(status="archived")))
    texts = [text for call in calls for text in _expressions(call)]
    assert len(texts) > 10
    for text in texts:
        words = re.findall(r"(?<![#:\w])[A-Za-z_]\w*", text)
        assert not {"ttl", "status", "role", "text", "timestamp", "data"}.intersection(words), text


def _recorded(at: Place, note: Callable[[str, Any], None]) -> Chat:
    """The same chat, each of whose calls is noted."""

    def call(verb: str, request: Any) -> Any:
        note(verb, request)
        return at.call(verb, request)

    db = Db(call, d.CHAT, world=at.world, secret=SECRET, environment=at.db.environment)
    return open_chat(db, at.world, SECRET, home=at.home, objects=at.chat.objects)


def _expressions(request: Any) -> Iterator[str]:
    if isinstance(request, dict):
        yield from (text for name, text in request.items() if name.endswith("Expression"))
    for each in (
        request.values() if isinstance(request, dict) else request if isinstance(request, list) else ()
    ):
        yield from _expressions(each)


def test_zc_d37_times_have_microseconds_also_if_there_are_none() -> None:
    second = datetime(2030, 2, 4, 10, 0, 45, tzinfo=UTC)
    assert stamp(second) == "2030-02-04T10:00:45.000000Z"
    assert stamp(second) < stamp(second + timedelta(milliseconds=500)) < stamp(second + timedelta(seconds=1))


def test_zc_33_what_is_removed_in_bulk_goes_in_batches_of_25_at_most_and_nothing_is_put_so(at: Place) -> None:
    """ZC-65, ZC-D50."""
    talk = at.talk(at.child())
    at.say(talk, *(str(number) for number in range(30)))
    batches: list[Any] = []
    chat = _recorded(at, lambda _, request: batches.extend(request.get("RequestItems", {}).values()))
    chat.conversations.delete(at.again(talk), Actor("u_9", "student", "u_9"))
    assert sum(map(len, batches)) == 60
    assert max(map(len, batches)) <= 25
    assert {verb for batch in batches for one in batch for verb in one} == {"DeleteRequest"}


def test_zc_d53_all_indexes_are_added_to_an_existing_table_one_after_another() -> None:
    """ZC-48, ZC-66, ZC-D38: one index in each request, whose billing is that of its table."""
    name, request = "conversation-v2", create_table(d.CHAT, d.conversation_table.table)
    keys = [one for one in request["AttributeDefinitions"] if one["AttributeName"] in ("PK", "SK")]
    left_out = "GlobalSecondaryIndexes", "VectorIndexes"
    bare = {key: value for key, value in request.items() if key not in left_out} | {
        "AttributeDefinitions": keys
    }
    updates: list[Json] = []
    with testing.engine() as whole, testing.engine() as engine:
        embedded(whole)("CreateTable", request)
        call = embedded(engine)
        call("CreateTable", bare)

        def recorded(verb: str, asked: Any) -> Any:
            if "GlobalSecondaryIndexUpdates" in asked:
                updates.append(asked)
            return call(verb, asked)

        (desired,) = live_tables(embedded(whole), [name]).values()
        assert desired is not None
        apply(recorded, plan([desired], live_tables(call, [name])), allow_loss=False)
        found = call("DescribeTable", {"TableName": name})["Table"]["GlobalSecondaryIndexes"]
    indexes = (d.family_index, d.animal_index, d.status_index, d.owner_index)
    assert {index["IndexName"] for index in found} == {one.name for one in indexes}
    assert [len(update["GlobalSecondaryIndexUpdates"]) for update in updates] == [1] * 4
    assert "BillingMode" not in str(updates)


def test_zc_55_the_environment_dev_has_the_names_that_programs_of_the_first_version_expect() -> None:
    dev = d.CHAT.environments["dev"]
    assert (dev.physical("conversation"), dev.region) == ("quest-dev-conversation", "us-west-2")
    elsewhere = replace(dev, renamed={"conversation": "my-chats"})
    assert elsewhere.physical("conversation") == "my-chats"
    assert elsewhere.physical("conversation-v2") == "quest-dev-conversation-v2"
