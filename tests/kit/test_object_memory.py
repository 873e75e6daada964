"""Objects are streamed in constant memory: a process of its own stores and reads one, and measures itself."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.s3_server import new_bucket, s3_server, use_server

MIB = 1024 * 1024
# Two parts and their copies on the way to S3; a whole object would need all of its size.
ALLOWED = 40
PROGRAM = """
import resource, sys
from pathlib import Path
from tablewright.engine.transfer.buckets import S3Connection
from tablewright.kit.objects.directory import Directory
from tablewright.kit.objects.s3 import S3Objects
from tablewright.kit.objects.store import PART_SIZE
from tablewright.world import real_world

where, size = sys.argv[1], int(sys.argv[2]) * 1024 * 1024
chunk = bytes(range(256)) * 256
def chunks(count):
    return (chunk for _ in range(count // len(chunk)))
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
if where == "s3":
    store = S3Objects(S3Connection(None, "us-east-1"), "vault", "", real_world())
else:
    store = Directory(Path(where), real_world())
store.put("warm/up", b"x")
assert store.get("warm/up") == b"x"
before = peak()
stored = store.write("files/1", chunks(size))
with store.read("files/1") as stream:
    assert sum(map(len, stream)) == size == stored.size
store.remove("files/1")
upload = store.begin("files/2")
for number in range(size // PART_SIZE):
    store.put_part(upload, number + 1, chunks(PART_SIZE))
assert store.complete(upload, size, expect_sha256=stored.sha256) == stored
print(peak() - before)
"""


def growth(where: str, size: int) -> int:
    """By how many MiB a process grew that stored and read objects of a size, as one stream and in parts."""
    program = [sys.executable, "-c", PROGRAM, where, str(size)]
    ran = subprocess.run(program, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout)


def test_a_directory_stores_200_mib_in_constant_memory(tmp_path: Path) -> None:
    assert growth(str(tmp_path / "objects"), 200) < ALLOWED


def test_a_bucket_stores_an_object_in_constant_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_server() as url:
        client = use_server(url, monkeypatch)
        with new_bucket(client, "vault"):
            assert growth("s3", 96) < ALLOWED
        client.close()
