"""For administrators: the migration from the first version, data quality, retention, and what both versions cost."""

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from tablewright.edge.routes import Router
from tablewright.kit.http import Page, listed, view_of
from tablewright.kit.tables import Actor
from tablewright.systems.chat.access import Administrator
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family.people import actor_of
from tablewright.systems.chat.legacy.cost_report import cost_report
from tablewright.systems.chat.legacy.operator import MigrationStatus
from tablewright.systems.chat.model import Value
from tablewright.systems.chat.quality import QualityReport

Step = Literal["prepare", "start", "pause", "resume", "verify", "cut-over", "roll-back", "give-up", "finish"]
Rate = Annotated[int | None, Query(ge=1, description="conversations copied per second at most; for `start`")]
Repair = Annotated[bool, Query(description="mend differences; for `verify`")]
Early = Annotated[bool, Query(description="give up the time in which a rollback is possible; for `finish`")]


class StepView(Value):
    name: str
    state: str


class ArchiveView(Value):
    """An archive of the first version, and when it is destroyed."""

    name: str
    until: datetime


class MigrationView(Value):
    """How far the migration is (ZC-X12). `lag` is in seconds."""

    phase: str
    side: str
    steps: list[StepView]
    is_on_hold: bool
    writes_paused: bool
    copied: int
    total: int | None = None
    lag: float | None = None
    mismatches: int | None = None
    verified_at: datetime | None = None
    rollback_until: datetime | None = None
    has_ttl: bool
    backups: list[str]
    archives: list[ArchiveView]


class MigrationEntry(Value):
    """A step that someone took."""

    audit_at: datetime
    actor: str
    action: str


class FindingView(Value):
    type: str
    title: str
    severity: str
    count: int
    sample: list[str]
    repaired: int


class QualityView(Value):
    """The result of a check (ZC-59)."""

    checked_at: datetime
    items: int
    conversations: int
    findings: list[FindingView]


class RetentionView(Value):
    """Whether what has expired is deleted (ZC-D29)."""

    checked_at: datetime
    is_kept: bool
    without_ttl: list[str]
    overdue: dict[str, int]


class CostView(Value):
    """A figure of the document, and what it is."""

    defect: str
    what: str
    stated: str
    computed: Decimal
    unit: str
    how: str


def migration_view(status: MigrationStatus) -> MigrationView:
    return view_of(
        MigrationView,
        status,
        steps=[StepView(name=name, state=state) for name, state in status.steps],
        backups=list(status.backups),
        archives=[ArchiveView(name=name, until=until) for name, until in status.archives],
    )


def quality_view(report: QualityReport) -> QualityView:
    findings = [view_of(FindingView, one, sample=list(one.sample)) for one in report.findings]
    return view_of(QualityView, report, findings=findings)


def admin(chat: Chat) -> APIRouter:
    api = Router(prefix="/admin", tags=["administration"])
    _add_migration(api, chat)

    @api.get("/quality")
    def quality(me: Administrator) -> QualityView:
        """Check the table of conversations now."""
        return quality_view(chat.quality.check())

    @api.post("/quality/repair")
    def repair(me: Administrator) -> QualityView:
        """Check, and mend what can be mended: orphans and wrong counts."""
        return quality_view(chat.quality.check(repair=True))

    @api.get("/retention")
    def retention(me: Administrator) -> RetentionView:
        """Whether every table deletes what has expired, and what is overdue."""
        found = chat.quality.retention()
        return view_of(RetentionView, found, without_ttl=list(found.without_ttl), overdue=dict(found.overdue))

    @api.get("/costs")
    def costs(me: Administrator) -> Page[CostView]:
        """What the document says that both versions cost, and what they do (ZC-45)."""
        return listed([view_of(CostView, row) for row in cost_report()])

    return api


def _add_migration(api: APIRouter, chat: Chat) -> None:
    operator = chat.legacy.operator

    @api.get("/migration")
    def migration(me: Administrator) -> MigrationView:
        """How far the migration is."""
        return migration_view(operator.status())

    @api.get("/migration/history")
    def history(me: Administrator) -> Page[MigrationEntry]:
        """Who took which step, the newest first."""
        return listed([view_of(MigrationEntry, entry) for entry in operator.history()])

    @api.post("/migration/{step}")
    def take(
        step: Step, me: Administrator, rate: Rate = None, repair: Repair = False, early: Early = False
    ) -> MigrationView:
        """Take a step; 409 WRONG_PHASE if it is not its turn."""
        steps: Mapping[Step, Callable[[Actor], object]] = {
            "prepare": operator.prepare,
            "start": lambda actor: operator.start(actor, rate),
            "pause": operator.pause,
            "resume": operator.resume,
            "verify": lambda actor: operator.verify(actor, repair=repair),
            "cut-over": operator.cut_over,
            "roll-back": operator.roll_back,
            "give-up": operator.give_up,
            "finish": lambda actor: operator.finish(actor, early=early),
        }
        steps[step](actor_of(me))
        return migration_view(operator.status())
