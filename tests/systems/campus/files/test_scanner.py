"""Scanners: a real clamd with a small database of its own, the signatures of this process, and none (CC-E3)."""

from __future__ import annotations

import io
import shutil
import socket
import subprocess
import threading
import time
import zipfile
from collections.abc import Iterable, Iterator
from hashlib import md5, sha256
from pathlib import Path

import pytest

from tablewright.systems.campus.files.scanner import (
    MIB,
    ClamdScanner,
    Clean,
    Infected,
    NoScanner,
    Scanner,
    Unscanned,
)
from tablewright.systems.campus.files.signature_scanner import EICAR, EICAR_NAME, Limits, SignatureScanner

STREAM_LIMIT = 4 * MIB
KNOWN = b"a file that an administrator has listed"
PATIENCE = 60.0


def zipped(**entries: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


def in_pieces(content: bytes, size: int) -> Iterator[bytes]:
    yield from (content[start : start + size] for start in range(0, len(content), size))


@pytest.fixture(scope="module")
def clamd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The socket of a clamd that knows EICAR and one checksum."""
    program = shutil.which("clamd") or shutil.which("clamd", path="/usr/sbin")
    if program is None:
        pytest.skip("no clamd: `make packages` installs Debian's clamav-daemon")
    home = tmp_path_factory.mktemp("clamd")
    (home / "db").mkdir()
    (home / "db" / "test.ndb").write_text(f"Test.Eicar:0:*:{EICAR.hex()}\n")
    checksum = md5(KNOWN, usedforsecurity=False).hexdigest()
    (home / "db" / "test.hdb").write_text(f"{checksum}:{len(KNOWN)}:Test.Known\n")
    address = home / "clamd.sock"
    settings = {
        "DatabaseDirectory": home / "db",
        "LocalSocket": address,
        "LogFile": home / "clamd.log",
        "Foreground": "yes",
        "StreamMaxLength": STREAM_LIMIT,
        "MaxFileSize": STREAM_LIMIT,
        "MaxScanSize": 4 * STREAM_LIMIT,
        "AlertExceedsMax": "yes",
        "AlertEncrypted": "yes",
    }
    (home / "clamd.conf").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    with (home / "output").open("wb") as output:
        process = subprocess.Popen(
            [program, "-c", home / "clamd.conf"], stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_for(process, address, home / "output")
        yield str(address)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def wait_for(process: subprocess.Popen[bytes], address: Path, output: Path) -> None:
    give_up = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, f"clamd ended: {output.read_text()}"
        assert time.monotonic() < give_up, f"clamd does not answer: {output.read_text()}"
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(str(address))
            except OSError:
                time.sleep(0.05)
            else:
                return


@pytest.fixture(params=["clamd", "signatures"])
def scanner(request: pytest.FixtureRequest) -> Scanner:
    if request.param == "clamd":
        return ClamdScanner(request.getfixturevalue("clamd"), timeout=PATIENCE, max_stream=STREAM_LIMIT)
    return SignatureScanner(
        {sha256(KNOWN).hexdigest(): "Test.Known"},
        Limits(file_bytes=STREAM_LIMIT, unpacked_bytes=STREAM_LIMIT),
    )


def name_of(verdict: object) -> str:
    assert isinstance(verdict, Infected)
    return verdict.signature


# --- clamd and signatures ---


@pytest.mark.parametrize("content", [b"", b"harmless", b"x" * (2 * MIB), zipped(a=b"text", b=b"more")])
def test_a_file_without_a_virus_is_clean(scanner: Scanner, content: bytes) -> None:
    assert scanner.scan(in_pieces(content, 300_000)) == Clean()


@pytest.mark.parametrize("size", [7, 1000])
def test_a_virus_is_found_however_it_arrives(scanner: Scanner, size: int) -> None:
    assert "eicar" in name_of(scanner.scan(in_pieces(EICAR, size))).lower()


def test_a_virus_is_found_in_a_zip_and_in_a_zip_in_a_zip(scanner: Scanner) -> None:
    once = zipped(readme=b"harmless", virus=EICAR)
    for content in (once, zipped(inner=once)):
        assert "eicar" in name_of(scanner.scan([content])).lower()


def test_a_listed_file_is_found_by_its_checksum(scanner: Scanner) -> None:
    assert "Test.Known" in name_of(scanner.scan([KNOWN]))
    assert scanner.scan([KNOWN + b"."]) == Clean()


def test_a_file_beyond_the_limit_is_unscanned_though_a_virus_is_at_its_end(scanner: Scanner) -> None:
    verdict = scanner.scan((*in_pieces(bytes(STREAM_LIMIT), MIB), EICAR))
    assert verdict == Unscanned("too large")


def test_an_encrypted_entry_is_unscanned(scanner: Scanner) -> None:
    plain = bytearray(zipped(secret=b"text"))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        plain[plain.index(signature) + offset] |= 1
    assert scanner.scan([bytes(plain)]) == Unscanned("encrypted")


def test_an_error_of_the_source_is_raised(scanner: Scanner) -> None:
    def broken() -> Iterator[bytes]:
        yield b"x"
        raise OSError("the disk")

    with pytest.raises(OSError, match="the disk"):
        scanner.scan(broken())


# --- clamd ---


def test_the_limit_of_clamd_counts_if_it_is_lower_than_ours(clamd: str) -> None:
    scanner = ClamdScanner(clamd, timeout=PATIENCE, max_stream=100 * MIB)
    assert scanner.scan(in_pieces(bytes(3 * STREAM_LIMIT), MIB)) == Unscanned("too large")


@pytest.mark.parametrize("address", ["/nowhere/clamd.sock", "127.0.0.1:1", "no port"])
def test_a_clamd_that_is_not_there_is_tried_again_later(address: str) -> None:
    verdict = ClamdScanner(address, timeout=2).scan([b"x"])
    assert isinstance(verdict, Unscanned)
    assert verdict.retry
    assert "cannot be reached" in verdict.reason


@pytest.mark.parametrize(
    "reply", [b"", b"stream: OK", b"stream: Can't allocate memory ERROR\0", b"what?\0", b"x" * 10_000]
)
def test_an_answer_that_is_not_a_verdict_is_never_clean(reply: bytes) -> None:
    def answer() -> None:
        client, _ = server.accept()
        with client:
            client.recv(1000)
            client.sendall(reply)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer)
        thread.start()
        verdict = ClamdScanner(f"127.0.0.1:{server.getsockname()[1]}", timeout=10).scan([b"x"])
        thread.join()
    assert isinstance(verdict, Unscanned)
    assert verdict.retry


def test_a_clamd_that_does_not_answer_in_time_is_tried_again_later() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        verdict = ClamdScanner(f"127.0.0.1:{server.getsockname()[1]}", timeout=0.2).scan([b"x"])
    assert isinstance(verdict, Unscanned)
    assert verdict.retry


# --- signatures ---


def scan_within(content: Iterable[bytes], **limits: int) -> object:
    return SignatureScanner(limits=Limits(**limits)).scan(content)


def test_a_zip_bomb_is_unscanned() -> None:
    bomb = zipped(bomb=bytes(50 * MIB))
    assert scan_within([bomb], ratio=100) == Unscanned("too large")
    assert scan_within([bomb], ratio=2000, unpacked_bytes=10 * MIB) == Unscanned("too large")
    assert scan_within([bomb], ratio=2000) == Clean()
    many = zipped(**{f"bomb{number}": bytes(MIB) for number in range(20)})
    assert scan_within([many], ratio=2000, unpacked_bytes=10 * MIB) == Unscanned("too large")


def test_a_zip_with_too_many_entries_is_unscanned() -> None:
    many = zipped(**{f"entry{number}": b"" for number in range(51)})
    assert scan_within([many], entries=50) == Unscanned("too large")
    assert scan_within(in_pieces(many, 3), entries=51) == Clean()


def test_zips_that_are_nested_too_deeply_are_unscanned() -> None:
    deep = zipped(a=zipped(b=zipped(virus=EICAR)))
    assert scan_within([deep], depth=2) == Unscanned("archives are nested too deeply")
    assert scan_within([deep], depth=3) == Infected(EICAR_NAME)


def test_a_damaged_zip_is_unscanned() -> None:
    whole = zipped(text=b"some text that is compressed, some text that is compressed")
    damaged = whole[:40] + b"\xff\xff\xff" + whole[43:]
    assert scan_within([damaged]) == Unscanned("the archive cannot be read")


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_damaged_bytes_of_each_compression_are_a_verdict_and_never_an_error(method: int) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("text", b"some text that is compressed, " * 20)
    whole, found = file.getvalue(), set()
    for at in range(34, whole.index(b"PK\x01\x02")):  # from the end of the entry's header and name
        for damage in (b"\x00", b"\xff"):
            found.add(scan_within([whole[:at] + damage + whole[at + 1 :]]))
    unreadable = Unscanned("the archive cannot be read")
    assert unreadable in found
    assert found <= {unreadable, Clean()}  # a byte may not be used, or be the same as before


def test_a_virus_counts_more_than_an_entry_that_cannot_be_scanned() -> None:
    content = zipped(deep=zipped(deeper=zipped(x=b"")), virus=EICAR)
    assert scan_within([content], depth=2) == Infected(EICAR_NAME)


# --- none ---


def test_without_a_scanner_every_file_is_unscanned_and_not_tried_again() -> None:
    assert NoScanner().scan([b"x"]) == Unscanned("no scanner is configured")
