"""A place: where the tables, secrets and files of a process are. The rest of the app does not ask which kind it is.

Two kinds: a store of this process (`own_store`), or tables behind an endpoint that any number of processes share
(endpoint.py). Must hold: on an endpoint the process keeps nothing on its disk that another would need.
Elsewhere: what runs there (runtime.py).
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

from tablewright.app.copies.backups import environment_of
from tablewright.app.copies.store import CopiesUnusable, CopyPlace, is_new, made_ready, place_of
from tablewright.app.copies.store_id import has_id
from tablewright.app.token_secret import kept_secret, new_secret
from tablewright.client import Call, embedded
from tablewright.design import Design, Environment
from tablewright.engine import Regions
from tablewright.private_files import private_directory, tighten
from tablewright.world import World

# Which process drives the firewalls of parental controls.
Firewalls: TypeAlias = Literal["here", "elsewhere"]


class NotOnEndpoint(Exception):
    """Something that only a store of this process has."""

    def __init__(self) -> None:
        super().__init__("the tables are on an endpoint; this needs a store of this process (serve --data)")


@dataclass(frozen=True, slots=True)
class SharedTables:
    """Tables that processes share. `name` and `options` are how people and commands call them; `objects` is where the
    systems' objects are; `firewalls` says which process drives firewalls, if it was said; `secrets_option` is how
    messages call the secrets."""

    name: str
    options: tuple[str, ...]
    objects: str
    firewalls: Firewalls | None = None
    secrets_option: str = "--secrets"


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """Where a process keeps things. `files` has the layout of a data directory: secrets, keys, `systems/NAME`.

    `own` is the environment of the app's own tables, `environment_of` that of a system's. `regions` are those of a
    store of this process, `shared` are tables on an endpoint: a place has one of them.
    """

    call: Call
    is_answering: Callable[[], object]
    files: Path
    secret: bytes = field(repr=False)
    environment_of: Callable[[Sequence[Design]], Environment]
    own: Environment | None = None
    data: Path | None = None
    regions: Regions | None = None
    shared: SharedTables | None = None
    # Where daily copies go, and whether that place may be another than the store's.
    copies: CopyPlace | None = None
    is_doubtful: bool = False

    def objects_of(self, system: str) -> str | None:
        """Where a system's objects are; None for its directory."""
        return None if self.shared is None else f"{self.shared.objects.rstrip('/')}/{system}"

    def home_of(self, system: str) -> Path:
        """The directory of a system; a store of this process has one for each."""
        home = self.files / "systems" / system
        if self.shared is None:
            private_directory(home)
        return home


def own_store(
    stack: ExitStack,
    data: str | Path,
    world: World,
    *,
    memory: bool,
    durability: str,
    ttl_seconds: float,
    ttl_lag: timedelta,
    throttling: bool,
    buckets: str | None,
    also_regions: Sequence[str],
    copies: str | None,
) -> StoreLocation:
    """A store that this process opens, in a directory or in memory; `stack` closes it."""
    if memory and copies is not None:
        # Each run would have a new name, so old copies would never be removed.
        raise CopiesUnusable("a store in memory cannot be copied elsewhere; use a data directory")
    copied = stack.enter_context(closing(place_of(copies))) if copies is not None else None
    is_doubtful = copied is not None and is_new(copied) and has_id(Path(data))
    if copied is not None:
        made_ready(copied)
    regions = stack.enter_context(
        Regions.open(
            ":memory:" if memory else data,
            also=also_regions,
            durability=durability,
            world=world,
            ttl_seconds=ttl_seconds,
            ttl_lag=ttl_lag,
            throttling=throttling,
            buckets=buckets,
            elsewhere={} if copied is None else {copied.bucket.name: copied.where},
        )
    )
    home = None if memory else Path(data)
    secret = kept_secret(home, world) if home else new_secret(world)
    files = home or Path(stack.enter_context(TemporaryDirectory(prefix="tablewright-")))
    private_directory(files / "systems")
    for name in ("copies.id", "designs", "keys", "mail", "systems"):
        tighten(files / name)
    call = embedded(regions[regions.home])

    def is_answering() -> bool:
        return "TableNames" in call("ListTables", {"Limit": 1})

    return StoreLocation(
        call,
        is_answering,
        files,
        secret,
        environment_of,
        data=home,
        regions=regions,
        copies=copied,
        is_doubtful=is_doubtful,
    )
