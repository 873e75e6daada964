"""`tablewright serve`: every system, the console and the DynamoDB protocol in one process, until it is told to stop.

Says on stdout what is where; tells how far seeding is on stderr. SIGTERM or Ctrl-C finishes what was accepted and
exits 0.
"""

import argparse
import gc
import os
import sys
from pathlib import Path
from typing import Any

from tablewright.cli import engine_options
from tablewright.cli.engine_serve import port

SUMMARY = (
    "Serve everything: the systems with their APIs, the web console, and DynamoDB's protocol beside them."
)
EXAMPLES = """Anyone may sign in as a person of the demo, so only this machine is listened to. With --no-demo-sign-in
people sign in to accounts, with a code by mail, and another --host may be given; name the hosts it goes by with --name.

examples:
  tablewright serve
  tablewright serve --port 9000 --no-dynamodb --memory"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=port, default=8080, help="port to listen on, 0 for any free one (default: %(default)s)"
    )
    dynamodb = parser.add_mutually_exclusive_group()
    dynamodb.add_argument(
        "--dynamodb-port",
        type=port,
        default=8000,
        metavar="PORT",
        help="port of DynamoDB's protocol on this machine, 0 for any free one (default: %(default)s)",
    )
    dynamodb.add_argument("--no-dynamodb", action="store_true", help="do not listen for DynamoDB's protocol")
    store = parser.add_mutually_exclusive_group()
    store.add_argument("--data", metavar="DIR", default="./data", help="the store (default: %(default)s)")
    store.add_argument("--memory", action="store_true", help="keep everything in memory, lose it at the end")
    parser.add_argument(
        "--durability",
        choices=("durable", "relaxed"),
        default="durable",
        help="durable: no acknowledged write is lost on power loss; relaxed: none on a crash of this process "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--no-seed", action="store_true", help="start with empty systems, without the demo world"
    )
    parser.add_argument(
        "--no-demo-sign-in", action="store_true", help="nobody may sign in as a person of the demo"
    )
    parser.add_argument(
        "--open-sign-up",
        action="store_true",
        help="whoever has a mailbox may make an account, without roles (else: `tablewright people add`)",
    )
    parser.add_argument(
        "--name", action="append", default=[], metavar="HOST", help="a further host name this server goes by"
    )
    parser.add_argument(
        "--https",
        action="store_true",
        help="a proxy in front speaks HTTPS: cookies for it only (also said by an https --url)",
    )
    parser.add_argument(
        "--proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="a proxy to be believed about who is calling; without it all who come through one count as one caller",
    )
    parser.add_argument(
        "--url",
        metavar="URL",
        help="how people reach this server, for links in mail and the way back from Apple (default: where it listens)",
    )
    parser.add_argument(
        "--smtp",
        metavar="URL",
        help="the server that mail goes to: smtp://user@host:587 (STARTTLS), smtps://user@host:465, or without TLS and "
        "password smtp+plain://host:25. The password is in TABLEWRIGHT_SMTP_PASSWORD or in a file. Without --smtp mail "
        "is kept in the store's directory mail, and the console shows it",
    )
    parser.add_argument("--smtp-password-file", metavar="FILE", help="a file that only its owner can read")
    parser.add_argument(
        "--mail-from", metavar="WHO", help="the sender of mail, such as 'Example Ltd <post@example.com>'"
    )
    parser.add_argument(
        "--cache",
        metavar="URL",
        help="a Redis for what is read often: redis://host:6379/0; needs tablewright[redis] (default: this process)",
    )
    parser.add_argument(
        "--log",
        choices=("faults", "json"),
        default="faults",
        help="faults: what goes wrong, for people; json: a line for each request as well (default: %(default)s)",
    )
    engine_options.expiry(parser)
    parser.add_argument(
        "--throttle",
        action="store_true",
        help="refuse what is faster than the provisioned or on-demand throughput, as the service does",
    )
    parser.add_argument(
        "--also-region",
        action="append",
        default=[],
        metavar="REGION",
        help="a further region in which tables may have replicas; may be given several times",
    )
    engine_options.lease_of_writers(parser)
    parser.add_argument(
        "--buckets",
        metavar="DIR",
        help="the directory exports go to and imports come from, each bucket a directory in it (default: buckets in "
        "the store); s3: for S3, s3:URL for another endpoint of that kind",
    )
    parser.add_argument(
        "--copies",
        metavar="DIR",
        help="where a daily copy goes of each table whose design wants one elsewhere: a directory that is there "
        "(another disk, a mount), or s3://bucket/prefix (another region)",
    )


def run(given: argparse.Namespace) -> int:
    """Open the house, serve it, close it."""
    from tablewright.app.house import open_house
    from tablewright.app.progress import Terminal
    from tablewright.app.serve import app_of, check_reach
    from tablewright.cli.logs import log_to_stderr
    from tablewright.edge import listening, run, url_of
    from tablewright.edge.logs import log_as_json

    if given.log == "json":
        log_as_json()
    else:
        log_to_stderr()
    is_demo = not given.no_demo_sign_in
    progress = Terminal(sys.stderr, prefix="tablewright: seeding ")
    if is_demo and given.open_sign_up:
        print(
            "tablewright: accounts are for a server without the demo; add --no-demo-sign-in", file=sys.stderr
        )
        return 2
    try:
        check_reach(given.host, is_demo)  # before a store is made for nothing
        _warn(given)
        mail = _mail(given)
        opened = listening(given.host, given.port)
        with opened:
            url = url_of(opened)
            with open_house(
                given.data,
                memory=given.memory,
                url=given.url or url,
                durability=given.durability,
                dynamodb_port=None if given.no_dynamodb else given.dynamodb_port,
                seed=not given.no_seed,
                told=progress,
                ttl_seconds=given.ttl_seconds,
                ttl_lag=given.ttl_lag,
                throttling=given.throttle,
                buckets=given.buckets,
                also_regions=given.also_region,
                lease=given.lease,
                mail=mail,
                cache=given.cache,
                copies=given.copies,
            ) as house:
                progress.end()
                app = app_of(
                    house,
                    is_demo=is_demo,
                    open_sign_up=given.open_sign_up,
                    hosts=given.name,
                    port=int(url.rpartition(":")[2]),
                    is_https=is_https(given),
                    url=given.url or "",
                )
                gc.freeze()  # what is loaded by now stays: no collection during a request looks at it again
                gc.set_threshold(50_000, 20, 100)  # requests leave no cycles behind: look for some rarely
                run(
                    app,
                    opened=opened,
                    proxies=given.proxy,
                    ready=lambda url: print(ready_lines(given, url, house), flush=True),
                )
    except _mistakes() as mistake:
        progress.end()
        print(f"tablewright: {_advice(given, mistake)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        progress.end()
        return 130
    return 0


def is_https(given: argparse.Namespace) -> bool:
    """Whether browsers reach this server over HTTPS, as far as we were told."""
    return bool(given.https or (given.url or "").lower().startswith("https://"))


def _warn(given: argparse.Namespace) -> None:
    from tablewright.wire.server import is_loopback

    if not is_loopback(given.host) and not is_https(given):
        print(
            f"tablewright: {given.host} may be reached by others without HTTPS: who listens on the way can take "
            "logins. Put a proxy that speaks it in front, and name it with --url https://...",
            file=sys.stderr,
        )


def _mail(given: argparse.Namespace) -> Any:
    """The way mail goes; None for the store's own directory."""
    from tablewright.app.mail import PASSWORD, MailMistake, password_in, smtp_from

    if given.smtp is None:
        if given.mail_from or given.smtp_password_file:
            raise MailMistake("mail goes nowhere yet; say where to with --smtp smtp://user@host:587")
        return None
    if not given.mail_from:
        raise MailMistake("mail needs a sender; add --mail-from 'Example Ltd <post@example.com>'")
    file = given.smtp_password_file
    password = password_in(Path(file)) if file else os.environ.get(PASSWORD, "")
    return smtp_from(given.smtp, given.mail_from, password)


def _mistakes() -> tuple[type[Exception], ...]:
    """What is the caller's to mend: a port that is taken, a store that is in use."""
    from tablewright.app.bucket_objects import ObjectsUnusable
    from tablewright.app.copy_places import CopiesUnusable
    from tablewright.app.keepsake import SecretUnusable
    from tablewright.app.mail import MailMistake
    from tablewright.app.serve import DemoIsForThisMachine
    from tablewright.engine import BucketsUnknown, NotAStore, RegionsMistake, StoreInUse
    from tablewright.mapping import TableDiffers
    from tablewright.systems.parental.cache import CacheMistake
    from tablewright.systems.travel.apple import AppleSettingsUnusable
    from tablewright.systems.travel.keyring import SecretUnusable as TravelSecretUnusable
    from tablewright.systems.travel.secret_checks import SecretsAreOthers

    return (
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


def _advice(given: argparse.Namespace, mistake: Exception) -> str:
    from tablewright.edge import CannotListen as CannotListenHere
    from tablewright.wire import CannotListen as CannotListenThere

    if isinstance(mistake, CannotListenHere):
        return f"{mistake} (--port 0 takes any free one)"
    if isinstance(mistake, CannotListenThere):
        return (
            f"DynamoDB's protocol {str(mistake).partition(';')[0]}; "
            "choose another port (--dynamodb-port 8001) or go without it (--no-dynamodb)"
        )
    return str(mistake)


def ready_lines(given: argparse.Namespace, url: str, house: Any) -> str:
    """What is where, one line each."""
    lines = [f"tablewright: console   {url}/"]
    lines += [
        f"tablewright: {each.system.title}   {url}{'/console' if each.system.area else ''}/{each.system.name}"
        for each in house.lived
    ]
    lines.append(f"tablewright: API docs  {url}/docs")
    if house.dynamodb_url:
        lines.append(f"tablewright: DynamoDB  {house.dynamodb_url} (any AWS SDK; any keys)")
    kept = "memory, gone when this ends" if given.memory else f"{given.data} ({given.durability})"
    lines.append(f"tablewright: data      {kept}")
    # Without the demo the first code must be read before anybody can see the page.
    kept_at = house.mail.way.where if given.no_demo_sign_in else f"{url}/console/designs/mail"
    goes = house.mail.way.where if given.smtp else f"stays here; read it at {kept_at}"
    lines.append(f"tablewright: mail      {goes}")
    if given.copies:
        lines.append(f"tablewright: copies    once a day to {given.copies}")
    lines += [f"tablewright: copies    {sentence}" for sentence in house.advice]
    if given.no_demo_sign_in:
        lines.append("tablewright: people    `tablewright people add ADDRESS` lets somebody sign in")
    lines.append("tablewright: ready; Ctrl-C ends it")
    return "\n".join(lines)
