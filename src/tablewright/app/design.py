"""The app's own design: which systems have been seeded, long work with how far it has come, and whose turn it was."""

from datetime import datetime, timedelta
from typing import Literal

from pydantic import BaseModel, JsonValue

from tablewright.design import Data, Design, Expires, Keys, Load, Retention, States

KEPT = timedelta(days=30)
WorkState = Literal["RUNNING", "DONE", "FAILED", "INTERRUPTED"]

house = Design("house", about="What the app itself remembers: seeded systems, long work, when jobs ran.")
_table = house.table("house", pk="PK", sk="SK", ttl="expires", about="The app's own memory; a few items.")
_by_start = house_by_start = _table.gsi("WorkByStart", pk="listKey", sk="startKey")


class Seeded(BaseModel):
    """A system whose demo world is there. Written last, so a crash half-way is noticed."""

    system: str
    at: datetime


class Work(BaseModel):
    """Long work: who asked for what, how far it is, what came of it."""

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
    """When a job of a system last had its turn, how long it took, and the kind of error it ended with."""

    system: str
    job: str
    at: datetime
    took_ms: int | None = None
    error: str | None = None
    version: int = 0


def _turn_key(system: str, job: str) -> None: ...
def _seeded_key(system: str) -> None: ...
def _work_key(id: str) -> None: ...


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
    retention=Retention(KEPT, "to look back at what was run and by whom"),
    load={"create": Load(per_month=200, item_bytes=600), "change": Load(per_month=2_000, item_bytes=600)},
)


@house.query(
    works,
    pk="WORK",
    on=_by_start,
    descending=True,
    page=20,
    at_most=100,
    load=Load(per_month=500, items=20, item_bytes=600),
)
def recent_work() -> None:
    """Long work, newest first."""


@house.get(works, consistent=True, load=Load(per_month=5_000, item_bytes=600))
def work_by_id(*, id: str) -> None:
    """How far one piece of work is."""


house.build()
