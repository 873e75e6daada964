"""The zoo: `animal`, `animal-config`, `animal-details`, `knowledge` and `guardrails` of the document (ZC-1).

Besides them the review queue, and figures by day: popularity, tokens and cost, use of the safety protocols.
None of them has words of a child. Review flags name a child and a message, so they are found by user, exported and
erased.
"""

from datetime import date, datetime, timedelta

from tablewright.design import Data, Expires, Keys, Load, Retention, States, begins, between, equals
from tablewright.systems.chat.design.base import CHAT, CONVERSATIONS, MESSAGES, QUARTER, YEAR
from tablewright.systems.chat.design.conversations import conversation_table, messages
from tablewright.systems.chat.zoo_model import (
    Animal,
    AnimalConfig,
    AnimalDay,
    AnimalDetails,
    Disclosure,
    FlagState,
    Guardrail,
    Knowledge,
    ReviewFlag,
    SafetyDay,
    Severity,
    UsageDay,
)

__all__ = [
    "FLAG_STATES",
    "animal_config_table",
    "animal_configs",
    "animal_days",
    "animal_details",
    "animal_details_table",
    "animal_table",
    "animals",
    "configs_of_animal",
    "days_of_animal",
    "disclosures",
    "disclosures_of_user",
    "figures_table",
    "flag_owner_index",
    "flag_queue_index",
    "flags_of_user",
    "guardrails",
    "guardrails_table",
    "knowledge",
    "knowledge_of_animal",
    "knowledge_table",
    "messages_before",
    "review_flags",
    "review_queue",
    "review_table",
    "safety_days",
    "safety_days_between",
    "usage_days",
    "usage_of_day",
]

animal_table = CHAT.table("animal", pk="animalId", whole=True, about="The animals that children can talk to.")
animal_config_table = CHAT.table(
    "animal-config", pk="animalId", sk="configKey", about="What each animal is like, in versions."
)
animal_details_table = CHAT.table("animal-details", pk="animalId", about="What is written beside an animal.")
knowledge_table = CHAT.table("knowledge", pk="animalId", sk="knowledgeId", about="Facts that animals tell.")
guardrails_table = CHAT.table(
    "guardrails", pk="guardrailId", whole=True, about="Phrases that are hidden, refused or escalated."
)
review_table = CHAT.table(
    "review", pk="PK", sk="SK", ttl="ttl", about="Messages that a zookeeper should look at."
)
flag_queue_index = review_table.gsi("queue-index", pk="queueKey", sk="queueAt")
flag_owner_index = review_table.gsi("flags-of-user-index", pk="flagOf", sk="flaggedAt")
figures_table = CHAT.table(
    "figures", pk="PK", sk="SK", ttl="ttl", about="Popularity, tokens and safety protocols by day."
)


def animal_key(animal_id: str) -> None: ...
def animal_config_key(animal_id: str, config_version: int) -> None: ...
def knowledge_key(animal_id: str, knowledge_id: str) -> None: ...
def guardrail_key(guardrail_id: str) -> None: ...
def flag_key(flag_id: str) -> None: ...
def animal_day_key(animal_id: str, day: date) -> None: ...
def usage_day_key(day: date, animal_id: str, model: str) -> None: ...
def safety_day_key(day: date) -> None: ...
def disclosure_key(user_id: str) -> None: ...


# --- animals ---

_STAFF = Retention(None, "written by staff; no data of children")
animals = animal_table.entity(
    Animal,
    animal_key,
    tag="animal",
    pk="{animal_id}",
    version="version",
    retention=_STAFF,
    load={"create": Load(per_month=1, item_bytes=300), "change": Load(per_month=20, item_bytes=300)},
)
animal_configs = animal_config_table.entity(
    AnimalConfig,
    animal_config_key,
    tag="animal_config",
    pk="{animal_id}",
    sk="{config_version:6}",
    retention=_STAFF,
    load={"create": Load(per_month=20, item_bytes=2500, transaction=True)},
)
animal_details = animal_details_table.entity(
    AnimalDetails,
    animal_key,
    tag="animal_details",
    pk="{animal_id}",
    version="version",
    retention=_STAFF,
    load={"create": Load(per_month=1, item_bytes=800), "change": Load(per_month=5, item_bytes=800)},
)
knowledge = knowledge_table.entity(
    Knowledge,
    knowledge_key,
    tag="knowledge",
    pk="{animal_id}",
    sk="{knowledge_id}",
    version="version",
    retention=_STAFF,
    load={"create": Load(per_month=20, item_bytes=400), "change": Load(per_month=20, item_bytes=400)},
)
guardrails = guardrails_table.entity(
    Guardrail,
    guardrail_key,
    tag="guardrail",
    pk="{guardrail_id}",
    version="version",
    retention=_STAFF,
    load={"create": Load(per_month=1, item_bytes=1500), "change": Load(per_month=10, item_bytes=1500)},
)

# --- review ---

FLAG_STATES = States("state", start="open", moves={"open": {"resolved": ("zookeeper",)}})
review_flags = review_table.entity(
    ReviewFlag,
    flag_key,
    tag="review_flag",
    pk="FLAG#{flag_id}",
    sk="FLAG",
    on={
        flag_queue_index: Keys("{state}#{severity}", "{created:us}#{flag_id}"),
        flag_owner_index: Keys("{user_id}", "{created:us}#{flag_id}"),
    },
    version="version",
    states=FLAG_STATES,
    expires=Expires("expires_at"),
    data={
        "user_id": Data.CHILD,
        "conversation_id": Data.CHILD,
        "message_id": Data.CHILD,
        "reported_by": Data.PERSONAL,
        "resolution": Data.CHILD,
    },
    retention=Retention(QUARTER, "to follow up on what was flagged"),
    load={
        "create": Load(per_month=MESSAGES / 1000, item_bytes=500, transaction=True),
        "change": Load(per_month=MESSAGES / 1000, item_bytes=500),
    },
)

# --- figures ---

animal_days = figures_table.entity(
    AnimalDay,
    animal_day_key,
    tag="animal_day",
    pk="ANIMAL#{animal_id}",
    sk="DAY#{day}",
    expires=Expires("expires_at"),
    retention=Retention(YEAR, "counts without people"),
    load={"upsert": Load(per_month=MESSAGES / 2, item_bytes=250, once=True, new=0.01)},
)
usage_days = figures_table.entity(
    UsageDay,
    usage_day_key,
    tag="usage_day",
    pk="USAGE#{day}",
    sk="ANIMAL#{animal_id}#{model}",
    expires=Expires("expires_at"),
    retention=Retention(YEAR, "counts without people"),
    load={"upsert": Load(per_month=MESSAGES / 2, item_bytes=300, transaction=True, new=0.01)},
)
safety_days = figures_table.entity(
    SafetyDay,
    safety_day_key,
    tag="safety_day",
    pk="SAFETY",
    sk="DAY#{day}",
    expires=Expires("expires_at"),
    retention=Retention(
        timedelta(days=2 * 365), "the yearly report of the crisis protocol; counts without people"
    ),
    load={"upsert": Load(per_month=CONVERSATIONS, item_bytes=300, transaction=True, new=0.01)},
)
disclosures = conversation_table.entity(
    Disclosure,
    disclosure_key,
    tag="disclosure",
    pk="USER#{user_id}",
    sk="DISCLOSURE",
    version="version",
    expires=Expires("expires_at"),
    data={"last_message_at": Data.CHILD},
    retention=Retention(timedelta(days=30), "to say every three hours that it is a computer program"),
    load={
        "create": Load(per_month=500, item_bytes=250, transaction=True),
        "change": Load(per_month=MESSAGES / 2, item_bytes=250, transaction=True),
    },
)


# --- access patterns ---


@CHAT.query(
    animal_configs,
    pk="{animal_id}",
    descending=True,
    page=20,
    load=Load(per_month=50, items=5, item_bytes=2500),
)
def configs_of_animal(*, animal_id: str) -> None:
    """The versions of an animal's configuration, the newest first."""


@CHAT.query(
    knowledge, pk="{animal_id}", page=100, load=Load(per_month=MESSAGES / 20, items=20, item_bytes=400)
)
def knowledge_of_animal(*, animal_id: str) -> None:
    """The facts of an animal."""


@CHAT.query(
    review_flags, on=flag_queue_index, pk="{state}#{severity}", page=50, at_most=200, roles=("zookeeper",),
    load=Load(per_month=5_000, items=10, item_bytes=500),
)  # fmt: skip
def review_queue(*, state: FlagState, severity: Severity) -> None:
    """Flags in a state, those that wait longest first."""


@CHAT.query(
    review_flags,
    on=flag_owner_index,
    pk="{user_id}",
    page=100,
    load=Load(per_month=50, items=3, item_bytes=500),
)
def flags_of_user(*, user_id: str) -> None:
    """The flags on messages of a user."""


@CHAT.query(
    animal_days, pk="ANIMAL#{animal_id}", sk=between("DAY#{since}", "DAY#{until}"), page=100,
    load=Load(per_month=2_000, items=30, item_bytes=250),
)  # fmt: skip
def days_of_animal(*, animal_id: str, since: date | None = None, until: date | None = None) -> None:
    """The days of an animal, the oldest first (ZC-19)."""


@CHAT.query(
    usage_days, pk="USAGE#{day}", sk=begins("ANIMAL#"), page=100,
    load=Load(per_month=MESSAGES / 10, items=8, item_bytes=300),
)  # fmt: skip
def usage_of_day(*, day: date) -> None:
    """What the replies of a day cost, by animal and model."""


@CHAT.query(
    safety_days, pk="SAFETY", sk=between("DAY#{since}", "DAY#{until}"), page=100,
    load=Load(per_month=200, items=30, item_bytes=300),
)  # fmt: skip
def safety_days_between(*, since: date | None = None, until: date | None = None) -> None:
    """How often the safety protocols were used, by day."""


@CHAT.query(
    disclosures, pk="USER#{user_id}", sk=equals("DISCLOSURE"), page=1, load=Load(per_month=50, item_bytes=250)
)
def disclosures_of_user(*, user_id: str) -> None:
    """When a user was last told that it is a computer program."""


@CHAT.query(
    messages, pk="USER#{user_id}",
    sk=between("MSG#{conversation_id}#{since:us}", "MSG#{conversation_id}#{until:us}"), descending=True, page=20,
    roles=("zookeeper",), load=Load(per_month=500, items=5, item_bytes=900),
)  # fmt: skip
def messages_before(
    *, user_id: str, conversation_id: str, since: datetime | None = None, until: datetime | None = None
) -> None:
    """What was said before a message, the newest first: for the review of a flag."""
