"""Calls over HTTP for asyncio, without threads: HttpCall with sockets that wait for the event loop.

    async with AsyncHttpCall("http://127.0.0.1:8000", "us-east-1", Credentials("id", "secret")) as call:
        await call("GetItem", {...})

Signatures, retries, timeouts, the connection pool and the responses are those of http.py. Needs the extra `async`.
Must hold: a call that was cancelled leaves no connection behind that could be taken for an idle one.
Not here: `credentials` that wait for the network (a function is called in the event loop).
"""

import asyncio
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

from tablewright.client import aws_config
from tablewright.client.call import Call
from tablewright.client.connection_pool import Timeouts
from tablewright.client.coroutines import in_coroutine, pause, wait_for
from tablewright.client.endpoint import Endpoint
from tablewright.client.http import HttpCall
from tablewright.client.retries import Retries
from tablewright.client.signing import Credentials
from tablewright.world import World


class AsyncHttpCall:
    """An HttpCall to await. Any number of tasks of one event loop may share it. Close it."""

    def __init__(
        self,
        endpoint: str,
        region: str,
        credentials: Credentials | Callable[[], Credentials],
        *,
        world: World | None = None,
        timeouts: Timeouts | None = None,
        retries: Retries | None = None,
        pool_size: int = 10,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        retries = retries or Retries()
        if retries.sleep is time.sleep:
            retries = replace(retries, sleep=pause)
        self._http = HttpCall(
            endpoint, region, credentials, world=world, timeouts=timeouts, retries=retries, pool_size=pool_size,
            tls=tls, connect=_connect,
        )  # fmt: skip
        self.endpoint, self.region = self._http.endpoint, self._http.region

    @classmethod
    def resolve(
        cls,
        region: str | None = None,
        endpoint: str | None = None,
        profile: str | None = None,
        *,
        timeouts: Timeouts | None = None,
        retries: Retries | None = None,
        pool_size: int = 10,
    ) -> Self:
        """As `HttpCall.resolve`; looks for them now, and waits."""
        url, region, credentials, tls = aws_config.resolve(region, endpoint, profile)
        return cls(url, region, credentials, timeouts=timeouts, retries=retries, pool_size=pool_size, tls=tls)

    @property
    def calls(self) -> Call:
        """For code below `in_coroutine`."""
        return self._http

    async def __call__(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return await in_coroutine(self._http, verb, request)

    async def aclose(self) -> None:
        """Close idle connections now, those in use when their call ends."""
        self._http.close()
        await asyncio.sleep(0)  # the event loop closes their sockets in its next turn

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


def _connect(
    endpoint: Endpoint, tls: ssl.SSLContext | None, timeout: float
) -> tuple["LoopSocket", Callable[[], bool]]:
    opened = wait_for(_open(endpoint, tls, timeout))
    return opened, opened.is_readable


async def _open(endpoint: Endpoint, tls: ssl.SSLContext | None, timeout: float) -> "LoopSocket":
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(timeout):
        # asyncio sets TCP_NODELAY.
        _, opened = await loop.create_connection(
            lambda: LoopSocket(loop),
            endpoint.host,
            endpoint.port,
            ssl=tls,
            server_hostname=endpoint.host if tls else None,
        )
    return opened


class LoopSocket(asyncio.Protocol):
    """What a Connection needs of a socket, over a transport of the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._is_over = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timeout = 0.0

    # --- as the event loop sees it ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._wake()

    def eof_received(self) -> bool:
        self._is_over = True
        self._wake()
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self._is_over, self._error = True, error
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # --- as a Connection sees it ---

    def is_readable(self) -> bool:
        """True also for a socket of another event loop: it cannot be used in this one."""
        return bool(self._received) or self._is_over or asyncio.get_running_loop() is not self._loop

    def settimeout(self, seconds: float) -> None:
        self._timeout = seconds

    def sendall(self, data: bytes) -> None:
        """Give it to the event loop; a failure shows when the response is received."""
        if self._is_over:
            raise self._error or ConnectionResetError("the server closed the connection")
        assert self._transport is not None
        self._transport.write(data)

    def recv(self, size: int) -> bytes:
        if not self._received and not self._is_over:
            wait_for(self._more())
        if not self._received and self._error is not None:
            raise self._error
        data = bytes(self._received[:size])
        del self._received[:size]
        return data

    async def _more(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            async with asyncio.timeout(self._timeout):
                await self._waiter
        finally:
            self._waiter = None

    def close(self) -> None:
        if self._transport is not None and not self._loop.is_closed():
            self._transport.abort()
