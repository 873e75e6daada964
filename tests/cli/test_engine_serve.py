"""`tablewright engine serve`: what it prints, what it keeps, what it refuses, how it stops."""

from __future__ import annotations

import re
import signal
import socket
import time
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from tests.cli.command import here, served, tablewright, url_in
from tests.wire.talk import Line, once, request

from tablewright.engine import Engine

GET_HEALTH = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
PETS: dict[str, Any] = {
    "TableName": "pets",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "name", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
}


def boto(url: str, key: str = "any", secret: str = "thing", region: str = "us-east-1") -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
    )


def test_one_line_says_where_what_how_safely_and_how_to_reach_it(tmp_path: Path) -> None:
    with served("--durability", "relaxed", cwd=tmp_path) as (line, _):
        url = url_in(line)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
        keys = 'aws_access_key_id="any", aws_secret_access_key="any"'
        client = f'boto3.client("dynamodb", endpoint_url="{url}", region_name="us-east-1", {keys})'
        assert line == f"tablewright: serving ./data (relaxed) on {url} - {client}\n"
        assert once(url, GET_HEALTH).status == 200
    assert (tmp_path / "data").is_dir()


def test_what_is_written_is_there_after_a_restart_and_the_store_verifies(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with served("--data", store) as (line, process):
        client = boto(url_in(line))
        client.create_table(**PETS)
        client.get_waiter("table_exists").wait(TableName="pets", WaiterConfig={"Delay": 1})
        client.put_item(TableName="pets", Item={"name": {"S": "rex"}})
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert tablewright("db", "verify", store).out == "OK\n"
    with served("--data", store) as (line, process):
        assert boto(url_in(line)).scan(TableName="pets")["Items"] == [{"name": {"S": "rex"}}]
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def test_memory_leaves_nothing_on_disk(tmp_path: Path) -> None:
    with served("--memory", cwd=tmp_path) as (line, process):
        assert line.startswith("tablewright: serving memory on http://127.0.0.1:")
        boto(url_in(line)).create_table(**PETS)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert list(tmp_path.iterdir()) == []


def test_stopping_under_load_loses_no_answered_write(tmp_path: Path) -> None:
    with served("--data", tmp_path) as (line, process):
        url = url_in(line)
        boto(url).create_table(**PETS)
        boto(url).get_waiter("table_exists").wait(TableName="pets", WaiterConfig={"Delay": 1})
        answered = 1
        with Line(url) as pipe:
            puts = [
                request("PutItem", {"TableName": "pets", "Item": {"name": {"S": f"pet-{n}"}}})
                for n in range(200)
            ]
            pipe.send(b"".join(puts))
            assert pipe.answer().status == 200
            process.send_signal(signal.SIGTERM)
            try:
                while pipe.answer().status == 200:
                    answered += 1
            except (EOFError, ConnectionResetError):
                pass
        assert process.wait(20) == 0
    with served("--data", tmp_path) as (line, _):
        assert boto(url_in(line)).scan(TableName="pets", Select="COUNT")["Count"] >= answered


def test_an_open_address_without_credentials_is_refused_and_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = here("engine", "serve", "--host", "0.0.0.0", "--port", "0")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tablewright: refusing to listen on 0.0.0.0 without credentials")
    assert "--credentials FILE" in ran.err
    assert "--host 127.0.0.1" in ran.err
    assert list(tmp_path.iterdir()) == [], "no store is made for a server that does not start"


def test_with_credentials_only_their_keys_get_in(tmp_path: Path) -> None:
    keys = tmp_path / "keys.ini"
    keys.write_text("[anna]\naws_access_key_id = AKIDANNA\naws_secret_access_key = s3cret\n")
    with served("--memory", "--host", "0.0.0.0", "--credentials", keys, "--region", "eu-west-1") as (line, _):
        url = url_in(line).replace("0.0.0.0", "127.0.0.1")
        assert boto(url, "AKIDANNA", "s3cret", "eu-west-1").list_tables()["TableNames"] == []
        with pytest.raises(ClientError, match="security token included in the request is invalid"):
            boto(url, "AKIDEVE", "s3cret", "eu-west-1").list_tables()


def test_a_credentials_file_that_cannot_be_used_is_a_misuse(tmp_path: Path) -> None:
    ran = here("engine", "serve", "--memory", "--credentials", tmp_path / "none.ini")
    assert ran.code == 2
    assert "none.ini: cannot be read" in ran.err


def test_a_taken_port_is_a_misuse(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = here("engine", "serve", "--memory", "--port", str(port))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"tablewright: cannot listen on 127.0.0.1 port {port}: ")


def test_a_store_that_is_open_elsewhere_is_a_misuse(tmp_path: Path) -> None:
    with served("--data", tmp_path):
        ran = here("engine", "serve", "--port", "0", "--data", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "is open" in ran.err


def test_a_directory_of_something_else_is_a_misuse(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").write_text("this is not a database, and long enough to be looked at" * 50)
    ran = tablewright("engine", "serve", "--port", "0", "--data", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tablewright: ")
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none_is_a_misuse(port: str) -> None:
    ran = here("engine", "serve", "--memory", f"--port={port}")
    assert ran.code == 2
    assert "must be a port number from 0 to 65535" in ran.err


def test_memory_and_a_directory_exclude_each_other(tmp_path: Path) -> None:
    ran = here("engine", "serve", "--memory", "--data", tmp_path)
    assert ran.code == 2
    assert "not allowed with" in ran.err


def test_expired_items_are_swept_as_often_and_as_late_as_asked(tmp_path: Path) -> None:
    options = ("--memory", "--ttl-seconds", "0.05", "--ttl-lag", "3600")
    with served(*options, cwd=tmp_path) as (line, _):
        client = boto(url_in(line))
        client.create_table(**PETS)
        client.update_time_to_live(
            TableName="pets", TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"}
        )
        for name, ago in (("late", 60), ("gone", 4000)):
            until = {"N": str(int(time.time()) - ago)}
            client.put_item(TableName="pets", Item={"name": {"S": name}, "until": until})
        give_up = time.monotonic() + 30
        while client.scan(TableName="pets")["Count"] > 1 and time.monotonic() < give_up:
            time.sleep(0.02)
        assert [item["name"]["S"] for item in client.scan(TableName="pets")["Items"]] == ["late"]
        client.close()


@pytest.mark.parametrize(
    ("option", "text", "words"),
    [
        ("--ttl-seconds", "0", "must be a positive number of seconds, got '0'"),
        ("--ttl-seconds", "often", "must be a positive number of seconds, got 'often'"),
        ("--ttl-seconds", "nan", "must be a positive number of seconds, got 'nan'"),
        ("--ttl-lag", "-1", "must be a number of seconds, 0 or more, got '-1'"),
        ("--ttl-lag", "inf", "must be a number of seconds, 0 or more, got 'inf'"),
    ],
)
def test_a_period_or_a_lag_that_makes_no_sense_is_refused(option: str, text: str, words: str) -> None:
    refused = here("engine", "serve", f"{option}={text}")
    assert refused.code == 2
    assert words in refused.err


@pytest.mark.parametrize("further", [(), ("--also-region", "sa-east-1")], ids=["one region", "two regions"])
def test_a_store_of_another_region_is_not_served(tmp_path: Path, further: tuple[str, ...]) -> None:
    with Engine.open(tmp_path, region="eu-west-1", durability="relaxed") as engine:
        engine.call("CreateTable", PETS)
    ran = here("engine", "serve", "--port", "0", "--data", tmp_path, *further)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"tablewright: the store in {tmp_path} is eu-west-1's, not us-east-1's: `engine serve --region eu-west-1` "
        "serves it; or name another directory\n"
    )
    with served("--data", tmp_path, "--region", "eu-west-1", *further) as (line, _):
        assert boto(url_in(line), region="eu-west-1").list_tables()["TableNames"] == ["pets"]
    assert here("db", "verify", tmp_path).out == "OK\n"


def test_an_empty_store_takes_any_region(tmp_path: Path) -> None:
    with Engine.open(tmp_path, region="eu-west-1", durability="relaxed"):
        pass
    with served("--data", tmp_path, "--region", "sa-east-1") as (line, _):
        made = boto(url_in(line), region="sa-east-1").create_table(**PETS)["TableDescription"]
    assert made["TableArn"].startswith("arn:aws:dynamodb:sa-east-1:")


def test_everything_is_not_served_from_a_store_of_another_region(tmp_path: Path) -> None:
    with Engine.open(tmp_path, region="eu-west-1", durability="relaxed") as engine:
        engine.call("CreateTable", PETS)
    ran = here("serve", "--port", "0", "--no-dynamodb", "--data", tmp_path)
    assert ran.code == 2
    assert f"the store in {tmp_path} is eu-west-1's, not us-east-1's" in ran.err
