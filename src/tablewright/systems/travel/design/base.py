"""The design itself, its environments, how long things are kept, and the one table with its indexes.

Loads, here and in the other parts, are of 1 000 active travellers, who ask for something 40 times a day and write 10
times (SK-28, SK-D26): 1.2 million reads and 300 000 writes a month, of visits, figures and regions. Beneath them each
request reads its session, and each write is an operation, its receipt, the visit, the change in the feed and the head
in one transaction, and what the profile and the device know of it after that.
"""

from datetime import timedelta
from decimal import Decimal

from tablewright.design import Alarm, Backups, Budget, Design, Environment, Schema

__all__ = [
    "AUDIT_KEPT",
    "FOLLOWER",
    "OPERATIONS_KEPT",
    "SESSIONS_KEPT",
    "SHARDS",
    "STATISTICS_KEPT",
    "TOMBSTONES_KEPT",
    "TOMBSTONES_KEPT_AT_LEAST",
    "TRAVEL",
    "gsi1",
    "gsi2",
    "table",
]

OPERATIONS_KEPT = timedelta(days=30)
STATISTICS_KEPT = timedelta(days=7)
SESSIONS_KEPT = timedelta(days=90)
# A tombstone may go earlier, once every device has seen it (SK-D29).
TOMBSTONES_KEPT, TOMBSTONES_KEPT_AT_LEAST = timedelta(days=180), timedelta(days=30)
AUDIT_KEPT = timedelta(days=400)
SHARDS = 16
# The name of the follower of the table's changes: its checkpoints and parked records are stored under it.
FOLLOWER = "travel"
TRAVEL = Design(
    "travel", version=1, about="The places a traveller has been to, marked offline on several devices."
)
_TAGS = {"Application": "Skratch", "ManagedBy": "Terraform"}
for _name, _production in (("dev", False), ("prod", True)):
    TRAVEL.environment(
        Environment(
            _name,
            region="us-east-1",
            pitr_days=35,
            backups=Backups(
                "cron(0 3 * * ? *)", 30, f"skratch-{_name}", copy_to="us-west-2" if _production else None
            ),
            deletion_protection=_production,
            encryption="managed",
            tags={"Environment": _name, **_TAGS},
            budget=Budget(
                Decimal(15),
                Decimal(14),
                {
                    "requests": Decimal("5.97"),
                    "storage": Decimal("0.28"),
                    "copies": Decimal("4.78" if _production else "2.46"),
                    "streams": Decimal("2.07"),
                },
                # SK-30, for 1 000 active users.
                said=(Decimal(5), Decimal(15)),
            ),
            table_name="{table}-{env}",
        )
    )
TRAVEL.alarm(
    # The document states no threshold; this one is that of the others (SK-30 is the budget's).
    Alarm("throttled", "ThrottledRequests", Decimal(10), 5, advice="look for a region that became popular")
)
table = TRAVEL.table(
    "skratch-data",
    pk="PK",
    sk="SK",
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    about="Everything of Skratch.",
    discriminator="item_type",
    schema=Schema("schema_version"),
)
gsi1 = table.gsi("GSI1", pk="GSI1PK", sk="GSI1SK")
gsi2 = table.gsi("GSI2", pk="GSI2PK", sk="GSI2SK")
