"""`strands-dynamodb-storage` as it is published, on our server: bytes under keys, and memories found by meaning."""

import asyncio
import importlib
from typing import Any

import pytest
from tests.published.agent_tables import HOUR, TABLE, WORDS, count_items, create_table, embed, let_expire

from tablewright import Engine
from tablewright.testing import Clock

# Others' code: what it deprecates is not ours to change.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def package() -> Any:
    """Imported where it is used, as it takes a second."""
    return importlib.import_module("strands_dynamodb_storage")


@pytest.fixture
def storage(package: Any, client: Any) -> Any:
    """What is written to it expires after an hour."""
    index = {
        "IndexName": "vector_index",
        "VectorAttribute": {"AttributeName": "vector"},
        "SearchSchema": [{"AttributeName": "pk", "SearchSchemaElementType": "HASH"}],
        "Dimensions": len(WORDS),
        "DistanceFunction": "COSINE",
        "Projection": {"ProjectionType": "ALL"},
    }
    create_table(client, "pk", "sk", "expireAt", VectorIndexes=[index])
    return package.DynamoDBStorage(TABLE, client=client, ttl_seconds=HOUR, compression="gzip")


def test_bytes_are_written_read_listed_and_deleted(package: Any, storage: Any) -> None:
    async def story() -> None:
        for turn in range(12):
            await storage.write(f"sessions/s1/turns/{turn:02}", bytes([turn]) * 10_000)
        await storage.write("sessions/s1/turnstile", b"")
        await storage.write("sessions/s2/turns/00", b"other")
        await storage.write("sessions/s1/turns/11", b"new")
        assert await storage.read("sessions/s1/turns/10") == bytes([10]) * 10_000
        assert await storage.read("sessions/s1/turns/11") == b"new"
        turns = [f"sessions/s1/turns/{turn:02}" for turn in range(12)]
        assert await storage.list("sessions/s1/turns/") == turns
        between = package.DynamoDBListQuery(pk="sessions/s1", sk_between=("turns/03", "turns/08"), limit=4)
        assert await storage.list(between) == turns[3:7]
        await storage.delete(turns[0])
        await storage.delete(turns[0])
        assert await storage.read(turns[0]) is None
        assert await storage.list("sessions/s1/") == [*turns[1:], "sessions/s1/turnstile"]

    asyncio.run(story())


def test_a_list_is_longer_than_a_page(storage: Any) -> None:
    async def story() -> None:
        # Not to be compressed: 1.2 MB, and a page of a query has one.
        for number in range(4):
            data = b"".join(index.to_bytes(4) for index in range(number * 75_000, (number + 1) * 75_000))
            await storage.write(f"sessions/s1/{number}", data)
        assert len(await storage.list("sessions/s1/")) == 4

    asyncio.run(story())


def test_vectors_are_searched_in_their_partition_and_filtered(package: Any, storage: Any) -> None:
    async def story() -> None:
        ann = storage.namespace("user/ann")
        for id, text, kind in (
            ("1", "the cat is a pet", "animal"),
            ("2", "the dog is a pet", "animal"),
            ("3", "an engine and a wheel", "thing"),
        ):
            await ann.write(id, text.encode(), vector=embed(text), metadata={"kind": kind, "size": len(text)})
        await storage.namespace("user/bob").write("1", b"a cat", vector=embed("a cat"))

        async def found(query: str, top: int = 10, **more: Any) -> list[Any]:
            asked = package.SearchQuery(embed(query), top, pk=ann.partition_key("1"), **more)
            return [(one.key, one.data, one.metadata) for one in await ann.search(asked)]

        assert [key for key, _, _ in await found("a cat, a pet")] == ["1", "2", "3"]
        assert await found("dog", 1, include_values=True) == [
            ("2", b"the dog is a pet", {"kind": "animal", "size": 16})
        ]
        assert [key for key, _, _ in await found("cat", filter={"kind": "thing"})] == ["3"]
        await ann.delete("1")
        assert [key for key, _, _ in await found("a cat, a pet", 1)] == ["2"]

    asyncio.run(story())


def test_memories_are_added_searched_and_deleted(package: Any, storage: Any) -> None:
    async def story() -> None:
        user = storage.namespace("user/ann")
        memory = package.DynamoDBMemoryStore(user, embedder=embed)
        cat = await memory.add("the cat is a pet", {"source": "chat"})
        await memory.add("tea and cake")
        assert await memory.add("the cat is a pet", {"source": "letter"}) == cat
        first, second = await memory.search("which pet, a cat?")
        assert (first.content, first.metadata["source"]) == ("the cat is a pet", "letter")
        assert second.content == "tea and cake"
        assert first.metadata["_score"] < second.metadata["_score"]
        await user.delete(cat)
        [left] = await memory.search("which pet, a cat?")
        assert left.content == "tea and cake"

    asyncio.run(story())


def test_what_has_expired_is_hidden_and_then_deleted(
    package: Any, storage: Any, client: Any, engine: Engine, clock: Clock
) -> None:
    async def keys() -> tuple[list[str], list[str]]:
        asked = package.SearchQuery(embed("cat"), 10, pk="user/ann")
        return await storage.list("user/ann/"), sorted(one.key for one in await storage.search(asked))

    async def story() -> None:
        await storage.write("user/ann/past", b"a cat", vector=embed("cat"), ttl_seconds=-60)
        await storage.write("user/ann/soon", b"a dog", vector=embed("dog"))
        await storage.write("user/ann/late", b"a car", vector=embed("car"), ttl_seconds=3 * HOUR)
        assert await storage.read("user/ann/past") is None
        assert await keys() == (["user/ann/late", "user/ann/soon"],) * 2
        assert count_items(client) == 3
        let_expire(engine, clock)
        assert await keys() == (["user/ann/late"],) * 2
        assert count_items(client) == 1

    asyncio.run(story())
