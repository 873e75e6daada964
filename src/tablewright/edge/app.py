"""An HTTP app from routers, and the server that runs it.

The middleware, outermost first: spans if they are wanted, request id and log line, HEAD, page headers, compression,
faults, host, same origin, bodies, routes.
Must hold: a server that stops answers the requests it has accepted. Only the proxies that were named may set the
caller's address.
Elsewhere: each middleware (request_ids.py, security.py, csrf.py, problems.py, request_bodies.py), routers (routes.py).
"""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.applications import Starlette
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from tablewright.client import TransactionRefused
from tablewright.edge.access import describe_access
from tablewright.edge.compression import Compression, StaticContent
from tablewright.edge.connections import ConnectionLimits, Connections, TimedProtocol, limits_of_this_process
from tablewright.edge.csrf import SameOrigin
from tablewright.edge.errors import CallerError, contended, problem_for
from tablewright.edge.head_requests import HeadRequests
from tablewright.edge.health import Check, health_router
from tablewright.edge.identity.verifier import Verifier
from tablewright.edge.problems import RESPONSES, Translations, install
from tablewright.edge.query_parameters import only_known_parameters
from tablewright.edge.request_bodies import BODY_BYTES, HELD_BYTES, BodyLimit
from tablewright.edge.request_ids import Answered, RequestIds
from tablewright.edge.routes import MountedRouter, RoutesByPrefix, include
from tablewright.edge.security import LOOPBACK_HOSTS, Hosts, PageHeaders
from tablewright.edge.unusable_keys import refuse_unusable_values
from tablewright.signals import exit_on_signal, stop_on_signal
from tablewright.world import World

STOP_SECONDS = 10
HALF_SENT_SECONDS = 1
IDLE_SECONDS = 30
# FastAPI's own is on if the process has a provider, and records paths, query strings and messages of errors, which may
# be personal: `spans` does without them. Versions that have none ignore this.
_NO_TELEMETRY: Any = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


def make_app(
    title: str,
    world: World,
    *,
    verifier: Verifier | None = None,
    routers: Sequence[APIRouter | MountedRouter] = (),
    checks: Mapping[str, Check] | None = None,
    translations: Translations | None = None,
    unusable: tuple[type[Exception], ...] = (),
    hosts: Collection[str] = LOOPBACK_HOSTS,
    body_bytes: int = BODY_BYTES,
    larger_bodies: Mapping[str, int] | None = None,
    streamed_bodies: Mapping[str, int] | None = None,
    held_bytes: int = HELD_BYTES,
    version: str = "1",
    lifespan: Any = None,
    answered: Answered | None = None,
    spans: Callable[[ASGIApp], ASGIApp] | None = None,
) -> FastAPI:
    """An app with all middleware around its routers. `hosts` are its host names, by default those of this machine.

    `unusable` are the errors of the store about a value in the request that cannot be a key. `answered` is told the
    path and the status of each response. `spans` goes around everything (request_spans.py).
    """
    app = FastAPI(
        title=title,
        version=version,
        openapi_url=None,  # _describe adds it
        redirect_slashes=False,  # one path for one resource; and a redirect would repeat the query string
        responses=RESPONSES,
        lifespan=lifespan,
        telemetry=_NO_TELEMETRY,
    )
    app.state.verifier, app.state.known_parameters = verifier, {}
    for each in (health_router(checks or {}), *routers):
        if isinstance(each, MountedRouter):
            # APIs refuse unknown parameters; pages have no tags.
            strict = [Depends(only_known_parameters)] if each.tags else []
            include(app.router, each.router, each.path, tags=each.tags, dependencies=strict)
        else:
            include(app.router, each)
    _describe(app, "/openapi.json")
    app.router.middleware_stack = RoutesByPrefix(app.router)
    # Each added middleware goes around those before it.
    app.add_middleware(
        BodyLimit, most=body_bytes, larger=larger_bodies, streamed=streamed_bodies, held_bytes=held_bytes
    )
    app.add_middleware(SameOrigin)
    app.add_middleware(Hosts, allowed=hosts)
    install(app, {CallerError: problem_for, TransactionRefused: contended, **(translations or {})})
    refuse_unusable_values(app, unusable)
    app.add_middleware(Compression)
    app.add_middleware(PageHeaders)
    app.add_middleware(HeadRequests)
    app.add_middleware(RequestIds, world=world, answered=answered)
    if spans is not None:
        app.add_middleware(spans)
    return app


def _describe(app: FastAPI, path: str) -> None:
    """Serve the API's description at a path; it is made once, also for concurrent requests.

    Making it takes seconds in a large app: FastAPI's own route would do that on the event loop, which would block all
    other requests.
    """
    make, lock = app.openapi, threading.Lock()
    cached: list[StaticContent] = []

    def described() -> dict[str, Any]:
        with lock:
            return describe_access(make(), app.routes)

    def answer(request: Request) -> Response:
        if not cached:
            cached.append(StaticContent(bytes(JSONResponse(described()).body), "application/json"))
        return cached[0].response(request)

    app.openapi = described  # type: ignore[method-assign]  # FastAPI's documented way to have one's own
    app.add_route(path, answer, include_in_schema=False)


class CannotListen(OSError):
    """The address is in use, unknown, or not allowed to this process."""

    def __init__(self, host: str, port: int, why: OSError) -> None:
        super().__init__(
            f"cannot listen on {host} port {port}: {os.strerror(why.errno) if why.errno else why}; "
            "another port or address may be free"
        )


class AppDidNotStart(RuntimeError):
    """The app's start-up failed; the log says where."""

    def __init__(self) -> None:
        super().__init__("the app failed during start-up; see the log")


def listening(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """A listening socket, so that its URL is known before the app is made; port 0 is any free port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotListen(host, port, error) from error
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(1024)
    except OSError as error:
        opened.close()
        raise CannotListen(host, port, error) from error
    return opened


def url_of(opened: socket.socket) -> str:
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """uvicorn's server with our signal handling, timeouts, and a callback when it is ready."""

    def __init__(
        self,
        app: Starlette,
        opened: socket.socket,
        proxies: Sequence[str],
        ready: Callable[[], None],
        limits: ConnectionLimits | None = None,
    ) -> None:
        # A trusted proxy forwards many callers, and is not counted as one.
        trusted = ProxyHeadersMiddleware(app, list(proxies)).trusted_hosts  # type: ignore[arg-type]  # Starlette's types
        self._connections = Connections(limits or limits_of_this_process(), trusted.__contains__)
        config = uvicorn.Config(
            app,
            http=partial(TimedProtocol, self._connections),  # type: ignore[arg-type]  # uvicorn only calls it
            log_config=None,
            access_log=False,  # request_ids.py writes the line, without the path
            server_header=False,
            lifespan="on",
            ws="none",
            proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies),
            timeout_keep_alive=IDLE_SECONDS,
        )
        super().__init__(config)
        self._opened, self._ready = opened, ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # uvicorn would raise the signal again after a clean stop, and the command would not exit with 0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit:
            raise AppDidNotStart from None
        self._ready()

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:  # ten ticks are a second
            self._connections.check_timeouts(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    def stop(self) -> None:
        """Answer the requests that were accepted, then stop."""
        self.should_exit = True

    async def _wait_tasks_to_complete(self) -> None:
        """Give requests time to be answered, and incomplete ones a moment to arrive; then end them all."""
        state, clock = self.server_state, asyncio.get_running_loop().time
        began = clock()
        while (state.connections or state.tasks) and clock() - began < STOP_SECONDS:
            await asyncio.sleep(0.05)
            if clock() - began > HALF_SENT_SECONDS:
                self._connections.end_half_sent()
        self._connections.end_all()
        await asyncio.sleep(
            0.05
        )  # the connections are closed, so that nothing is sent for cancelled requests
        for task in list(state.tasks):
            task.cancel()
        for server in self.servers:
            await server.wait_closed()

    def run_here(self, *, until_signal: bool) -> None:
        async def main() -> None:
            if until_signal:
                stop_on_signal(self.stop)
            await self.serve([self._opened])

        with self._opened, asyncio.Runner(loop_factory=self.config.get_loop_factory()) as runner:
            runner.run(main())
        if until_signal:
            exit_on_signal()


def run(
    app: Starlette,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    opened: socket.socket | None = None,
    proxies: Sequence[str] = (),
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until SIGTERM or SIGINT; a second one ends the process. `ready` is called with the URL.

    `proxies` are the addresses whose X-Forwarded-For and -Proto are trusted.
    """
    opened = opened or listening(host, port)
    url = url_of(opened)
    _Server(app, opened, proxies, lambda: ready(url)).run_here(until_signal=True)


@contextmanager
def serving_app(
    app: FastAPI,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    opened: socket.socket | None = None,
    proxies: Sequence[str] = (),
    limits: ConnectionLimits | None = None,
) -> Iterator[str]:
    """The app in a thread of this process while the block lasts: `with serving_app(app) as url:`."""
    opened = opened or listening(host, port)
    url = url_of(opened)
    started = threading.Event()
    failure: list[BaseException] = []
    server = _Server(app, opened, proxies, started.set, limits)

    def work() -> None:
        try:
            server.run_here(until_signal=False)
        except BaseException as error:  # raised in the waiting thread
            failure.append(error)
        finally:
            started.set()

    thread = threading.Thread(target=work, name="tablewright-edge", daemon=True)
    thread.start()
    started.wait()
    try:
        if failure:
            raise failure[0]
        yield url
    finally:
        server.stop()
        thread.join()
