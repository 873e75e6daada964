"""The app behind a port: it starts, it answers, it stops."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from tests.edge.talk import app_of, calling

import tablewright.edge
from tablewright.edge import AppDidNotStart, CannotListen, listening, serving_app, url_of

SLOW = APIRouter()
entered, go_on = threading.Event(), threading.Event()


@SLOW.get("/slow")
def slow() -> str:
    entered.set()
    assert go_on.wait(30)
    return "finished"


def test_no_page_of_documentation_is_fetched_from_elsewhere_by_default() -> None:
    with calling(app_of()) as client:
        assert [client.get(path).status_code for path in ("/docs", "/redoc", "/openapi.json")] == [
            404,
            404,
            200,
        ]


def test_who_asks_for_the_description_of_the_api_keeps_nobody_waiting() -> None:
    making, made, times = threading.Event(), threading.Event(), []

    class Slow(BaseModel):
        """A model that takes long to describe."""

        @classmethod
        def __get_pydantic_json_schema__(
            cls, schema: CoreSchema, handler: GetJsonSchemaHandler
        ) -> JsonSchemaValue:
            times.append("made")
            making.set()
            assert made.wait(30)
            return handler(schema)

    router = APIRouter()
    router.add_api_route("/slow", lambda: None, response_model=Slow)
    with serving_app(app_of(router)) as url, ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(httpx.get, f"{url}/openapi.json", trust_env=False, timeout=30) for _ in range(3)]
        try:
            assert making.wait(30)
            assert httpx.get(f"{url}/health", trust_env=False, timeout=10).status_code == 200
        finally:
            made.set()
        assert {answer.result().json()["paths"].keys() >= {"/slow"} for answer in asked} == {True}
    assert len(times) == 1


def test_the_address_is_known_before_the_app_is_made() -> None:
    opened = listening()
    url = url_of(opened)
    with serving_app(app_of(), opened=opened) as served:
        assert served == url
        assert httpx.get(f"{url}/health", trust_env=False).json() == {"status": "ok"}
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health", trust_env=False)


def test_an_address_of_ipv6_is_written_so_that_it_can_be_called() -> None:
    with serving_app(app_of(), host="::1") as url:
        assert url.startswith("http://[::1]:")
        assert httpx.get(f"{url}/health", trust_env=False).status_code == 200


def test_an_address_that_is_taken_is_said_in_words() -> None:
    with listening() as opened:
        port = opened.getsockname()[1]
        with pytest.raises(
            CannotListen, match=f"cannot listen on 127.0.0.1 port {port}: Address already in use"
        ):
            listening("127.0.0.1", port)
    with pytest.raises(CannotListen, match=r"cannot listen on no\.such\.host\.invalid"):
        listening("no.such.host.invalid")


def finish_when_nobody_listens(url: str) -> None:
    """Let the slow request end once the server has begun to stop."""
    try:
        while True:
            httpx.get(f"{url}/health", trust_env=False)
    except httpx.TransportError:
        go_on.set()


def test_a_request_under_way_is_answered_before_the_server_stops() -> None:
    answers: list[str] = []
    with serving_app(app_of(SLOW)) as url:
        caller = threading.Thread(
            target=lambda: answers.append(httpx.get(f"{url}/slow", trust_env=False, timeout=30).json())
        )
        caller.start()
        assert entered.wait(30)
        threading.Thread(target=finish_when_nobody_listens, args=(url,)).start()
    caller.join()
    assert answers == ["finished"]


def test_an_app_that_fails_while_it_starts_is_an_error_here_and_not_a_server_that_hangs() -> None:
    @asynccontextmanager
    async def broken(app: FastAPI) -> AsyncIterator[None]:
        raise OSError("no store")
        yield

    with pytest.raises(AppDidNotStart), serving_app(app_of(lifespan=broken)):
        raise AssertionError("it started")


def test_what_the_app_opened_is_closed_when_it_stops() -> None:
    seen: list[str] = []

    @asynccontextmanager
    async def store(app: FastAPI) -> AsyncIterator[None]:
        seen.append("opened")
        yield
        seen.append("closed")

    with serving_app(app_of(lifespan=store)):
        assert seen == ["opened"]
    assert seen == ["opened", "closed"]


PROGRAM = """
from tablewright.edge import make_app, run
from tablewright.edge.json_logs import log_as_json
from tablewright.world import real_world

log_as_json()
run(make_app("test", real_world()), port=0, ready=lambda url: print(url, flush=True))
print("stopped", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_command_and_it_exits_with_0(number: signal.Signals) -> None:
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert httpx.get(f"{url}/health", trust_env=False).status_code == 200
        process.send_signal(number)
        rest, talk = process.communicate(timeout=30)
    assert (process.returncode, rest) == (0, "stopped\n")
    assert '"event":"request answered"' in talk
    assert "Traceback" not in talk


def test_the_readme_names_every_module_of_the_room() -> None:
    home = Path(tablewright.edge.__file__).parent
    readme = (home / "README.md").read_text()
    modules = [path.relative_to(home).as_posix() for path in home.rglob("*.py") if path.name != "__init__.py"]
    assert [module for module in sorted(modules) if f"`{module}`" not in readme] == []
    assert len(readme.splitlines()) <= 60
