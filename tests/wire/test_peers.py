"""Regions that ask each other over HTTP: signed, refused as anybody would be, unreachable within seconds."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.wire.talk import Line, request

from tablewright import Engine, ServiceError
from tablewright.engine import PeerUnreachable, Regions
from tablewright.engine.replica_standings import compare
from tablewright.wire import AccessKey, serving
from tablewright.wire.peers import TARGET, HttpPeer, PeerUnusable, peer_named

HERE, THERE = "us-east-1", "eu-west-1"
KEY = AccessKey("AKIDPEER", "a secret of theirs")
PETS = {
    "TableName": "pets",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}


def item(name: str) -> dict[str, object]:
    return {"TableName": "pets", "Item": {"pk": {"S": name}}}


def names(engine: Engine) -> list[str]:
    return sorted(one["pk"]["S"] for one in engine.call("Scan", {"TableName": "pets"})["Items"])


@contextmanager
def two_servers(key: AccessKey | None) -> Iterator[tuple[Regions, Regions]]:
    """Two regions behind two servers, each told where the other is."""
    keys = None if key is None else {key.id: key}
    one, two = (Engine.open(durability="relaxed", region=region) for region in (HERE, THERE))
    with serving(one, credentials=keys) as first, serving(two, credentials=keys) as second:
        there, here = HttpPeer(second, THERE, key), HttpPeer(first, HERE, key)
        with (
            Regions({HERE: one}, HERE, {THERE: there}, period=None) as left,
            Regions({THERE: two}, THERE, {HERE: here}, period=None) as right,
        ):
            yield left, right
            assert left.verify() + right.verify() == []
            there.close()
            here.close()


@pytest.mark.parametrize("key", [None, KEY, AccessKey("AKIDPEER", "secret", "a token")])
def test_two_servers_follow_each_other(key: AccessKey | None) -> None:
    with two_servers(key) as (left, right):
        home, there = left[HERE], right[THERE]
        home.call("CreateTable", PETS)
        home.call("PutItem", item("rex"))
        home.call("UpdateTable", {"TableName": "pets", "ReplicaUpdates": [{"Create": {"RegionName": THERE}}]})
        for _ in range(3):
            left.settle()
            right.settle()
        there.call("PutItem", item("tom"))
        for _ in range(3):
            left.settle()
            right.settle()
        assert names(home) == names(there) == ["rex", "tom"]
        assert compare(left.ask(HERE), left.ask(THERE), "pets").is_equal


def test_a_peer_with_another_key_is_refused_as_anybody_is() -> None:
    with Engine.open(region=THERE) as engine, serving(engine, credentials={KEY.id: KEY}) as url:
        for key, name in (
            (AccessKey(KEY.id, "a guess"), "InvalidSignatureException"),
            (None, "UnrecognizedClientException"),
        ):
            peer = HttpPeer(url, THERE, key)
            with pytest.raises(ServiceError, match=name):
                peer("PeerStatus", {})
            peer.close()
        wrong = HttpPeer(url, HERE, KEY)
        with pytest.raises(ServiceError, match="scoped to a valid region"):
            wrong("PeerStatus", {})
        wrong.close()


def test_a_refusal_travels_with_its_name_and_words() -> None:
    with Engine.open(region=THERE) as engine, serving(engine) as url:
        peer = HttpPeer(url, THERE)
        with pytest.raises(ServiceError, match="Table: pets not found") as refusal:
            peer("PeerPromote", {"Table": "pets", "Epoch": 0})
        assert refusal.value.name == "ResourceNotFoundException"
        peer.close()


def test_a_verb_of_peers_is_none_of_dynamodb_s(url: str) -> None:
    for target, status in (("DynamoDB_20120810.PeerStatus", 400), (TARGET + "PeerStatus", 200)):
        with Line(url) as line:
            line.send(request(None, {}, headers={"X-Amz-Target": target}))
            answer = line.answer()
        assert answer.status == status
        assert ("UnknownOperationException" in answer.body.decode()) == (status == 400)


def test_nobody_at_the_address_is_unreachable_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        peer = HttpPeer(f"http://127.0.0.1:{taken.getsockname()[1]}", THERE)
        with pytest.raises(PeerUnreachable, match="does not answer"):
            peer("PeerStatus", {})
        peer.close()


def test_something_else_at_the_address_is_no_region() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")

        thread = threading.Thread(target=answer)
        thread.start()
        peer = HttpPeer(f"http://127.0.0.1:{listening.getsockname()[1]}", THERE)
        with pytest.raises(PeerUnreachable, match="no engine of ours"):
            peer("PeerStatus", {})
        peer.close()
        thread.join()


def test_a_server_that_was_started_again_is_reached_again() -> None:
    with Engine.open(region=THERE) as engine:
        with serving(engine) as url:
            peer = HttpPeer(url, THERE)
            assert peer("PeerStatus", {})["Region"] == THERE
        with pytest.raises(PeerUnreachable):
            peer("PeerStatus", {})
        with serving(engine, port=int(url.rpartition(":")[2])):
            assert peer("PeerStatus", {})["Region"] == THERE
        peer.close()


def test_the_signature_says_which_region_of_a_server_is_meant() -> None:
    with Regions.open(home=HERE, also=[THERE], period=None) as regions:
        for keys, key in ((None, None), ({KEY.id: KEY}, KEY)):
            with serving(regions, credentials=keys) as url:
                for region in (HERE, THERE):
                    peer = HttpPeer(url, region, key)
                    assert peer("PeerStatus", {})["Region"] == region
                    peer.close()
                peer = HttpPeer(url, "sa-east-1", key)
                with pytest.raises(ServiceError, match="not 'sa-east-1'"):
                    peer("PeerStatus", {})
                peer.close()


@pytest.mark.parametrize(
    "text", ["", "eu-west-1", "eu-west-1=", "=http://host", "eu-west-1=host:1", "eu-west-1=http://host/path"]
)
def test_a_peer_is_a_region_and_a_url(text: str) -> None:
    with pytest.raises(PeerUnusable):
        peer_named(text)
    assert peer_named("eu-west-1=http://host:8000") == ("eu-west-1", "http://host:8000")
