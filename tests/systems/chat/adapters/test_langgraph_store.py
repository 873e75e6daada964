"""LangGraph's store of a user: filters, meaning, ttl, namespaces, batches; sealed, and of one user alone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, Op, PutOp, SearchOp
from tests.systems.chat.adapters.calls import counted
from tests.systems.chat.place import Place, refuses

from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.langgraph_store import UserStore
from tablewright.systems.chat.memory.embedding import Embedder


def store_of(at: Place, user_id: str = "u_9", **options: Any) -> UserStore:
    at.child(user_id)
    return UserStore(at.chat, user_id, **options)


def keys(found: list[Any]) -> list[str]:
    return [item.key for item in found]


# --- values ---


def test_a_value_comes_back_as_it_was_put(at: Place) -> None:
    store = store_of(at)
    value = {"text": "likes red pandas", "age": 9, "score": 0.5, "tags": ["a", None], "deep": {"ok": True}}
    store.put(("animals", "favourite"), "panda", value)
    found = store.get(("animals", "favourite"), "panda")
    assert found is not None
    assert found.value == value
    assert isinstance(found.value["age"], int)
    assert isinstance(found.value["score"], float)
    assert (found.namespace, found.key) == (("animals", "favourite"), "panda")
    store.delete(("animals", "favourite"), "panda")
    assert store.get(("animals", "favourite"), "panda") is None


def test_an_entry_keeps_the_time_at_which_it_was_created(at: Place) -> None:
    store = store_of(at)
    store.put(("animals",), "panda", {"n": 1})
    at.later(hours=1)
    store.put(("animals",), "panda", {"n": 2})
    found = store.get(("animals",), "panda")
    assert found is not None
    assert (found.updated_at - found.created_at).total_seconds() == 3600


def test_a_store_refuses_what_no_namespace_can_be(at: Place) -> None:
    with pytest.raises(InvalidNamespaceError):
        store_of(at).put((), "key", {"a": 1})


# --- search ---


def test_a_search_includes_namespaces_below_and_no_others(at: Place) -> None:
    store = store_of(at)
    for namespace in (("fam",), ("fam", "u1"), ("fam", "u1", "prefs"), ("fam0",), ("fam!", "x"), ("fa",)):
        store.put(namespace, "-".join(namespace), {"n": len(namespace)})
    assert set(keys(store.search(("fam",)))) == {"fam", "fam-u1", "fam-u1-prefs"}
    assert set(keys(store.search(("fam", "u1")))) == {"fam-u1", "fam-u1-prefs"}
    assert len(store.search(())) == 6


def test_names_with_separators_and_signs_stay_apart(at: Place) -> None:
    store = store_of(at)
    for namespace in (("a/b",), ("a", "b"), ("a%2Fb",), ("a#b",), ("a", "b#c"), ("ä", "語")):
        store.put(namespace, "k", {"is": list(namespace)})
    for namespace in (("a/b",), ("a", "b"), ("a%2Fb",), ("a#b",), ("a", "b#c"), ("ä", "語")):
        found = store.get(namespace, "k")
        assert found is not None
        assert tuple(found.value["is"]) == found.namespace == namespace
    assert [item.value["is"] for item in store.search(("a/b",))] == [["a/b"]]
    assert len(store.search(("a",))) == 2
    assert set(store.list_namespaces()) == {
        ("a/b",), ("a", "b"), ("a%2Fb",), ("a#b",), ("a", "b#c"), ("ä", "語"),
    }  # fmt: skip


def test_filters_compare_numbers_texts_and_objects(at: Place) -> None:
    store = store_of(at)
    store.put(("a",), "one", {"n": 1, "on": "2030-01-01", "of": {"kind": "cat", "size": 3}})
    store.put(("a",), "two", {"n": 2.5, "on": "2030-02-01", "of": {"kind": "dog", "size": 9}})
    store.put(("a",), "odd", {"n": "many"})
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({"n": 1}, {"one"}),
        ({"n": {"$gt": 1}}, {"two"}),
        ({"n": {"$gte": 1, "$lt": 2.5}}, {"one"}),
        ({"n": {"$lte": 2.5}}, {"one", "two"}),
        ({"n": {"$ne": 1}}, {"two", "odd"}),
        ({"n": {"$eq": 2.5}}, {"two"}),
        ({"on": {"$gt": "2030-01-15"}}, {"two"}),
        ({"of": {"kind": "cat"}}, {"one"}),
        ({"of": {"size": {"$gt": 5}}}, {"two"}),
        ({"none": 1}, set()),
    ]
    for filters, expected in cases:
        assert set(keys(store.search(("a",), filter=filters))) == expected, filters
    with pytest.raises(ValueError, match="unknown"):
        store.search(("a",), filter={"n": {"$near": 1}})


def test_a_search_finds_by_meaning_within_filters(at: Place) -> None:
    store = store_of(at, fields=["text"])
    texts = {
        "bamboo": "The red panda likes to eat bamboo",
        "teeth": "The dentist looked at my teeth",
        "sleep": "Lions sleep at night",
    }
    for key, text in texts.items():
        store.put(("facts",), key, {"text": text, "old": key == "sleep"})
    found = store.search(("facts",), query="what does a panda eat?")
    assert found[0].key == "bamboo"
    assert found[0].score is not None
    assert found[0].score > (found[1].score or 0)
    assert keys(store.search(("facts",), query="panda", filter={"old": True})) == ["sleep"]


def test_an_entry_that_is_not_indexed_comes_last_and_without_a_score(at: Place) -> None:
    store = store_of(at)
    store.put(("a",), "hidden", {"text": "bamboo"}, index=False)
    store.put(("a",), "shown", {"text": "bamboo"}, index=["text"])
    found = store.search(("a",), query="bamboo")
    assert [(item.key, item.score is None) for item in found] == [("shown", False), ("hidden", True)]


def test_pages_of_a_search_join(at: Place) -> None:
    store = store_of(at)
    for number in range(7):
        at.later(seconds=1)
        store.put(("a",), str(number), {"n": number})
    pages = [keys(store.search(("a",), limit=3, offset=offset)) for offset in (0, 3, 6)]
    assert [key for page in pages for key in page] == ["6", "5", "4", "3", "2", "1", "0"]


# --- time to live ---


def test_an_entry_expires_after_its_ttl_and_reading_it_begins_the_time_again(at: Place) -> None:
    store = store_of(at)
    store.put(("a",), "short", {"n": 1}, ttl=10)
    at.later(minutes=8)
    assert store.get(("a",), "short") is not None
    at.later(minutes=8)
    assert store.get(("a",), "short", refresh_ttl=False) is not None
    at.later(minutes=8)
    assert store.get(("a",), "short") is None
    assert store.search(("a",)) == []
    assert store.list_namespaces() == []


def test_no_ttl_is_longer_than_the_retention_class(at: Place) -> None:
    store = store_of(at, ttl={"default_ttl": 60 * 24 * 1000, "refresh_on_read": False})
    store.put(("a",), "long", {"n": 1})
    at.later(days=179)
    assert store.get(("a",), "long") is not None
    at.later(days=2)
    assert store.get(("a",), "long") is None


# --- namespaces ---


def test_namespaces_are_listed_with_prefix_suffix_depth_and_pages(at: Place) -> None:
    store = store_of(at)
    for namespace in (("a", "b", "c"), ("a", "b", "d", "e"), ("a", "f", "c"), ("g", "c")):
        for key in ("one", "two"):
            store.put(namespace, key, {"n": 1})
    assert store.list_namespaces(prefix=("a", "b")) == [("a", "b", "c"), ("a", "b", "d", "e")]
    assert store.list_namespaces(suffix=("c",)) == [("a", "b", "c"), ("a", "f", "c"), ("g", "c")]
    assert store.list_namespaces(prefix=("a", "*", "c")) == [("a", "b", "c"), ("a", "f", "c")]
    assert store.list_namespaces(max_depth=2) == [("a", "b"), ("a", "f"), ("g", "c")]
    assert store.list_namespaces(limit=2, offset=1) == [("a", "b", "d", "e"), ("a", "f", "c")]


def test_listing_namespaces_is_no_scan_and_skips_the_entries(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(at)
    store.batch([PutOp((name,), str(n), {"n": n}) for name in ("a", "b", "c") for n in range(30)])
    with counted(at.db, monkeypatch) as calls:
        assert store.list_namespaces() == [("a",), ("b",), ("c",)]
    assert calls == {"Query": 4}


# --- batches ---


def test_a_batch_of_puts_is_one_transaction_and_gets_are_one_call(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(at)
    store.put(("a",), "first", {"n": 0})
    with counted(at.db, monkeypatch) as calls:
        store.batch([PutOp(("a",), str(number), {"n": number}) for number in range(51)])
    assert calls == {"BatchGetItem": 1, "TransactWriteItems": 1}
    with counted(at.db, monkeypatch) as calls:
        found = store.batch([GetOp(("a",), str(number)) for number in range(51)])
    assert calls == {"BatchGetItem": 1}
    assert len([item for item in found if item]) == 51


def test_the_reads_of_a_batch_see_what_was_before_its_puts(at: Place) -> None:
    store = store_of(at)
    store.put(("a",), "k", {"n": 1})
    ops: list[Op] = [
        PutOp(("a",), "k", {"n": 2}), GetOp(("a",), "k"), SearchOp(("a",)), ListNamespacesOp(),
        PutOp(("a",), "k", None), PutOp(("b",), "k", {"n": 3}),
    ]  # fmt: skip
    results: list[Any] = asyncio.run(store.abatch(ops))
    assert results[1].value == {"n": 1}
    assert [item.value for item in results[2]] == [{"n": 1}]
    assert results[3] == [("a",)]
    assert store.get(("a",), "k") is None
    assert store.get(("b",), "k") is not None


# --- one user ---


def test_entries_of_another_user_cannot_be_named(at: Place) -> None:
    store_of(at, "u_9").put(("u_9", "secrets"), "k", {"text": "my secret"})
    other = store_of(at, "u_10")
    assert other.get(("u_9", "secrets"), "k") is None
    assert other.search((), query="secret") == []
    assert other.list_namespaces() == []


def test_values_and_vectors_are_sealed(at: Place) -> None:
    store_of(at).put(("a",), "k", {"text": "my name is Wilhelmina"})
    stored = at.call("Scan", {"TableName": at.db.physical("agent-state")})
    (item,) = stored["Items"]
    assert "Wilhelmina" not in str(item)
    assert not any("L" in value for value in item.values())


def test_a_child_whose_parent_did_not_allow_profiles_is_not_remembered(at: Place) -> None:
    at.child("u_1", scopes=["collect_and_use"])
    with refuses("NO_CONSENT"):
        UserStore(at.chat, "u_1").put(("a",), "k", {"n": 1})
    UserStore(at.chat, "u_1", scope="collect_and_use").put(("a",), "k", {"n": 1})


def test_zc_x23_an_embedder_of_a_third_party_gets_no_text_without_disclosure(at: Place) -> None:
    sent: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        sent.extend(texts)
        return [[1.0, 0.0] for _ in texts]

    outside = Embedder("outside-2", embed, leaves_machine=True)
    at.child("u_1", scopes=["collect_and_use", "profiling"])
    at.child("u_2", stays_local=True)
    for user_id in ("u_1", "u_2"):
        store = UserStore(at.chat, user_id, embedder=outside)
        with refuses("NO_CONSENT"):
            store.put(("a",), "k", {"text": "my secret"})
        with refuses("NO_CONSENT"):
            store.search((), query="my secret")
        store.put(("a",), "k", {"text": "my secret"}, index=False)
    assert sent == []
    allowed = store_of(at, "u_3", embedder=outside)
    allowed.put(("a",), "k", {"text": "bamboo"})
    assert keys(allowed.search((), query="pandas")) == ["k"]
    assert len(sent) == 2


def test_a_large_value_is_an_object_that_goes_with_its_entry(at: Place) -> None:
    store = store_of(at)
    for _ in range(3):
        store.put(("a",), "k", {"drawing": os.urandom(400_000).hex()}, index=False)
    assert len(list(at.chat.objects.names("agents/"))) == 1
    found = store.get(("a",), "k")
    assert found is not None
    assert len(found.value["drawing"]) == 800_000
    store.put(("a",), "k", {"drawing": ""})
    assert list(at.chat.objects.names("agents/")) == []
    assert list(at.db.all(d.agent_objects_in(folder="any"))) == []
