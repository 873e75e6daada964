"""The app's own design: seeded systems, long-running jobs with their progress, runs of scheduled jobs; and in a table
of its own the accounts, with the codes and messages of signing in."""

from datetime import datetime, timedelta
from typing import Literal

from pydantic import BaseModel, Field, JsonValue

from tablewright.design import Data, Design, Expires, Keys, Load, Retention, States, Unique
from tablewright.kit import codes, outbox

KEPT = timedelta(days=30)
ACCOUNTS = "house_accounts"
WorkState = Literal["RUNNING", "DONE", "FAILED", "INTERRUPTED"]

app_design = Design(
    "house", about="The app's own data: seeded systems, long-running jobs, when jobs ran, accounts."
)
_table = app_design.table("house", pk="PK", sk="SK", ttl="expires", about="The app's own state; a few items.")
_by_start = _table.gsi("WorkByStart", pk="listKey", sk="startKey")


_accounts = app_design.table(
    # Not "accounts": people keep tables of their own in the same store.
    ACCOUNTS,
    pk="PK",
    sk="SK",
    ttl="expires",
    about="Accounts, and the codes sent to them.",
)
_by_state = _accounts.gsi("LettersByState", pk="stateKey", sk="writtenKey")


class Seeded(BaseModel):
    """A system whose demo data is complete. Written last, so that an interrupted seeding is noticed."""

    system: str
    at: datetime


class Work(BaseModel):
    """A long-running job: who started it, its progress, its result."""

    id: str
    kind: str
    title: str
    by: str
    state: WorkState = "RUNNING"
    done: int = 0
    total: int | None = None
    unit: str = ""
    started: datetime
    updated: datetime
    result: JsonValue = None
    error: str | None = None

    @property
    def is_running(self) -> bool:
        return self.state == "RUNNING"


class Turn(BaseModel):
    """When a job of a system last ran, how long it took, and the kind of error it ended with.

    Without `took_ms` it did not end; `interrupted` are the runs before it, in a row, that did not.
    """

    system: str
    job: str
    at: datetime
    took_ms: int | None = None
    error: str | None = None
    interrupted: int = 0
    version: int = 0


class ProcessLease(BaseModel):
    """What one process at a time may do, and until when it may (leases.py)."""

    name: str
    owner: str
    until: datetime
    version: int = 0


class SecretCheck(BaseModel):
    """A keyed hash by which processes see that they have the same secret; it reveals nothing about it."""

    name: str
    digest: str


class Account(BaseModel):
    """A person who may sign in. The subject is opaque; `password` is a hash.

    A login belongs to an `epoch`: raising it ends all earlier logins.
    """

    subject: str
    email: str
    name: str = ""
    roles: list[str] = []
    made: datetime
    closed: datetime | None = None
    password: str | None = None
    epoch: int = 1
    version: int = 0


class EndedLogin(BaseModel):
    """A login that was signed out, until its token expires."""

    token_id: str
    until: datetime


class Challenge(codes.Challenge):
    """A code sent to an address, to verify that its requester reads its mail (kit/code_requesters.py)."""

    address_hash: str
    asker: str
    expires_at: datetime = Field(alias="until")


class Allowance(codes.Allowance):
    """A count within an hour or a day, for the limits of codes (kit/codes.py)."""

    expires_at: datetime = Field(alias="until")


class Note(outbox.Message):
    """A message with a code, sealed, until it is sent (kit/outbox.py)."""

    message_id: str = Field(alias="id")
    created_at: datetime = Field(alias="written")
    expires_at: datetime = Field(alias="until")


def _account_key(subject: str) -> None: ...
def _ended_key(token_id: str) -> None: ...
def _turn_key(system: str, job: str) -> None: ...
def _seeded_key(system: str) -> None: ...
def _work_key(id: str) -> None: ...
def _lease_key(name: str) -> None: ...
def _secret_check_key(name: str) -> None: ...


seeded = _table.entity(Seeded, _seeded_key, tag="seeded", pk="SEEDED#{system}", sk="SEEDED")

turns = _table.entity(
    Turn,
    _turn_key,
    tag="turn",
    pk="TURN#{system}#{job}",
    sk="TURN",
    version="version",
    load={"change": Load(per_month=90_000, item_bytes=150)},
)

process_leases = _table.entity(
    ProcessLease,
    _lease_key,
    tag="process_lease",
    pk="LEASE#{name}",
    sk="LEASE",
    version="version",
    # Only where several processes share the tables: one for each outbox.
    load={"change": Load(per_month=2_100_000, item_bytes=150)},
)

secret_checks = _table.entity(
    SecretCheck, _secret_check_key, tag="secret_check", pk="SECRET#{name}", sk="SECRET"
)

works = _table.entity(
    Work,
    _work_key,
    tag="work",
    pk="WORK#{id}",
    sk="WORK",
    on={_by_start: Keys(pk="WORK", sk="{started:ms}#{id}")},
    expires=Expires("started", KEPT),
    states=States(
        "state",
        start="RUNNING",
        moves={
            "RUNNING": {
                "DONE": ("worker",),
                "FAILED": ("worker",),
                "INTERRUPTED": ("worker", "restart"),
            }
        },
    ),
    immutable=("kind", "started"),
    data={"by": Data.PERSONAL, "result": Data.INTERNAL, "error": Data.INTERNAL},
    retention=Retention(KEPT, "to see what was run, and by whom"),
    load={"create": Load(per_month=200, item_bytes=600), "change": Load(per_month=2_000, item_bytes=600)},
)

accounts = _accounts.entity(
    Account,
    _account_key,
    tag="account",
    pk="ACCOUNT#{subject}",
    sk="ACCOUNT",
    unique=[Unique("email", "{email}", pk="EMAIL#{email}")],
    version="version",
    immutable=("email", "made"),
    data={"email": Data.PERSONAL, "name": Data.PERSONAL, "password": Data.SECRET},
    retention=Retention(
        None, "while the account may sign in; closed accounts until they are reopened or erased"
    ),
    load={"create": Load(per_month=100, item_bytes=400), "get": Load(per_month=500_000, item_bytes=400)},
)

ended_logins = _accounts.entity(
    EndedLogin,
    _ended_key,
    tag="ended_login",
    pk="ENDED#{token_id}",
    sk="ENDED",
    expires=Expires("until"),
    retention=Retention(timedelta(hours=12), "so that a login that was signed out stays invalid"),
    load={"put": Load(per_month=20_000, item_bytes=150), "get": Load(per_month=500_000, item_bytes=150)},
)

login_codes = codes.codes_in(
    _accounts,
    Challenge,
    Allowance,
    key={"address_hash": str, "asker": str},
    pk="CHALLENGE#{address_hash}",
    sk="ASKER#{asker}",
    sends=Load(per_month=5_000, item_bytes=300),
    counts=Load(per_month=25_000, item_bytes=150),
    purpose="to verify an e-mail address",
)

notes = outbox.outbox(
    app_design,
    _accounts,
    Note,
    key=("message_id",),
    pk="NOTE#{message_id}",
    sk="NOTE",
    on=_by_state,
    state="NOTES#{state}",
    tag="note",
    name="notes_by_state",
    writes=Load(per_month=5_000, item_bytes=500),
    reads=Load(per_month=1_300_000, items=0),
    descending=False,
    kept=codes.LIFETIME,
)


@app_design.query(
    works,
    pk="WORK",
    on=_by_start,
    descending=True,
    page=20,
    at_most=100,
    load=Load(per_month=500, items=20, item_bytes=600),
)
def recent_work() -> None:
    """Long-running jobs, newest first."""


@app_design.get(works, consistent=True, load=Load(per_month=5_000, item_bytes=600))
def work_by_id(*, id: str) -> None:
    """One long-running job with its progress."""


app_design.build()
