"""Users, whose addresses are unique whatever their case (CC-D20)."""

from tablewright.design import Data, Keys, Load, Retention, States, Unique
from tablewright.systems.campus.design.base import CAMPUS
from tablewright.systems.campus.model import Login, User

__all__ = [
    "USER_STATES",
    "email_index",
    "logins",
    "uniques_table",
    "user_by_id",
    "users",
    "users_by_email",
    "users_table",
]

USER_STATES = States(
    "status", start="active", moves={"active": {"suspended": ("admin",)}, "suspended": {"active": ("admin",)}}
)
uniques_table = CAMPUS.table(
    "campus-cloud-uniques", pk="PK", sk="SK", about="Guards of values that only one item may have."
)
users_table = CAMPUS.table(
    "campus-cloud-users",
    pk="userId",
    whole=True,
    about="Profiles, quotas and preferences; read whole for reports.",
)
email_index = users_table.gsi("EmailIndex", pk="email")


def user_key(user_id: str) -> None: ...
def login_key(subject: str) -> None: ...


users = users_table.entity(
    User,
    user_key,
    tag="user",
    pk="{user_id}",
    on={email_index: Keys("{email}")},
    unique=[
        Unique(
            "email",
            "{email:lower}",
            pk="EMAIL#{email:lower}",
            keep={"userId": "{user_id}"},
            table=uniques_table.table,
        )
    ],
    version="version",
    states=USER_STATES,
    immutable=("created_at",),
    data={
        "email": Data.PERSONAL,
        "name": Data.PERSONAL,
        "login": Data.PERSONAL,
        "university_id": Data.PERSONAL,
        "department": Data.PERSONAL,
        "suspended_reason": Data.INTERNAL,
    },
    retention=Retention(None, "while the account exists: until the user, or an administrator, erases it"),
    load={
        "create": Load(per_month=100, item_bytes=900),
        "change": Load(per_month=20_000, item_bytes=900, changes=("last_login_at",)),
        # Quota: reserved when an upload begins, used when it is complete.
        "update": Load(per_month=180_000, item_bytes=900, transaction=True, changes=("storage_used",)),
    },
)

logins = uniques_table.entity(
    Login,
    login_key,
    tag="login",
    pk="LOGIN#{subject}",
    sk="LOGIN",
    data={"subject": Data.PERSONAL},
    retention=Retention(None, "with its user"),
    load={
        "create": Load(per_month=50, item_bytes=150, transaction=True),
        "get": Load(per_month=400_000, item_bytes=150),
    },
)


@CAMPUS.get(users, consistent=True, load=Load(per_month=800_000, item_bytes=900))
def user_by_id(user_id: str) -> None:
    """One user, strongly consistent."""


@CAMPUS.query(users, on=email_index, pk="{email}", load=Load(per_month=20_000, item_bytes=900))
def users_by_email(*, email: str) -> None:
    """By address, for searches. Decisions rest on the guard instead, which is consistent (CC-46, CC-D20)."""
