"""What the driver keeps on a Cisco FMC, as values: markers, records of contents, and how their descriptions say it.

Must hold: what `dynamic_object` writes `take` reads back; an object whose description does not say that it is ours is
not, whatever its name. Pure. Elsewhere: what each is for (cisco_fmc.py).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from ipaddress import ip_network
from typing import Any, Literal, NamedTuple

from tablewright.systems.parental.firewall.driver import DeviceRule
from tablewright.systems.parental.firewall.fmc_rules import fingerprint

SOURCE, RECORD = "PARENTAL_SRC_", "PARENTAL_APP_"
# Marks an object as ours; a name alone is not enough.
OURS = "tablewright"


class SourceAddress(NamedTuple):
    """An address in the source of a content."""

    key: str
    address: str


@dataclass(frozen=True, slots=True)
class Marker:
    """A rule we were given. `was` are places it left, which block until its new content is deployed."""

    id: str
    name: str
    digest: str
    place: SourceAddress
    was: tuple[SourceAddress, ...] = ()

    @property
    def places(self) -> frozenset[SourceAddress]:
        return frozenset((self.place, *self.was))


@dataclass(frozen=True, slots=True)
class App:
    """The record of a content: `print` is the fingerprint of its access rules, `used` a day it was needed."""

    id: str
    key: str
    label: str
    source: str
    state: Literal["new", "live"]
    rank: int
    print: str
    used: date


@dataclass(slots=True)
class FmcState:
    """What the FMC had of ours at a moment. `rules` are by the id of their source, in their order."""

    at: datetime
    sources: dict[str, str] = field(default_factory=dict)
    apps: dict[str, App] = field(default_factory=dict)
    markers: dict[str, Marker] = field(default_factory=dict)
    rules: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def is_unchanged(self, app: App) -> bool:
        return fingerprint(self.rules.get(app.source, [])) == app.print

    def taken(self, but: str = "") -> frozenset[SourceAddress]:
        """Places that markers hold; `but` is the name of one that does not count."""
        return frozenset(place for one in self.markers.values() if one.name != but for place in one.places)


def in_force(marker: Marker, known: FmcState, mapped: Iterable[str]) -> str:
    """`yes`, or why not."""
    app = known.apps.get(marker.place.key)
    if app is None:
        return "its access rules are gone"
    if not known.is_unchanged(app):
        return "its access rules were changed by someone else"
    if marker.place.address not in mapped:
        return "its address is missing"
    return "yes" if app.state == "live" else "not deployed"


def device_rule(marker: Marker, state: str, app: App | None) -> DeviceRule:
    """What differs from the request has no digest, so a comparison sends it again."""
    details = {"inForce": state, "label": "" if app is None else app.label}
    digest = marker.digest if state in ("yes", "not deployed") else ""
    return DeviceRule(marker.id, marker.name, marker.place.address, digest, details=details)


def by_key(places: Iterable[SourceAddress]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, address in sorted(places):
        found.setdefault(key, []).append(address)
    return found


def plain_address(mapping: str) -> str:
    """An address as we write it; the FMC may tell one as a network of a single address."""
    network = ip_network(mapping, strict=False)
    return str(network.network_address) if network.num_addresses == 1 else str(network)


# --- what descriptions say ---


def dynamic_object(name: str, told: Mapping[str, Any]) -> dict[str, Any]:
    words = json.dumps({"by": OURS, **told}, separators=(",", ":"))
    return {"type": "DynamicObject", "objectType": "IP", "name": name, "description": words}


def _description(told: Mapping[str, Any]) -> dict[str, Any] | None:
    """What we wrote into an object; None if we did not make it."""
    try:
        words = json.loads(told.get("description") or "")
    except ValueError:
        return None
    return words if isinstance(words, dict) and words.get("by") == OURS else None


def marker_fields(marker: Marker) -> dict[str, Any]:
    told: dict[str, Any] = {"d": marker.digest, "a": marker.place.key, "s": marker.place.address}
    return {**told, "w": [list(place) for place in marker.was]} if marker.was else told


def marker_of(told: Mapping[str, Any]) -> Marker | None:
    words = _description(told)
    if words is None or "d" not in words:
        return None
    was = tuple(SourceAddress(*place) for place in words.get("w", []))
    return Marker(told["id"], told["name"], words["d"], SourceAddress(words["a"], words["s"]), was)


def app_fields(app: App) -> dict[str, Any]:
    return {
        "source": app.source, "state": app.state, "rank": app.rank, "print": app.print, "used": app.used.isoformat(),
        "label": app.label,
    }  # fmt: skip


def take(known: FmcState, told: Mapping[str, Any]) -> None:
    """One object of the FMC, if it is ours."""
    name, words = str(told["name"]), _description(told)
    if words is None:
        return
    if name.startswith(SOURCE):
        known.sources[words["key"]] = told["id"]
    elif name.startswith(RECORD):
        key = name.removeprefix(RECORD)
        known.apps[key] = App(
            told["id"], key, words["label"], words["source"], words["state"], words["rank"], words["print"],
            date.fromisoformat(words["used"]),
        )  # fmt: skip
    elif (marker := marker_of(told)) is not None:
        known.markers[name] = marker
