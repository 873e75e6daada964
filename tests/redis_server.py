"""A Redis of the test's own, and caches in it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tablewright.kit.cache import RedisCache
from tablewright.world import real_world


@contextmanager
def redis_server(home: Path, port: int) -> Iterator[str]:
    """A Redis of the test's own, that keeps nothing."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("there is no redis-server here (Debian: apt-get install redis-server)")
    words = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(home)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        try:
            _answers(port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.wait(20)


def _answers(port: int) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    pytest.fail("the redis-server did not start")


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free: int = probe.getsockname()[1]
        return free


@pytest.fixture
def url(tmp_path: Path, port: int) -> Iterator[str]:
    pytest.importorskip("redis", reason="the package redis is not installed")
    with redis_server(tmp_path, port) as at:
        yield at


@contextmanager
def closing_cache(url: str, system: str = "parental") -> Iterator[RedisCache]:
    made = RedisCache(url, real_world(), system)
    yield made
    made.close()
