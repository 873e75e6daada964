"""The HTTP server in front of an engine: listens, keeps time, stops gracefully.

`serve` blocks until a signal, for the command line; `serving` runs in a thread, for tests and notebooks.
Must hold: a server that verifies no signatures listens on loopback only; stopping answers every request
that had arrived, then closes; time comes from World, waiting from the loop.
Elsewhere: one connection's life (connection.py).
"""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_address
from typing import Self

from tablewright.engine import Engine, Regions
from tablewright.wire.connection import Connection, Desk
from tablewright.wire.credentials import AccessKey
from tablewright.wire.gate import gate
from tablewright.wire.group import GroupWriter
from tablewright.wire.letterhead import Letterhead
from tablewright.wire.limits import Limits
from tablewright.wire.metrics import Metrics, text_of
from tablewright.wire.outbox import Outbox
from tablewright.wire.peers import Errands
from tablewright.wire.signature import any_signature, scoped_to, verified_by
from tablewright.world import World, real_world

STOP_SECONDS = 10


class OpenToTheNetwork(ValueError):
    """A server without credentials was asked to listen where others can reach it."""

    def __init__(self, host: str) -> None:
        self.host = host
        super().__init__(
            f"refusing to listen on {host or 'every address'} without credentials: whoever reaches it could "
            "read and change every table. Name the keys that may (--credentials FILE), "
            "or stay on this machine (--host 127.0.0.1)"
        )


class CannotListen(OSError):
    """The address is taken, unknown, or not ours to use."""

    def __init__(self, host: str, port: int, why: OSError) -> None:
        super().__init__(
            f"cannot listen on {host} port {port}: {os.strerror(why.errno) if why.errno else why}; "
            "another port or address may be free (--port, --host)"
        )


class _Branches(dict[str, tuple[Engine, GroupWriter]]):
    """Each region's engine and writer. Who asks for figures may mean no region, or one that is elsewhere."""

    home = ""

    def __missing__(self, region: str) -> tuple[Engine, GroupWriter]:
        return self[self.home]


class Server:
    """A listening socket and its connections; close it."""

    def __init__(
        self, desk: Desk, world: World, listening: asyncio.Server, writers: Sequence[GroupWriter]
    ) -> None:
        self._desk, self._writers = desk, writers
        self._world = world
        self._listening = listening
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(desk.limits.tick_seconds, self._tick)

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
        """Start to listen; raises OpenToTheNetwork or CannotListen."""
        check_reach(host, credentials)
        world, limits = world or real_world(), limits or Limits()
        engines = engine.engines if isinstance(engine, Regions) else {engine.place.region: engine}
        engine = engine[engine.home] if isinstance(engine, Regions) else engine
        authority = any_signature if credentials is None else verified_by(credentials, engines, world.now)
        if len(engines) > 1:
            authority = scoped_to(engines, authority)
        metrics = Metrics(lambda: text_of(engines), None if credentials is None else authority, metrics_token)
        verbs = {verb: engine.writes(verb) for verb in engine.VERBS}
        loop = asyncio.get_running_loop()
        writers = {region: GroupWriter(one, loop) for region, one in engines.items()}
        errands = Errands(loop, engines)
        branches = _Branches({region: (engines[region], writers[region]) for region in engines})
        branches.home = engine.place.region
        desk = Desk(
            engine,
            gate(verbs, authority, engine.place.region, credentials is not None, metrics),
            Letterhead(world),
            writers[engine.place.region],
            Outbox(loop),
            limits,
            errands,
            branches if len(engines) > 1 else None,
        )
        try:
            listening = await loop.create_server(lambda: Connection(desk), host or None, port, backlog=1024)
        except OSError as error:
            for writer in writers.values():
                writer.close()
            errands.close()
            raise CannotListen(host, port, error) from error
        server = cls(desk, world, listening, list(writers.values()))
        # A client that asks where to send its requests must not be sent to Amazon with them.
        for one in engines.values():
            one.place = replace(one.place, address=server.url.partition("//")[2])
        return server

    @property
    def url(self) -> str:
        host, port = self._listening.sockets[0].getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def close(self) -> None:
        """Stop listening, answer what was asked, close. A client that dawdles is cut off in the end."""
        self._listening.close()
        await asyncio.sleep(0.01)  # one look at the sockets: requests that were already there are accepted
        connections = self._desk.connections
        for connection in list(connections):
            connection.leave()
        give_up = self._loop.time() + STOP_SECONDS
        while (connections or not all(one.is_idle for one in self._writers)) and self._loop.time() < give_up:
            await asyncio.sleep(0.01)
        for connection in list(connections):
            connection.abort()
        self._timer.cancel()
        for writer in self._writers:
            writer.close()
        self._desk.errands.close()
        await asyncio.sleep(0)

    def _tick(self) -> None:
        desk = self._desk
        desk.letterhead.renew(self._world.now())
        now = self._loop.time()
        for connection in list(desk.connections):
            connection.look_at_the_clock(now)
        self._timer = self._loop.call_later(desk.limits.tick_seconds, self._tick)


def check_reach(host: str, credentials: Mapping[str, AccessKey] | None) -> None:
    """Raise OpenToTheNetwork if anyone but this machine could call without a key."""
    if credentials is None and not is_loopback(host):
        raise OpenToTheNetwork(host)


def is_loopback(host: str) -> bool:
    """Whether every address this host name stands for stays on this machine."""
    if not host:
        return False
    try:
        found = [entry[4][0] for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except OSError:
        return True  # no address at all: listening fails with the system's own sentence
    return all(ip_address(str(address).partition("%")[0]).is_loopback for address in found)


def new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where there is one, asyncio's own where there is none."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def serve(
    engine: Engine | Regions,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    credentials: Mapping[str, AccessKey] | None = None,
    metrics_token: str | None = None,
    world: World | None = None,
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is told the URL once requests are answered."""

    async def main() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        server = await Server.open(
            engine, host=host, port=port, credentials=credentials, metrics_token=metrics_token, world=world
        )
        ready(server.url)
        await stop.wait()
        await server.close()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(main())


@contextmanager
def serving(
    engine: Engine | Regions,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    credentials: Mapping[str, AccessKey] | None = None,
    metrics_token: str | None = None,
    world: World | None = None,
    limits: Limits | None = None,
) -> Iterator[str]:
    """A server in a thread of this process while the block lasts: `with serving(engine) as url:`."""
    loop = new_loop()
    thread = threading.Thread(target=loop.run_forever, name="tablewright-wire", daemon=True)
    thread.start()
    try:
        opening = Server.open(
            engine,
            host=host,
            port=port,
            credentials=credentials,
            metrics_token=metrics_token,
            world=world,
            limits=limits,
        )
        server = asyncio.run_coroutine_threadsafe(opening, loop).result()
        try:
            yield server.url
        finally:
            asyncio.run_coroutine_threadsafe(server.close(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
