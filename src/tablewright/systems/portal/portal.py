"""The portal as one value: everything it can do, over one database.

The API, the pages and the jobs use this value; nothing above it knows the tables.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tablewright.kit.delivery import OutboxDispatch
from tablewright.kit.erased import erased_list
from tablewright.mapping import Db
from tablewright.systems.portal.catalogue.catalogue import Catalogue
from tablewright.systems.portal.customers.privacy import Privacy
from tablewright.systems.portal.customers.tenants import Tenants
from tablewright.systems.portal.customers.verification import Verification
from tablewright.systems.portal.model import Message, Tenant
from tablewright.systems.portal.orders.checkout import Checkout
from tablewright.systems.portal.orders.guest_limits import GuestLimits
from tablewright.systems.portal.orders.orders import Orders
from tablewright.systems.portal.orders.payments import Payments, SimulatedGateway
from tablewright.systems.portal.repository import Repository
from tablewright.systems.portal.signed_links import Previews
from tablewright.world import World

# (subject, roles, e-mail) -> token
Issue: TypeAlias = Callable[[str, tuple[str, ...], str], str]
ORDER_LINK = "/console/portal/orders/{order_id}"
VERIFY_LINK = "/console/portal/verify?purpose={purpose}&address={address}&secret={secret}"


@dataclass(frozen=True, slots=True)
class Portal:
    """The parts of the portal."""

    repository: Repository
    tenants: Tenants
    privacy: Privacy
    catalogue: Catalogue
    checkout: Checkout
    orders: Orders
    verification: Verification
    payments: Payments
    previews: Previews
    dispatch: OutboxDispatch[Message]
    issue: Issue
    staff: Callable[[], Sequence[str]]

    def token_for(self, tenant: Tenant) -> str:
        """A login for a verified address: for the whole account once registered, before that only to register."""
        role = "tenant" if tenant.status == "REGISTERED" else "verified"
        return self.issue(tenant.id, (role,), tenant.email)


def open_portal(
    db: Db,
    world: World,
    secret: bytes,
    issue: Issue,
    *,
    payments: Payments | None = None,
    verify_link: str = VERIFY_LINK,
    order_link: str = ORDER_LINK,
    home: Path | None = None,
    objects: str | None = None,
    staff: Callable[[], Sequence[str]] = tuple,
) -> Portal:
    """The portal over a database.

    `secret` keys its one-time codes, the seal of messages, preview links and the simulated gateway; `issue` makes a
    login for a subject with roles and a verified address. `home` is the directory of the list of erasures, which
    `privacy.erase_again` applies, unless it is among `objects`. `staff` returns the addresses that jobs
    mail about campaigns and customers.
    """
    repository = Repository(db, world, secret)
    tenants = Tenants(repository)
    gateway = payments or SimulatedGateway(secret)
    orders = Orders(repository, gateway, order_link)
    return Portal(
        repository,
        tenants,
        Privacy(repository, erased_list(home, world, objects)),
        Catalogue(repository),
        Checkout(repository, tenants, orders, GuestLimits(repository, secret)),
        orders,
        Verification(repository, secret, verify_link),
        gateway,
        Previews(secret),
        repository.outbox.dispatch(),
        issue,
        staff,
    )
