"""The disaster-recovery drill: the portal loses its region under load, and the other one takes over.

    report = run_drill(directory, orders=200, workers=4)

Two regions of a scratch store hold the portal's tables; af-south-1 writes. Customers place orders all the time. The
line between the regions is cut, more orders are placed, the region is lost, eu-west-1 takes over; then the old region
returns, lists what was not replicated, and rejoins by a copy.
Must hold: every figure of the report is measured in this run; each check that fails is a finding.
Elsewhere: the fail-over itself (engine/replication/failover.py), the command (cli/dr/drill.py).
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

from tablewright.client import CallRefused, embedded, pages
from tablewright.edge.errors import CallerError
from tablewright.engine import Regions
from tablewright.engine.replication.failover import UnreplicatedWrite, failover, rejoin, unreplicated
from tablewright.engine.verify.region_items import compare
from tablewright.kit.tables import Actor
from tablewright.mapping import Db
from tablewright.systems.portal.design import PORTAL, tenants_table
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.portal import Portal, open_portal
from tablewright.world import World, real_world

OLD, NEW = "af-south-1", "eu-west-1"
_SECRET = b"the drill has a secret of its own"
_ADMIN = Actor("drill@example.com", "admin", "drill")
PERIOD = 0.02


@dataclass(frozen=True, slots=True)
class DrillReport:
    """What the drill measured.

    RTO is the time from the loss to the first order in the new region; RPO is what was not replicated by then.
    """

    old_region: str
    new_region: str
    tables: Sequence[str]
    orders_replicated: int
    orders_unreplicated: int
    orders_after: int
    refused: int
    rto_seconds: float
    rpo_seconds: float
    rpo_writes: int
    unreplicated: Sequence[UnreplicatedWrite]
    compared_items: int
    addresses: int
    findings: Sequence[str]

    @property
    def is_passed(self) -> bool:
        return not self.findings


@dataclass(frozen=True, slots=True)
class _Placed:
    region: str
    email: str
    tenant: str
    order: str
    at: datetime


@dataclass
class _Load:
    """Customers who place orders in the region to which `route` points, again if they are refused."""

    portals: dict[str, Portal]
    product: str
    route: str
    addresses: int
    world: World
    placed: list[_Placed] = field(default_factory=list)
    refused: int = 0
    failed: Exception | None = None
    threads: list[threading.Thread] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)
    _stop: threading.Event = field(default_factory=threading.Event)

    def start(self, workers: int) -> None:
        for number in range(workers):
            self.threads.append(threading.Thread(target=self._run, name=f"drill-{number}", daemon=True))
            self.threads[-1].start()

    def _run(self) -> None:
        try:
            self._place_orders()
        except Exception as error:
            self.failed = error
            self._stop.set()

    def _place_orders(self) -> None:
        while not self._stop.is_set():
            number, region = next(self._numbers), self.route
            # Every address is used several times at once, in two spellings, and again after the fail-over.
            address = number // 3 % self.addresses
            email = f"{'Customer' if number % 2 else 'customer'}{address}@example.com"
            try:
                order = self.portals[region].checkout.place(email, [Line(self.product)])
            except (CallRefused, CallerError):
                self.refused += 1
                self._stop.wait(0.005)
            else:
                placed = _Placed(region, email.lower(), order.tenant_id, order.order_id, self.world.now())
                self.placed.append(placed)

    def in_region(self, region: str) -> int:
        return sum(one.region == region for one in self.placed)

    def wait_for(self, orders: int, region: str) -> None:
        """Wait until so many more orders were placed in a region."""
        wanted = self.in_region(region) + orders
        while self.in_region(region) < wanted and not self._stop.wait(0.002):
            pass
        if self.failed is not None:
            raise self.failed

    def stop(self) -> None:
        """Place no more orders, and wait for those that are being placed."""
        self._stop.set()
        for thread in self.threads:
            thread.join()


def run_drill(
    directory: str | Path = ":memory:",
    *,
    orders: int = 100,
    workers: int = 4,
    world: World | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> DrillReport:
    """Run the drill in an empty directory, or in memory: in each of its three phases so many orders are placed."""
    world = world or real_world()
    with Regions.open(
        directory, home=OLD, also=[NEW], period=PERIOD, durability="relaxed", world=world
    ) as regions:
        databases = {
            region: Db(embedded(regions[region]), PORTAL, world=world, secret=_SECRET) for region in regions
        }
        databases[OLD].create_tables()
        tables = _replicate(regions)
        portals = {region: open_portal(db, world, _SECRET, lambda *_: "") for region, db in databases.items()}
        product, _ = portals[OLD].catalogue.create_product(
            {
                "name": "Drill",
                "description": "Sold in a drill.",
                "price": Decimal("99.99"),
                "billing_cycle": "monthly",
            },
            _ADMIN,
        )
        regions.settle()  # without the product the other region could never sell it after the line is cut
        say(f"{len(tables)} tables have replicas in {OLD} and {NEW}; {OLD} is the writer")
        load = _Load(portals, product.id, OLD, max(20, orders // 2), world)
        load.start(workers)
        try:
            return _drill(regions, load, tables, orders, world, say)
        finally:
            load.stop()


def _replicate(regions: Regions) -> list[str]:
    names: list[str] = regions[OLD].call("ListTables", {})["TableNames"]
    for name in names:
        create = {"Create": {"RegionName": NEW}}
        regions[OLD].call("UpdateTable", {"TableName": name, "ReplicaUpdates": [create]})
    regions.settle()
    failover(regions, OLD)
    regions.settle()
    return names


def _drill(
    regions: Regions,
    load: _Load,
    tables: Sequence[str],
    orders: int,
    world: World,
    say: Callable[[str], None],
) -> DrillReport:
    load.wait_for(orders, OLD)
    regions.cut(OLD, NEW)
    before = load.in_region(OLD)
    say(f"{before} orders were placed; the line between the regions is cut")
    load.wait_for(orders, OLD)
    lost_at = world.now()
    failover(regions, NEW)
    load.route = NEW
    say(f"{OLD} is lost with {load.in_region(OLD) - before} more orders; {NEW} is the writer")
    load.wait_for(1, NEW)
    first = min(one.at for one in load.placed if one.region == NEW)
    load.wait_for(orders, NEW)
    load.stop()
    regions.mend(OLD, NEW)
    while regions.follow():
        pass
    lost = unreplicated(regions, OLD)
    say(f"{OLD} returned with {len(lost)} writes that were not replicated")
    findings = list(_fence_findings(regions, lost))
    rejoin(regions, OLD)
    regions.settle()
    compared = [compare(regions[OLD], regions[NEW], name) for name in tables]
    findings += [
        f"{one.table}: {len(one.different)} items differ after the rejoin"
        for one in compared
        if one.different
    ]
    findings += regions.verify()
    addresses, doubled = _addresses(regions)
    findings += doubled
    findings += _missing_orders(regions, load, lost)
    oldest = min((one.at for one in lost), default=None)
    return DrillReport(
        OLD,
        NEW,
        tables,
        before,
        load.in_region(OLD) - before,
        load.in_region(NEW),
        load.refused,
        (first - lost_at).total_seconds(),
        0.0 if oldest is None else max(0.0, lost_at.timestamp() - oldest / 1_000_000),
        len(lost),
        lost,
        sum(one.items[0] for one in compared),
        addresses,
        findings,
    )


def _fence_findings(regions: Regions, lost: Sequence[UnreplicatedWrite]) -> Iterator[str]:
    """The returned region must refuse writes, and must say what it had that was not replicated."""
    if not lost:
        yield f"{OLD} lists no unreplicated writes although its line was cut under load"
    table = regions[OLD].tables[_tenants(regions)]
    if table.replicas is None or table.replicas.takes_writes:
        yield f"{OLD} takes writes again without having rejoined"


def _tenants(regions: Regions) -> str:
    db = Db(embedded(regions[NEW]), PORTAL)
    return db.physical(tenants_table.table.name)


def _items(regions: Regions, region: str) -> Iterator[dict[str, Any]]:
    request = {"TableName": _tenants(regions), "ConsistentRead": True}
    for page in pages(embedded(regions[region]), "Scan", request):
        yield from page["Items"]


def _addresses(regions: Regions) -> tuple[int, list[str]]:
    """How many e-mail addresses are registered, and a finding for each that does not belong to exactly one tenant."""
    findings: list[str] = []
    for region in (OLD, NEW):
        items = list(_items(regions, region))
        owners = Counter(one["email"]["S"].lower() for one in items if one["SK"]["S"] == "METADATA")
        guards = {one["emailKey"]["S"] for one in items if "emailKey" in one}
        findings += [f"{region}: {email} belongs to {n} tenants" for email, n in owners.items() if n > 1]
        findings += [
            f"{region}: {email} has a tenant and no guard" for email in owners if email not in guards
        ]
        findings += [
            f"{region}: {email} has a guard and no tenant" for email in guards if email not in owners
        ]
    return len(owners), findings


def _missing_orders(regions: Regions, load: _Load, lost: Sequence[UnreplicatedWrite]) -> Iterator[str]:
    """Every order that was confirmed is in the new region, or among the unreplicated writes that were listed."""
    held = {(one["PK"]["S"], one["SK"]["S"]) for one in _items(regions, NEW)}
    listed = {
        (one.key["PK"]["S"], one.key["SK"]["S"])
        for one in lost
        if isinstance(one.key, dict) and {"PK", "SK"} <= one.key.keys()
    }
    for one in load.placed:
        key = (f"TENANT#{one.tenant}", f"ORDER#{one.order}")
        if key not in held and key not in listed:
            yield f"the order {one.order} was confirmed in {one.region} and is neither kept nor listed"
