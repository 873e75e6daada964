"""The steps of the migration, for the people who run it: each with its checks, and an entry in the compliance log.

    1 prepare   attributes for the first version, what has expired is deleted; a backup first (ZC-46, ZC-52)
    2 copy      conversations are copied while they are written; on hold and resumed at will (ZC-47)
    3 verify    both versions are compared, message by message; the indexes are there (ZC-48, ZC-53)
    4 cut over  the second version serves; the ttl of the first is enabled only now (ZC-49, ZC-50, ZC-D22)
    5 watch     the first version follows; a rollback is possible for thirty days
    6 finish    the first version is archived with an end, its table and its backups deleted (ZC-51, ZC-D47)

Must hold: no step is taken before the one it depends on.
Elsewhere: the work itself (mapping/migrate), the page and HTTP (api/admin.py), the console's own page (app/designs).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias, TypeVar

from tablewright.edge.errors import Conflict
from tablewright.kit.tables import Actor
from tablewright.mapping import CallRefused, MappingMistake
from tablewright.mapping.migrate import (
    MigrationContext,
    Round,
    State,
    VerifyReport,
    WrongPhase,
    abandon,
    advance,
    begin,
    copy_progress,
    finish,
    follower,
    hold,
    record_report,
    rollback,
    switch,
    verify,
)
from tablewright.systems.chat.legacy.archive import SUBJECT, TableArchive
from tablewright.systems.chat.legacy.preparation import Preparation, Prepared
from tablewright.systems.chat.legacy.router import ConversationRouter
from tablewright.systems.chat.model import AuditEntry
from tablewright.systems.chat.repository import Repository

T = TypeVar("T")
StepState: TypeAlias = Literal["waiting", "running", "done"]
STEPS = ("prepare", "copy", "verify", "cut over", "watch", "finish")
# How many steps are done in each phase; the next one is running.
_DONE = {
    "planned": 1,
    "copying": 1,
    "following": 2,
    "verified": 3,
    "pausing": 3,
    "switched": 4,
    "finished": 6,
    "rolled_back": 1,
    "abandoned": 0,
}
_PREPARED = "first version prepared"


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """How far the migration is. `lag` is in seconds; `mismatches` are those of the last comparison.

    `copied` and `total` are chats that were read for the copy; 0 and None once it is not copying any more.
    """

    phase: str
    side: str
    steps: tuple[tuple[str, StepState], ...]
    is_on_hold: bool
    writes_paused: bool
    copied: int
    total: int | None
    lag: float | None
    mismatches: int | None
    verified_at: datetime | None
    rollback_until: datetime | None
    has_ttl: bool
    backups: tuple[str, ...]
    archives: tuple[tuple[str, datetime], ...]


class MigrationOperator:
    """The migration as an administrator runs it."""

    def __init__(
        self,
        repository: Repository,
        context: MigrationContext,
        router: ConversationRouter,
        preparation: Preparation,
        archive: TableArchive,
    ) -> None:
        self._repository, self.context, self._router = repository, context, router
        self._preparation, self.archive = preparation, archive

    # --- reads ---

    def status(self) -> MigrationStatus:
        state = self.context.find_state()
        phase = state.phase if state is not None else "not planned"
        copied, total = self._progress(state)
        report: Any = (state.verified if state is not None else None) or {}
        wrong = ("missing", "different", "extra", "unfit")
        return MigrationStatus(
            phase=phase.replace("_", " "),
            side="second" if state is not None and state.side == "target" else "first",
            steps=self._steps(state),
            is_on_hold=state is not None and state.held,
            writes_paused=state is not None and not state.is_open,
            copied=copied,
            total=total,
            lag=self._lag(state),
            mismatches=sum(report.get(kind, 0) for kind in wrong) if report else None,
            verified_at=datetime.fromisoformat(report["at"]) if "at" in report else None,
            rollback_until=state.kept_until if state is not None and state.phase == "switched" else None,
            has_ttl=self.archive.has_ttl,
            backups=tuple(self.archive.backups()),
            archives=tuple((one.name, one.until) for one in self.archive.archives()),
        )

    def history(self) -> list[AuditEntry]:
        """Who did what, the newest first."""
        return list(self._repository.db.all(self._repository.compliance_log(SUBJECT)))

    def _steps(self, state: State | None) -> tuple[tuple[str, StepState], ...]:
        done = int(self._is_prepared()) if state is None else _DONE[state.phase]
        is_over = done == len(STEPS)

        def standing(number: int) -> StepState:
            return "done" if number < done else "running" if number == done and not is_over else "waiting"

        return tuple((name, standing(number)) for number, name in enumerate(STEPS))

    def _progress(self, state: State | None) -> tuple[int, int | None]:
        # After the cut-over the second version is followed back, which is not the copy.
        if state is None or state.course is None or state.phase != "copying":
            return 0, None
        return copy_progress(self.context, state, origin_only=True)

    def _lag(self, state: State | None) -> float | None:
        if state is None or state.course is None or not state.is_open:
            return None
        try:
            return follower(self.context, state).lag().total_seconds()
        except CallRefused:
            return None

    # --- steps ---

    def prepare(self, actor: Actor) -> Prepared:
        """Step 1, after a backup; may be run again until the cut-over."""
        if self._router.is_second:
            raise Conflict("WRONG_PHASE", "The second version serves already; there is nothing to prepare.")
        self.archive.back_up(actor)
        done = self._preparation.run(actor)
        facts = {
            name: getattr(done, name)
            for name in ("conversations", "changed", "expired_messages", "without_account")
        }
        self._note(_PREPARED, actor, {**facts, "unusable": len(done.unusable)})
        return done

    def start(self, actor: Actor, rate: int | None = None) -> MigrationStatus:
        """Step 2: begin to copy; `rate` is the maximum of conversations per second."""
        if not self._is_prepared():
            raise Conflict("NOT_PREPARED", "Prepare the first version before it is copied.")
        self._told(lambda: (self.context.plan(rate=rate), begin(self.context)))
        return self._after("copy started", actor)

    def pause(self, actor: Actor) -> MigrationStatus:
        """Put copying and following on hold. The first version goes on being served."""
        self._told(lambda: hold(self.context, True))
        return self._after("copy put on hold", actor)

    def resume(self, actor: Actor) -> MigrationStatus:
        self._told(lambda: hold(self.context, False))
        return self._after("copy resumed", actor)

    def verify(self, actor: Actor, *, repair: bool = False) -> VerifyReport:
        """Step 3: compare both versions; a right copy can be switched to."""
        report = self._told(lambda: verify(self.context, self.context.state(), repair=repair))
        self._told(lambda: record_report(self.context, report))
        self._note("versions compared", actor, {"right": report.is_right, "items": report.wanted_items})
        return report

    def cut_over(self, actor: Actor) -> MigrationStatus:
        """Step 4: the second version serves from now on. The ttl of the first is enabled only now."""
        self._told(lambda: switch(self.context))
        self._router.open_all()
        self.archive.enable_ttl(actor)
        return self._after("cut over to the second version", actor)

    def roll_back(self, actor: Actor) -> MigrationStatus:
        """Back to the first version, with everything that was written since; the copies are deleted."""
        # The first version serves again: its ttl would delete chats that its own programs write to (ZC-D22).
        is_changed = self._told(self.context.state).phase == "switched" and self.archive.restore_ttl(actor)
        try:
            self._told(lambda: rollback(self.context, quiesce=lambda: void(self._router.close_all())))
        except Exception:
            if is_changed:
                self.archive.enable_ttl(actor)
            raise
        self._told(lambda: abandon(self.context))
        return self._after("rolled back to the first version", actor)

    def give_up(self, actor: Actor) -> MigrationStatus:
        """End the migration before the cut-over; the copies are deleted."""
        self._told(lambda: abandon(self.context))
        return self._after("migration given up", actor)

    def finish(self, actor: Actor, *, early: bool = False) -> MigrationStatus:
        """Step 6: archive the first version with an end, delete its table and backups. There is no way back."""
        state = self._told(self.context.state)
        if state.phase != "switched":
            raise Conflict("WRONG_PHASE", "It can be finished once the second version serves.")
        is_kept = state.kept_until is not None and self._repository.now() < state.kept_until
        if is_kept and not early:
            raise Conflict("WRONG_PHASE", f"A rollback is possible until {state.kept_until:%Y-%m-%d}.")
        self.archive.archive(actor)
        self._told(lambda: finish(self.context, early=early))
        self.archive.remove_backups(actor)
        return self._after("migration finished", actor)

    def advance(self, worker: str) -> Round:
        """One round of copying and following, as the server makes them all the time."""
        return advance(self.context, worker)

    # --- parts ---

    def _is_prepared(self) -> bool:
        return any(entry.action == _PREPARED for entry in self.history())

    def _told(self, step: Callable[[], T]) -> T:
        """A step; what the migration refuses is a conflict for the caller."""
        try:
            return step()
        except WrongPhase as refused:
            why = f"Not now: the migration is {refused.phase.replace('_', ' ')}; {refused.wanted}."
            raise Conflict("WRONG_PHASE", why) from None
        except MappingMistake as refused:
            raise Conflict("MIGRATION_REFUSED", f"The step was not taken: {refused}.") from None

    def _after(self, action: str, actor: Actor) -> MigrationStatus:
        self._note(action, actor, {})
        return self.status()

    def _note(self, action: str, actor: Actor, what: dict[str, Any]) -> None:
        self._repository.db.write(self._repository.audit(SUBJECT, action, actor, after=what))


def void(_: object) -> None:
    """For callers that want no answer."""
