"""Fixtures of the conformance suite: one endpoint, two ways to talk to it, tables made once.

`--endpoint URL` names any DynamoDB endpoint; without it our own engine runs in memory behind its server.
Must hold: tests share tables, so each takes its partition keys from `key()`; the suite never looks inside
the engine; what it created it deletes.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from tests.conformance.talk import (
    ACCESS_KEY,
    BIN_TABLE,
    COMP_TABLE,
    NUM_TABLE,
    REGION,
    SECRET_KEY,
    Answered,
    Json,
    Line,
    NewKey,
    NewTable,
    Refused,
    Reply,
    Send,
    create,
    drop,
)


@pytest.fixture(scope="session")
def home_of_buckets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("buckets")


@pytest.fixture(scope="session")
def endpoint(pytestconfig: pytest.Config, home_of_buckets: Path) -> Iterator[str]:
    given: str | None = pytestconfig.getoption("--endpoint")
    if given is not None:
        yield given
        return
    # Imported here: against a foreign endpoint the suite needs nothing of ours.
    from tablewright import testing
    from tablewright.wire import serving

    with testing.engine(buckets=home_of_buckets) as engine, serving(engine, port=0) as url:
        yield url


@pytest.fixture(scope="session")
def client(endpoint: str) -> Any:
    """A boto3 client that neither retries nor corrects us."""
    config = Config(
        retries={"max_attempts": 0}, parameter_validation=False, connect_timeout=30, read_timeout=60
    )
    return boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        config=config,
    )


@pytest.fixture(scope="session")
def streams(endpoint: str) -> Iterator[Any]:
    """A boto3 client of DynamoDB Streams, on the same endpoint."""
    connected = boto3.client(
        "dynamodbstreams",
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        config=Config(retries={"max_attempts": 0}, parameter_validation=False),
    )
    yield connected
    connected.close()


@pytest.fixture(scope="session")
def line(endpoint: str) -> Iterator[Line]:
    """The connection under `send`, for tests that shape the HTTP request themselves."""
    connected = Line(endpoint)
    yield connected
    connected.close()


@pytest.fixture(scope="session")
def send(line: Line) -> Send:
    """send(verb, request) -> Reply: any JSON, signed, answer or error."""
    return line.call


@pytest.fixture(scope="session")
def refused(send: Send) -> Refused:
    """refused(verb, request) -> (code, message): the request must fail with status 400."""

    def ask(verb: str, request: Json) -> tuple[str, str]:
        reply = send(verb, request)
        assert reply.status == 400, f"{verb} answered {reply.status}: {reply.raw[:2000].decode()}"
        return reply.code, reply.message

    return ask


@pytest.fixture(scope="session")
def answered(send: Send) -> Answered:
    """answered(verb, request) -> body: the request must succeed."""

    def ask(verb: str, request: Json) -> Json:
        reply: Reply = send(verb, request)
        assert reply.status == 200, f"{verb} answered {reply.status}: {reply.raw[:2000].decode()}"
        return reply.body

    return ask


def table_maker(line: Line) -> Iterator[NewTable]:
    made: list[str] = []

    def make(**definition: Any) -> str:
        name: str = definition.setdefault("TableName", f"conf-{uuid.uuid4().hex}")
        made.append(name)
        create(line, definition)
        return name

    yield make
    for name in reversed(made):
        drop(line, name)


@pytest.fixture
def new_table(line: Line) -> Iterator[NewTable]:
    """new_table(**definition) -> name: on demand with the one key pk unless told; deleted after the test."""
    yield from table_maker(line)


@pytest.fixture(scope="session")
def session_table(line: Line) -> Iterator[NewTable]:
    """As new_table, for fixtures that outlive a test; deleted at the end of the session."""
    yield from table_maker(line)


@pytest.fixture(scope="session")
def hash_table(session_table: NewTable) -> str:
    """pk S."""
    return session_table()


@pytest.fixture(scope="session")
def comp_table(session_table: NewTable) -> str:
    """pk S, sk S; gsi1(gpk S, gsk N) gsik(gpk, KEYS_ONLY) gsii(gpk, sk, INCLUDE a); lsi1, lsia(lsk N)."""
    return session_table(**COMP_TABLE)


@pytest.fixture(scope="session")
def num_table(session_table: NewTable) -> str:
    """pk N, sk N."""
    return session_table(**NUM_TABLE)


@pytest.fixture(scope="session")
def bin_table(session_table: NewTable) -> str:
    """pk B, sk B."""
    return session_table(**BIN_TABLE)


@pytest.fixture
def buckets(pytestconfig: pytest.Config, home_of_buckets: Path) -> Path:
    """The directory our engine keeps its buckets in; each test takes a bucket of its own."""
    if pytestconfig.getoption("--endpoint") is not None:
        pytest.skip("the buckets of another endpoint cannot be looked into")
    return home_of_buckets


@pytest.fixture
def key() -> NewKey:
    """key() -> a string nobody else uses as a partition key."""
    return lambda: f"k-{uuid.uuid4().hex}"
