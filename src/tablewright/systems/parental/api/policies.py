"""`/children/{phone}/policies`, `/overrides`, `/effective`, `/timeline`, `/parents/{who}/policies`."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from tablewright.edge import Principal
from tablewright.edge.errors import BadRequest
from tablewright.edge.idempotency import idempotency_key
from tablewright.systems.parental.api.bodies import policies as views
from tablewright.systems.parental.api.bodies.common import Page, moment_of
from tablewright.systems.parental.api.common import (
    Doors,
    IfMatch,
    PageSize,
    Since,
    StartAt,
    Until,
    Why,
    actor_of,
    demanded,
    expected,
    marked,
    page_of,
)
from tablewright.systems.parental.model import Override
from tablewright.systems.parental.parental import Parental

LONGEST_TIMELINE = timedelta(days=32)


def policies(parental: Parental, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["policies"])
    service = parental.policies

    @api.post("/children/{phone}/policies", status_code=201, response_model_exclude_none=True)
    def create_policy(
        phone: str,
        body: views.NewPolicy,
        request: Request,
        response: Response,
        caller: Annotated[Principal, Depends(doors.signed_in)],
    ) -> views.PolicyView:
        """Create a policy. With an Idempotency-Key, a repeated request returns the first one."""
        actor = actor_of(caller)
        child = parental.families.open_child(actor, phone)
        saved = service.create(child, body.draft(), actor, key=idempotency_key(request))
        return marked(response, views.saved_view(saved))

    @api.get("/children/{phone}/policies", response_model_exclude_none=True)
    def list_policies(
        phone: str,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        size: PageSize = None,
        after: StartAt = None,
        reason: Why = None,
    ) -> Page[views.PolicyView]:
        actor = actor_of(caller)
        child = parental.families.child(actor, phone, reason=reason)
        return page_of(service.page(child, actor, size, after), views.policy_view)

    @api.post("/children/{phone}/policies/{id}:pause", response_model_exclude_none=True)
    def pause_policy(
        phone: str,
        id: str,
        body: views.Pause,
        response: Response,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        match: IfMatch = None,
    ) -> views.PolicyView:
        """Pause a policy until a time, or until it is resumed."""
        actor = actor_of(caller)
        child = parental.families.open_child(actor, phone)
        paused = service.pause(child, id, actor, body.until, expected(match, body.version))
        return marked(response, views.policy_view(paused))

    @api.post("/children/{phone}/policies/{id}:resume", response_model_exclude_none=True)
    def resume_policy(
        phone: str,
        id: str,
        response: Response,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        body: views.Resume | None = None,
        match: IfMatch = None,
    ) -> views.PolicyView:
        actor = actor_of(caller)
        child = parental.families.open_child(actor, phone)
        resumed = service.resume(child, id, actor, expected(match, body.version if body else None))
        return marked(response, views.policy_view(resumed))

    @api.get("/children/{phone}/policies/{id}", response_model_exclude_none=True)
    def get_policy(
        phone: str,
        id: str,
        response: Response,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        reason: Why = None,
    ) -> views.PolicyView:
        child = parental.families.child(actor_of(caller), phone, reason=reason)
        return marked(response, views.policy_view(service.get(child, id)))

    @api.put("/children/{phone}/policies/{id}", response_model_exclude_none=True)
    def replace_policy(
        phone: str,
        id: str,
        body: views.PolicyChange,
        request: Request,
        response: Response,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        match: IfMatch = None,
    ) -> views.PolicyView:
        """Replace a policy, on the version that was read; 409 with the current one if it has changed."""
        actor = actor_of(caller)
        child = parental.families.open_child(actor, phone)
        seen = demanded(match, body.version)
        saved = service.replace(child, id, body.draft(), actor, seen, key=idempotency_key(request))
        return marked(response, views.saved_view(saved))

    @api.delete("/children/{phone}/policies/{id}", status_code=204)
    def delete_policy(
        phone: str,
        id: str,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        match: IfMatch = None,
    ) -> None:
        """Delete a policy."""
        actor = actor_of(caller)
        child = parental.families.open_child(actor, phone)
        service.delete(child, id, actor, expected(match, None))

    @api.get("/parents/{who}/policies", response_model_exclude_none=True)
    def policies_of_parent(
        who: str,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[views.PolicyView]:
        """All policies of my family, newest first; `me`, or the family's own address."""
        email = None if who == "me" else who
        return page_of(service.of_parent(actor_of(caller), email, size, after), views.policy_view)

    return api


def overrides(parental: Parental, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["exceptions"])
    service = parental.overrides

    @api.post("/children/{phone}/overrides", status_code=201, response_model_exclude_none=True)
    def add_override(
        phone: str,
        body: views.NewOverride,
        request: Request,
        caller: Annotated[Principal, Depends(doors.signed_in)],
    ) -> Override:
        """Allow or block an app, or `*`, for a while; it ends automatically."""
        actor = actor_of(caller)
        child = parental.families.open_child(actor, phone)
        return service.add(
            child,
            body.kind,
            body.app_name,
            body.end(),
            actor,
            begins_at=body.begins_at,
            reason=body.reason,
            key=idempotency_key(request),
        )

    @api.get("/children/{phone}/overrides", response_model_exclude_none=True)
    def list_overrides(
        phone: str, caller: Annotated[Principal, Depends(doors.signed_in)], reason: Why = None
    ) -> list[Override]:
        return service.of_child(parental.families.child(actor_of(caller), phone, reason=reason))

    @api.delete("/children/{phone}/overrides/{id}", status_code=204)
    def end_override(phone: str, id: str, caller: Annotated[Principal, Depends(doors.signed_in)]) -> None:
        """End an exception early."""
        actor = actor_of(caller)
        service.end(parental.families.open_child(actor, phone), id, actor)

    return api


def effective(parental: Parental, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["what is blocked"])
    repository = parental.repository

    @api.get("/children/{phone}/effective", response_model_exclude_none=True)
    def effective_now(
        phone: str,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        at: Annotated[str | None, Query(description="a time with its zone; now by default")] = None,
        reason: Why = None,
    ) -> views.EffectiveView:
        """What is blocked now, whether it is enforced, and the next change; `at` is another moment."""
        child = parental.families.child(actor_of(caller), phone, reason=reason)
        moment = moment_of(at, "at")
        found = parental.blocked_now(child, moment)
        # Only for now is it known what is enforced.
        told = parental.reconciler.status(child.child) if moment is None else []
        states = {status.app: status for status in told if status.wanted}
        blocked = [
            views.blocked_now(app, why, states.get(app)) for app, why in sorted(found.now.blocked.items())
        ]
        return views.effective_view(found.now, found.then, blocked)

    @api.get("/children/{phone}/timeline", response_model_exclude_none=True)
    def timeline(
        phone: str,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        since: Since = None,
        until: Until = None,
        reason: Why = None,
    ) -> list[views.SpanView]:
        """What is blocked when, between two moments; the next day by default."""
        child = parental.families.child(actor_of(caller), phone, reason=reason)
        start = since or repository.now()
        end = until or start + timedelta(days=1)
        if not start < end <= start + LONGEST_TIMELINE:
            words = f"A timeline must end after it starts and have at most {LONGEST_TIMELINE.days} days."
            raise BadRequest("INVALID_TIME", words, "to")
        return [views.span_view(span) for span in parental.timeline(child, start, end)]

    return api
