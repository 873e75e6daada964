"""Options of `serve` for tables on an endpoint, which any number of processes share.

Must hold: an option of a store of this process is refused beside them, by its name, rather than ignored.
Elsewhere: what an endpoint is to the app (app/endpoint.py).
"""

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from tablewright.app.alarms.design import alarm_design
from tablewright.app.design import app_design
from tablewright.app.endpoint import Endpoint, environment_in
from tablewright.app.secret_variable import unpacked
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.target import http_call
from tablewright.client import ONCE, Timeouts
from tablewright.design.capabilities import TARGETS, missing
from tablewright.design.errors import Finding
from tablewright.kit.system import System

# For /ready: a load balancer asks every few seconds.
PROBE = Timeouts(connect=2.0, answer=2.0, total=3.0)
# Threads that serve requests, jobs and followers call at the same time.
CONNECTIONS = 50
# Places that a reason names.
_SHOWN = 3
_NEEDED = ("objects", "url")
# Options of a store of this process, with what they are when they are not given.
_OF_STORE = {
    "data": "./data", "memory": False, "durability": "durable", "ttl_seconds": 10.0, "ttl_lag": timedelta(0),
    "throttle": False, "buckets": None, "also_region": [], "copies": None, "dynamodb_port": 8000,
}  # fmt: skip


def add_endpoint_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "tables on an endpoint", "instead of a store of this process; any number of processes can share them"
    )
    either = group.add_mutually_exclusive_group()
    either.add_argument("--endpoint", metavar="URL", help="the tables of any DynamoDB endpoint")
    either.add_argument("--amazon", metavar="REGION", help="the tables of Amazon DynamoDB in a region")
    group.add_argument(
        "--target",
        choices=TARGETS,
        metavar="NAME",
        help="what the endpoint is: a system that needs what it lacks is refused before the first request. One of "
        f"{', '.join(TARGETS)} (default: amazon with --amazon, otherwise nothing is refused)",
    )
    group.add_argument("--profile", help="the AWS profile whose credentials are used")
    group.add_argument(
        "--environment",
        metavar="NAME",
        help="the environment of the designs that gives tables their names (default: plain names)",
    )
    _add_secrets_options(group)
    group.add_argument(
        "--objects",
        metavar="PLACE",
        help="where pictures, files and lists of erasures are: s3://bucket/prefix (AWS_ENDPOINT_URL_S3 for another "
        "endpoint than Amazon's), or a directory that all processes share",
    )
    group.add_argument(
        "--backups",
        action="store_true",
        help="back up the tables by the schedule of the environment, and delete these backups after its retention "
        "(default: left to the endpoint; on Amazon the Terraform in deploy/ sets up AWS Backup)",
    )
    _add_firewalls_option(group)


def _add_secrets_options(group: argparse._ArgumentGroup) -> None:
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--secrets",
        metavar="DIR",
        type=Path,
        help="the directory with the secrets and settings that all processes share (`tablewright secrets DIR`)",
    )
    either.add_argument(
        "--secrets-variable",
        metavar="VARIABLE",
        help="the environment variable that holds them instead (`tablewright secrets DIR --as-variable`)",
    )


def _add_firewalls_option(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--firewalls",
        choices=("here", "elsewhere"),
        help="which process drives the firewalls of parental controls: this one (one at a time) or another. Needed "
        "if there are simulated firewalls, as in the demo, or nftables gateways (default: every process drives them)",
    )


def is_on_endpoint(given: argparse.Namespace) -> bool:
    return given.endpoint is not None or given.amazon is not None


def check_endpoint_options(given: argparse.Namespace) -> None:
    """UsageError for an option that is missing, or that belongs to the other kind of tables."""
    if not is_on_endpoint(given):
        for name in (
            "environment", "secrets", "secrets_variable", "objects", "profile", "target", "firewalls", "backups",
        ):  # fmt: skip
            if getattr(given, name):
                raise UsageError(f"--{name.replace('_', '-')} needs --endpoint or --amazon")
        return
    for name, usual in _OF_STORE.items():
        if getattr(given, name) != usual:
            raise UsageError(f"--{name.replace('_', '-')} is of a store of this process, not of an endpoint")
    if given.secrets is None and given.secrets_variable is None:
        raise UsageError(
            f"{_called(given)} needs --secrets or --secrets-variable: the same for every process"
        )
    if given.backups and given.environment is None:
        raise UsageError("--backups needs --environment: its schedule and retention are used")
    for name in _NEEDED:
        if not getattr(given, name):
            raise UsageError(f"{_called(given)} needs --{name}: the same for every process")
    if given.no_demo_sign_in and given.smtp is None:
        raise UsageError(f"{_called(given)} with --no-demo-sign-in needs --smtp: mail is not kept on a disk")


def refuse_lacking(given: argparse.Namespace, systems: Sequence[System]) -> None:
    """UsageError with everything that the systems need and the target lacks; what it has in part is a warning."""
    target = given.target or ("amazon" if given.amazon is not None else None)
    if target is None:
        return
    found = _by_reason("Tablewright", missing((app_design, alarm_design), target))
    for system in systems:
        # Without --environment tables are made with plain settings, which every target has.
        here = environment_in(given.environment, system.designs) if given.environment is not None else None
        found += _by_reason(system.title, missing(system.designs, target, here))
    for rule, words in found:
        if rule == "T002":
            print_message(f"tablewright: warning: {words}")
    lacks = [f"  {words}" for rule, words in found if rule == "T001"]
    if lacks:
        told = f"--target {target} lacks what these systems need (serve another one with --only):"
        raise UsageError("\n".join((told, *lacks)))


def _by_reason(title: str, findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Rule and sentence for each reason, with the first of the places that it is about."""
    places: dict[tuple[str, str], list[str]] = {}
    for each in findings:
        places.setdefault((each.rule, each.why), []).append(each.where)
    return [(rule, f"{title}: {rule}: {why} ({_some(where)})") for (rule, why), where in places.items()]


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


@contextmanager
def open_endpoint(given: argparse.Namespace) -> Iterator[Endpoint]:
    """The tables that the options name."""
    with (
        _secrets(given) as secrets,
        http_call(given.endpoint, given.amazon, given.profile, pool_size=CONNECTIONS) as call,
        http_call(given.endpoint, given.amazon, given.profile, timeouts=PROBE, retries=ONCE) as probe,
    ):
        yield Endpoint(
            call,
            probe,
            call.endpoint,
            secrets,
            given.objects,
            given.environment,
            _options(given),
            given.firewalls,
            given.backups,
            secrets_option(given),
        )


def secrets_option(given: argparse.Namespace) -> str:
    """Where the secrets are, as the option that said so."""
    if given.secrets is None:
        return f"--secrets-variable {given.secrets_variable}"
    return f"--secrets {given.secrets}"


def _secrets(given: argparse.Namespace) -> AbstractContextManager[Path]:
    if given.secrets is None:
        return unpacked(given.secrets_variable, os.environ)
    return nullcontext(given.secrets)


def cookie_port(url: str) -> int:
    """The port that names the cookie of a login: that of the public address, so that all processes know it."""
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _called(given: argparse.Namespace) -> str:
    return "--endpoint" if given.endpoint is not None else "--amazon"


def _options(given: argparse.Namespace) -> tuple[str, ...]:
    """How another command names the same tables."""
    where = ("--endpoint", given.endpoint) if given.endpoint is not None else ("--region", given.amazon)
    profile = ("--profile", given.profile) if given.profile else ()
    environment = ("--environment", given.environment) if given.environment else ()
    return (*where, *profile, *environment)
