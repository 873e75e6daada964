"""People: the tables `user` and `user-details` of the document, and the access log (ZC-1, ZC-29).

`user` has what every message depends on, one item for each person; `user-details` what is asked for now and then:
consents, verifications, codes, and how long a child has chatted.
"""

from datetime import date, datetime, timedelta

from tablewright.design import Data, Expires, Keys, Load, Retention, States, begins
from tablewright.kit.codes import codes_in
from tablewright.kit.subjects import ERASURE
from tablewright.systems.chat.design.base import CHAT, MESSAGES, QUARTER, YEAR
from tablewright.systems.chat.family_model import (
    AccessEntry,
    Allowance,
    ChildLoginCode,
    Consent,
    ConsentChallenge,
    DayUse,
    Method,
    MinuteUse,
    User,
    UserKey,
    Verification,
)

__all__ = [
    "USER_STATES",
    "access_log",
    "access_log_table",
    "access_of_user",
    "accesses_by_actor",
    "actor_index",
    "child_login_codes",
    "codes",
    "codes_of_parent",
    "consents",
    "consents_of_user",
    "day_uses",
    "days_of_user",
    "details_of_user",
    "minute_uses",
    "user_by_id",
    "user_details_table",
    "user_table",
    "users",
    "users_born",
    "users_by_birthday",
    "verifications",
]

user_table = CHAT.table(
    "user", pk="PK", sk="SK", about="People: roles, ages, what parents consented to, limits."
)
# Children by their birthday, so that a job finds those who become 13 or 18 without a Scan.
users_by_birthday = user_table.gsi("birthday-index", pk="birthDate", sk="userId", project="KEYS_ONLY")
user_details_table = CHAT.table(
    "user-details",
    pk="PK",
    sk="SK",
    ttl="ttl",
    about="Consents, verifications, codes, and time used, by person.",
)
access_log_table = CHAT.table(
    "access-log", pk="PK", sk="SK", ttl="ttl", about="Who looked at whose data, and why."
)
actor_index = access_log_table.gsi("actor-index", pk="accessedBy", sk="timestamp")


def user_key(user_id: str) -> None: ...
def consent_key(user_id: str, consent_id: str) -> None: ...
def verification_key(user_id: str, method: Method) -> None: ...
def child_login_key(code_hash: str) -> None: ...
def day_use_key(user_id: str, day: str) -> None: ...
def minute_use_key(user_id: str, minute: str) -> None: ...
def access_key(user_id: str, timestamp: datetime, entry_id: str) -> None: ...


USER_STATES = States(
    "standing",
    start="active",
    moves={
        # `erased` at once: a restored table brought someone back who is on the list of the erased.
        "active": {"erasing": ("self", "parent", "administrator"), "erased": (ERASURE,)},
        "erasing": {"erased": (ERASURE,)},
    },
)
users = user_table.entity(
    User,
    user_key,
    tag="user",
    pk="USER#{user_id}",
    sk="USER",
    on={users_by_birthday: Keys("{birth_date}", "{user_id}")},
    version="version",
    states=USER_STATES,
    immutable=("created_at",),
    data={
        "name": Data.CHILD,
        "email": Data.PERSONAL,
        "birth_date": Data.CHILD,
        "family_id": Data.CHILD,
        "left_families": Data.PERSONAL,
        "limits": Data.CHILD,
    },
    retention=Retention(None, "while the account exists; a child's is erased when a parent asks for it"),
    load={
        "create": Load(per_month=50, item_bytes=600, transaction=True),
        "change": Load(per_month=500, item_bytes=600, transaction=True),
        # Each message depends on the consent of this moment (ZC-X1).
        "check": Load(per_month=MESSAGES, item_bytes=600, transaction=True),
    },
)
consents = user_details_table.entity(
    Consent,
    consent_key,
    tag="consent",
    pk="USER#{user_id}",
    # The id begins with the time.
    sk="CONSENT#{consent_id}",
    data={"given_by": Data.PERSONAL, "reference": Data.PERSONAL},
    retention=Retention(None, "proof that a parent consented, while the account of the child exists"),
    load={"create": Load(per_month=100, item_bytes=350, transaction=True)},
)
verifications = user_details_table.entity(
    Verification,
    verification_key,
    tag="verification",
    pk="USER#{user_id}",
    sk="VERIFIED#{method}",
    expires=Expires("expires_at"),
    data={"reference": Data.PERSONAL, "recorded_by": Data.PERSONAL},
    retention=Retention(YEAR, "proof that the consenting person is an adult"),
    load={"put": Load(per_month=50, item_bytes=250)},
)
codes = codes_in(
    user_details_table,
    ConsentChallenge,
    Allowance,
    key={"parent_id": str, "child_id": str},
    pk="USER#{parent_id}",
    sk="CODE#{child_id}",
    tag="consent_code",
    sends=Load(per_month=100, item_bytes=350, transaction=True),
    counts=Load(per_month=200, item_bytes=150),
    purpose="to verify that a parent has an address or a phone",
    data={"parent_id": Data.PERSONAL, "child_id": Data.CHILD},
)
child_login_codes = user_details_table.entity(
    ChildLoginCode,
    child_login_key,
    tag="child_login_code",
    pk="LOGIN#{code_hash}",
    sk="LOGIN",
    expires=Expires("expires_at"),
    data={"code_hash": Data.SECRET, "child_id": Data.CHILD},
    retention=Retention(timedelta(minutes=15), "to sign a child in"),
    load={
        "put": Load(per_month=5_000, item_bytes=200, transaction=True),
        "get": Load(per_month=5_000, item_bytes=200),
    },
)
day_uses = user_details_table.entity(
    DayUse,
    day_use_key,
    tag="day_use",
    pk="USER#{user_id}",
    sk="DAY#{day}",
    version="version",
    expires=Expires("expires_at"),
    data={"seconds": Data.CHILD, "last_at": Data.CHILD},
    retention=Retention(timedelta(days=8), "to limit how long a child chats in a day"),
    load={"change": Load(per_month=MESSAGES / 2, item_bytes=250)},
)
minute_uses = user_details_table.entity(
    MinuteUse,
    minute_use_key,
    tag="minute_use",
    pk="USER#{user_id}",
    sk="MINUTE#{minute}",
    expires=Expires("expires_at"),
    retention=Retention(timedelta(hours=1), "to limit how many messages a child sends in a minute"),
    load={"upsert": Load(per_month=MESSAGES / 2, item_bytes=150)},
)
access_log = access_log_table.entity(
    AccessEntry,
    access_key,
    tag="access",
    pk="SUBJECT#{user_id}",
    sk="{timestamp:us}#{entry_id}",
    on={actor_index: Keys("{accessed_by}", "{timestamp}")},
    expires=Expires("expires_at"),
    data={"accessed_by": Data.PERSONAL, "user_id": Data.CHILD},
    retention=Retention(QUARTER, "so that parents see who looked; compliance events for a year"),
    load={"create": Load(per_month=20_000, item_bytes=300)},
)


# --- access patterns ---


@CHAT.get(users, consistent=True, load=Load(per_month=2 * MESSAGES, item_bytes=600))
def user_by_id(user_id: str) -> None:
    """One person, strongly consistent."""


@CHAT.query(
    users.view(UserKey), on=users_by_birthday, pk="{birth_date}", page=100,
    load=Load(per_month=100, items=1, item_bytes=100),
)  # fmt: skip
def users_born(*, birth_date: date) -> None:
    """Who was born on a day."""


@CHAT.query(
    consents, pk="USER#{user_id}", sk=begins("CONSENT#"), descending=True, page=50, consistent=True,
    load=Load(per_month=2_000, items=3, item_bytes=350),
)  # fmt: skip
def consents_of_user(*, user_id: str) -> None:
    """What was decided for a child, the newest first."""


@CHAT.query(
    day_uses, pk="USER#{user_id}", sk=begins("DAY#"), descending=True, page=10,
    load=Load(per_month=2_000, items=7, item_bytes=250),
)  # fmt: skip
def days_of_user(*, user_id: str) -> None:
    """How long a child has chatted, by day, the newest first."""


@CHAT.query(
    codes.challenges, pk="USER#{parent_id}", sk=begins("CODE#"), page=20, load=Load(per_month=10, item_bytes=350)
)  # fmt: skip
def codes_of_parent(*, parent_id: str) -> None:
    """The codes that a parent has not entered yet."""


@CHAT.query(
    consents, verifications, day_uses, pk="USER#{user_id}", page=100, others=True, consistent=True,
    load=Load(per_month=50, items=10, item_bytes=300),
)  # fmt: skip
def details_of_user(*, user_id: str) -> None:
    """Everything in the details of a person."""


@CHAT.query(
    access_log, pk="SUBJECT#{user_id}", descending=True, page=50, at_most=200,
    load=Load(per_month=2_000, items=50, item_bytes=300),
)  # fmt: skip
def access_of_user(*, user_id: str) -> None:
    """Who looked at the data of a person, the newest first."""


@CHAT.query(
    access_log, on=actor_index, pk="{accessed_by}", descending=True, page=50, at_most=200, roles=("administrator",),
    load=Load(per_month=100, items=50, item_bytes=300),
)  # fmt: skip
def accesses_by_actor(*, accessed_by: str) -> None:
    """What someone looked at, the newest first."""
