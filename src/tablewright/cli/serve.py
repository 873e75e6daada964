"""`tablewright serve`: every system, the console and the DynamoDB API in one process, until it is stopped.

Prints the URLs to stdout and the progress of seeding to stderr. SIGTERM or Ctrl-C finishes accepted requests and exits
0; a second one exits at once, with 130 or 143.
"""

import argparse
import gc
import os
import sys
from pathlib import Path
from typing import Any

from tablewright.app.copies.store import CopiesUnusable
from tablewright.app.mail import PASSWORD, MailMistake, password_in, smtp_from
from tablewright.app.progress import Terminal
from tablewright.app.runtime import open_app
from tablewright.app.serve import DemoIsForThisMachine, app_of, check_reach
from tablewright.app.token_secret import SecretUnusable
from tablewright.cli import engine_options
from tablewright.cli.engine_serve import port
from tablewright.cli.files import buckets_location, error_text
from tablewright.cli.hints import command_hint
from tablewright.cli.stderr_logs import log_to_stderr
from tablewright.edge import CannotListen as CannotListenHere
from tablewright.edge import listening, url_of
from tablewright.edge import run as run_app
from tablewright.edge.connections import raise_file_limit
from tablewright.edge.json_logs import log_as_json
from tablewright.engine import BucketsUnknown, NotAStore, RegionsMistake, StoreInUse
from tablewright.kit.bucket_objects import ObjectsUnusable
from tablewright.mapping import TableDiffers
from tablewright.systems.parental.cache import CacheMistake
from tablewright.systems.travel.account.apple import AppleSettingsUnusable
from tablewright.systems.travel.account.keyring import SecretUnusable as TravelSecretUnusable
from tablewright.systems.travel.account.keyring_check import SecretsAreOthers
from tablewright.wire import CannotListen as CannotListenThere
from tablewright.wire.server import is_loopback

EXAMPLES = """Anyone can sign in as a demo user, so the server listens only on this machine. With --no-demo-sign-in
people sign in to accounts with a code sent by e-mail, and another --host is allowed; give the server's host names
with --name.

examples:
  tablewright serve
  tablewright serve --port 9000 --no-dynamodb --memory"""
# Errors that the caller can correct: a port in use, a store in use, a wrong setting.
STARTUP_ERRORS = (
    CacheMistake,
    CopiesUnusable,
    ObjectsUnusable,
    AppleSettingsUnusable,
    SecretsAreOthers,
    TravelSecretUnusable,
    DemoIsForThisMachine,
    SecretUnusable,
    MailMistake,
    StoreInUse,
    NotAStore,
    BucketsUnknown,
    RegionsMistake,
    TableDiffers,
    OSError,
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=port, default=8080, help="port to listen on, 0 for a free port (default: %(default)s)"
    )
    dynamodb = parser.add_mutually_exclusive_group()
    dynamodb.add_argument(
        "--dynamodb-port",
        type=port,
        default=8000,
        metavar="PORT",
        help="port of the DynamoDB API on this machine, 0 for a free port (default: %(default)s)",
    )
    dynamodb.add_argument("--no-dynamodb", action="store_true", help="do not serve the DynamoDB API")
    store = parser.add_mutually_exclusive_group()
    store.add_argument("--data", metavar="DIR", default="./data", help="the store (default: %(default)s)")
    store.add_argument("--memory", action="store_true", help="keep everything in memory; it is lost at exit")
    parser.add_argument(
        "--durability",
        choices=("durable", "relaxed"),
        default="durable",
        help="durable: acknowledged writes survive a power loss; relaxed: they survive a crash of this process "
        "(default: %(default)s)",
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
        "mail "
        "is kept in the directory mail of the store and shown in the console",
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
    engine_options.add_ttl_options(parser)
    parser.add_argument(
        "--throttle",
        action="store_true",
        help="throttle requests above provisioned or on-demand capacity, as AWS does",
    )
    parser.add_argument(
        "--also-region",
        action="append",
        default=[],
        metavar="REGION",
        help="a further region in which tables can have replicas; can be repeated",
    )
    parser.add_argument(
        "--buckets",
        type=buckets_location,
        metavar="DIR",
        help="the directory of the buckets for exports and imports (default: buckets in the store); s3: for "
        "Amazon S3, s3:URL for an S3-compatible endpoint",
    )
    parser.add_argument(
        "--copies",
        metavar="DIR",
        help="where to write a daily copy of each table whose design asks for one: an existing directory (another "
        "disk or a mount) or s3://bucket/prefix (another region)",
    )


def run(given: argparse.Namespace) -> int:
    """Open the systems, serve them, close them."""

    if given.log == "json":
        log_as_json()
    else:
        log_to_stderr()
    raise_file_limit()
    is_demo = not given.no_demo_sign_in
    progress = Terminal(sys.stderr, prefix="tablewright: seeding ")
    if is_demo and given.open_sign_up:
        print("tablewright: --open-sign-up needs --no-demo-sign-in", file=sys.stderr)
        return 2
    try:
        check_reach(given.host, is_demo)  # before a store is created
        _warn(given)
        mail = _mail(given)
        opened = listening(given.host, given.port)
        with opened:
            url = url_of(opened)
            with open_app(
                given.data,
                memory=given.memory,
                url=given.url or url,
                durability=given.durability,
                dynamodb_port=None if given.no_dynamodb else given.dynamodb_port,
                seed=not given.no_seed,
                progress=progress,
                ttl_seconds=given.ttl_seconds,
                ttl_lag=given.ttl_lag,
                throttling=given.throttle,
                buckets=given.buckets,
                also_regions=given.also_region,
                mail=mail,
                cache=given.cache,
                copies=given.copies,
            ) as runtime:
                progress.end()
                app = app_of(
                    runtime,
                    is_demo=is_demo,
                    open_sign_up=given.open_sign_up,
                    hosts=given.name,
                    port=int(url.rpartition(":")[2]),
                    is_https=is_https(given),
                    url=given.url or "",
                )
                gc.freeze()  # objects loaded so far are permanent: later collections skip them
                gc.set_threshold(50_000, 20, 100)  # requests create no reference cycles, so collect rarely
                run_app(
                    app,
                    opened=opened,
                    proxies=given.proxy,
                    ready=lambda url: print(ready_lines(given, url, runtime), flush=True),
                )
    except STARTUP_ERRORS as error:
        progress.end()
        print(f"tablewright: {_error_text(given, error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        progress.end()
        return 130
    return 0


def is_https(given: argparse.Namespace) -> bool:
    """True if the options say that browsers reach this server over HTTPS."""
    return bool(given.https or (given.url or "").lower().startswith("https://"))


def _warn(given: argparse.Namespace) -> None:

    if not is_loopback(given.host) and not is_https(given):
        print(
            f"tablewright: {given.host} is reachable without HTTPS, so sessions can be stolen on the network. Put an "
            "HTTPS "
            "proxy in front and name it with --url https://...",
            file=sys.stderr,
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


def _error_text(given: argparse.Namespace, error: Exception) -> str:

    if isinstance(error, CannotListenHere):
        return f"{error} (--port 0 takes a free port)"
    if isinstance(error, CannotListenThere):
        return (
            f"DynamoDB API: {str(error).partition(';')[0]}; "
            "choose another port (--dynamodb-port 8001) or switch it off (--no-dynamodb)"
        )
    return error_text(error)


def ready_lines(given: argparse.Namespace, url: str, runtime: Any) -> str:
    """The URLs and locations, one line each."""
    lines = [f"tablewright: console   {url}/"]
    lines += [
        f"tablewright: {each.system.title}   {url}{'/console' if each.system.pages else ''}/{each.system.name}"
        for each in runtime.running
    ]
    lines.append(f"tablewright: API docs  {url}/docs")
    if runtime.dynamodb_url:
        lines.append(f"tablewright: DynamoDB  {runtime.dynamodb_url} (any AWS SDK; any keys)")
    store = "memory, lost at exit" if given.memory else f"{given.data} ({given.durability})"
    lines.append(f"tablewright: data      {store}")
    # Without demo sign-in the first code must be read before anyone can open that page.
    mail_at = runtime.mail.way.where if given.no_demo_sign_in else f"{url}/console/designs/mail"
    destination = runtime.mail.way.where if given.smtp else f"not sent; read it at {mail_at}"
    lines.append(f"tablewright: mail      {destination}")
    if given.copies:
        lines.append(f"tablewright: copies    once a day to {given.copies}")
    lines += [f"tablewright: copies    {advice}" for advice in runtime.advice]
    if given.no_demo_sign_in and runtime.dynamodb_url:
        add = command_hint(argparse.Namespace(endpoint=runtime.dynamodb_url), "people", "add", "ADDRESS")
        lines.append(f"tablewright: people    add an account with `{add}`")
    lines.append("tablewright: ready; Ctrl-C stops it")
    return "\n".join(lines)
