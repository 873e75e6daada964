"""What operators and the network itself say and see: `/devices`, `/enforcement/failures` and `/enforcement/failing`,
`/apps`, events, quarantine.

Must hold: an operator sees what failed and where, not whose it is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from tablewright.edge import Principal
from tablewright.edge.etags import mark, unchanged
from tablewright.systems.parental.api.bodies import operators as views
from tablewright.systems.parental.api.bodies.common import Page
from tablewright.systems.parental.api.bodies.enforcement import (
    FailingView,
    FailureView,
    RuleView,
    StatusView,
    failing_view,
    failure_view,
    rule_view,
    status_view,
)
from tablewright.systems.parental.api.common import (
    Doors,
    HistoryPageSize,
    IfMatch,
    PageSize,
    Since,
    StartAt,
    Through,
    actor_of,
    expected,
    marked,
    page_of,
)
from tablewright.systems.parental.errors import DeviceUnavailable, NotThere
from tablewright.systems.parental.firewall import removal as device_removal
from tablewright.systems.parental.firewall.driver import FirewallMistake
from tablewright.systems.parental.model import App, Device, OpenStatus
from tablewright.systems.parental.parental import Parental


def apps(parental: Parental, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["apps"])
    registry = parental.registry

    @api.get("/apps", response_model_exclude_none=True)
    def list_apps(
        request: Request,
        response: Response,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        retired: Annotated[bool, Query(alias="includeRetired")] = False,
    ) -> Any:
        """Every known app; what most people want first."""
        version = f"{registry.version()}{'-all' if retired else ''}"
        same = unchanged(request, version)
        if same is not None:
            return same
        mark(response, version)
        return list(registry.all() if retired else registry.offered())

    @api.get("/apps/{name}", response_model_exclude_none=True)
    def get_app(name: str, response: Response, caller: Annotated[Principal, Depends(doors.signed_in)]) -> App:
        app = registry.app(name)
        if app is None:
            raise NotThere("APP")
        return marked(response, app)

    @api.put("/apps/{name}", response_model_exclude_none=True)
    def save_app(
        name: str,
        body: views.AppBody,
        response: Response,
        caller: Annotated[Principal, Depends(doors.operator)],
        match: IfMatch = None,
    ) -> App:
        """Make an app or make it be this; rules that have it follow within a minute."""
        saved = registry.save(name, body.fields(), actor_of(caller), expected(match, body.version))
        return marked(response, saved)

    @api.post("/apps/{name}:retire", response_model_exclude_none=True)
    def retire_app(
        name: str,
        response: Response,
        caller: Annotated[Principal, Depends(doors.operator)],
        match: IfMatch = None,
    ) -> App:
        """No longer offered; policies that have it go on."""
        return marked(response, registry.retire(name, actor_of(caller), expected(match, None)))

    @api.get("/apps/{name}/affected")
    def affected(name: str, caller: Annotated[Principal, Depends(doors.operator)]) -> dict[str, int]:
        """How many policies and children a change of this app is about."""
        found = registry.affected(name)
        return {"policies": len(found.policies), "children": len(found.children)}

    return api


def failures(parental: Parental, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["failures"])

    @api.get("/enforcement/failures", response_model_exclude_none=True)
    def list_failures(
        caller: Annotated[Principal, Depends(doors.operator)],
        status: OpenStatus = "failed",
        since: Since = None,
        until: Through = None,
        size: HistoryPageSize = None,
        after: StartAt = None,
    ) -> Page[FailureView]:
        """Every attempt that failed or waits, newest first."""
        page = parental.records.failures(
            actor_of(caller), status, since=since, until=until, size=size, after=after
        )
        return page_of(page, failure_view)

    @api.get("/enforcement/failing", response_model_exclude_none=True)
    def list_failing(
        caller: Annotated[Principal, Depends(doors.operator)],
        status: OpenStatus = "failed",
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[FailingView]:
        """What failed or waits, rule by rule, the one tried last first. A page may be short and not be the last."""
        return page_of(parental.failing.page(actor_of(caller), status, size, after), failing_view)

    @api.post("/enforcement/failures/{id}:retry", response_model_exclude_none=True)
    def retry(id: str, caller: Annotated[Principal, Depends(doors.operator)]) -> list[StatusView]:
        """Try again now, whatever the back-off; how it is for the child afterwards."""
        action = parental.records.failure(id)
        if action.rule_id is None:
            parental.reconciler.reconcile(action.child)
        else:
            parental.reconciler.retry(action.child, action.rule_id)
        return [status_view(status) for status in parental.reconciler.status(action.child)]

    return api


def devices(parental: Parental, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["devices"])
    service = parental.devices

    @api.get("/devices", response_model_exclude_none=True)
    def list_devices(caller: Annotated[Principal, Depends(doors.operator)]) -> list[Device]:
        return service.all()

    @api.post("/devices", status_code=201, response_model_exclude_none=True)
    def add_device(
        body: views.NewDevice, response: Response, caller: Annotated[Principal, Depends(doors.operator)]
    ) -> Device:
        return marked(response, service.add(body.device()))

    @api.get("/devices/{id}", response_model_exclude_none=True)
    def get_device(
        id: str, response: Response, caller: Annotated[Principal, Depends(doors.operator)]
    ) -> Device:
        return marked(response, service.get(id))

    @api.patch("/devices/{id}", response_model_exclude_none=True)
    def change_device(
        id: str,
        body: views.DeviceChange,
        response: Response,
        caller: Annotated[Principal, Depends(doors.operator)],
        match: IfMatch = None,
    ) -> Device:
        """Change what is sent. A guard of DNS is in force once `guardKept` is the same: at once, or when the device
        answers again."""
        changed = service.change(id, expected(match, body.version), **body.changes())
        return marked(response, changed)

    @api.get("/devices/{id}/removal")
    def removal(id: str, caller: Annotated[Principal, Depends(doors.operator)]) -> views.Removal:
        """What would be given up with the device: nothing is done."""
        return views.removal_view(device_removal.plan(parental.repository, service, id))

    @api.delete("/devices/{id}")
    def remove_device(
        id: str, caller: Annotated[Principal, Depends(doors.operator)], match: IfMatch = None
    ) -> dict[str, int]:
        """Remove a device that is switched off, for good. It is not asked: what rules it has it keeps, and the answer
        says how many that may be."""
        left = device_removal.remove(
            parental.repository, service, id, actor_of(caller), expected(match, None)
        )
        return {"rulesLeft": left}

    @api.get("/devices/{id}/health")
    def health(id: str, caller: Annotated[Principal, Depends(doors.operator)]) -> dict[str, Any]:
        """Ask the device itself."""
        with or_unavailable():
            found = service.health(id)
        return {"isOk": found.is_ok, "version": found.version, "detail": found.detail}

    @api.get("/devices/{id}/rules", response_model_exclude_none=True)
    def rules_of_device(
        id: str,
        caller: Annotated[Principal, Depends(doors.operator)],
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[RuleView]:
        """What we believe is on the device, verified longest ago first."""
        service.get(id)
        return page_of(parental.records.rules_of_device(id, actor_of(caller), size, after), rule_view)

    @api.post("/devices/{id}:verify")
    def verify(id: str, caller: Annotated[Principal, Depends(doors.operator)]) -> dict[str, int]:
        """Compare the device with what we believe; put right what differs."""
        service.get(id)
        with or_unavailable():
            done = parental.reconciler.verify(id)
        return asdict(done)

    return api


def network(parental: Parental, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["network"])

    @api.post("/sessions/events", response_model_exclude_none=True)
    def session_event(
        body: views.SessionEvent, caller: Annotated[Principal, Depends(doors.network)]
    ) -> dict[str, Any]:
        """A device of a child came, moved, is still there, or went. The same eventId twice is one event."""
        session = parental.sessions.event(
            body.kind,
            body.phone_number,
            body.session_id,
            ip=body.private_ip,
            device=body.device_id,
            at=body.at,
            once=body.event_id,
            heartbeat_seconds=body.heartbeat_seconds,
        )
        if session is None:
            return {"isKnown": False}
        return {"isKnown": True, "isClean": session.is_clean, "isOpen": session.live_private_ip is not None}

    @api.post("/blocked-events/batches")
    def blocked_events(
        body: views.BatchBody, caller: Annotated[Principal, Depends(doors.network)]
    ) -> dict[str, int]:
        """What firewalls stopped. The same batchId twice is counted once."""
        counted = parental.ingest.take(body.batch())
        parental.notices.blocked_often(counted.touched)
        return views.counted_view(counted)

    @api.get("/quarantine", response_model_exclude_none=True)
    def quarantined(
        caller: Annotated[Principal, Depends(doors.operator)], size: PageSize = None, after: StartAt = None
    ) -> Page[views.QuarantineView]:
        """Blocked events that match no child; kept for 30 days."""
        return page_of(parental.ingest.waiting(size, after, caller.subject), views.quarantine_view)

    @api.post("/quarantine/{id}:again")
    def count_again(id: str, caller: Annotated[Principal, Depends(doors.operator)]) -> dict[str, int]:
        """Count what can be counted by now."""
        return views.counted_view(parental.ingest.again(id))

    return api


@contextmanager
def or_unavailable() -> Iterator[None]:
    """What a device does wrong is 503 to an operator."""
    try:
        yield
    except FirewallMistake as mistake:
        raise DeviceUnavailable(f"The device says: {mistake}.") from None
