"""Calls over HTTP in an event loop: every fault that HttpCall is tested with, and what only tasks can do."""

from __future__ import annotations

import asyncio
import ssl
import threading
from pathlib import Path

import pytest
from tests.client import test_http_faults
from tests.client.driven import DrivenHttpCall
from tests.client.stub import Line, answering, letter, stub
from tests.client.test_http import certificate, server_tls  # fixtures
from tests.client.test_http_faults import *  # noqa: F403  # each of its tests, with the fixture below
from tests.client.ways import KEY, REGION, Naps, in_process, keyed, over_http, put, table, world

from tablewright import testing
from tablewright.client import HttpCall, NoAnswer, Retries
from tablewright.client.async_http import AsyncHttpCall
from tablewright.client.coroutines import NotInCoroutine, ThreadedCall, in_coroutine, pause, wait_for

# Its bounds are those of a thread that has nothing else to do.
del test_all_attempts_together_keep_to_the_total_time  # noqa: F821


@pytest.fixture(autouse=True)
def driven(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests of test_http_faults.py make their HttpCall by this name."""
    monkeypatch.setattr(test_http_faults, "HttpCall", DrivenHttpCall)


def test_many_calls_of_one_thread_are_under_way_at_once() -> None:
    """The server answers only when all have arrived."""
    together = threading.Barrier(20, timeout=30)

    def all_or_none(line: Line) -> None:
        while line.request() is not None:
            together.wait()
            line.send(letter({"Item": {}}))

    async def main(url: str) -> None:
        threads = threading.active_count()
        async with AsyncHttpCall(url, REGION, KEY) as call:
            found = await asyncio.gather(*(call("GetItem", keyed(str(n))) for n in range(20)))
            assert found == [{"Item": {}}] * 20
        # Those of the server only: one for each connection.
        assert not [each for each in threading.enumerate() if "asyncio" in each.name], threads

    with stub(all_or_none) as server:
        asyncio.run(main(server.url))


def test_a_cancelled_call_leaves_no_connection_behind_and_the_next_one_is_answered() -> None:
    arrived = threading.Event()

    def silent_once(line: Line) -> None:
        while line.request() is not None:
            if not arrived.is_set():
                arrived.set()
                continue  # never answers this one
            line.send(letter({"Item": {}}))

    async def main(url: str) -> None:
        async with AsyncHttpCall(url, REGION, KEY) as call:
            task = asyncio.create_task(call("GetItem", keyed("rex")))
            await asyncio.to_thread(arrived.wait, 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await call("GetItem", keyed("rex")) == {"Item": {}}

    with stub(silent_once) as server:
        asyncio.run(main(server.url))
        assert server.connections == 2


def test_a_pause_before_a_retry_does_not_stop_the_event_loop() -> None:
    async def main(url: str) -> None:
        turns = 0
        waits = Retries(base=0.2, cap=0.2)
        async with AsyncHttpCall(url, REGION, KEY, world=world(), retries=waits) as call:
            task = asyncio.create_task(call("GetItem", keyed("rex")))
            while not task.done():
                turns += 1
                await asyncio.sleep(0.005)
            assert await task == {"Item": {}}
        assert turns > 5  # of forty that would fit into the pause

    with answering(letter("ThrottlingException"), letter({"Item": {}})) as server:
        asyncio.run(main(server.url))


def test_a_connection_of_one_event_loop_is_not_used_in_another() -> None:
    with answering(letter({"Item": {}}), letter({"Item": {}})) as server:
        call = AsyncHttpCall(server.url, REGION, KEY)

        async def once() -> None:
            assert await call("GetItem", keyed("rex")) == {"Item": {}}

        with asyncio.Runner() as one, asyncio.Runner() as two:
            one.run(once())
            two.run(once())
            two.run(call.aclose())
        assert server.connections == 2


def test_tls_is_spoken_and_a_certificate_that_is_not_trusted_is_refused_at_once(
    certificate: tuple[Path, Path], server_tls: ssl.SSLContext, naps: Naps
) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate[0]))
    large = letter({"Item": {"text": {"S": "x" * 200_000}}})
    with (
        answering(letter({"Item": {}}), large, tls=server_tls) as server,
        DrivenHttpCall(server.url, REGION, KEY, tls=trusting) as call,
    ):
        assert call("GetItem", keyed("rex")) == {"Item": {}}
        assert len(call("GetItem", keyed("rex"))["Item"]["text"]["S"]) == 200_000
        assert server.connections == 1
    with (
        answering(letter(), tls=server_tls) as server,
        DrivenHttpCall(server.url, REGION, KEY, retries=naps.retries()) as call,
        pytest.raises(NoAnswer, match="certificate verify failed"),
    ):
        call("GetItem", keyed("rex"))
    assert naps.taken == []


# --- coroutines ---


def test_code_that_waits_is_refused_outside_of_a_coroutine() -> None:
    with pytest.raises(NotInCoroutine, match="in_coroutine"):
        pause(0)


def test_an_error_is_raised_where_the_code_waits_and_can_be_caught_there() -> None:
    async def fails() -> None:
        raise KeyError("gone")

    def work() -> str:
        try:
            wait_for(fails())
        except KeyError:
            pause(0)
            return "caught"
        return "not raised"

    assert asyncio.run(in_coroutine(work)) == "caught"
    with pytest.raises(KeyError, match="gone"):
        asyncio.run(in_coroutine(lambda: wait_for(fails())))


def test_an_engine_of_this_process_is_called_in_threads() -> None:
    async def main(call: ThreadedCall) -> None:
        await in_coroutine(call.calls, "PutItem", put("rex"))
        assert (await in_coroutine(call.calls, "GetItem", keyed("rex")))["Item"] == {"pk": {"S": "rex"}}

    with testing.engine() as engine, in_process(engine) as call:
        call("CreateTable", table())
        engine.settle()
        asyncio.run(main(ThreadedCall(call)))


def test_both_clients_send_the_same_bytes() -> None:
    """The signature covers them: of the same moment it is the same."""
    with answering(*[letter({"Item": {}})] * 2) as server:
        with HttpCall(server.url, REGION, KEY, world=FIXED) as call:
            call("GetItem", keyed("rex"))
        with DrivenHttpCall(server.url, REGION, KEY, world=FIXED) as driven_call:
            driven_call("GetItem", keyed("rex"))
        first, second = server.requests
    assert first == second


def test_a_real_server_answers_it() -> None:
    async def main(url: str) -> None:
        async with AsyncHttpCall(url, REGION, KEY) as call:
            await call("PutItem", put("rex", text={"S": "x" * 300_000}))
            found = await call("GetItem", keyed("rex"))
            assert len(found["Item"]["text"]["S"]) == 300_000

    with testing.engine() as engine, over_http(engine) as call:
        engine.call("CreateTable", table())
        engine.settle()
        assert isinstance(call, HttpCall)
        asyncio.run(main(call.endpoint))


__all__ = ["certificate", "server_tls"]
FIXED = testing.Clock(testing.Clock().world().now()).world()
