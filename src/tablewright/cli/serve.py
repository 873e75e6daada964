"""`tablewright serve`: every system, or one, the workbench and the DynamoDB API in one process, until it is stopped.

Prints the URLs to stdout and the progress of seeding to stderr. SIGTERM or Ctrl-C finishes accepted requests and exits
0; a second one exits at once, with 130 or 143.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from tablewright.app.copies.store import CopiesUnusable
from tablewright.app.mail import PASSWORD, MailMistake, password_in, smtp_from
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import DemoIsForThisMachine, app_of, check_reach
from tablewright.app.systems import SYSTEMS
from tablewright.app.token_secret import SecretUnusable
from tablewright.cli.argument_types import port
from tablewright.cli.engine_options import add_engine_options, add_server_options, collect_rarely
from tablewright.cli.hints import command_hint
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.progress import Terminal
from tablewright.cli.stderr_logs import log_to_stderr
from tablewright.edge import CannotListen as CannotListenHere
from tablewright.edge import listening, url_of
from tablewright.edge import run as run_app
from tablewright.edge.connections import raise_file_limit
from tablewright.edge.json_logs import log_as_json
from tablewright.engine import BucketsUnknown, NotAStore, RegionsMistake, StoreInUse
from tablewright.kit.keyring import SecretUnusable as KeyringUnusable
from tablewright.kit.keyring_check import SecretsAreOthers
from tablewright.kit.objects.settings import ObjectsUnusable
from tablewright.kit.system import System
from tablewright.mapping import TableDiffers
from tablewright.systems.parental.cache import CacheMistake
from tablewright.systems.travel.account.apple import AppleSettingsUnusable
from tablewright.wire import CannotListen as CannotListenThere
from tablewright.wire.server import is_loopback

EXAMPLES = """Anyone can sign in as a demo user, so the server listens only on this machine. With --no-demo-sign-in
people sign in to accounts with a code sent by e-mail, and another --host is allowed; give the server's host names
with --name. With --only, one system is served alone: its pages (/ leads there), its API, its jobs and its mail.

tablewright serve
tablewright serve --only portal --port 9000 --no-dynamodb --memory"""
ERRORS = (
    CacheMistake, CopiesUnusable, ObjectsUnusable, AppleSettingsUnusable, SecretsAreOthers, KeyringUnusable,
    DemoIsForThisMachine, SecretUnusable, MailMistake, StoreInUse, NotAStore, BucketsUnknown, RegionsMistake,
    TableDiffers,
)  # fmt: skip


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
    add_engine_options(parser)
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
    systems = _systems(given.only)
    progress = Terminal(sys.stderr, prefix="tablewright: seeding ")
    if is_demo and given.open_sign_up:
        raise UsageError("--open-sign-up needs --no-demo-sign-in")
    try:
        check_reach(given.host, is_demo)  # before a store is created
        _warn(given)
        mail = _mail(given)
        with (
            listening(given.host, given.port) as opened,
            open_app(
                given.data,
                memory=given.memory,
                systems=systems,
                url=given.url or url_of(opened),
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
            ) as runtime,
        ):
            progress.end()
            app = app_of(
                runtime,
                is_demo=is_demo,
                open_sign_up=given.open_sign_up,
                hosts=given.name,
                port=int(url_of(opened).rpartition(":")[2]),
                is_https=is_https(given),
                url=given.url or "",
                has_workbench=given.only is None,
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


def _names() -> str:
    return ", ".join(f"{system.name} ({system.title})" for system in SYSTEMS)


def _systems(only: str | None) -> tuple[System, ...]:
    """The systems to serve: all, or the one of this name."""
    found = tuple(system for system in SYSTEMS if only in (None, system.name))
    if not found:
        raise UsageError(f"there is no system '{only}'; the systems are {_names()}")
    return found


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


def ready_lines(given: argparse.Namespace, url: str, runtime: Runtime) -> str:
    """The URLs and locations, one line each."""
    if given.only:
        (system,) = (each.system for each in runtime.running)
        lines = [f"{system.title}   {url}/", f"API       {url}/{system.name}"]
    else:
        lines = [f"console   {url}/"]
        for each in runtime.running:
            area = "/console" if each.system.pages else ""
            lines.append(f"{each.system.title}   {url}{area}/{each.system.name}")
        lines.append(f"API docs  {url}/docs")
    if runtime.dynamodb_url:
        lines.append(f"DynamoDB  {runtime.dynamodb_url} (any AWS SDK; any keys)")
    lines.append(
        f"data      {'memory, lost at exit' if given.memory else f'{given.data} ({given.durability})'}"
    )
    # Without demo sign-in the first code must be read before anyone can open that page.
    page = "/demo/mail" if given.only else "/console/designs/mail"
    mail_at = runtime.mail.way.where if given.no_demo_sign_in else f"{url}{page}"
    lines.append(f"mail      {runtime.mail.way.where if given.smtp else f'not sent; read it at {mail_at}'}")
    if given.copies:
        lines.append(f"copies    once a day to {given.copies}")
    lines += [f"copies    {advice}" for advice in runtime.advice]
    if given.no_demo_sign_in and runtime.dynamodb_url:
        add = command_hint(argparse.Namespace(endpoint=runtime.dynamodb_url), "people", "add", "ADDRESS")
        lines.append(f"people    add an account with `{add}`")
    return "\n".join(f"tablewright: {line}" for line in [*lines, "ready; Ctrl-C stops it"])
