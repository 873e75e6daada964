"""The design itself, its environments and their alarms (A.0, A.6, ZC-55, ZC-58).

The defaults of the first version's settings, CONVERSATION_DYNAMO_TABLE_NAME = quest-dev-conversation and AWS_REGION =
us-west-2 (ZC-55), are the environment `dev`. The variable itself is not read: an environment names all tables of a
design together, with their indexes, policies and backups, and one that is renamed alone would be in none of them. A
deployment with another name says so in its environment (`renamed`).

Loads, here and in the other parts, are of 1 000 active users with 100 conversations of 50 messages a year (ZC-32):
about 417 000 messages and 8 300 conversations a month.
"""

from datetime import timedelta
from decimal import Decimal

from tablewright.design import Alarm, Backups, Budget, Design, Environment, ObjectBucket
from tablewright.design.alarms import OWN

__all__ = ["CHAT", "CONVERSATIONS", "DIMENSIONS", "MESSAGES", "OVERDUE_ITEMS", "QUARTER", "YEAR"]

QUARTER, YEAR = timedelta(days=90), timedelta(days=365)
# Per month (ZC-32).
CONVERSATIONS, MESSAGES = 8_300, 417_000
# Of the vectors of memories.
DIMENSIONS = 256
# The metric of jobs.py: items that should have been deleted 72 hours ago, or before.
OVERDUE_ITEMS = "OverdueItems"
CHAT = Design(
    "chat", version=1, about="Chats of children with the animals of a zoo, kept no longer than allowed."
)
for _name, _limit in (("dev", 50), ("prod", 100)):
    CHAT.environment(
        Environment(
            _name,
            region="us-west-2",
            # Backups keep what is erased for as long: its key is destroyed, so no text of it can be read (ZC-D31).
            pitr_days=35,
            backups=Backups("cron(0 4 * * ? *)", 35, f"quest-{_name}"),
            # Texts that are too long for an item (ZC-X19), and the keys of people.
            objects=ObjectBucket(replaced_days=1),
            deletion_protection=_name == "prod",
            encryption="customer" if _name == "prod" else "owned",
            tags={"Project": "quest", "Environment": _name, "DataSensitivity": "children"},
            budget=Budget(Decimal(_limit), Decimal(_limit) * Decimal("0.8")),
            table_name=f"quest-{_name}-{{table}}",
            recovery={"latest restorable": "about 5 min behind, for 35 days"},
        )
    )
# ZC-58: two periods of a minute with more than 1000 units each.
CHAT.alarm(
    Alarm(
        "HighConversationTableWrites",
        "ConsumedWriteCapacityUnits",
        Decimal(1000),
        1,
        "Sum",
        "units",
        "see which animal or family writes so much",
        periods=2,
        tables=("conversation-v2",),
        requirement="ZC-58",
    )
)
CHAT.alarm(
    Alarm(
        "GSIThrottling",
        "ReadThrottleEvents",
        Decimal(10),
        1,
        "Sum",
        "requests",
        "look for a family that is read very often",
        tables=("conversation-v2",),
        index="family-conversations-index",
        requirement="ZC-58",
    )
)
# ZC-66. A table on demand throttles only where one partition takes more than its share.
CHAT.alarm(
    Alarm(
        "HotPartition",
        "WriteThrottleEvents",
        Decimal(10),
        1,
        "Sum",
        "requests",
        "find the user who writes so much and set the message partitions of that user to 10",
        tables=("conversation-v2",),
        requirement="ZC-66",
    )
)
# The document's third alarm would ring in a zoo with few chats. What matters is what is left: items that expired more
# than 72 hours ago (ZC-D29, ZC-D30), which Amazon does not count; a job does, daily.
CHAT.alarm(
    Alarm(
        "TTLDeletionFailures",
        OVERDUE_ITEMS,
        Decimal(0),
        1440,
        "Maximum",
        "items",
        "check that each table deletes what has expired (page Quality)",
        missing="ignore",
        namespace=OWN,
        requirement="ZC-58, ZC-D29",
    )
)
