"""Buckets: directories and S3 behave alike. S3 is moto's server, behind the same boto3 that talks to Amazon."""

import errno
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.engine.tables import definition, names, put
from tests.engine.transfer_requests import data_of, describe, export, import_some, recoverable

from tablewright import Engine
from tablewright.engine.transfer import buckets as sources
from tablewright.engine.transfer.bucket_routes import routed
from tablewright.engine.transfer.buckets import (
    Bucket,
    Buckets,
    BucketsUnknown,
    BucketUnusable,
    DirectoryBuckets,
    buckets_at,
)

moto_server = pytest.importorskip("moto.server", reason="S3 is tested against moto's server")

VAULT = Bucket("vault")
ACCOUNT = "000000000000"


@pytest.fixture(scope="module")
def s3_url() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patched:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patched.setenv(name, "test")
        server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
        server.stop()


@pytest.fixture
def s3(s3_url: str) -> Iterator[Any]:
    """A client of moto, with the bucket `vault` in it and nothing else."""
    client = boto3.client("s3", endpoint_url=s3_url, region_name="us-east-1")
    client.create_bucket(Bucket="vault")
    yield client
    for found in client.list_objects_v2(Bucket="vault").get("Contents", []):
        client.delete_object(Bucket="vault", Key=found["Key"])
    client.delete_bucket(Bucket="vault")
    client.close()


@pytest.fixture(params=["directory", "s3"])
def buckets(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Buckets]:
    """Either kind, with an empty bucket `vault`."""
    where: str | Path = tmp_path
    if request.param == "s3":
        request.getfixturevalue("s3")
        where = f"s3:{request.getfixturevalue('s3_url')}"
    else:
        (tmp_path / "vault").mkdir()
    made = buckets_at(where, "us-east-1", ACCOUNT)
    yield made
    made.close()


def read(buckets: Buckets, key: str) -> bytes:
    with buckets.open(VAULT, key) as stream:
        return stream.read()


def test_what_was_put_is_there(buckets: Buckets) -> None:
    assert buckets.put(VAULT, "a/b.json", b"body")
    assert read(buckets, "a/b.json") == b"body"
    assert buckets.keys(VAULT, "", "") == ["a/b.json"]


def test_the_same_key_again_takes_the_place_of_the_first(buckets: Buckets) -> None:
    first = buckets.put(VAULT, "a", b"first")
    assert buckets.put(VAULT, "a", b"first") == first
    assert buckets.put(VAULT, "a", b"second") != first
    assert read(buckets, "a") == b"second"
    assert buckets.keys(VAULT, "", "") == ["a"]


def test_keys_come_in_the_order_of_their_bytes(buckets: Buckets) -> None:
    keys = ["a", "a/b", "a0", "B", "é", "😀", "a-b"]
    wanted = [key for key in keys if key != "a"]  # beside a/b there cannot be a file a in a directory
    for key in wanted:
        buckets.put(VAULT, key, b"x")
    assert buckets.keys(VAULT, "", "") == sorted(wanted, key=str.encode)
    assert buckets.keys(VAULT, "a", "") == ["a-b", "a/b", "a0"]
    assert buckets.keys(VAULT, "a", "a-b") == ["a/b", "a0"]
    assert buckets.keys(VAULT, "x", "") == []


def test_lines_can_be_read_one_by_one(buckets: Buckets) -> None:
    lines = [f"line {n}\n".encode() * 5000 for n in range(10)]
    buckets.put(VAULT, "many", b"".join(lines))
    with buckets.open(VAULT, "many") as stream:
        assert stream.readline() == b"line 0\n"
        assert stream.read(7) == b"line 0\n"
        assert len(stream.read()) == sum(map(len, lines)) - 14


def test_what_was_removed_is_gone_and_so_are_folders_that_hold_nothing(buckets: Buckets) -> None:
    for key in ("a/b/c", "a/b/d", "e"):
        buckets.put(VAULT, key, b"x")
    for key in ("a/b/c", "a/b/d", "a/b/d", "never/there"):
        buckets.remove(VAULT, key)
    assert buckets.keys(VAULT, "", "") == ["e"]
    assert buckets.keys(VAULT, "a/b/", "") == []
    if isinstance(buckets, DirectoryBuckets):
        assert [path.name for path in (buckets.root / "vault").iterdir()] == ["e"]


def test_buckets_may_lie_in_several_places_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "there" / "far").mkdir(parents=True)
    made = routed(tmp_path / "here", {"far": tmp_path / "there"}, "us-east-1", ACCOUNT)
    assert made is not None
    for name in ("near", "far"):
        made.put(Bucket(name), "a", name.encode())
        assert made.keys(Bucket(name), "", "") == ["a"]
        with made.open(Bucket(name), "a") as stream:
            assert stream.read() == name.encode()
    assert sorted(path.name for path in tmp_path.glob("*/*") if path.name[0] != ".") == ["far", "near"]
    made.remove(Bucket("far"), "a")
    assert made.keys(Bucket("far"), "", "") == []
    made.close()
    only_there = routed(None, {"far": tmp_path / "there"}, "us-east-1", ACCOUNT)
    assert only_there is not None
    with pytest.raises(BucketUnusable) as refusal:
        only_there.put(Bucket("near"), "a", b"x")
    assert refusal.value.code == "S3NoSuchBucket"


def test_s3_that_does_not_answer_is_waited_for_in_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "CONNECT_SECONDS", 0.1)
    monkeypatch.setattr(sources, "READ_SECONDS", 0.1)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes the call, and says nothing
        there = buckets_at(f"s3:http://127.0.0.1:{silent.getsockname()[1]}", "us-east-1", ACCOUNT)
        began = time.monotonic()
        with pytest.raises(BucketUnusable, match="cannot be reached"):
            there.keys(VAULT, "", "")
        assert time.monotonic() - began < 40
        there.close()


def test_what_a_full_disk_did_not_take_is_not_left_on_it_and_nobody_else_reads_a_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BucketUnusable, match="No space left"):
        DirectoryBuckets(tmp_path, ACCOUNT).put(VAULT, "a/b", b"x")
    assert [path.name for path in tmp_path.rglob("*")] == [".drafts"]
    assert (tmp_path / ".drafts").stat().st_mode & 0o077 == 0


def test_a_bucket_that_is_not_there_is_named_as_the_service_does(buckets: Buckets) -> None:
    with pytest.raises(BucketUnusable) as refusal:
        buckets.keys(Bucket("nowhere"), "", "")
    assert refusal.value.code == "S3NoSuchBucket"


def test_an_object_that_is_not_there_is_trouble(buckets: Buckets) -> None:
    with pytest.raises(BucketUnusable):
        buckets.open(VAULT, "nothing")


def test_a_bucket_of_another_account_is_not_ours(tmp_path: Path) -> None:
    alien = Bucket("vault", owner="111111111111")
    made = DirectoryBuckets(tmp_path, ACCOUNT)
    for attempt in (
        lambda: made.put(alien, "a", b""),
        lambda: made.keys(alien, "", ""),
        lambda: made.open(alien, "a"),
    ):
        with pytest.raises(BucketUnusable) as refusal:
            attempt()
        assert refusal.value.code == "S3AccessDenied"
    made.put(Bucket("vault", owner=ACCOUNT), "a", b"")


@pytest.mark.parametrize("key", ["../x", "/x", "a/../../x", ".", "a//b", "a/", "..", "./..", "a/./b"])
def test_no_key_reaches_out_of_its_bucket(key: str, tmp_path: Path) -> None:
    made = DirectoryBuckets(tmp_path / "all", ACCOUNT)
    made.put(VAULT, key, b"x")
    assert made.keys(VAULT, "", "") == [key]
    assert read(made, key) == b"x"
    inside = tmp_path / "all" / "vault"
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 1
    assert written[0].resolve().is_relative_to(inside.resolve())


@pytest.mark.parametrize("key", ["a\0b", "x" * 300])
def test_a_key_that_is_no_file_name_is_refused_with_a_reason(key: str, tmp_path: Path) -> None:
    made = DirectoryBuckets(tmp_path, ACCOUNT)
    with pytest.raises(BucketUnusable, match="the bucket vault cannot be used"):
        made.put(VAULT, key, b"x")


def test_an_object_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = DirectoryBuckets(tmp_path, ACCOUNT)
    made.put(VAULT, "a", b"before")

    def full(_: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(BucketUnusable, match="no space left"):
        made.put(VAULT, "a", b"after")
    with pytest.raises(BucketUnusable):
        made.put(VAULT, "b", b"new")
    assert made.keys(VAULT, "", "") == ["a"]
    assert read(made, "a") == b"before"


def test_a_place_that_makes_no_sense_is_refused_before_a_store_is_made(tmp_path: Path) -> None:
    with pytest.raises(BucketsUnknown, match="nonsense"):
        Engine.open(tmp_path / "store", buckets="s3:nonsense")
    assert not (tmp_path / "store").exists()


def test_without_boto3_s3_is_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    with pytest.raises(BucketsUnknown, match=r"tablewright\[s3\]"):
        buckets_at("s3:", "us-east-1", ACCOUNT)


# --- an engine with S3 ---


def test_a_table_goes_to_s3_and_comes_back(s3: Any, s3_url: str) -> None:
    with Engine.open(buckets=f"s3:{s3_url}") as engine:
        engine.call("CreateTable", definition())
        recoverable(engine)
        for number in range(50):
            engine.call("PutItem", put(f"pet {number}", number=number))
        arn = export(engine, S3Prefix="pets")
        engine.settle()
        description = describe(engine, arn)
        assert description["ExportStatus"] == "COMPLETED"
        summary = json.loads(s3.get_object(Bucket="vault", Key=description["ExportManifest"])["Body"].read())
        files = s3.get_object(Bucket="vault", Key=summary["manifestFilesS3Key"])["Body"].read()
        (file,) = [json.loads(line) for line in files.splitlines()]
        head = s3.head_object(Bucket="vault", Key=file["dataFileS3Key"])
        assert head["ETag"].strip('"') == file["etag"]
        copied = import_some(engine, data_of(description), InputCompressionType="GZIP")
        engine.settle()
        assert describe(engine, copied)["ImportStatus"] == "COMPLETED"
        assert names(engine, table="copies") == names(engine)
        assert engine.verify() == []


def test_a_bucket_that_is_not_in_s3_fails_the_export(s3: Any, s3_url: str) -> None:
    with Engine.open(buckets=f"s3:{s3_url}") as engine:
        engine.call("CreateTable", definition())
        recoverable(engine)
        arn = export(engine, "nowhere")
        engine.settle()
        assert describe(engine, arn)["FailureCode"] == "S3NoSuchBucket"
        assert "Error Code: NoSuchBucket" in describe(engine, arn)["FailureMessage"]


def test_encryption_with_a_key_is_asked_of_s3(s3: Any, s3_url: str) -> None:
    with Engine.open(buckets=f"s3:{s3_url}") as engine:
        engine.call("CreateTable", definition())
        recoverable(engine)
        arn = export(engine, S3SseAlgorithm="KMS", S3SseKmsKeyId="alias/aws/s3")
        engine.settle()
        description = describe(engine, arn)
        assert description["ExportStatus"] == "COMPLETED", description
        head = s3.head_object(Bucket="vault", Key=description["ExportManifest"])
        assert head["ServerSideEncryption"] == "aws:kms"


def test_a_server_that_does_not_answer_fails_the_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with Engine.open(buckets="s3:http://127.0.0.1:1") as engine:
        arn = import_some(engine)
        engine.settle()
        assert describe(engine, arn)["FailureCode"] == "S3Unavailable"
        assert engine.call("ListTables", {}) == {"TableNames": []}
