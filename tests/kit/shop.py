"""A small system made of the blocks: things, their audit log, an outbox and codes."""

from datetime import timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, PlainSerializer

from tablewright.client import embedded
from tablewright.design import Design, Load, Retention
from tablewright.edge.errors import Conflict
from tablewright.engine import Engine
from tablewright.kit import audit, codes, outbox
from tablewright.kit.tables import Refusals, Tables
from tablewright.mapping import Db
from tablewright.testing import Clock

SHOP = Design("shop")
table = SHOP.table("shop", pk="PK", sk="SK", ttl="ttl")
by_state = table.gsi("OutboxIndex", pk="outboxKey", sk="outboxAt")
by_owner = table.gsi("OwnerIndex", pk="mailOf", sk="mailAt")


class Thing(BaseModel):
    id: str
    name: str
    price: Annotated[Decimal, PlainSerializer(float, when_used="json")] = Decimal(1)
    tags: list[str] = []
    version: int = 1


class AuditEntry(audit.AuditEntry):
    thing_id: str


class Message(outbox.Message):
    thing_id: str | None = None


class Challenge(codes.Challenge):
    phone: str


def thing_key(id: str) -> None: ...


things = table.entity(Thing, thing_key, tag="thing", pk="THING#{id}", sk="THING", version="version")
log = audit.audit(
    SHOP,
    table,
    AuditEntry,
    owner="thing_id",
    pk="THING#{thing_id}",
    tag="thing_audit",
    name="audit_of_thing",
    month_name="audit_of_month",
    month_reads=Load(per_month=1),
    retention=Retention(timedelta(days=400), "who changed what"),
    writes=Load(per_month=1),
    reads=Load(per_month=1),
    noise={"version"},
)
messages = outbox.outbox(
    SHOP,
    table,
    Message,
    key=("message_id",),
    pk="MESSAGE#{message_id}",
    sk="MESSAGE",
    on=by_state,
    state="{state}",
    writes=Load(per_month=1),
    reads=Load(per_month=1),
    by_owner=outbox.ByOwner("messages_of_thing", "thing_id", "{thing_id}", Load(per_month=1), on=by_owner),
)
phone_codes = codes.codes_in(
    table,
    Challenge,
    codes.Allowance,
    key={"phone": str},
    pk="PHONE#{phone}",
    sk="CODE",
    sends=Load(per_month=1),
    counts=Load(per_month=1),
    purpose="to verify a phone",
)
SHOP.build()


class Changed(Conflict):
    def __init__(self, current: BaseModel | None = None) -> None:
        self.current = current
        super().__init__("VERSION_CONFLICT", "It was changed by someone else.")


class Lost(Conflict):
    def __init__(self, current: BaseModel | None = None) -> None:
        super().__init__("STATE_CONFLICT", "It was changed by someone else at this moment.")


REFUSALS = Refusals(
    changed=Changed,
    lost=Lost,
    race=Changed,
    busy=lambda: Conflict("BUSY", "Others are changing this. Try again in a moment."),
    nouns={"THING": "article"},
)


def shop(engine: Engine, clock: Clock) -> Tables:
    world = clock.world()
    db = Db(embedded(engine), SHOP, world=world, secret=b"a secret that is long enough to be one")
    db.create_tables()
    return Tables(db, world, SHOP, REFUSALS)
