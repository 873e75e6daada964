"""The whole of an HTTP system: routers in, an app out; and the app behind a port.

The layers, outermost first: request id and log line, page headers, faults, host, same origin, body size, routes.
Must hold: a server that stops answers what it had accepted. Only proxies that were named are believed about the
caller's address.
Elsewhere: each layer (requests.py, security.py, problems.py, limits.py), how routes come together (routes.py).
"""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import JSONResponse

from tablewright.edge.health import Check, health_router
from tablewright.edge.identity.verifier import Verifier
from tablewright.edge.limits import BODY_BYTES, BodyLimit
from tablewright.edge.problems import RESPONSES, Translations, install
from tablewright.edge.requests import RequestIds
from tablewright.edge.routes import Under
from tablewright.edge.security import LOOPBACK_HOSTS, PAGE_HEADERS, Hosts, PageHeaders, SameOrigin
from tablewright.world import World

STOP_SECONDS = 10
IDLE_SECONDS = 30


def make_app(
    title: str,
    world: World,
    *,
    verifier: Verifier | None = None,
    routers: Sequence[APIRouter | Under] = (),
    checks: Mapping[str, Check] | None = None,
    translations: Translations | None = None,
    hosts: Collection[str] = LOOPBACK_HOSTS,
    trusted_origins: Collection[str] = (),
    body_bytes: int = BODY_BYTES,
    larger_bodies: Mapping[str, int] | None = None,
    headers: Mapping[str, str] = PAGE_HEADERS,
    version: str = "1",
    openapi_url: str | None = "/openapi.json",
    lifespan: Any = None,
) -> FastAPI:
    """An app with everything around its routers. `hosts` are the names it goes by: this machine's unless told."""
    app = FastAPI(
        title=title,
        version=version,
        openapi_url=None,  # _describe adds it
        redirect_slashes=False,  # one path for one thing; and a redirect would repeat the query string
        responses=RESPONSES,
        lifespan=lifespan,
    )
    app.state.verifier = verifier
    for each in (health_router(checks or {}), *routers):
        if isinstance(each, Under):
            app.include_router(each.router, prefix=each.path, tags=[*each.tags])
        else:
            app.include_router(each)
    if openapi_url is not None:
        _describe(app, openapi_url)
    # Each added layer goes around those before it.
    app.add_middleware(BodyLimit, most=body_bytes, larger=larger_bodies)
    app.add_middleware(SameOrigin, trusted=trusted_origins)
    app.add_middleware(Hosts, allowed=hosts)
    install(app, translations)
    app.add_middleware(PageHeaders, headers=headers)
    app.add_middleware(RequestIds, world=world)
    return app


def _describe(app: FastAPI, path: str) -> None:
    """The description of the API at a path, made once however many ask for it at once.

    Making it takes seconds in a large app: FastAPI's own route would do that on the event loop, and nobody would be
    answered meanwhile.
    """
    make, lock = app.openapi, threading.Lock()

    def described() -> dict[str, Any]:
        with lock:
            return make()

    def answer(request: Request) -> Response:
        return JSONResponse(described())

    app.openapi = described  # type: ignore[method-assign]  # FastAPI's documented way to have one's own
    app.add_route(path, answer, include_in_schema=False)


class CannotListen(OSError):
    """The address is taken, unknown, or not ours to use."""

    def __init__(self, host: str, port: int, why: OSError) -> None:
        super().__init__(
            f"cannot listen on {host} port {port}: {os.strerror(why.errno) if why.errno else why}; "
            "another port or address may be free"
        )


class AppDidNotStart(RuntimeError):
    """The app's own start-up failed; the log says where."""

    def __init__(self) -> None:
        super().__init__(
            "the app failed while it started, before it answered anything; see the log for where"
        )


def listening(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """A listening socket, so that its URL is known before the app is made (port 0 is any free one)."""
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
    """uvicorn's server, told where signals come from and telling when it is ready."""

    def __init__(
        self, app: FastAPI, opened: socket.socket, proxies: Sequence[str], ready: Callable[[], None]
    ) -> None:
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,  # requests.py writes the line, without the path
            server_header=False,
            lifespan="on",
            ws="none",
            proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies),
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
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

    def stop(self) -> None:
        """Finish what was accepted; asked a second time, leave at once."""
        self.force_exit = self.should_exit
        self.should_exit = True

    def run_here(self, *, until_signal: bool) -> None:
        async def main() -> None:
            if until_signal:
                for number in (signal.SIGTERM, signal.SIGINT):
                    asyncio.get_running_loop().add_signal_handler(number, self.stop)
            await self.serve([self._opened])

        with self._opened, asyncio.Runner(loop_factory=self.config.get_loop_factory()) as runner:
            runner.run(main())


def run(
    app: FastAPI,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    opened: socket.socket | None = None,
    proxies: Sequence[str] = (),
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is told the URL.

    `proxies` are the addresses whose X-Forwarded-For and -Proto are believed.
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
) -> Iterator[str]:
    """The app in a thread of this process while the block lasts: `with serving_app(app) as url:`."""
    opened = opened or listening(host, port)
    url = url_of(opened)
    started = threading.Event()
    failure: list[BaseException] = []
    server = _Server(app, opened, proxies, started.set)

    def work() -> None:
        try:
            server.run_here(until_signal=False)
        except BaseException as error:  # handed to the thread that waits
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
