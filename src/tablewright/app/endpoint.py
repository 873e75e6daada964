"""Tables on an endpoint, shared by any number of processes: what each process must be given, and what is refused.

A process gets a `Call` to the tables, a directory of secrets with the layout of a data directory (`page-tokens.secret`,
`keys/`, `systems/NAME/...`), and a place for objects. Must hold: all processes have the same secrets; a missing one is
named and none is made here, because data may have been written with the one that is missing.
Elsewhere: the command's options (cli/endpoint_options.py), the place as the runtime sees it (place.py).
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tablewright.app.design import SecretCheck, app_design, secret_checks
from tablewright.app.place import Firewalls, SharedTables, StoreLocation
from tablewright.app.token_secret import NAME as TOKEN_SECRET
from tablewright.app.token_secret import kept_secret
from tablewright.client import Call, CallRefused
from tablewright.design import Design, Environment
from tablewright.edge import Issuer
from tablewright.kit.keyring import KeyDirectory, has_secrets
from tablewright.kit.objects.settings import check_objects
from tablewright.kit.system import System
from tablewright.mapping import Db
from tablewright.private_files import private_directory
from tablewright.world import World

KEYS = "keys"
# Without an environment tables have their plain names, as in a store of one process.
PLAIN = Environment("house", region="local")
_CHECKED = "tokens"


class EndpointMistake(ValueError):
    """An endpoint cannot be used as it was asked for."""


class SecretsMissing(EndpointMistake):
    """Secrets that all processes need are not in the directory."""

    def __init__(self, option: str, names: Sequence[str]) -> None:
        super().__init__(
            f"{option}: {', '.join(names)} missing. If tables were written before, put the files back; "
            "else create them once with `tablewright secrets DIR`, and give every process the same files"
        )


class SecretsDiffer(EndpointMistake):
    """The tables were written by processes with another secret."""

    def __init__(self, option: str) -> None:
        super().__init__(
            f"{option}: {TOKEN_SECRET} is not the one that these tables were written with; give every "
            "process the same files"
        )


class EnvironmentUnknown(EndpointMistake):
    """A design does not have the environment."""

    def __init__(self, design: str, name: str, known: Sequence[str]) -> None:
        super().__init__(
            f"--environment {name}: the design {design} has no such environment; it has {', '.join(known) or 'none'}"
        )


class FirewallsTaken(EndpointMistake):
    """Another process drives the firewalls."""

    def __init__(self) -> None:
        super().__init__(
            "--firewalls here: another process drives the firewalls. Start this one with --firewalls elsewhere, or "
            "stop the other"
        )


class EndpointLacks(EndpointMistake):
    """The endpoint refused a table or a setting that a system needs."""

    def __init__(self, title: str, refusal: CallRefused) -> None:
        super().__init__(
            f"the endpoint refuses what {title} needs: {refusal}. Serve a system that it can hold with --only, or use "
            "another endpoint"
        )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Tables behind a `call`. `probe` is the same without retries: it must answer soon, or not at all.

    `backups`: whether the processes make those of the environment. `secrets_option` is how messages call the secrets.
    """

    call: Call
    probe: Call
    name: str
    secrets: Path
    objects: str
    environment: str | None = None
    options: tuple[str, ...] = ()
    firewalls: Firewalls | None = None
    backups: bool = False
    secrets_option: str = "--secrets"


def shared_place(endpoint: Endpoint, systems: Sequence[System], world: World) -> StoreLocation:
    """The endpoint as a place; refuses what is missing by its name, before a table is made."""
    refuse_missing(endpoint.secrets, systems, endpoint.secrets_option)
    check_objects(endpoint.objects, world)
    own = own_environment(endpoint.environment)
    for system in systems:
        environment_in(endpoint.environment, system.designs)
    table = own.physical(next(iter(app_design.tables)))

    def is_answering() -> bool:
        return "Table" in endpoint.probe("DescribeTable", {"TableName": table})

    return StoreLocation(
        endpoint.call,
        is_answering,
        endpoint.secrets,
        kept_secret(endpoint.secrets, world),
        partial(environment_in, endpoint.environment, backups=endpoint.backups),
        own=own,
        shared=SharedTables(
            endpoint.name, endpoint.options, endpoint.objects, endpoint.firewalls, endpoint.secrets_option
        ),
    )


def own_environment(name: str | None) -> Environment:
    """The environment of the app's own tables: its name is part of theirs."""
    return PLAIN if name is None else Environment(name, region="local", table_name="{table}-{env}")


def environment_in(name: str | None, designs: Sequence[Design], *, backups: bool = False) -> Environment:
    """The environment of a system's tables. Without `backups` these are the operator's (`design repository`); copies in
    another region always are."""
    if name is None:
        return PLAIN
    for design in designs:
        if name not in design.environments:
            raise EnvironmentUnknown(design.name, name, list(design.environments))
    found = designs[0].environments[name]
    if not backups or found.backups is None:
        return replace(found, backups=None)
    return replace(found, backups=replace(found.backups, copy_to=None))


# --- secrets ---


def refuse_missing(directory: Path, systems: Sequence[System], option: str = "--secrets") -> None:
    """SecretsMissing names every file that a process of these systems needs and the directory does not have."""
    missing = [] if (directory / TOKEN_SECRET).exists() else [TOKEN_SECRET]
    if not any((directory / KEYS).glob("[0-9]*.json")):
        missing.append(f"{KEYS}/000001.json")
    missing += [
        f"systems/{system.name}/{ring}/000001.secret"
        for system in systems
        for ring in system.keyrings
        if not has_secrets(directory / "systems" / system.name / ring)
    ]
    if missing:
        raise SecretsMissing(option, missing)


def make_secrets(directory: Path, systems: Sequence[System], world: World) -> list[Path]:
    """Make the secrets that are missing; existing ones are not touched. Returns every file there is then."""
    private_directory(directory)
    kept_secret(directory, world)
    Issuer(directory / KEYS, "", world)
    found = [directory / TOKEN_SECRET, *sorted((directory / KEYS).glob("[0-9]*.json"))]
    for system in systems:
        for ring in system.keyrings:
            home = directory / "systems" / system.name / ring
            private_directory(home.parent)
            KeyDirectory(home, world)
            found += sorted(home.glob("[0-9]*.secret"))
    return found


def refuse_other_secret(db: Db, option: str, secret: bytes) -> None:
    """SecretsDiffer if these tables were written with another secret; the first process leaves a keyed hash of it."""
    made = hmac.new(secret, b"check", hashlib.sha256).hexdigest()
    kept, _ = db.get_or_create(secret_checks.create(SecretCheck(name=_CHECKED, digest=made)))
    if not hmac.compare_digest(kept.digest, made):
        raise SecretsDiffer(option)
