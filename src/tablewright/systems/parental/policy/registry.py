"""The registry of applications: read through a cache, kept by operators, begun with the shipped list (PC-12 to PC-17).

Everybody reads all of it at once from the cache: 300 seconds at most, and not beyond a change, which the table's stream
tells (PC-D34). Must hold: what an operator has written is never overwritten by a load (PC-D16); a node that has handled
a change, or made it, reads no older registry afterwards. Elsewhere: what is kept where (kit/cache.py), the shipped list
(data/apps.json), what is enforced of an app (firewall/compiler.py).
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import resources
from itertools import islice
from typing import Any

from pydantic import ValidationError

from tablewright.edge.errors import BadRequest, NotFound
from tablewright.kit.cache import Cache, CacheUnavailable, MemoryCache, through
from tablewright.kit.tables import Actor
from tablewright.mapping import AlreadyExists, Consumer, Stale
from tablewright.mapping.consumer.records import Change
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.model import EVERYTHING, App, AuditEntry, Policy
from tablewright.systems.parental.policy import policies_by_app
from tablewright.systems.parental.repository import Repository

LIFETIME = timedelta(seconds=300)
# How old what we have may be while the cache does not answer: less than the 5 s in which a change is seen everywhere.
WITHOUT_CACHE = timedelta(seconds=2)
KEY = "apps"
# The partition of the audit in which changes of the registry are: no family has this name.
AUDITED_AS = "registry"
_CHANGES_READ = 500
# `data_version` of what a person has written: no load may touch it.
EDITED = 0


@dataclass(frozen=True, slots=True)
class Affected:
    """Whom a change of an app is about: its policies, and the children they are for."""

    policies: tuple[Policy, ...]

    @property
    def children(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(policy.child for policy in self.policies))


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load did, as names of apps. `kept` were edited by an operator and differ from the shipped list."""

    created: tuple[str, ...]
    updated: tuple[str, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Copy:
    """The registry as it was read, and when."""

    raw: bytes
    apps: tuple[App, ...]
    by_name: Mapping[str, App]
    read_at: datetime


class Registry:
    """The applications we know."""

    def __init__(self, repository: Repository, cache: Cache | None = None) -> None:
        self._repository = repository
        self._cache: Cache = cache if cache is not None else MemoryCache[bytes](repository.world)
        self._copy: _Copy | None = None
        self._delete_is_pending = False

    # --- reads ---

    def all(self) -> tuple[App, ...]:
        """Every app by name, retired ones too (PC-16)."""
        return self._read().apps

    def offered(self) -> tuple[App, ...]:
        """What can be chosen in a new policy: what most people want first, then by name."""
        found = [app for app in self.all() if not app.retired]
        return tuple(sorted(found, key=lambda app: (app.popularity or 10**9, app.app_name.casefold())))

    def app(self, name: str) -> App | None:
        """An app by its name, however it is capitalised; a retired one too, for those whose policy has it (PC-15)."""
        return self._read().by_name.get(name.strip().casefold())

    def version(self) -> str:
        """Another text after every change of the registry."""
        told = "\n".join(f"{app.app_name}\t{app.version}" for app in self.all())
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def affected(self, name: str) -> Affected:
        """The policies that name an app: how many a change is about (PC-X15)."""
        return Affected(tuple(policies_by_app.policies_naming(self._repository, name)))

    # --- administration (PC-X15) ---

    def save(self, name: str, fields: Mapping[str, Any], actor: Actor, expected: int | None = None) -> App:
        """Make an app, or make the one of that name be this; `expected` is the version that was read, if one was.

        `fields` are those of an app as JSON has them. A range may be text, or carry the operator's own `enforce`.
        """
        before = self._stored(field_rules.app_name(name, "appName"))
        if before is None and expected is not None:
            raise VersionConflict(None)
        if before is not None and expected is not None and before.version != expected:
            raise VersionConflict(before)
        shown = before.app_name if before is not None else field_rules.app_name(name, "appName")
        after = checked(shown, fields, self._repository.now())
        return self._write(before, after, actor)

    def retire(self, name: str, actor: Actor, expected: int | None = None) -> App:
        """No longer offered. Policies that have it go on blocking it."""
        before = self._stored(name) if name.strip() else None
        if before is None:
            raise NotFound("APP")
        if expected is not None and before.version != expected:
            raise VersionConflict(before)
        return self._write(before, before.model_copy(update={"retired": True}), actor)

    def changes(self, name: str, most: int = 10) -> list[AuditEntry]:
        """The latest changes of an app, newest first, among the latest of the registry."""
        recent = islice(self._repository.db.all(d.audit.of(AUDITED_AS)), _CHANGES_READ)
        return [entry for entry in recent if entry.subject == name][:most]

    def _write(self, before: App | None, after: App, actor: Actor) -> App:
        now = self._repository.now()
        after = after.model_copy(update={"data_version": EDITED, "last_updated": now})
        if before is None:
            record = self._repository.audit(AUDITED_AS, after.app_name, "app.add", actor, None, after)
            self._repository.write("APP", d.apps.create(after), record)
            self.forget()
            return after
        after = after.model_copy(update={"version": before.version})
        if is_same(before, after):
            return before
        action = "app.retire" if after.retired and not before.retired else "app.change"
        record = self._repository.audit(AUDITED_AS, after.app_name, action, actor, before, after)
        change = d.apps.change(before, after)
        self._repository.write("APP", change, record)
        self.forget()
        return change.item or after

    # --- the shipped list (PC-17) ---

    def load(self, *, force: bool = False, shipped: Sequence[App] | None = None) -> Loaded:
        """Put the shipped apps in: what is new, and what is newer than what a load put there. Safe to repeat.

        `force` takes edited ones back to what was shipped.
        """
        found = _loaded(
            [(app.app_name, self._load_one(before, app, force)) for before, app in self._pairs(shipped)]
        )
        if found.created or found.updated:
            self.forget()
        return found

    def plan(self, *, force: bool = False, shipped: Sequence[App] | None = None) -> Loaded:
        """What a load would do now; nothing is done."""
        pairs = self._pairs(shipped)
        return _loaded([(app.app_name, loading(before, app, force=force)) for before, app in pairs])

    def _pairs(self, shipped: Sequence[App] | None) -> list[tuple[App | None, App]]:
        """Each shipped app with the one of that name which is there."""
        there = {app.app_name.casefold(): app for app in self._repository.db.every(d.apps)}
        apps = shipped if shipped is not None else shipped_apps(self._repository.now())
        return [(there.get(app.app_name.casefold()), app) for app in apps]

    def _load_one(self, before: App | None, app: App, force: bool) -> str:
        db = self._repository.db
        try:
            if before is None:
                db.write(d.apps.create(app))
                return "created"
            found = loading(before, app, force=force)
            if found == "updated":
                db.write(d.apps.change(before, _in_place_of(before, app)))
            return found
        except (AlreadyExists, Stale):
            return "kept"  # an operator wrote it at the same time: theirs is newer

    # --- the cache ---

    def forget(self) -> None:
        """What we know is out of date."""
        self._copy = None
        try:
            self._cache.delete(KEY)
            self._delete_is_pending = False
        except CacheUnavailable:
            self._delete_is_pending = True

    def close(self) -> None:
        """Let go of the cache."""
        self._cache.close()

    def follower(self, *further: Callable[[Change[App]], object], node: str = "") -> Consumer:
        """Who follows the table's changes: forgets what is out of date, then does what else follows from a change.

        A cache in memory is its node's own. Where there are several nodes, each runs one more follower under its own
        name (`node`); with a shared cache one is enough.
        """

        def handle(change: Change[App]) -> None:
            self.forget()
            for each in further:
                each(change)

        name = f"registry@{node}" if node else "registry"
        # Missed changes do not matter: what is not cached is read again.
        return Consumer(
            self._repository.db, [d.apps], d.apps_table.table.name, name, handle, skip_to_horizon=True
        )

    def _read(self) -> _Copy:
        if self._delete_is_pending:
            self.forget()
        copy, now = self._copy, self._repository.world.now()
        try:
            raw = through(self._cache, KEY, LIFETIME, self._load_raw)
        except CacheUnavailable:
            if copy is not None and timedelta() <= now - copy.read_at < WITHOUT_CACHE:
                return copy
            raw = self._load_raw()
        if copy is None or copy.raw != raw:
            apps = tuple(App.model_validate(one) for one in json.loads(raw))
            copy = _Copy(raw, apps, {app.app_name.casefold(): app for app in apps}, now)
        elif copy.read_at != now:
            copy = _Copy(raw, copy.apps, copy.by_name, now)
        self._copy = copy
        return copy

    def _load_raw(self) -> bytes:
        found = sorted(self._repository.db.every(d.apps), key=lambda app: app.app_name.casefold())
        return json.dumps([app.model_dump(mode="json", by_alias=True) for app in found]).encode()

    def _stored(self, name: str) -> App | None:
        """An app as the table has it now, for who is about to change it."""
        known = self.app(name)
        shown = known.app_name if known is not None else name.strip()
        return self._repository.db.one(d.app_by_name(app_name=shown))


# --- parts: pure, or nearly ---


def checked(name: str, fields: Mapping[str, Any], now: datetime) -> App:
    """An app as an operator wrote it, in canonical form; a mistake names its field (PC-X14)."""
    if name == EVERYTHING:
        raise BadRequest("INVALID_APP", "'*' means everything. Give the app another name.", "appName")
    given = {key: value for key, value in fields.items() if key not in ("appName", "lastUpdated", "version")}
    ranges = [{"cidr": one} if isinstance(one, str) else one for one in given.get("ipRanges") or ()]
    try:
        app = App.model_validate(
            {**given, "ipRanges": ranges, "appName": name, "lastUpdated": now, "dataVersion": EDITED}
        )
    except ValidationError as mistake:
        first = mistake.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadRequest("INVALID_APP", f"{first['msg']}.", where) from None
    return canonical(app)


def canonical(app: App) -> App:
    """The same app with each domain, range and port as it is kept, and once."""
    if not app.domains and not app.ip_ranges:
        raise BadRequest("INVALID_APP", "An app needs a domain or an address range.", "domains")
    if app.popularity is not None and app.popularity < 1:
        raise BadRequest("INVALID_APP", "Popularity must be a rank; 1 is the most popular.", "popularity")
    cidrs = field_rules.checked_ranges([one.cidr for one in app.ip_ranges], "ipRanges", ".cidr")
    ranges = {
        cidr: one.model_copy(update={"cidr": cidr}) for cidr, one in zip(cidrs, app.ip_ranges, strict=True)
    }
    return app.model_copy(
        update={
            "app_category": field_rules.name_of(app.app_category, "appCategory", 40),
            "description": field_rules.text_of(app.description, "description", 500),
            "source": field_rules.text_of(app.source, "source", 1000),
            "domains": field_rules.checked_domains(app.domains, "domains"),
            "ip_ranges": list(ranges.values()),
            "default_ports": field_rules.checked_ports(app.default_ports, "defaultPorts"),
        }
    )


def is_same(before: App, after: App) -> bool:
    """Whether two have the same data of an app, apart from author and time."""
    marks = {"last_updated", "version", "data_version"}
    return before.model_dump(exclude=marks) == after.model_dump(exclude=marks)


def loading(before: App | None, app: App, *, force: bool = False) -> str:
    """What a load makes of an app: created, updated, kept because an operator edited it, or unchanged."""
    if before is None:
        return "created"
    if is_same(before, _in_place_of(before, app)):
        return "same"
    if before.data_version == EDITED and not force:
        return "kept"
    return "same" if before.data_version >= app.data_version and not force else "updated"


def _in_place_of(before: App, app: App) -> App:
    return app.model_copy(update={"app_name": before.app_name, "version": before.version})


def _loaded(done: Sequence[tuple[str, str]]) -> Loaded:
    created, updated, kept = (
        tuple(name for name, outcome in done if outcome == wanted)
        for wanted in ("created", "updated", "kept")
    )
    return Loaded(created, updated, kept)


def shipped_apps(now: datetime) -> list[App]:
    """The apps of data/apps.json, in canonical form. The file has the document's five as the document writes them."""
    text = resources.files("tablewright.systems.parental").joinpath("data/apps.json").read_text("utf-8")
    return apps_in(text, now)


def apps_in(text: str, now: datetime) -> list[App]:
    """The apps of a list in the form of data/apps.json; BadRequest says which is wrong, and where."""
    try:
        told = json.loads(text)
        version, apps = told["dataVersion"], told["apps"]
        if type(version) is not int or version <= EDITED or not isinstance(apps, list):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        words = 'A list of apps is JSON: {"dataVersion": 1 or more, "apps": [...]}.'
        raise BadRequest("INVALID_LIST", words) from None
    found: dict[str, App] = {}
    for number, one in enumerate(apps):
        name = one.get("appName") if isinstance(one, dict) else None
        if not isinstance(name, str):
            raise BadRequest("INVALID_LIST", f"Entry {number + 1} of the list has no appName.")
        try:
            app = checked(field_rules.app_name(name, "appName"), one, now)
        except BadRequest as mistake:
            where = f" ({mistake.field})" if mistake.field else ""
            raise BadRequest("INVALID_LIST", f"{name}{where}: {mistake.message}") from None
        if app.app_name.casefold() in found:
            raise BadRequest("INVALID_LIST", f"{name} is in the list twice.")
        found[app.app_name.casefold()] = app.model_copy(update={"data_version": version})
    return list(found.values())
