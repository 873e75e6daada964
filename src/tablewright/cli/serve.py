"""`tablewright serve`: every system, or one, the workbench and the DynamoDB API in one process, until it is stopped.

Prints the URLs to stdout and the progress of seeding to stderr. SIGTERM or Ctrl-C finishes accepted requests and exits
0; a second one exits at once, with 130 or 143.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from tablewright.app.alarms.webhook import WebhookUnusable
from tablewright.app.copies.store import CopiesUnusable
from tablewright.app.endpoint import EndpointMistake
from tablewright.app.mail import PASSWORD, MailMistake, password_in, smtp_from
from tablewright.app.own_designs import DesignNameUnusable, own_system
from tablewright.app.runtime import Runtime, open_app, open_on_endpoint
from tablewright.app.serve import DemoIsForThisMachine, app_of, check_reach
from tablewright.app.systems import SYSTEMS
from tablewright.app.token_secret import SecretUnusable
from tablewright.cli.argument_types import port
from tablewright.cli.designs import FORMS, load_designs
from tablewright.cli.endpoint_options import (
    add_endpoint_options,
    check_endpoint_options,
    cookie_port,
    is_on_endpoint,
    open_endpoint,
    refuse_lacking,
)
from tablewright.cli.engine_options import add_engine_options, add_server_options, collect_rarely
from tablewright.cli.hints import command_hint
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.progress import Terminal
from tablewright.cli.stderr_logs import log_to_stderr
from tablewright.client import CallFailed, CredentialsUnusable, EndpointUnusable, RegionUnusable
from tablewright.design import DesignMistake
from tablewright.edge import CannotListen as CannotListenHere
from tablewright.edge import listening, url_of
from tablewright.edge import run as run_app
from tablewright.edge.connections import raise_file_limit
from tablewright.edge.identity import KeyFileExposed, KeyFileUnusable
from tablewright.edge.json_logs import log_as_json
from tablewright.edge.mail_addresses import NotAnAddress, normalise_address
from tablewright.engine import BucketsUnknown, NotAStore, RegionsMistake, StoreInUse
from tablewright.kit.cache import CacheMistake
from tablewright.kit.keyring import SecretUnusable as KeyringUnusable
from tablewright.kit.keyring_check import SecretsAreOthers
from tablewright.kit.objects.settings import ObjectsUnusable
from tablewright.kit.settings import SettingsUnusable
from tablewright.kit.system import System, SystemsClash
from tablewright.mapping import Observe, TableDiffers
from tablewright.systems.parental.errors import FirewallOfOneProcess
from tablewright.systems.travel.account.apple import AppleSettingsUnusable
from tablewright.wire import CannotListen as CannotListenThere
from tablewright.wire.server import is_loopback

EXAMPLES = """Anyone can sign in as a demo user, so the server listens only on this machine. With --no-demo-sign-in
people sign in to accounts with a code sent by e-mail, and another --host is allowed; give the server's host names
with --name. With --only, one system is served alone: its pages (/ leads there), its API, its jobs and its mail.

With --design, a design of your own gets tables in the store and every page of the workbench: tables, keys, patterns
that run, items, cost, heat, findings, pictures, metrics. A Python file is executed. --no-systems leaves the shipped
systems out.

With --endpoint or --amazon the tables are elsewhere and any number of processes can serve them: each needs the same
--secrets, --objects and --url.

tablewright serve --design shop.py:SHOP
tablewright serve --only portal --port 9000 --no-dynamodb --memory"""
ERRORS = (
    CacheMistake, CopiesUnusable, ObjectsUnusable, SettingsUnusable, AppleSettingsUnusable, SecretsAreOthers,
    KeyringUnusable, DemoIsForThisMachine, SecretUnusable, MailMistake, StoreInUse, NotAStore, BucketsUnknown,
    RegionsMistake, TableDiffers, EndpointMistake, CallFailed, CredentialsUnusable, EndpointUnusable, RegionUnusable,
    KeyFileExposed, KeyFileUnusable, WebhookUnusable, FirewallOfOneProcess, DesignMistake, DesignNameUnusable,
    SystemsClash,
)  # fmt: skip

# Both need the extra `otel`.
_TELEMETRY = ("tablewright.mapping.telemetry", "tablewright.edge.request_spans")


def arguments(parser: argparse.ArgumentParser) -> None:
    add_server_options(parser, 8080)
    dynamodb = parser.add_mutually_exclusive_group()
    dynamodb.add_argument(
        "--dynamodb-port",
        type=port,
        default=8000,
        metavar="PORT",
        help="port of the DynamoDB API on this machine, 0 for a free port (default: %(default)s)",
    )
    dynamodb.add_argument("--no-dynamodb", action="store_true", help="do not serve the DynamoDB API")
    parser.add_argument(
        "--only",
        metavar="SYSTEM",
        help=f"serve one system and nothing else, without the workbench: {_names()}",
    )
    parser.add_argument(
        "--design",
        action="append",
        default=[],
        metavar="NAME",
        help=f"a design of your own beside the shipped systems: {FORMS}; can be repeated",
    )
    parser.add_argument(
        "--no-systems",
        action="store_true",
        help="serve only the designs of --design, without the shipped systems",
    )
    parser.add_argument("--no-seed", action="store_true", help="start with empty systems, without demo data")
    parser.add_argument("--no-demo-sign-in", action="store_true", help="disable sign-in as a demo user")
    parser.add_argument(
        "--open-sign-up",
        action="store_true",
        help="anyone with an e-mail address can create an account without roles (otherwise: `tablewright people add`)",
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="HOST",
        help="a further host name of this server; can be repeated",
    )
    parser.add_argument(
        "--https",
        action="store_true",
        help="a proxy in front serves HTTPS: send cookies over HTTPS only (implied by an https --url)",
    )
    parser.add_argument(
        "--proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="the address of a trusted proxy, whose X-Forwarded-For is used for rate limits; can be repeated "
        "(default: all clients behind a proxy count as one)",
    )
    parser.add_argument(
        "--url",
        metavar="URL",
        help="the public URL of this server, for links in mail and redirects from Apple (default: the listening "
        "address)",
    )
    parser.add_argument(
        "--smtp",
        metavar="URL",
        help="the mail server: smtp://user@host:587 (STARTTLS), smtps://user@host:465, or smtp+plain://host:25 without "
        "TLS and password. The password is in TABLEWRIGHT_SMTP_PASSWORD or in --smtp-password-file. Without --smtp, "
        "mail is "
        "kept in the directory mail of the store and shown in the console",
    )
    parser.add_argument(
        "--smtp-password-file",
        metavar="FILE",
        help="a file with the SMTP password that only its owner can read",
    )
    parser.add_argument(
        "--mail-from", metavar="WHO", help="the sender address, such as 'Example Ltd <post@example.com>'"
    )
    parser.add_argument(
        "--cache",
        metavar="URL",
        help="a Redis server as cache: redis://host:6379/0; needs tablewright[redis] (default: a cache in this "
        "process)",
    )
    parser.add_argument(
        "--log",
        choices=("faults", "json"),
        default="faults",
        help="faults: errors only, as text; json: errors and a line per request (default: %(default)s)",
    )
    parser.add_argument(
        "--otel",
        action="store_true",
        help="record a span for each HTTP request and each access pattern, and metrics, with the providers of "
        "OpenTelemetry that the process has; needs tablewright[otel]",
    )
    add_endpoint_options(parser)
    add_engine_options(parser)
    parser.add_argument(
        "--copies",
        metavar="DIR",
        help="where to write a daily copy of each table whose design asks for one: an existing directory (another "
        "disk or a mount) or s3://bucket/prefix (another region)",
    )
    parser.add_argument(
        "--alarm-mail",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="an address that is told of alarms by mail, besides the accounts with the role engineer; can be repeated",
    )
    parser.add_argument(
        "--alarm-webhook",
        metavar="URL",
        help="post each change of an alarm to this address, as JSON (TABLEWRIGHT_ALARM_WEBHOOK if it is a secret)",
    )


def run(given: argparse.Namespace) -> int:
    """Open the systems, serve them, close them."""
    if given.log == "json":
        log_as_json()
    else:
        log_to_stderr()
    raise_file_limit()
    is_demo = not given.no_demo_sign_in
    systems = _systems(given)
    progress = Terminal(sys.stderr, prefix="tablewright: seeding ")
    if is_demo and given.open_sign_up:
        raise UsageError("--open-sign-up needs --no-demo-sign-in")
    if given.url is not None:
        _check_url(given.url)
    check_endpoint_options(given)
    try:
        check_reach(given.host, is_demo)  # before a store is created
        refuse_lacking(given, systems)
        _warn(given)
        mail = _mail(given)
        observe, spans = telemetry() if given.otel else (None, None)
        with (
            listening(given.host, given.port) as opened,
            _opened(given, systems, given.url or url_of(opened), mail, progress, observe) as runtime,
        ):
            progress.end()
            app = app_of(
                runtime,
                is_demo=is_demo,
                open_sign_up=given.open_sign_up,
                hosts=given.name,
                port=cookie_port(given.url if is_on_endpoint(given) else url_of(opened)),
                is_https=is_https(given),
                url=given.url or "",
                has_workbench=given.only is None,
                spans=spans,
            )
            collect_rarely()
            run_app(
                app,
                opened=opened,
                proxies=given.proxy,
                ready=lambda url: print(ready_lines(given, url, runtime), flush=True),
            )
    except CannotListenHere as error:
        raise UsageError(f"{error} (--port 0 takes a free port)") from None
    except CannotListenThere as error:
        raise UsageError(
            f"DynamoDB API: {str(error).partition(';')[0]}; "
            "choose another port (--dynamodb-port 8001) or switch it off (--no-dynamodb)"
        ) from None
    finally:
        progress.end()
    return 0


@contextmanager
def _opened(
    given: argparse.Namespace,
    systems: tuple[System, ...],
    url: str,
    mail: Any,
    progress: Terminal,
    observe: Observe | None,
) -> Iterator[Runtime]:
    """The systems, over tables on an endpoint or over a store of this process."""
    seed, cache = not given.no_seed, given.cache
    told = _alarm_mail(given)
    webhook = given.alarm_webhook or os.environ.get("TABLEWRIGHT_ALARM_WEBHOOK") or None
    if is_on_endpoint(given):
        with (
            open_endpoint(given) as endpoint,
            open_on_endpoint(
                endpoint,
                systems=systems,
                url=url,
                seed=seed,
                progress=progress,
                mail=mail,
                cache=cache,
                alarm_mail=told,
                alarm_webhook=webhook,
                observe=observe,
            ) as runtime,
        ):
            yield runtime
        return
    with open_app(
        given.data,
        memory=given.memory,
        systems=systems,
        url=url,
        durability=given.durability,
        dynamodb_port=None if given.no_dynamodb else given.dynamodb_port,
        seed=seed,
        progress=progress,
        ttl_seconds=given.ttl_seconds,
        ttl_lag=given.ttl_lag,
        throttling=given.throttle,
        buckets=given.buckets,
        also_regions=given.also_region,
        mail=mail,
        cache=cache,
        copies=given.copies,
        alarm_mail=told,
        alarm_webhook=webhook,
        observe=observe,
    ) as runtime:
        yield runtime


def telemetry() -> tuple[Observe, Callable[[ASGIApp], ASGIApp]]:
    """What is around requests to the tables, and around HTTP requests; imported only where it is asked for."""
    try:
        tables, requests = map(import_module, _TELEMETRY)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"--otel needs {error.name}; install it with: pip install 'tablewright[otel]'"
        ) from None
    return tables.Telemetry(), requests.RequestSpans


def _check_url(url: str) -> None:
    """Logins name it and mail leads to it, so it must be an address that people can open."""
    parts = urlsplit(url)
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise UsageError(f"--url {url}: not an address; write it as https://app.example.com")


def _names() -> str:
    return ", ".join(f"{system.name} ({system.title})" for system in SYSTEMS)


def _systems(given: argparse.Namespace) -> tuple[System, ...]:
    """The systems to serve: all or the one of --only, and the user's own designs."""
    if given.only is not None and (given.design or given.no_systems):
        raise UsageError(
            "--only serves one shipped system; for your own designs alone use --design with --no-systems"
        )
    if given.no_systems and not given.design:
        raise UsageError("--no-systems needs a design to serve: add --design " + FORMS)
    shipped = () if given.no_systems else tuple(each for each in SYSTEMS if given.only in (None, each.name))
    if given.only is not None and not shipped:
        raise UsageError(f"there is no system '{given.only}'; the systems are {_names()}")
    return (*shipped, *(own_system(load_designs(named), named) for named in given.design))


def is_https(given: argparse.Namespace) -> bool:
    """True if the options say that browsers reach this server over HTTPS."""
    return bool(given.https or (given.url or "").lower().startswith("https://"))


def _warn(given: argparse.Namespace) -> None:
    if not is_loopback(given.host) and not is_https(given):
        print_message(
            f"tablewright: {given.host} is reachable without HTTPS, so sessions can be stolen on the network. Put an "
            "HTTPS proxy in front and name it with --url https://..."
        )


def _mail(given: argparse.Namespace) -> Any:
    """The SMTP sender; None if mail is kept in the store's directory."""
    if given.smtp is None:
        if given.mail_from or given.smtp_password_file:
            raise MailMistake(
                "--mail-from and --smtp-password-file need --smtp, such as --smtp smtp://user@host:587"
            )
        return None
    if not given.mail_from:
        raise MailMistake("--smtp needs a sender; add --mail-from 'Example Ltd <post@example.com>'")
    file = given.smtp_password_file
    password = password_in(Path(file)) if file else os.environ.get(PASSWORD, "")
    return smtp_from(given.smtp, given.mail_from, password)


def _alarm_mail(given: argparse.Namespace) -> list[str]:
    """The addresses that are told of alarms."""
    try:
        return [normalise_address(address) for address in given.alarm_mail]
    except NotAnAddress as error:
        raise UsageError(f"--alarm-mail: {error}") from None


def ready_lines(given: argparse.Namespace, url: str, runtime: Runtime) -> str:
    """The URLs and locations, one line each."""
    if given.only:
        (system,) = (each.system for each in runtime.running)
        lines = [f"{system.title}   {url}/", f"API       {url}/{system.name}"]
    else:
        lines = [f"console   {url}/"]
        for each in runtime.running:
            area = "/console" if each.system.pages else "" if each.system.router else "/console/designs"
            lines.append(f"{each.system.title}   {url}{area}/{each.system.name}")
        lines.append(f"API docs  {url}/docs")
    if runtime.dynamodb_url:
        lines.append(f"DynamoDB  {runtime.dynamodb_url} (any AWS SDK; any keys)")
    lines += _data_lines(given, runtime)
    # Without demo sign-in the first code must be read before anyone can open that page.
    page = "/demo/mail" if given.only else "/console/designs/mail"
    mail_at = runtime.mail.way.where if given.no_demo_sign_in else f"{url}{page}"
    lines.append(f"mail      {runtime.mail.way.where if given.smtp else f'not sent; read it at {mail_at}'}")
    if given.copies:
        lines.append(f"copies    once a day to {given.copies}")
    lines += [f"copies    {advice}" for advice in runtime.advice]
    if given.no_demo_sign_in and (runtime.dynamodb_url or runtime.place.shared):
        target = given if runtime.place.shared else argparse.Namespace(endpoint=runtime.dynamodb_url)
        add = command_hint(target, "people", "add", "ADDRESS")
        lines.append(f"people    add an account with `{add}`")
    return "\n".join(f"tablewright: {line}" for line in [*lines, "ready; Ctrl-C stops it"])


def _data_lines(given: argparse.Namespace, runtime: Runtime) -> list[str]:
    shared = runtime.place.shared
    if shared is None:
        return [
            f"data      {'memory, lost at exit' if given.memory else f'{given.data} ({given.durability})'}"
        ]
    named = f" (environment {given.environment})" if given.environment else ""
    return [
        f"tables    {shared.name}{named}",
        f"objects   {shared.objects}",
        f"secrets   {given.secrets or f'the variable {given.secrets_variable}'}",
        f"backups   {_backups_words(given, runtime)}",
    ]


def _backups_words(given: argparse.Namespace, runtime: Runtime) -> str:
    if not given.backups:
        return "left to the endpoint (--backups makes them here)"
    kept = [
        f"{each.system.title}: {wanted.schedule}, kept {wanted.keep_days} days"
        for each in runtime.running
        if (wanted := each.here.backups) is not None
    ]
    return "; ".join(kept) or f"none: the designs state none for {given.environment}"
