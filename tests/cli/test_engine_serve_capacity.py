"""`tablewright engine serve --throttle` and `--metrics-token`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from tests.cli.command import served, tablewright, url_in
from tests.wire.talk import once

TOKEN = "a-token-for-prometheus"
PETS: dict[str, Any] = {
    "TableName": "pets",
    "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
    "AttributeDefinitions": [{"AttributeName": "name", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
}
KEYS = "[anna]\naws_access_key_id = AKIDANNA\naws_secret_access_key = anna-secret\n"


def test_what_is_too_fast_is_refused_when_asked_for() -> None:
    with served("--memory", "--throttle") as (line, _):
        client = boto3.client(
            "dynamodb",
            endpoint_url=url_in(line),
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="any",
            config=Config(retries={"max_attempts": 0}),
        )
        client.create_table(**PETS)
        big = {"name": {"S": "rex"}, "text": {"S": "x" * 90_000}}
        client.put_item(TableName="pets", Item=big)  # a minute and a half of its units
        with pytest.raises(client.exceptions.ProvisionedThroughputExceededException):
            client.put_item(TableName="pets", Item=big)
        client.close()


def test_a_token_opens_the_figures_of_a_server_with_keys(tmp_path: Path) -> None:
    (tmp_path / "keys.ini").write_text(KEYS)
    (tmp_path / "token").write_text(TOKEN)
    with served(
        "--memory", "--credentials", tmp_path / "keys.ini", "--metrics-token", tmp_path / "token"
    ) as (line, _):
        url = url_in(line)
        ask = "GET /metrics HTTP/1.1\r\nHost: x\r\n{}\r\n"
        assert once(url, ask.format("").encode()).status == 400
        assert once(url, ask.format(f"Authorization: Bearer {TOKEN}\r\n").encode()).status == 200


def test_a_token_that_is_none_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("short")
    ran = tablewright("engine", "serve", "--data", tmp_path / "store", "--metrics-token", tmp_path / "token")
    assert ran.code == 2
    assert "is not a token" in ran.err
    assert not (tmp_path / "store").exists()
