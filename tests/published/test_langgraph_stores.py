"""Memory stores of LangGraph as they are published, on our server: put, search by meaning, filter, expire, delete.

`langgraph-store-dynamodb` and the DynamoDBStore of `langgraph-checkpoint-aws`. A package is imported where it is used,
as it takes a second.
"""

import importlib
from typing import Any

import boto3
import pytest
from tests.published.agent_tables import CREDENTIALS, WORDS, embed, let_expire

from tablewright import Engine
from tablewright.testing import Clock

INDEX = {"dims": len(WORDS), "embed": lambda texts: [*map(embed, texts)], "fields": ["text"]}
# Others' code: what it deprecates is not ours to change.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def plain_store(url: str) -> Any:
    """`langgraph-store-dynamodb`."""
    module = importlib.import_module("langgraph_store_dynamodb")
    session = boto3.Session(**CREDENTIALS)
    return module.DynamoDBStore("memories", index=INDEX, boto_session=session, endpoint_url=url)


@pytest.fixture
def aws_store(url: str) -> Any:
    """`langgraph-checkpoint-aws`, in which memories may expire."""
    module = importlib.import_module("langgraph_checkpoint_aws.store.dynamodb")
    session = boto3.Session(**CREDENTIALS)
    ttl = {"default_ttl": None, "refresh_on_read": False}
    store = module.DynamoDBStore("memories", boto3_session=session, endpoint_url=url, index=INDEX, ttl=ttl)
    store.setup()
    return store


def put_memories(store: Any) -> None:
    """Memories of two people."""
    store.put(("people", "ann"), "1", {"text": "the cat is a pet", "kind": "animal"})
    store.put(("people", "ann"), "2", {"text": "the dog is a pet", "kind": "animal"})
    store.put(("people", "ann"), "3", {"text": "an engine and a wheel", "kind": "thing"})
    store.put(("people", "bob"), "1", {"text": "tea and cake", "kind": "thing"})


def keys(found: Any) -> list[str]:
    return [one.key for one in found]


@pytest.mark.parametrize("name", ["plain_store", "aws_store"])
def test_memories_are_put_searched_filtered_and_deleted(request: pytest.FixtureRequest, name: str) -> None:
    store = request.getfixturevalue(name)
    put_memories(store)
    assert store.get(("people", "ann"), "1").value["text"] == "the cat is a pet"
    found = store.search(("people", "ann"), query="a cat, a pet", limit=2)
    assert keys(found) == ["1", "2"]
    assert keys(store.search(("people", "ann"), query="engine", filter={"kind": "thing"})) == ["3"]
    assert keys(store.search(("people", "bob"), query="cat")) == ["1"]
    store.delete(("people", "ann"), "1")
    assert keys(store.search(("people", "ann"), query="a cat, a pet", limit=1)) == ["2"]
    store.put(("people", "ann"), "3", {"text": "a cat", "kind": "animal"})
    assert keys(store.search(("people", "ann"), query="cat", limit=1)) == ["3"]


def test_a_memory_that_has_expired_is_not_found(engine: Engine, clock: Clock, aws_store: Any) -> None:
    aws_store.put(("people", "ann"), "1", {"text": "a cat"}, ttl=60)
    aws_store.put(("people", "ann"), "2", {"text": "a dog"})
    assert keys(aws_store.search(("people", "ann"), query="cat")) == ["1", "2"]
    let_expire(engine, clock)
    assert keys(aws_store.search(("people", "ann"), query="cat")) == ["2"]
    assert aws_store.get(("people", "ann"), "1") is None
