"""A server's life: where it listens, real SDK sessions against the real engine, how it stops."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config
from tests.wire.fake_engine import FakeEngine, as_engine, get, put
from tests.wire.talk import GET_HEALTH, Line, once, request, wait_until_read

from tablewright.engine import Engine, verify_store
from tablewright.wire import AccessKey, CannotListen, OpenToTheNetwork, serving
from tablewright.wire import server as wire_server

PETS: dict[str, Any] = {
    "TableName": "pets",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "name", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
}


def boto(url: str, retry_mode: str = "standard") -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="thing",
        config=Config(retries={"mode": retry_mode, "max_attempts": 1}, max_pool_connections=32),
    )


@pytest.fixture(params=["memory", "durable", "relaxed"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The real engine behind the real server, each way it can keep its data; checked afterwards."""
    in_memory = request.param == "memory"
    path = ":memory:" if in_memory else str(tmp_path / "store")
    with (
        Engine.open(path, durability="durable" if in_memory else request.param) as engine,
        serving(engine) as url,
    ):
        yield url
    if not in_memory:
        assert verify_store(path) == []


def test_boto3_makes_a_table_writes_reads_and_deletes(store_url: str) -> None:
    client = boto(store_url, "legacy")  # the mode that checks the CRC of every answer
    client.create_table(**PETS)
    client.get_waiter("table_exists").wait(TableName="pets", WaiterConfig={"Delay": 1})
    client.put_item(TableName="pets", Item={"name": {"S": "rex"}, "age": {"N": "3"}})
    assert client.get_item(TableName="pets", Key={"name": {"S": "rex"}})["Item"]["age"] == {"N": "3"}
    with pytest.raises(client.exceptions.ConditionalCheckFailedException):
        client.put_item(
            TableName="pets", Item={"name": {"S": "rex"}}, ConditionExpression="attribute_not_exists(age)"
        )
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.get_item(TableName="cats", Key={"name": {"S": "rex"}})
    client.delete_table(TableName="pets")
    assert "pets" not in client.list_tables()["TableNames"]


def test_many_clients_write_and_each_reads_its_own_writes(store_url: str) -> None:
    client = boto(store_url)
    client.create_table(**PETS)
    client.get_waiter("table_exists").wait(TableName="pets", WaiterConfig={"Delay": 1})

    def live(number: int) -> int:
        name = {"S": f"pet-{number}"}
        for age in range(1, 11):
            client.update_item(
                TableName="pets",
                Key={"name": name},
                UpdateExpression="ADD age :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
            )
            read = client.get_item(TableName="pets", Key={"name": name}, ConsistentRead=True)
            assert read["Item"]["age"] == {"N": str(age)}
        return age

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(live, range(16))) == [10] * 16
    assert client.scan(TableName="pets", Select="COUNT")["Count"] == 16


def test_the_wire_and_threads_of_the_process_share_one_engine(tmp_path: Path) -> None:
    with Engine.open(tmp_path, durability="relaxed") as engine, serving(engine) as url:
        engine.call("CreateTable", PETS)
        engine.settle()
        stop = threading.Event()

        def write_beside() -> None:
            number = 0
            while not stop.is_set():
                engine.call("PutItem", {"TableName": "pets", "Item": {"name": {"S": f"inside-{number}"}}})
                number += 1

        beside = threading.Thread(target=write_beside)
        beside.start()
        try:
            client = boto(url)
            for number in range(100):
                client.put_item(TableName="pets", Item={"name": {"S": f"outside-{number}"}})
        finally:
            stop.set()
            beside.join()
        names = [item["name"]["S"] for item in client.scan(TableName="pets")["Items"]]
    assert sum(name.startswith("outside-") for name in names) == 100


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1"])
def test_a_server_that_verifies_nothing_stays_on_this_machine(engine: FakeEngine, host: str) -> None:
    with pytest.raises(OpenToTheNetwork, match="--credentials FILE"), serving(as_engine(engine), host=host):
        pass


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
def test_loopback_goes_by_many_names(host: str) -> None:
    assert wire_server.is_loopback(host)


def test_a_server_that_verifies_may_listen_anywhere(engine: FakeEngine) -> None:
    keys = {"AKID": AccessKey("AKID", "secret")}
    with serving(as_engine(engine), host="0.0.0.0", credentials=keys) as url:
        port = urlsplit(url).port
        assert once(f"http://127.0.0.1:{port}", GET_HEALTH).status == 200


def test_a_taken_port_is_named(engine: FakeEngine) -> None:
    with serving(as_engine(engine)) as url:
        port = urlsplit(url).port
        assert port is not None
        with (
            pytest.raises(CannotListen, match=f"cannot listen on 127.0.0.1 port {port}: .*in use"),
            serving(as_engine(engine), port=port),
        ):
            pass


def test_a_stopped_servers_port_is_free_at_once(engine: FakeEngine) -> None:
    with serving(as_engine(engine)) as url:
        port = urlsplit(url).port
        assert port is not None
        once(url, GET_HEALTH)
    with serving(as_engine(engine), port=port) as url:
        assert once(url, GET_HEALTH).status == 200


def test_stopping_answers_what_was_accepted_and_closes_what_is_idle(engine: FakeEngine) -> None:
    engine.disk.clear()
    serving_now = serving(as_engine(engine))
    url = serving_now.__enter__()
    with Line(url) as idle, Line(url) as writing, Line(url) as receiving:
        idle.ask(GET_HEALTH)
        writing.send(request("PutItem", put("a")) + request("GetItem", get("a")))
        late = request("GetItem", get("a"))
        receiving.send(late[:-5])
        wait_until_read(url)
        stopping = threading.Thread(target=serving_now.__exit__, args=(None, None, None))
        stopping.start()
        assert idle.is_closed()
        with pytest.raises(ConnectionRefusedError):
            Line(url)
        engine.disk.set()
        assert writing.answer().json == {}
        last = writing.answer()
        assert (last.json, last.headers["connection"]) == ({"Item": {"pk": {"S": "a"}}}, "close")
        assert writing.is_closed()
        assert receiving.ask(late[-5:]).headers["connection"] == "close"
        assert receiving.is_closed()
        stopping.join(30)
        assert not stopping.is_alive()


def test_stopping_does_not_wait_for_ever_for_a_client_that_dawdles(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_server, "STOP_SECONDS", 0.3)
    with serving(as_engine(engine)) as url:
        line = Line(url)
        line.send(b"POST / HTT")
        wait_until_read(url)
        started = time.monotonic()
    assert time.monotonic() - started < 8
    assert line.is_closed()
    line.socket.close()


def test_stopping_finishes_the_writes_of_clients_that_have_left(engine: FakeEngine) -> None:
    engine.disk.clear()
    with serving(as_engine(engine)) as url:
        for name in ("first", "second"):
            with Line(url) as line:
                line.send(request("PutItem", put(name)))
                wait_until_read(url)
        threading.Timer(0.2, engine.disk.set).start()
    assert set(engine.items) == {"first", "second"}


def test_a_connection_that_says_nothing_and_leaves_hurts_nobody(url: str) -> None:
    for _ in range(50):
        Line(url).socket.close()
    resets = [Line(url) for _ in range(50)]
    for line in resets:
        line.send(request("ListTables")[:100])
        line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        line.socket.close()
    assert once(url, request("ListTables")).status == 200
