"""Replicas as they stand, and two regions' items compared: what an operator looks at before doing anything.

Everything is asked of the regions themselves (replica_peers.py), so that it is the same in one process and over HTTP.
Elsewhere: what is done about it (replica_control.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tablewright.engine.replica_lines import Ask

# How often differences are looked at again before they count: a write may be on its way.
SECOND_LOOKS = 3
LISTED = 100

Pause = Callable[[], None]


class ReplicasMistake(Exception):
    """Something that cannot be done with replicas as they are now."""


class Difference(NamedTuple):
    """A key that is not the same in two regions."""

    keys: Mapping[str, Any]
    kind: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two regions' items of a table, compared key by key. `differences` holds the first of them."""

    table: str
    regions: tuple[str, str]
    items: tuple[int, int]
    count: int = 0
    differences: Sequence[Difference] = ()

    @property
    def is_equal(self) -> bool:
        return self.count == 0


@dataclass(frozen=True, slots=True)
class Standing:
    """A table's replicas as one region sees them."""

    table: str
    region: str
    status: str
    epoch: int
    writer: str | None
    vector: Mapping[str, int]
    # How many keys were written here that the writer does not know; None where that is not in question.
    unread: int | None
    is_copying: bool
    replicas: Sequence[Mapping[str, Any]]
    lag: Sequence[Mapping[str, Any]]
    # Where writers need a lease: how long it is (Seconds), who keeps this one from writing (Silent), and for how
    # long one that is promoted without it has to wait (Left).
    lease: Mapping[str, Any] | None = None


def standings(ask: Ask) -> list[Standing]:
    """Every table with replicas, as that region sees them."""
    return [
        Standing(
            one["Table"],
            one["Region"],
            one["Status"],
            one["Epoch"],
            one["Writer"],
            one["Vector"],
            one["Unread"],
            one["Copying"] is not None,
            one["Replicas"],
            one["Lag"],
            one.get("Lease"),
        )
        for one in ask("PeerStatus", {})["Tables"]
    ]


def standing(ask: Ask, table: str) -> Standing:
    for one in standings(ask):
        if one.table == table:
            return one
    raise ReplicasMistake(f"{table} has no replicas there")


def unwritten(found: Sequence[Standing]) -> list[Standing]:
    """Of those standings one for each table nobody writes: of the region that was handed it and has not taken it."""
    newest: dict[str, Standing] = {}
    for one in found:
        known = newest.get(one.table)
        if known is None or (one.epoch, one.writer or "") > (known.epoch, known.writer or ""):
            newest[one.table] = one
    return [
        one
        for one in found
        if newest[one.table].writer == one.region and one.writer not in (None, one.region)
    ]


def lines(ask: Ask, **asked: Any) -> list[dict[str, Any]]:
    """The lines on which that region reads from others, after doing to them what is asked (replica_lines.py)."""
    found: list[dict[str, Any]] = ask("PeerLine", asked)["Lines"]
    return found


def unread(ask: Ask, table: str, known: Mapping[str, int] | None = None) -> list[Mapping[str, Any]]:
    """The writes of an old writer that the present one, or one that knows so much, does not know."""
    group = next((one["Group"] for one in ask("PeerStatus", {})["Tables"] if one["Table"] == table), None)
    if group is None:
        raise ReplicasMistake(f"{table} has no replicas there")
    request: dict[str, Any] = {"Table": table, "Group": group} | ({} if known is None else {"Known": known})
    found: list[Mapping[str, Any]] = []
    while True:
        answer = ask("PeerUnread", request)
        found += answer["Unread"]
        if not answer["IsMore"]:
            return found
        # By region, each in the order of its numbers: what was told is known now.
        told = {one["Region"]: one["Number"] for one in answer["Unread"]}
        request["Known"] = {**answer["Known"], **told}


def compare(first: Ask, second: Ask, table: str, pause: Pause = lambda: None) -> Comparison:
    """Compare two regions' items. Where they are the same only digests travel, one for a thousand items."""
    regions = first("PeerStatus", {})["Region"], second("PeerStatus", {})["Region"]
    after = ""
    items = [0, 0]
    found: dict[str, Mapping[str, Any]] = {}
    while True:
        one, two = (ask("PeerDigests", {"Table": table, "After": after}) for ask in (first, second))
        ends = [side["Upto"] for side in (one, two) if side["Upto"] is not None]
        upto = min(ends, key=bytes.fromhex) if ends else None
        if (one["Digest"], one["Upto"]) != (two["Digest"], two["Upto"]):
            request = {"Table": table, "After": after, "Upto": upto, "Each": True}
            one, two = first("PeerDigests", request), second("PeerDigests", request)
            found |= _different(one["Each"], two["Each"])
        items[0] += one["Count"]
        items[1] += two["Count"]
        if upto is None:
            break
        after = upto
    for _ in range(SECOND_LOOKS):
        if found:
            pause()
            found = _still_different(first, second, table, found)
    return _comparison(first, second, table, regions, items, found)


def _different(one: Sequence[Any], two: Sequence[Any]) -> dict[str, Mapping[str, Any]]:
    digests = [{key: digest for key, digest, _ in side} for side in (one, two)]
    shown = {key: keys for key, _, keys in [*one, *two]}
    return {key: keys for key, keys in shown.items() if digests[0].get(key) != digests[1].get(key)}


def _still_different(
    first: Ask, second: Ask, table: str, found: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    left: dict[str, Mapping[str, Any]] = {}
    keys = list(found)
    for start in range(0, len(keys), 1000):
        request = {"Table": table, "Only": keys[start : start + 1000], "Each": True}
        left |= _different(first("PeerDigests", request)["Each"], second("PeerDigests", request)["Each"])
    return left


def _comparison(
    first: Ask,
    second: Ask,
    table: str,
    regions: tuple[str, str],
    items: Sequence[int],
    found: Mapping[str, Mapping[str, Any]],
) -> Comparison:
    listed = list(found)[:LISTED]
    request = {"Table": table, "Only": listed, "Each": True}
    here, there = ({key for key, _, _ in ask("PeerDigests", request)["Each"]} for ask in (first, second))
    differences = [
        Difference(
            found[key],
            "differs"
            if key in here and key in there
            else f"only in {regions[0] if key in here else regions[1]}",
        )
        for key in listed
    ]
    return Comparison(table, regions, (items[0], items[1]), len(found), differences)
