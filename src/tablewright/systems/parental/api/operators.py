"""Routes for operators and for the network: `/devices`, `/enforcement/failures`, `/apps`, events, quarantine.

Must hold: an operator sees what failed and where, not whose it is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from tablewright.edge.errors import NotFound
from tablewright.edge.etags import mark, unchanged
from tablewright.edge.routes import Router
from tablewright.kit.http import Cursor, Page, Since, VersionRead, based_on, marked, page_of
from tablewright.systems.parental.access import Network, Operator, SignedIn
from tablewright.systems.parental.api.bodies import operators as views
from tablewright.systems.parental.api.bodies.common import HistoryPageSize, PageSize, Through
from tablewright.systems.parental.api.bodies.enforcement import (
    FailureView,
    RuleView,
    StatusView,
    failure_view,
    rule_view,
    status_view,
)
from tablewright.systems.parental.errors import DeviceUnavailable
from tablewright.systems.parental.firewall import removal as device_removal
from tablewright.systems.parental.firewall.driver import FirewallMistake
from tablewright.systems.parental.model import App, Device, OpenStatus
from tablewright.systems.parental.parental import Parental


def apps(parental: Parental) -> APIRouter:
    api = Router(tags=["apps"])
    registry = parental.registry

    @api.get("/apps", response_model_exclude_none=True)
    def list_apps(
        request: Request,
        response: Response,
        actor: SignedIn,
        retired: Annotated[bool, Query(alias="includeRetired")] = False,
    ) -> Any:
        """Every known app, most popular first."""
        version = f"{registry.version()}{'-all' if retired else ''}"
        same = unchanged(request, version)
        if same is not None:
            return same
        mark(response, version)
        return list(registry.all() if retired else registry.offered())

    @api.get("/apps/{name}", response_model_exclude_none=True)
    def get_app(name: str, response: Response, actor: SignedIn) -> App:
        app = registry.app(name)
        if app is None:
            raise NotFound("APP")
        return marked(response, app)

    @api.put("/apps/{name}", response_model_exclude_none=True)
    def save_app(
        name: str, body: views.AppBody, response: Response, actor: Operator, version: VersionRead
    ) -> App:
        """Create or replace an app; firewall rules that use it are updated within a minute."""
        saved = registry.save(name, body.fields(), actor, based_on(version, body.version))
        return marked(response, saved)

    @api.post("/apps/{name}:retire", response_model_exclude_none=True)
    def retire_app(name: str, response: Response, actor: Operator, version: VersionRead) -> App:
        """Retire an app: it is no longer offered; existing policies keep blocking it."""
        return marked(response, registry.retire(name, actor, version))

    @api.get("/apps/{name}/affected")
    def affected(name: str, actor: Operator) -> dict[str, int]:
        """How many policies and children a change of this app affects."""
        found = registry.affected(name)
        return {"policies": len(found.policies), "children": len(found.children)}

    return api


def failures(parental: Parental) -> APIRouter:
    api = Router(tags=["failures"])

    @api.get("/enforcement/failures", response_model_exclude_none=True)
    def list_failures(
        actor: Operator,
        status: OpenStatus = "failed",
        since: Since = None,
        until: Through = None,
        size: HistoryPageSize = None,
        after: Cursor = None,
    ) -> Page[FailureView]:
        """Failed and waiting attempts, newest first."""
        page = parental.records.failures(actor, status, since=since, until=until, size=size, after=after)
        return page_of(page, failure_view)

    @api.post("/enforcement/failures/{id}:retry", response_model_exclude_none=True)
    def retry(id: str, actor: Operator) -> list[StatusView]:
        """Retry now, ignoring the back-off; returns the state of the child afterwards."""
        action = parental.records.failure(id)
        if action.rule_id is None:
            parental.reconciler.reconcile(action.child)
        else:
            parental.reconciler.retry(action.child, action.rule_id)
        return [status_view(status) for status in parental.reconciler.status(action.child)]

    return api


def devices(parental: Parental) -> APIRouter:
    api = Router(tags=["devices"])
    service = parental.devices

    @api.get("/devices", response_model_exclude_none=True)
    def list_devices(actor: Operator) -> list[Device]:
        return service.all()

    @api.post("/devices", status_code=201, response_model_exclude_none=True)
    def add_device(body: views.NewDevice, response: Response, actor: Operator) -> Device:
        return marked(response, service.add(body.device()))

    @api.get("/devices/{id}", response_model_exclude_none=True)
    def get_device(id: str, response: Response, actor: Operator) -> Device:
        return marked(response, service.get(id))

    @api.patch("/devices/{id}", response_model_exclude_none=True)
    def change_device(
        id: str, body: views.DeviceChange, response: Response, actor: Operator, version: VersionRead
    ) -> Device:
        """Change the fields that are sent. A DNS guard is active once `guardKept` equals `guard`: at once, or when the
        device responds again."""
        changed = service.change(id, based_on(version, body.version), **body.changes())
        return marked(response, changed)

    @api.get("/devices/{id}/removal")
    def removal(id: str, actor: Operator) -> views.Removal:
        """What removing the device would delete or leave behind; changes nothing."""
        return views.removal_view(device_removal.plan(parental.repository, service, id))

    @api.delete("/devices/{id}")
    def remove_device(id: str, actor: Operator, version: VersionRead) -> dict[str, int]:
        """Remove a device that is switched off, permanently. The device is not called and keeps its rules; the response
        says how many that may be."""
        left = device_removal.remove(parental.repository, service, id, actor, version)
        return {"rulesLeft": left}

    @api.get("/devices/{id}/health")
    def health(id: str, actor: Operator) -> dict[str, Any]:
        """Check the device now."""
        with or_unavailable():
            found = service.health(id)
        return {"isOk": found.is_ok, "version": found.version, "detail": found.detail}

    @api.get("/devices/{id}/rules", response_model_exclude_none=True)
    def rules_of_device(
        id: str, actor: Operator, size: PageSize = None, after: Cursor = None
    ) -> Page[RuleView]:
        """Our records of the rules on the device, least recently compared first."""
        service.get(id)
        return page_of(parental.records.rules_of_device(id, actor, size, after), rule_view)

    @api.post("/devices/{id}:verify")
    def verify(id: str, actor: Operator) -> dict[str, int]:
        """Compare the device with our records and repair what differs."""
        service.get(id)
        with or_unavailable():
            done = parental.reconciler.verify(id)
        return asdict(done)

    return api


def network(parental: Parental) -> APIRouter:
    api = Router(tags=["network"])

    @api.post("/sessions/events", response_model_exclude_none=True)
    def session_event(body: views.SessionEvent, actor: Network) -> dict[str, Any]:
        """A session of a child's device started, moved, continues or ended. A repeated eventId counts once."""
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
    def blocked_events(body: views.BatchBody, actor: Network) -> dict[str, int]:
        """Blocked requests from firewalls. A repeated batchId counts once."""
        counted = parental.ingest.take(body.batch())
        parental.notices.blocked_often(counted.touched)
        return views.counted_view(counted)

    @api.get("/quarantine", response_model_exclude_none=True)
    def quarantined(
        actor: Operator, size: PageSize = None, after: Cursor = None
    ) -> Page[views.QuarantineView]:
        """Blocked events that match no child; kept for 30 days."""
        return page_of(parental.ingest.waiting(size, after, actor.subject), views.quarantine_view)

    @api.post("/quarantine/{id}:again")
    def count_again(id: str, actor: Operator) -> dict[str, int]:
        """Count the events that match a child by now."""
        return views.counted_view(parental.ingest.again(id))

    return api


@contextmanager
def or_unavailable() -> Iterator[None]:
    """Turns a device's failure into 503."""
    try:
        yield
    except FirewallMistake as mistake:
        raise DeviceUnavailable(f"The device says: {mistake}.") from None
