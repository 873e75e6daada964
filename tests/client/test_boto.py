"""What boto3 raises, as this room's errors."""

from __future__ import annotations

import socket
from typing import Any

import boto3
import pytest
from botocore.config import Config
from tests.client.stub import Line, answering, letter, stub
from tests.client.ways import keyed, put

from tablewright.client import CallRefused, NoAnswer, NotResolved, RequestUnsendable, through_boto3


def client(url: str) -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
        config=Config(retries={"total_max_attempts": 1}),
    )


def test_nobody_listening_is_no_answer_and_nothing_was_done() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    boto = client(f"http://127.0.0.1:{port}")
    with pytest.raises(NoAnswer) as caught:
        through_boto3(boto)("PutItem", put("rex"))
    assert not caught.value.may_have_been_carried_out
    boto.close()


def test_a_line_that_breaks_is_no_answer_and_nobody_knows() -> None:
    def hang_up(line: Line) -> None:
        line.request()

    with stub(hang_up) as server:
        boto = client(server.url)
        with pytest.raises(NoAnswer) as caught:
            through_boto3(boto)("PutItem", put("rex"))
        boto.close()
    assert caught.value.may_have_been_carried_out


def test_throttling_is_retryable() -> None:
    with answering(letter("ThrottlingException")) as server:
        boto = client(server.url)
        with pytest.raises(CallRefused) as caught:
            through_boto3(boto)("PutItem", put("rex"))
        boto.close()
    assert caught.value.is_retryable


def test_a_form_boto3_refuses_is_a_validation_error() -> None:
    boto = client("http://127.0.0.1:1")
    with pytest.raises(CallRefused, match="ValidationException: Parameter validation failed"):
        through_boto3(boto)("GetItem", {"TableName": "pets"})
    boto.close()


def test_a_binary_that_is_not_base64_is_not_sent() -> None:
    with pytest.raises(RequestUnsendable, match="not base64"):
        through_boto3(client("http://127.0.0.1:1"))("PutItem", put("rex", photo={"B": "not base64!"}))


def test_what_boto3_itself_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    session = boto3.session.Session(region_name="us-east-1")
    boto = session.client("dynamodb", endpoint_url="http://127.0.0.1:1")
    with pytest.raises(NotResolved, match="credentials"):
        through_boto3(boto)("ListTables", {})
    boto.close()


class Duck:
    """Whatever has the methods will do."""

    def get_item(self, **request: Any) -> dict[str, Any]:
        raise KeyError(request["TableName"])


def test_errors_that_are_not_botocores_are_left_alone() -> None:
    with pytest.raises(KeyError):
        through_boto3(Duck())("GetItem", keyed("rex"))
