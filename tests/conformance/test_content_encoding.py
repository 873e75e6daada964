"""Content-Encoding: requests may be compressed, and long answers are for clients that accept it."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable

import pytest
from tests.conformance.talk import CONTENT_TYPE, Answered, Json, Line, NewKey, Reply

PACKED: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress}
UNPACKED: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.decompress, "deflate": zlib.decompress}
MEGABYTE = 1024 * 1024


def posted(line: Line, verb: str, body: bytes, **more: str) -> Reply:
    headers = {"Content-Type": CONTENT_TYPE, "X-Amz-Target": f"DynamoDB_20120810.{verb}"}
    headers |= {name.replace("_", "-"): text for name, text in more.items()}
    return line.post(body, line.signed(body, headers))


def put_of(table: str, key: str, **more: Json) -> bytes:
    return json.dumps({"TableName": table, "Item": {"pk": {"S": key}, **more}}).encode()


def is_there(answered: Answered, table: str, key: str) -> bool:
    return "Item" in answered("GetItem", {"TableName": table, "Key": {"pk": {"S": key}}})


# Requests


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "GZIP"])
def test_a_compressed_request_is_read(
    line: Line, answered: Answered, hash_table: str, key: NewKey, encoding: str
) -> None:
    where = key()
    body = PACKED[encoding.lower()](put_of(hash_table, where))
    assert posted(line, "PutItem", body, Content_Encoding=encoding).status == 200
    assert is_there(answered, hash_table, where)


def test_identity_is_no_encoding(line: Line, answered: Answered, hash_table: str, key: NewKey) -> None:
    where = key()
    assert posted(line, "PutItem", put_of(hash_table, where), Content_Encoding="identity").status == 200
    assert is_there(answered, hash_table, where)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "whatever"])
def test_an_unknown_encoding_is_a_failure_and_writes_nothing(
    line: Line, answered: Answered, hash_table: str, key: NewKey, encoding: str
) -> None:
    where = key()
    assert posted(line, "PutItem", put_of(hash_table, where), Content_Encoding=encoding).status == 500
    assert not is_there(answered, hash_table, where)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("fault", ["plain", "cut", "longer", "flipped"])
def test_data_that_is_not_in_its_encoding_is_a_failure_and_writes_nothing(
    line: Line, answered: Answered, hash_table: str, key: NewKey, encoding: str, fault: str
) -> None:
    where = key()
    plain = put_of(hash_table, where)
    packed = PACKED[encoding](plain)
    broken = {
        "plain": plain,
        "cut": packed[:-1],
        "longer": packed + b"more",
        "flipped": packed[:-2] + bytes([packed[-2] ^ 1]) + packed[-1:],
    }
    assert posted(line, "PutItem", broken[fault], Content_Encoding=encoding).status == 500
    assert not is_there(answered, hash_table, where)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("megabytes", [17, 200])
def test_more_than_16_megabytes_inside_are_too_much(
    line: Line, answered: Answered, hash_table: str, key: NewKey, encoding: str, megabytes: int
) -> None:
    where = key()
    body = PACKED[encoding](put_of(hash_table, where).ljust(megabytes * MEGABYTE))
    assert posted(line, "PutItem", body, Content_Encoding=encoding).status == 413
    assert not is_there(answered, hash_table, where)


def test_the_signature_is_of_the_bytes_as_sent(line: Line, hash_table: str, key: NewKey) -> None:
    body = gzip.compress(put_of(hash_table, key()))
    headers = {"Content-Type": CONTENT_TYPE, "X-Amz-Target": "DynamoDB_20120810.PutItem"}
    assert line.post(body, {**headers, "Content-Encoding": "gzip"}).code == (
        "MissingAuthenticationTokenException"
    )


def test_broken_json_inside_is_a_serialization_exception(line: Line) -> None:
    reply = posted(line, "PutItem", gzip.compress(b"{"), Content_Encoding="gzip")
    assert reply.code == "SerializationException"


# Answers


@pytest.fixture
def get_of(answered: Answered, hash_table: str, key: NewKey) -> Callable[[int], bytes]:
    """get_of(size) -> a GetItem whose answer has this many bytes."""

    def make(size: int) -> bytes:
        where = {"pk": {"S": key()}}
        frame = len(json.dumps({"Item": {**where, "x": {"S": ""}}}, separators=(",", ":")))
        answered("PutItem", {"TableName": hash_table, "Item": {**where, "x": {"S": "x" * (size - frame)}}})
        return json.dumps({"TableName": hash_table, "Key": where}).encode()

    return make


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip", "gzip"),
        ("deflate", "deflate"),
        ("gzip, deflate, br", "gzip"),
        ("deflate, gzip;q=1.0", "deflate"),
        ("br, deflate;q=0.1, gzip", "deflate"),
        ("gzip;q=0, deflate", "deflate"),
    ],
)
def test_a_long_answer_is_in_the_first_encoding_that_is_named(
    line: Line, get_of: Callable[[int], bytes], accepted: str, encoding: str
) -> None:
    reply = posted(line, "GetItem", get_of(20_000), Accept_Encoding=accepted)
    assert reply.headers["content-encoding"] == encoding
    assert int(reply.headers["x-amz-crc32"]) == zlib.crc32(reply.raw)
    assert len(UNPACKED[encoding](reply.raw)) == 20_000


@pytest.mark.parametrize("accepted", ["identity", "br", "gzip;q=0"])
def test_a_long_answer_is_plain_if_no_encoding_is_accepted(
    line: Line, get_of: Callable[[int], bytes], accepted: str
) -> None:
    reply = posted(line, "GetItem", get_of(20_000), Accept_Encoding=accepted)
    assert "content-encoding" not in reply.headers
    assert len(reply.raw) == 20_000


def test_answers_are_compressed_from_4096_bytes(line: Line, get_of: Callable[[int], bytes]) -> None:
    shorter = posted(line, "GetItem", get_of(4095), Accept_Encoding="gzip")
    longer = posted(line, "GetItem", get_of(4096), Accept_Encoding="gzip")
    assert "content-encoding" not in shorter.headers
    assert len(shorter.raw) == 4095
    assert longer.headers["content-encoding"] == "gzip"
    assert len(gzip.decompress(longer.raw)) == 4096
