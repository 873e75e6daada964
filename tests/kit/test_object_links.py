"""Links to objects: signed paths for a directory, presigned requests for S3 (CC-X2, CC-X3)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.s3_server import KEYS, new_bucket, s3_server, use_server

from tablewright.edge.downloads import disposition
from tablewright.engine.transfer.buckets import S3Connection
from tablewright.kit.objects.directory import Directory
from tablewright.kit.objects.s3 import S3Objects
from tablewright.kit.objects.signed_paths import SignatureUnusable, SignedPath, SignedPaths
from tablewright.kit.objects.store import Stored
from tablewright.testing import Clock

BASE = "/campus/objects/"
SECRET = b"s" * 32
MINUTE = timedelta(minutes=1)
READ = SignedPath("files/a/1", filename="Aufgabe 1.pdf", content_type="application/pdf", subject="ada")


@pytest.fixture
def paths(clock: Clock) -> SignedPaths:
    return SignedPaths(BASE, SECRET, clock.world())


def last_step(path: str) -> str:
    assert path.startswith(BASE)
    step = path.removeprefix(BASE)
    assert "/" not in step
    return step


# --- a directory ---


def test_a_signed_path_allows_what_was_signed_until_it_expires(paths: SignedPaths, clock: Clock) -> None:
    step = last_step(paths.sign(READ, MINUTE))
    clock.move(timedelta(seconds=59))
    assert paths.verify(step) == READ
    clock.move(timedelta(seconds=1))
    with pytest.raises(SignatureUnusable, match="expired"):
        paths.verify(step)


def test_a_path_with_one_changed_character_is_refused(paths: SignedPaths) -> None:
    step = last_step(paths.sign(READ, MINUTE))
    for place, letter in enumerate(step[:-1]):  # the last one has bits that say nothing
        changed = f"{step[:place]}{'A' if letter != 'A' else 'B'}{step[place + 1 :]}"
        with pytest.raises(SignatureUnusable, match="not valid"):
            paths.verify(changed)


@given(text=st.text())
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(SignatureUnusable, match="not valid"):
        SignedPaths(BASE, SECRET, Clock().world()).verify(text)


def test_a_path_of_another_secret_is_refused_and_a_short_secret_is_not_accepted(
    paths: SignedPaths, clock: Clock
) -> None:
    other = SignedPaths(BASE, b"o" * 32, clock.world())
    with pytest.raises(SignatureUnusable, match="not valid"):
        paths.verify(last_step(other.sign(READ, MINUTE)))
    with pytest.raises(ValueError, match="at least 32 bytes"):
        SignedPaths(BASE, b"short", clock.world())


def test_the_links_of_a_directory_lead_to_its_objects_and_its_parts_are_sent_to_us(
    tmp_path: Path, paths: SignedPaths, clock: Clock
) -> None:
    store = Directory(tmp_path, clock.world(), paths)
    upload = store.begin("files/a/1")
    assert store.origin is None
    assert store.sign_put(upload, 1, MINUTE, size=7, sha256=sha256(b"content").hexdigest()) is None
    store.put("files/a/1", b"content")
    get = store.sign_get("files/a/1", MINUTE, filename="a.txt", content_type="text/plain", inline=True)
    read = paths.verify(last_step(get.url))
    assert (read.filename, read.content_type, read.inline) == ("a.txt", "text/plain", True)
    assert store.get(read.name) == b"content"


def test_a_directory_without_a_secret_has_no_links(tmp_path: Path, clock: Clock) -> None:
    with pytest.raises(ValueError, match="need signed_paths"):
        Directory(tmp_path, clock.world()).sign_get("files/a/1", MINUTE, filename="a.txt")


# --- S3 ---


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Iterator[S3Objects]:
    with s3_server() as url:
        client = use_server(url, monkeypatch)
        with new_bucket(client, "vault"):
            connection = S3Connection(None, "us-east-1")
            yield S3Objects(connection, "vault", "campus/", clock.world())
            connection.client.close()
        client.close()


def test_the_links_of_a_bucket_are_presigned_requests(bucket: S3Objects) -> None:
    upload = bucket.begin("files/a/1")
    content, checksum = b"sent past us", sha256(b"sent past us").hexdigest()
    put = bucket.sign_put(upload, 1, MINUTE, size=len(content), sha256=checksum)
    assert put.url.startswith(f"{bucket.origin}/")
    assert httpx.put(put.url, content=content, headers=put.headers).status_code == 200
    assert [(part.number, part.size) for part in bucket.parts(upload)] == [(1, len(content))]
    assert bucket.complete(upload, len(content), expect_sha256=checksum) == Stored(len(content), checksum)
    get = bucket.sign_get("files/a/1", MINUTE, filename="größe.txt", content_type="text/plain")
    answer = httpx.get(get.url, headers={"Range": "bytes=0-3"})
    assert (answer.status_code, answer.content) == (206, b"sent")
    assert answer.headers["content-type"] == "text/plain"
    assert answer.headers["content-disposition"] == disposition("größe.txt")


def test_a_presigned_part_is_for_one_size_one_checksum_and_a_time(bucket: S3Objects) -> None:
    put = bucket.sign_put(bucket.begin("files/a/1"), 1, MINUTE, size=5, sha256="00" * 32)
    query = httpx.URL(put.url).params
    assert (query["X-Amz-Expires"], query["X-Amz-Algorithm"]) == ("60", "AWS4-HMAC-SHA256")
    signed = set(query["X-Amz-SignedHeaders"].split(";"))
    assert {"content-length", "x-amz-checksum-sha256"} <= signed
    assert put.headers == {"x-amz-checksum-sha256": "A" * 43 + "="}


@pytest.mark.parametrize(
    ("bucket_name", "origin"),
    [
        ("vault", "https://vault.s3.eu-central-1.amazonaws.com"),
        ("a.vault", "https://s3.eu-central-1.amazonaws.com"),
    ],
)
def test_the_links_of_amazons_buckets_lead_to_their_region(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, bucket_name: str, origin: str
) -> None:
    for name in (*KEYS, "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "eu-central-1")
    connection = S3Connection(None, "us-east-1")
    found = S3Objects(connection, bucket_name, "", clock.world())
    assert found.origin == origin
    assert found.sign_get("a", MINUTE, filename="a.txt").url.startswith(f"{origin}/")
    connection.client.close()


# --- names of downloads ---


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("report.pdf", "attachment; filename=\"report.pdf\"; filename*=UTF-8''report.pdf"),
        ("größe 1.txt", "attachment; filename=\"groe 1.txt\"; filename*=UTF-8''gr%C3%B6%C3%9Fe%201.txt"),
        ("課題", "attachment; filename=\"file\"; filename*=UTF-8''%E8%AA%B2%E9%A1%8C"),
        ('a"b\\c;d', "attachment; filename=\"a_b_c_d\"; filename*=UTF-8''a%22b%5Cc%3Bd"),
        (
            "a\r\nSet-Cookie: x",
            "attachment; filename=\"aSet-Cookie_ x\"; filename*=UTF-8''aSet-Cookie%3A%20x",
        ),
        ("cod\u202egpj.exe", "attachment; filename=\"codgpj.exe\"; filename*=UTF-8''codgpj.exe"),
        ("", "attachment; filename=\"file\"; filename*=UTF-8''file"),
    ],
)
def test_the_name_of_a_download_is_kept_and_cannot_add_a_header(name: str, header: str) -> None:
    assert disposition(name) == header


@given(name=st.text())
def test_the_header_of_a_download_is_ascii_on_one_line(name: str) -> None:
    header = disposition(name, inline=True)
    assert header.isascii()
    assert header.isprintable()
    assert header.startswith("inline; ")
