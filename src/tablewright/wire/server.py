"""The HTTP server in front of an engine: listens, checks timeouts, stops gracefully.

`serve` blocks until a signal, for the command line; `serving` runs in a thread, for tests and notebooks.
Must hold: a server that verifies no signatures listens on loopback only; stopping answers every request
that had arrived, then closes; time comes from World, waiting from the event loop.
Elsewhere: one connection (connection.py).
"""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_address
from typing import Self, TypedDict, Unpack

from tablewright.engine import Engine, Regions
from tablewright.signals import exit_on_signal, stop_on_signal
from tablewright.wire.connection import Connection
from tablewright.wire.credentials import AccessKey
from tablewright.wire.group_writer import GroupWriter
from tablewright.wire.limits import Limits
from tablewright.wire.memory_budget import MemoryBudget
from tablewright.wire.metrics import Metrics
from tablewright.wire.request_checks import request_checks
from tablewright.wire.responses import ResponseQueue, ResponseRenderer
from tablewright.wire.server_context import ServerContext
from tablewright.wire.signature import any_signature, scoped_to, verified_by
from tablewright.wire.slow_reads import SlowReads
from tablewright.world import World, real_world

STOP_SECONDS = 10


class OpenToTheNetwork(ValueError):
    """A server without credentials was told to listen on an address that other machines can reach."""

    def __init__(self, host: str) -> None:
        self.host = host
        super().__init__(
            f"refusing to listen on {host or 'every address'} without credentials: everyone who reaches it could "
            "read and change every table. Give it access keys (--credentials FILE), "
            "or listen on this machine only (--host 127.0.0.1)"
        )


class CannotListen(OSError):
    """The address is in use, unknown, or not allowed to this process."""

    def __init__(self, host: str, port: int, why: OSError) -> None:
        super().__init__(
            f"cannot listen on {host} port {port}: {os.strerror(why.errno) if why.errno else why}; "
            "another port or address may be free (--port, --host)"
        )


class Server:
    """A listening socket and its connections. Close it."""

    def __init__(
        self,
        context: ServerContext,
        world: World,
        listening: asyncio.Server,
        writers: Sequence[GroupWriter],
        connections: set[Connection],
    ) -> None:
        self._context, self._writers, self._connections = context, writers, connections
        self._world = world
        self._listening = listening
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(context.limits.tick_seconds, self._tick)

    @classmethod
    async def open(
        cls,
        engine: Engine | Regions,
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        credentials: Mapping[str, AccessKey] | None = None,
        metrics_token: str | None = None,
        world: World | None = None,
        limits: Limits | None = None,
    ) -> Self:
        """Start to listen. Raises OpenToTheNetwork or CannotListen."""
        check_reach(host, credentials)
        world, limits = world or real_world(), limits or Limits()
        engines = engine.engines if isinstance(engine, Regions) else {engine.place.region: engine}
        engine = engine[engine.home] if isinstance(engine, Regions) else engine
        authority = any_signature if credentials is None else verified_by(credentials, engines, world.now)
        if len(engines) > 1:
            authority = scoped_to(engines, authority)
        metrics = Metrics(engines, None if credentials is None else authority, metrics_token)
        verbs = {verb: engine.writes(verb) for verb in engine.VERBS}
        loop = asyncio.get_running_loop()
        writers = {region: GroupWriter(one, loop) for region, one in engines.items()}
        slow_reads = SlowReads(loop)
        branches = {region: (engines[region], writers[region]) for region in engines}
        context = ServerContext(
            engine,
            request_checks(verbs, authority, engine.place.region, credentials is not None, metrics),
            ResponseRenderer(world),
            writers[engine.place.region],
            ResponseQueue(loop),
            limits,
            slow_reads,
            MemoryBudget(limits),
            branches if len(engines) > 1 else None,
        )
        connections: set[Connection] = set()
        try:
            listening = await loop.create_server(
                lambda: Connection(context, connections), host or None, port, backlog=1024
            )
        except OSError as error:
            for writer in writers.values():
                writer.close()
            slow_reads.close()
            raise CannotListen(host, port, error) from error
        server = cls(context, world, listening, list(writers.values()), connections)
        # DescribeEndpoints must not send clients to Amazon.
        for one in engines.values():
            one.place = replace(one.place, address=server.url.partition("//")[2])
        return server

    @property
    def url(self) -> str:
        host, port = self._listening.sockets[0].getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def close(self) -> None:
        """Stop listening, answer the requests that have arrived, close. A client that is too slow is cut off."""
        self._listening.close()
        await asyncio.sleep(0.01)  # one poll of the sockets: requests that had arrived already are accepted
        connections = self._connections
        for connection in list(connections):
            connection.finish()
        give_up = self._loop.time() + STOP_SECONDS
        while (connections or not all(one.is_idle for one in self._writers)) and self._loop.time() < give_up:
            await asyncio.sleep(0.01)
        for connection in list(connections):
            connection.abort()
        self._timer.cancel()
        for writer in self._writers:
            writer.close()
        self._context.slow_reads.close()
        await asyncio.sleep(0)

    def _tick(self) -> None:
        context = self._context
        context.renderer.renew(self._world.now())
        now = self._loop.time()
        for connection in list(self._connections):
            connection.tick(now)
        self._timer = self._loop.call_later(context.limits.tick_seconds, self._tick)


def check_reach(host: str, credentials: Mapping[str, AccessKey] | None) -> None:
    """Raise OpenToTheNetwork if another machine could call without a key."""
    if credentials is None and not is_loopback(host):
        raise OpenToTheNetwork(host)


def is_loopback(host: str) -> bool:
    """Whether every address of this host name is a loopback address."""
    if not host:
        return False
    try:
        found = [entry[4][0] for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except OSError:
        return True  # no address at all: listening fails with the system's own error
    return all(ip_address(str(address).partition("%")[0]).is_loopback for address in found)


def new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's event loop if it is installed, else asyncio's."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class ServerOptions(TypedDict, total=False):
    """The keyword arguments of `Server.open`, with its defaults."""

    host: str
    port: int
    credentials: Mapping[str, AccessKey] | None
    metrics_token: str | None
    world: World | None
    limits: Limits | None


def serve(
    engine: Engine | Regions,
    *,
    ready: Callable[[str], None] = lambda url: None,
    **options: Unpack[ServerOptions],
) -> None:
    """Serve until SIGTERM or SIGINT; a second one ends the process. `ready` is called with the URL."""

    async def main() -> None:
        stop = asyncio.Event()
        stop_on_signal(stop.set)
        server = await Server.open(engine, **options)
        ready(server.url)
        await stop.wait()
        await server.close()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(main())
    exit_on_signal()


@contextmanager
def serving(engine: Engine | Regions, **options: Unpack[ServerOptions]) -> Iterator[str]:
    """A server in a thread of this process while the block lasts, on any free port: `with serving(engine) as url:`."""
    options.setdefault("port", 0)
    loop = new_loop()
    thread = threading.Thread(target=loop.run_forever, name="tablewright-wire", daemon=True)
    thread.start()
    try:
        server = asyncio.run_coroutine_threadsafe(Server.open(engine, **options), loop).result()
        try:
            yield server.url
        finally:
            asyncio.run_coroutine_threadsafe(server.close(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
