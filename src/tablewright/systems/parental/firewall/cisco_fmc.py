"""Blocking on Cisco Firewall Threat Defense, through the REST API of its Management Center (FMC).

Deployments take minutes, so they are kept for what is new: everybody for whom the same is blocked shares one set of
access rules (fmc_rules.py), whose source is a dynamic object. A window that opens or closes and an address that changes
only add or remove an address of that object, which takes effect without a deployment. What is kept on the FMC, all of
it dynamic objects in the policy's domain:
- PARENTAL_SRC_<key>: the addresses of a content; the access rules point to it by id.
- PARENTAL_APP_<key>: the record of a content, not used by any rule: id of the source, whether it was deployed, a
  fingerprint of its access rules as the FMC told them when they were made.
- PARENTAL_BLOCK_...: one for each rule we were given, under its name; its id is the DeviceRule's. The description says
  address, content and digest. Nothing is ever ours by its name alone: the description must say so too.
Must hold: an address is in a source only while a marker says so (the marker is written first and deleted last), so what
a crash leaves behind can be found; when a rule changes its content, the old one blocks until the new one is deployed;
only our objects and rules are written, and a deployment is asked for only if a rule of ours needs it.
Not supported: the API has no way to end a connection that stands; the device judges it by the old rules until it ends.
Elsewhere: requests, tokens and limits (fmc_client.py), what objects say (fmc_records.py), fmc_deployments.py.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from tablewright.systems.parental.firewall.driver import (
    PREFIX,
    Conflict,
    Deployed,
    DeviceRule,
    FirewallDriver,
    FirewallMistake,
    Health,
    Rule,
)
from tablewright.systems.parental.firewall.fmc_client import Connection, DuplicateName, FmcClient, NotThere
from tablewright.systems.parental.firewall.fmc_deployments import Deployments, Waits
from tablewright.systems.parental.firewall.fmc_records import (
    RECORD,
    SOURCE,
    App,
    FmcState,
    Marker,
    SourceAddress,
    app_fields,
    by_key,
    device_rule,
    dynamic_object,
    in_force,
    marker_fields,
    marker_of,
    plain_address,
    take,
)
from tablewright.systems.parental.firewall.fmc_rules import (
    Content,
    Ref,
    access_rules,
    content_of,
    fingerprint,
)
from tablewright.world import World

OBJECTS = "/object/dynamicobjects"
MAPPINGS = "/object/dynamicobjectmappings"
FQDN = "PARENTAL_FQDN_"
UNOWNED = f"{PREFIX}unowned_"
# What was read may be this old where being wrong is found out by the FMC's answer or by the next verification.
FRESH = timedelta(seconds=60)
USED_STEP, UNUSED_AFTER = timedelta(days=7), timedelta(days=30)


class CiscoFmc(FirewallDriver):
    """The driver of an access policy of an FMC: our rules stand in its mandatory section. Close it."""

    needs_deploy = True

    def __init__(
        self,
        connection: Connection,
        access_policy_id: str,
        world: World,
        *,
        waits: Waits | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._world = world
        self._fmc = FmcClient(connection, world, sleep)
        self._policy = f"/policy/accesspolicies/{access_policy_id}"
        self._last: FmcState | None = None
        self._deployments = Deployments(self._fmc, access_policy_id, waits or Waits(), sleep)

    def ensure(self, rule: Rule) -> DeviceRule:
        app = self._app(content_of(rule))
        place = SourceAddress(app.key, rule.source)
        marker = self._marker(rule.name)
        wanted = Marker("", rule.name, rule.digest, place)
        if marker is None:
            marker = self._make_marker(wanted)
        left = tuple(sorted(marker.places - {place}))
        if marker != (wanted := replace(wanted, id=marker.id, was=left)):
            self._write_marker(wanted)
        self._map(add=[place])
        if left and app.state == "live":
            wanted = self._settle(wanted)
        return device_rule(wanted, "yes" if app.state == "live" else "not deployed", app)

    def remove(self, device_rule_id: str) -> None:
        if "@" in device_rule_id:
            self._remove_unowned(device_rule_id)
            return
        marker = self._read_marker(device_rule_id)
        if marker is None:
            return
        known = self._state()
        self._map(remove=marker.places - known.taken(but=marker.name))
        self._fmc.delete(f"{OBJECTS}/{marker.id}")
        known.markers.pop(marker.name, None)

    def get(self, device_rule_id: str) -> DeviceRule | None:
        if "@" in device_rule_id:
            return next((one for one in self.list(UNOWNED) if one.id == device_rule_id), None)
        marker = self._read_marker(device_rule_id)
        if marker is None:
            return None
        known = self._state()
        app = known.apps.get(marker.place.key)
        mapped = self._addresses(app.source) if app is not None else ()
        return device_rule(marker, in_force(marker, known, mapped), app)

    def list(self, prefix: str = PREFIX) -> Sequence[DeviceRule]:
        """All rules whose name begins so; an address without a rule is returned as a rule of its own, to be removed."""
        # Addresses before markers: a marker is written first and deleted last, so none is missed.
        mapped = {key: self._addresses(source) for key, source in self._state(FRESH).sources.items()}
        known = self._state(timedelta(0))
        for key in known.sources.keys() - mapped.keys():
            mapped[key] = self._addresses(known.sources[key])
        found = [
            device_rule(
                one, in_force(one, known, mapped.get(one.place.key, ())), known.apps.get(one.place.key)
            )
            for one in known.markers.values()
        ]
        taken = known.taken()
        found += [
            DeviceRule(f"{known.sources[key]}@{address}", f"{UNOWNED}{key}", address, "")
            for key, addresses in mapped.items()
            for address in addresses
            if key in known.sources and SourceAddress(key, address) not in taken
        ]
        return sorted((one for one in found if one.name.startswith(prefix)), key=lambda one: one.name)

    def deploy(self) -> Deployed:
        """Deploy, if an access rule of ours was not yet; takes as long as the device does."""
        known = self._state(timedelta(0))
        new = [app for app in known.apps.values() if app.state == "new"]
        tasks: Sequence[str] = ()
        if new:
            self._tidy(known)
            tasks = self._deployments.run()
            for app in [one for one in new if one.key in known.apps]:
                self._write_app(replace(app, state="live"))
        for marker in [one for one in known.markers.values() if one.was]:
            self._settle(marker)
        return Deployed(was_needed=bool(tasks))

    def health(self) -> Health:
        """How the FMC is, and whether our policy is there."""
        try:
            told = self._fmc.platform("/info/serverversion")
            version = str(told.get("items", [{}])[0].get("serverVersion", ""))
            policy = self._fmc.get(self._policy).get("name", "")
        except NotThere:
            return Health(
                is_ok=False, detail="the access policy is not on the FMC; correct the device's policy id"
            )
        except FirewallMistake as mistake:
            return Health(is_ok=False, detail=str(mistake))
        return Health(is_ok=True, version=version, detail=f"access policy {policy}")

    def close(self) -> None:
        self._fmc.close()

    # --- what the FMC has of ours ---

    def _state(self, age: timedelta = FRESH) -> FmcState:
        """What is ours there, read again if it is older."""
        now = self._world.now()
        if self._last is None or now - self._last.at >= age:
            known = FmcState(now)
            for one in self._own_objects(""):
                take(known, one)
            for rule in self._fmc.pages(f"{self._policy}/accessrules", expanded="true"):
                for source in rule.get("sourceDynamicObjects", {}).get("objects", []):
                    if source.get("id") in known.sources.values():
                        known.rules.setdefault(source["id"], []).append(rule)
            self._last = known
        return self._last

    def _own_objects(self, name: str) -> Iterator[dict[str, Any]]:
        """Objects whose name begins so."""
        yield from self._fmc.pages(OBJECTS, filter=f"nameStartsWith:{name or 'PARENTAL_'}", expanded="true")

    def _addresses(self, source: str) -> frozenset[str]:
        try:
            found = self._fmc.pages(f"{OBJECTS}/{source}/mappings")
            return frozenset(plain_address(one["mapping"]) for one in found)
        except NotThere:
            return frozenset()

    def _map(self, add: Iterable[SourceAddress] = (), remove: Iterable[SourceAddress] = ()) -> None:
        """Change addresses of sources; in effect when this returns, without a deployment."""
        sources = self._state().sources
        asked: dict[str, list[dict[str, Any]]] = {}
        for what, places in (("add", add), ("remove", remove)):
            for key, addresses in by_key(places).items():
                # A source that was tidied away has no address to remove.
                if key in sources:
                    ref = Ref(sources[key], f"{SOURCE}{key}", "DynamicObject")._asdict()
                    asked.setdefault(what, []).append({"dynamicObject": ref, "mappings": addresses})
        if asked:
            self._fmc.post(MAPPINGS, asked)

    # --- markers ---

    def _marker(self, name: str) -> Marker | None:
        """The marker of a name, as it is now. One we believe in is read: an address without one could not be found."""
        believed = self._state().markers.get(name)
        return None if believed is None else self._read_marker(believed.id)

    def _read_marker(self, id: str) -> Marker | None:
        try:
            return marker_of(self._fmc.get(f"{OBJECTS}/{id}"))
        except NotThere:
            return None

    def _make_marker(self, wanted: Marker) -> Marker:
        try:
            made = self._fmc.post(OBJECTS, dynamic_object(wanted.name, marker_fields(wanted)))
            marker = replace(wanted, id=str(made["id"]))
        except DuplicateName:
            # Another process was faster, or our last try succeeded and its answer was lost.
            found = next((one for one in self._own_objects(wanted.name) if one["name"] == wanted.name), None)
            there = None if found is None else marker_of(found)
            if there is None:
                raise Conflict(f"the FMC has an object {wanted.name} that is not ours") from None
            marker = there
        self._state().markers[marker.name] = marker
        return marker

    def _write_marker(self, marker: Marker) -> None:
        told = {**dynamic_object(marker.name, marker_fields(marker)), "id": marker.id}
        self._fmc.put(f"{OBJECTS}/{marker.id}", told)
        self._state().markers[marker.name] = marker

    def _settle(self, marker: Marker) -> Marker:
        """Free the places a marker left."""
        self._map(remove=set(marker.was) - self._state().taken(but=marker.name) - {marker.place})
        settled = replace(marker, was=())
        self._write_marker(settled)
        return settled

    def _remove_unowned(self, id: str) -> None:
        source, _, address = id.partition("@")
        known = self._state(timedelta(0))
        key = next((key for key, one in known.sources.items() if one == source), None)
        # By now a rule may use it.
        if key is not None and SourceAddress(key, address) not in known.taken():
            self._map(remove=[SourceAddress(key, address)])

    # --- contents ---

    def _app(self, content: Content) -> App:
        """The record of a content, whose access rules are there as we made them; set up if need be."""
        known = self._state()
        app = known.apps.get(content.key)
        if app is None or not known.is_unchanged(app):
            known = self._state(timedelta(0))
            app = known.apps.get(content.key)
        if app is None or not known.is_unchanged(app):
            return self._set_up(content, known)
        if self._today() - app.used >= USED_STEP:
            app = replace(app, used=self._today())
            self._write_app(app)
        return app

    def _set_up(self, content: Content, known: FmcState) -> App:
        """Source, access rules, record, in this order: rules without a record are made again by the next try."""
        source = Ref(
            known.sources.get(content.key) or self._make_source(content.key),
            f"{SOURCE}{content.key}",
            "DynamicObject",
        )
        self._delete_rules(known.rules.get(source.id, []))
        rules = access_rules(content, source, self._fqdns(content.fqdns()))
        # Before a rule means in that rule's section.
        where: dict[str, str | int] = {"section": "mandatory"}
        if (before := self._first_after(content.rank, content.key)) is not None:
            where = {"insertBefore": before}
        self._fmc.post(f"{self._policy}/accessrules", rules, bulk="true", **where)
        known = self._state(timedelta(0))
        old = known.apps.get(content.key)
        app = App(
            id="" if old is None else old.id,
            key=content.key,
            label=content.label[:60],
            source=source.id,
            state="new",
            rank=content.rank,
            # As the FMC tells them now: it may spell what it was given in its own way.
            print=fingerprint(known.rules.get(source.id, [])),
            used=self._today(),
        )
        self._write_app(app)
        return self._state().apps[content.key]

    def _first_after(self, rank: int, key: str) -> int | None:
        """The number of the first access rule that must stand after those of a rank."""
        known = self._state(timedelta(0))
        numbers = [
            int(rule["metadata"]["ruleIndex"])
            for app in known.apps.values()
            if app.rank > rank and app.key != key
            for rule in known.rules.get(app.source, [])
        ]
        return min(numbers, default=None)

    def _make_source(self, key: str) -> str:
        try:
            return str(self._fmc.post(OBJECTS, dynamic_object(f"{SOURCE}{key}", {"key": key}))["id"])
        except DuplicateName:
            known = self._state(timedelta(0))
            if key not in known.sources:
                raise Conflict(f"the FMC has an object {SOURCE}{key} that is not ours") from None
            return known.sources[key]

    def _write_app(self, app: App) -> None:
        told = dynamic_object(f"{RECORD}{app.key}", app_fields(app))
        if app.id:
            self._fmc.put(f"{OBJECTS}/{app.id}", {**told, "id": app.id})
        else:
            app = replace(app, id=str(self._fmc.post(OBJECTS, told)["id"]))
        self._state().apps[app.key] = app

    def _delete_rules(self, rules: Sequence[Mapping[str, Any]]) -> None:
        for rule in rules:
            self._fmc.delete(f"{self._policy}/accessrules/{rule['id']}")

    def _fqdns(self, names: Sequence[str]) -> dict[str, Ref]:
        """An FQDN object for each name: made once, found by what it is for."""
        if not names:
            return {}
        found = {
            one["name"]: Ref(one["id"], one["name"], "FQDN")
            for one in self._fmc.pages("/object/fqdns", expanded="true")
            if one["name"] == _fqdn_name(one["value"])
        }
        for name in names:
            if (called := _fqdn_name(name)) not in found:
                told = {"type": "FQDN", "name": called, "value": name, "dnsResolution": "IPV4_AND_IPV6"}
                found[called] = Ref(self._fmc.post("/object/fqdns", told)["id"], called, "FQDN")
        return {name: found[_fqdn_name(name)] for name in names}

    def _tidy(self, known: FmcState) -> None:
        """Before a deployment: delete contents that no rule has used for long."""
        in_use = {place.key for place in known.taken()}
        for app in list(known.apps.values()):
            age = self._today() - app.used
            if app.key not in in_use and age >= UNUSED_AFTER:
                self._delete_rules(known.rules.get(app.source, []))
                self._fmc.delete(f"{OBJECTS}/{app.id}")
                self._fmc.delete(f"{OBJECTS}/{app.source}")
                del known.apps[app.key], known.sources[app.key]

    def _today(self) -> date:
        return self._world.now().date()


def _fqdn_name(domain: str) -> str:
    return FQDN + hashlib.sha256(domain.encode()).hexdigest()[:16]
