"""What waits: blocked events nobody knew whose they are, and errands that are not finished."""

from collections.abc import Mapping

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge.routes import gather
from tablewright.pages.words import plural
from tablewright.systems.parental import design as d
from tablewright.systems.parental import jobs, rules
from tablewright.systems.parental.blocked import ingest
from tablewright.systems.parental.blocked.ingest import Counted
from tablewright.systems.parental.pages.operator_page import HOME, OperatorPages

ERRANDS = {
    "email": ("A new e-mail address", "Policies and metrics get the new address."),
    "guardian": ("A guardian left", "Kept on the list that a restore follows."),
    "number": ("A new number", "Everything of a child moves to its new number."),
    "release": ("A number given up", "Its rules leave the firewalls."),
    "erase": ("A child erased", "Everything of it goes, rules on firewalls first."),
    "family": ("A family deleted", "Its children go first, then everything else of it."),
}
MOST_EVENTS = 10
REASONS = {
    ingest.NOBODYS_NUMBER: "No child has this number",
    ingest.NOBODYS_ADDRESS: "No child has this address",
    ingest.UNKNOWN_APP: "It names no app",
    ingest.WRONG_TIME: "Its time is too long ago, or to come",
    ingest.SEVERAL_HAD_ADDRESS: "Its address is behind several firewalls, and it does not say which",
    ingest.ANOTHERS: "It is from before the number was this child's",
}


def queues_router(pages: OperatorPages) -> APIRouter:
    router = pages.router()
    gather(router, (part(pages) for part in (_quarantine, _errands)))
    return router


def _quarantine(pages: OperatorPages) -> APIRouter:
    router = pages.router()
    parental = pages.parental

    @router.get("/quarantine", dependencies=[Depends(pages.operator)])
    def quarantine(request: Request) -> Response:
        listing = pages.list(request, d.quarantined(), size=20)
        return pages.page(
            request,
            "quarantine",
            title="Quarantine",
            listing=listing,
            most=MOST_EVENTS,
            shown=lambda kept: [shown(event) for event in kept.events[:MOST_EVENTS]],
            reasons=lambda kept: list(dict.fromkeys(why(event) for event in kept.events)),
            day=lambda at: f"{at.day} {at:%B %Y}",
            counted=lambda kept: sum(int(event.get("count", "1")) for event in kept.events),
        )

    @router.post("/quarantine/{id}/again", dependencies=[Depends(pages.operator)])
    def again(id: str) -> Response:
        counted = parental.ingest.again(id)
        parental.notices.blocked_often(counted.touched)
        said, tone = counted_words(counted)
        return pages.console.go(f"{HOME}/quarantine", said, "good" if tone else "note")

    return router


def shown(event: Mapping[str, str]) -> dict[str, str]:
    """An event for who need not know whose it is: of a number, its end."""
    number = event.get("phoneNumber")
    return {
        "at": event.get("at", "")[:19].replace("T", " ") + " UTC",
        "of": rules.masked(number) if number else event.get("privateIP", ""),
        "app": event.get("appName") or event.get("ruleName", ""),
        "count": event.get("count", "1"),
        "why": why(event),
    }


def why(event: Mapping[str, str]) -> str:
    """Why an event was kept aside."""
    reason = event.get("reason", "")
    return REASONS.get(reason, reason.replace("_", " ").capitalize())


def counted_words(counted: Counted) -> tuple[str, bool]:
    """What came of counting again, and whether anything did."""
    if not counted.counted:
        return "Nobody knows yet whose they are; they stay here.", False
    left = f" {counted.quarantined} are still nobody's." if counted.quarantined else ""
    return f"{plural(counted.counted, 'request')} counted.{left}", True


def _errands(pages: OperatorPages) -> APIRouter:
    router = pages.router()
    parental = pages.parental

    @router.get("/errands", dependencies=[Depends(pages.operator)])
    def errands(request: Request) -> Response:
        listing = pages.list(request, d.open_errands())
        return pages.page(
            request,
            "errands",
            title="Background jobs",
            listing=listing,
            words=lambda kind: ERRANDS.get(kind, (kind.capitalize(), "")),
            now=parental.repository.now(),
        )

    @router.post("/errands/run", dependencies=[Depends(pages.operator)])
    def run() -> Response:
        finished = jobs.run_errands(parental)
        said = f"A step of each was done; {plural(finished, 'errand')} finished."
        if parental.lanes.is_open:
            said = "A step of each is done now; those that need a firewall wait for their turn with it."
        return pages.console.go(f"{HOME}/errands", said)

    return router
