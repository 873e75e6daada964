"""Memory stores of LangGraph as they are published, against our server: put, search by meaning, filter, expire, delete.

The packages are an extra of their own (`tablewright[langgraph]`): without them these tests are skipped, and say so.
"""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from tablewright import Engine, testing
from tablewright.wire import serving

CREDENTIALS = {"aws_access_key_id": "any", "aws_secret_access_key": "thing", "region_name": "us-east-1"}
WORDS = ("cat", "dog", "pet", "car", "engine", "wheel", "tea", "cake")
# Others' code: what it deprecates is not ours to change.
pytestmark = pytest.mark.filterwarnings("ignore")


def embed(texts: list[str]) -> list[list[float]]:
    """How often each word is in a text: enough for texts about the same to be near each other."""
    return [[float(text.lower().count(word)) + 0.01 for word in WORDS] for text in texts]


INDEX = {"dims": len(WORDS), "embed": embed, "fields": ["text"]}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """On disk, verified in the end."""
    with testing.engine(tmp_path / "store") as engine:
        yield engine


@pytest.fixture
def url(engine: Engine) -> Iterator[str]:
    with serving(engine) as url:
        yield url


def published(module: str) -> Any:
    return pytest.importorskip(module, reason="pip install 'tablewright[langgraph]'")


def kept(store: Any) -> None:
    """Memories of two people."""
    store.put(("people", "ann"), "1", {"text": "the cat is a pet", "kind": "animal"})
    store.put(("people", "ann"), "2", {"text": "the dog is a pet", "kind": "animal"})
    store.put(("people", "ann"), "3", {"text": "an engine and a wheel", "kind": "thing"})
    store.put(("people", "bob"), "1", {"text": "tea and cake", "kind": "thing"})


def keys(found: Any) -> list[str]:
    return [one.key for one in found]


@pytest.fixture
def plain_store(url: str) -> Any:
    """`langgraph-store-dynamodb`."""
    module = published("langgraph_store_dynamodb")
    session = boto3.Session(**CREDENTIALS)
    return module.DynamoDBStore("memories", index=INDEX, boto_session=session, endpoint_url=url)


@pytest.fixture
def aws_store(url: str) -> Any:
    """`langgraph-checkpoint-aws`, in which memories may expire."""
    published("langgraph_checkpoint_aws")
    module = importlib.import_module("langgraph_checkpoint_aws.store.dynamodb")
    session = boto3.Session(**CREDENTIALS)
    ttl = {"default_ttl": None, "refresh_on_read": False}
    store = module.DynamoDBStore("memories", boto3_session=session, endpoint_url=url, index=INDEX, ttl=ttl)
    store.setup()
    return store


@pytest.mark.parametrize("name", ["plain_store", "aws_store"])
def test_memories_are_put_searched_filtered_and_deleted(request: pytest.FixtureRequest, name: str) -> None:
    store = request.getfixturevalue(name)
    kept(store)
    assert store.get(("people", "ann"), "1").value["text"] == "the cat is a pet"
    found = store.search(("people", "ann"), query="a cat, a pet", limit=2)
    assert keys(found) == ["1", "2"]
    assert keys(store.search(("people", "ann"), query="engine", filter={"kind": "thing"})) == ["3"]
    assert keys(store.search(("people", "bob"), query="cat")) == ["1"]
    store.delete(("people", "ann"), "1")
    assert keys(store.search(("people", "ann"), query="a cat, a pet", limit=1)) == ["2"]
    store.put(("people", "ann"), "3", {"text": "a cat", "kind": "animal"})
    assert keys(store.search(("people", "ann"), query="cat", limit=1)) == ["3"]


def test_a_memory_that_has_expired_is_not_found(engine: Engine, aws_store: Any) -> None:
    aws_store.put(("people", "ann"), "1", {"text": "a cat"}, ttl=0.001)
    aws_store.put(("people", "ann"), "2", {"text": "a dog"})
    # The sweeper deletes what expired before this second.
    while len(keys(aws_store.search(("people", "ann"), query="cat"))) > 1:
        engine.settle()
    assert keys(aws_store.search(("people", "ann"), query="cat")) == ["2"]
