"""The portal's reads and writes. Errors of mapping become errors of the portal.

Must hold: a change is written in one transaction with its audit entry and everything that follows from it.
"""

from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from tablewright.design import Query, Write
from tablewright.edge.errors import Conflict
from tablewright.kit.messages import MessageTemplates, read_templates
from tablewright.kit.outbox import Mailbox
from tablewright.kit.sealed_text import seal_of
from tablewright.kit.tables import Actor, Refusals, Tables
from tablewright.mapping import AlreadyExists, Db, NotUnique
from tablewright.mapping.items import size_of
from tablewright.systems.portal import design as d
from tablewright.systems.portal.errors import Changed, RaceLost, Taken
from tablewright.systems.portal.model import (
    Activatable,
    AuditEntry,
    Campaign,
    CampaignProduct,
    Kind,
    Message,
    Order,
    Product,
    Tenant,
)
from tablewright.systems.portal.rules import check_size, is_id
from tablewright.world import World

E = TypeVar("E", bound=BaseModel)
R = TypeVar("R", bound=Activatable)
MAIL = Path(__file__).parent / "pages" / "mail"
CHECKOUT = Actor("system:checkout", "system")
SYSTEM = Actor("system:portal", "system")


def _taken(noun: str, refused: AlreadyExists | NotUnique) -> Taken:
    what = refused.constraint if isinstance(refused, NotUnique) else refused.entity
    if what == "email":
        return Taken("EMAIL_EXISTS", "A customer with this e-mail address already exists.", "email")
    if what == "campaign":
        return Taken("CODE_EXISTS", "A campaign with this code already exists.", "code")
    return Taken("EXISTS", f"This {what} already exists.", "id")


REFUSALS = Refusals(
    changed=lambda _: Changed(),
    lost=lambda _: RaceLost(),
    race=Changed,
    busy=lambda: Conflict("STATUS_CONFLICT", "This is being changed right now. Try again in a moment."),
    taken=_taken,
    nouns={"TENANT": "customer", "PRODUCT": "plan"},
    page_words="pageSize must be 1 to {at_most}.",
)


class Repository(Tables):
    """The portal's tables."""

    def __init__(self, db: Db, world: World, secret: bytes) -> None:
        """`secret` is the key that seals the secrets in messages."""
        super().__init__(db, world, d.PORTAL, REFUSALS)
        self.outbox = Mailbox(
            d.outbox, self, MessageTemplates(read_templates(MAIL), seal_of(secret, "portal mail", world))
        )

    def new_order_id(self, placed: datetime) -> str:
        """An id that begins with the time, so that a tenant's orders sort by when they were placed."""
        return f"ord_{self.new_timed_id(placed)}"

    # --- one ---

    def tenant(self, id: str, *, deleted: bool = True) -> Tenant:
        self.refuse_impossible(is_id(id, "tenant"), "TENANT")
        return self.found(self.db.one(d.tenant_by_id(id), deleted=deleted), "TENANT")

    def tenant_of(self, email: str) -> Tenant | None:
        """The tenant of an address, read through its unique guard: never out of date."""
        return self.db.holder(d.tenants, "email", deleted=True, email=email)

    def product(self, id: str, *, deleted: bool = False) -> Product:
        self.refuse_impossible(is_id(id, "prod"), "PRODUCT")
        return self.found(self.db.one(d.product_by_id(id), deleted=deleted), "PRODUCT")

    def campaign(self, code: str, *, deleted: bool = True) -> Campaign:
        return self.found(self.db.one(d.campaign_by_code(code), deleted=deleted), "CAMPAIGN")

    def order(self, order_id: str) -> Order:
        self.refuse_impossible(is_id(order_id, "ord"), "ORDER")
        return self.found(self.db.holder(d.orders, "order", order_id=order_id), "ORDER")

    def products_by_id(self, ids: list[str]) -> dict[str, Product]:
        """Many products in one read, deleted ones too."""
        unique = [id for id in dict.fromkeys(ids) if is_id(id, "prod")]
        found = self.db.many([d.product_by_id(id) for id in unique], consistent=True, deleted=True)
        return {product.id: product for product in found if product is not None}

    def tenants_by_id(self, ids: list[str]) -> dict[str, Tenant]:
        """Many tenants in one read, deleted ones too."""
        found = self.db.many([d.tenant_by_id(id) for id in dict.fromkeys(ids)], deleted=True)
        return {tenant.id: tenant for tenant in found if tenant is not None}

    def used(self, codes: list[str]) -> dict[str, int]:
        """How often each campaign was used."""
        found = self.db.many([d.campaign_usage.get(code) for code in dict.fromkeys(codes)], consistent=True)
        return {usage.code: usage.count for usage in found if usage is not None}

    # --- many ---

    def campaigns_of(self, product_id: str) -> list[Campaign]:
        """A product's campaigns, newest first, also those in which it is a further product."""
        found = list(self.db.all(d.campaigns_of_product(product_id=product_id), deleted=True))
        codes = [entry.code for entry in found if isinstance(entry, CampaignProduct)]
        roots = {
            c.code: c for c in self.db.many([d.campaigns.get(code) for code in codes], deleted=True) if c
        }
        own = [entry if isinstance(entry, Campaign) else roots.get(entry.code) for entry in found]
        return [campaign for campaign in own if campaign is not None]

    # --- writes ---

    def stamped(self, before: R, actor: Actor, **changes: Any) -> R:
        """The changed value with its author and time, which is always later than the previous change."""
        moment = self.later_than(before.date_last_updated)
        return before.model_copy(
            update={**changes, "date_last_updated": moment, "last_updated_by": actor.name}
        )

    def within_item_limit(self, write: Write[E], noun: str) -> Write[E]:
        """The write; RECORD_SIZE if its item is larger than the indexes were designed for (CP-74)."""
        check_size(size_of(write.shape, write.item), noun)
        return write

    def audit(
        self,
        kind: Kind,
        subject_id: str,
        action: str,
        actor: Actor,
        before: BaseModel | None,
        after: BaseModel | None,
        reason: str | None = None,
    ) -> Write[AuditEntry]:
        """The audit entry of a change, to be written in the same transaction."""
        return d.audits[kind].entry(self, subject_id, action, actor, before, after, reason)

    def still_at(self, tenant: Tenant) -> Write[Tenant]:
        """The condition that a tenant has the address it was read with: neither changed nor erased since."""
        address = tenant.email
        return d.tenants.check(tenant.id).when(lambda t: t.email == address)

    def message(self, message_id: str) -> Message:
        return self.found(self.db.one(d.outbox.messages.get(message_id)), "MESSAGE")

    def history(self, kind: Kind, subject_id: str) -> Query[AuditEntry]:
        return d.audits[kind].of(subject_id)

    def audit_of_month(self, kind: Kind, month: datetime) -> Query[AuditEntry]:
        return d.audits[kind].of_month(month)
