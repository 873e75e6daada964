"""How the conformance tests talk to an endpoint: raw signed requests, and the names of the fixtures' types.

Must hold: nothing here knows which engine answers, and nothing looks inside our own.
Signatures are well formed and made with dummy credentials, as for any local endpoint.
Elsewhere: the fixtures (conftest.py).
"""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

Json = dict[str, Any]
REGION = "us-east-1"
ACCESS_KEY, SECRET_KEY = "CONFORMANCE", "conformance"
CONTENT_TYPE = "application/x-amz-json-1.0"


class Sentence(str):
    """An error's sentence; the same sentence with and without '1 validation error detected: ' before it.

    In mid-2026 the service began to put those words before whole families of sentences that had stood alone.
    Constraint violations (Value ... at ... failed to satisfy constraint) always had them, and keep them here.
    """

    def __new__(cls, text: str) -> Sentence:
        return super().__new__(cls, without_count(text))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str.__eq__(self, without_count(other))

    __hash__ = str.__hash__


def without_count(text: str) -> str:
    return re.sub(r"^1 validation error detected: (?!Value (null |at |'))", "", text)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, as sent: header names in lower case, the body still bytes."""

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Json:
        """The JSON object of the body; a body that is none (a health line, an HTML page) is an empty one."""
        try:
            parsed = json.loads(self.raw)
        except ValueError:
            return {}
        return parsed if isinstance(parsed, dict) else {}

    @property
    def code(self) -> str:
        """The error's name without its namespace, '' for an answer."""
        return str(self.body.get("__type", "")).rpartition("#")[2] if self.status != 200 else ""

    @property
    def message(self) -> Sentence:
        """The error's sentence; the service spells the member both ways."""
        return Sentence(str(self.body.get("message", self.body.get("Message", ""))))


Send = Callable[[str, Json], Reply]
Refused = Callable[[str, Json], tuple[str, str]]
Answered = Callable[[str, Json], Json]
NewTable = Callable[..., str]
NewKey = Callable[[], str]


class Line:
    """A kept-alive connection per thread to one endpoint."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.url = url
        self.host = parts.netloc
        self._secure = parts.scheme == "https"
        self._mine = threading.local()
        self._all: list[http.client.HTTPConnection] = []

    def signed(self, body: bytes, headers: Mapping[str, str]) -> dict[str, str]:
        request = AWSRequest(method="POST", url=self.url, data=body, headers=dict(headers))
        SigV4Auth(Credentials(ACCESS_KEY, SECRET_KEY), "dynamodb", REGION).add_auth(request)
        return dict(request.headers.items())

    def post(self, body: bytes, headers: Mapping[str, str], method: str = "POST", path: str = "/") -> Reply:
        """Send these bytes and headers as they are; a connection the server had closed is opened again."""
        for last_try in (False, True):
            connection = self._connection()
            try:
                connection.request(method, path, body=body, headers=dict(headers))
                answer = connection.getresponse()
                raw = answer.read()
                break
            except (http.client.HTTPException, ConnectionError):
                connection.close()
                if last_try:
                    raise
        return Reply(answer.status, {name.lower(): text for name, text in answer.getheaders()}, raw)

    def call(self, verb: str, request: Json) -> Reply:
        body = json.dumps(request).encode()
        headers = {"Content-Type": CONTENT_TYPE, "X-Amz-Target": f"DynamoDB_20120810.{verb}"}
        return self.post(body, self.signed(body, headers))

    def close(self) -> None:
        for connection in self._all:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection | None = getattr(self._mine, "connection", None)
        if connection is None:
            kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            connection = self._mine.connection = kind(self.host, timeout=60)
            self._all.append(connection)
        return connection


# A value of each type, for tests about types.
ONE_OF_EACH: dict[str, Json] = {
    "S": {"S": "x"},
    "N": {"N": "1"},
    "B": {"B": "YQ=="},
    "BOOL": {"BOOL": True},
    "NULL": {"NULL": True},
    "SS": {"SS": ["x"]},
    "NS": {"NS": ["1"]},
    "BS": {"BS": ["YQ=="]},
    "L": {"L": []},
    "M": {"M": {}},
}


def attribute(name: str, kind: str) -> Json:
    return {"AttributeName": name, "AttributeType": kind}


def key_schema(*names: str) -> list[Json]:
    """The first name is the HASH key, a second one the RANGE key."""
    kinds = ("HASH", "RANGE")
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, kinds, strict=False)]


def index(name: str, keys: tuple[str, ...], projection: str, include: tuple[str, ...] = ()) -> Json:
    shown: Json = {"ProjectionType": projection}
    if include:
        shown["NonKeyAttributes"] = list(include)
    return {"IndexName": name, "KeySchema": key_schema(*keys), "Projection": shown}


HASH_TABLE: Json = {"AttributeDefinitions": [attribute("pk", "S")], "KeySchema": key_schema("pk")}
COMP_TABLE: Json = {
    "AttributeDefinitions": [
        attribute("pk", "S"),
        attribute("sk", "S"),
        attribute("gpk", "S"),
        attribute("gsk", "N"),
        attribute("lsk", "N"),
    ],
    "KeySchema": key_schema("pk", "sk"),
    "GlobalSecondaryIndexes": [
        index("gsi1", ("gpk", "gsk"), "ALL"),
        index("gsik", ("gpk",), "KEYS_ONLY"),
        index("gsii", ("gpk", "sk"), "INCLUDE", ("a",)),
    ],
    "LocalSecondaryIndexes": [
        index("lsi1", ("pk", "lsk"), "KEYS_ONLY"),
        index("lsia", ("pk", "lsk"), "ALL"),
    ],
}
NUM_TABLE: Json = {
    "AttributeDefinitions": [attribute("pk", "N"), attribute("sk", "N")],
    "KeySchema": key_schema("pk", "sk"),
}
BIN_TABLE: Json = {
    "AttributeDefinitions": [attribute("pk", "B"), attribute("sk", "B")],
    "KeySchema": key_schema("pk", "sk"),
}


def is_active(description: Json) -> bool:
    indexes = description.get("GlobalSecondaryIndexes", [])
    return description["TableStatus"] == "ACTIVE" and all(one["IndexStatus"] == "ACTIVE" for one in indexes)


def create(line: Line, definition: Json) -> None:
    """Create a table, by default on demand and with the one key `pk`, and wait until it can be used."""
    asked = {**HASH_TABLE, **definition}
    if "ProvisionedThroughput" not in asked:
        asked.setdefault("BillingMode", "PAY_PER_REQUEST")
    reply = line.call("CreateTable", asked)
    assert reply.status == 200, reply.raw.decode()
    wait_until_active(line, asked["TableName"])


def wait_until_active(line: Line, table: str) -> None:
    for _ in range(600):
        reply = line.call("DescribeTable", {"TableName": table})
        if reply.status == 200 and is_active(reply.body["Table"]):
            return
        time.sleep(0.02)
    raise AssertionError(f"{table} did not become ACTIVE")


def drop(line: Line, table: str) -> None:
    """Delete a table if it is still there, protected or busy as it may be."""
    for _ in range(100):
        reply = line.call("DeleteTable", {"TableName": table})
        if reply.status == 200 or reply.code == "ResourceNotFoundException":
            return
        if reply.code == "ValidationException":
            line.call("UpdateTable", {"TableName": table, "DeletionProtectionEnabled": False})
        time.sleep(0.05)
    raise AssertionError(f"{table} could not be deleted: {reply.raw.decode()}")
