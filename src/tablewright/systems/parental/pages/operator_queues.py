"""What is waiting: blocked events that match no child, and background jobs that are not finished."""

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response

from tablewright.english import full_date, plural
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.blocked import ingest
from tablewright.systems.parental.blocked.ingest import Counted
from tablewright.systems.parental.enforcement import dispatch
from tablewright.systems.parental.pages.operator_page import OperatorPages
from tablewright.systems.parental.pages.page import HOME

TASKS = {
    "email": ("Change of e-mail address", "Updates rules and statistics with the new address."),
    "guardian": ("Guardian left", "Adds them to the list that is applied after a restore."),
    "number": ("Change of number", "Moves everything about a child to its new number."),
    "release": ("Release of a number", "Removes its rules from the firewalls."),
    "erase": ("Erasure of a child", "Removes its firewall rules, then everything else."),
    "family": ("Deletion of a family", "Erases its children, then everything else."),
}
MOST_EVENTS, MOST_FINISHED = 10, 20
REASONS = {
    ingest.NOBODYS_NUMBER: "No child has this number",
    ingest.NOBODYS_ADDRESS: "No child has this address",
    ingest.UNKNOWN_APP: "No app is named",
    ingest.WRONG_TIME: "The time is too old, or in the future",
    ingest.SEVERAL_HAD_ADDRESS: "The address is used behind several firewalls, and the report does not say which",
    ingest.ANOTHERS: "From before this child had the number",
}


def add_queues(router: APIRouter, pages: OperatorPages) -> None:
    for part in (_quarantine, _tasks):
        part(router, pages)


def _quarantine(router: APIRouter, pages: OperatorPages) -> None:
    parental = pages.parental

    @router.get("/quarantine")
    def quarantine(request: Request) -> Response:
        listing = pages.list(request, parental.ingest.listed(), size=20)
        return pages.page(
            request,
            "quarantine",
            title="Quarantine",
            listing=listing,
            most=MOST_EVENTS,
            shown=lambda kept: [shown(event) for event in kept.events[:MOST_EVENTS]],
            reasons=lambda kept: list(dict.fromkeys(why(event) for event in kept.events)),
            day=full_date,
            counted=lambda kept: sum(int(event.get("count", "1")) for event in kept.events),
        )

    @router.post("/quarantine/{id}/again")
    def again(id: str) -> Response:
        counted = parental.ingest.again(id)
        parental.notices.blocked_often(counted.touched)
        said, tone = counted_words(counted)
        return pages.console.go(f"{HOME}/quarantine", said, "good" if tone else "note")


def shown(event: Mapping[str, str]) -> dict[str, str]:
    """An event without the child: only the last digits of a number."""
    number = event.get("phoneNumber")
    return {
        "at": event.get("at", "")[:19].replace("T", " ") + " UTC",
        "of": field_rules.masked(number) if number else event.get("privateIP", ""),
        "app": event.get("appName") or event.get("ruleName", ""),
        "count": event.get("count", "1"),
        "why": why(event),
    }


def why(event: Mapping[str, str]) -> str:
    """Why an event is in quarantine."""
    reason = event.get("reason", "")
    return REASONS.get(reason, reason.replace("_", " ").capitalize())


def counted_words(counted: Counted) -> tuple[str, bool]:
    """The result of counting again, and whether anything was counted."""
    if not counted.counted:
        return "No request matches a child yet. They stay in quarantine.", False
    left = f" {counted.quarantined} still match no child." if counted.quarantined else ""
    return f"{plural(counted.counted, 'request')} counted.{left}", True


def _tasks(router: APIRouter, pages: OperatorPages) -> None:
    parental = pages.parental

    @router.get("/tasks")
    def tasks(request: Request) -> Response:
        listing = pages.list(request, parental.tasks.listed())
        return pages.page(
            request,
            "tasks",
            title="Background jobs",
            listing=listing,
            words=lambda kind: TASKS.get(kind, (kind.capitalize(), "")),
            now=parental.repository.now(),
            finished=parental.tasks.finished(MOST_FINISHED),
        )

    @router.post("/tasks/run")
    def run() -> Response:
        finished = dispatch.run_tasks(parental)
        said = f"Each job ran one step; {plural(finished, 'job')} finished."
        if parental.queues.is_open:
            said = "Each job runs one step now; jobs that need a firewall wait for their turn."
        return pages.console.go(f"{HOME}/tasks", said)
