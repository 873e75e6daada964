"""`/children/{phone}/policies`, `/overrides`, `/effective`, `/timeline`, `/parents/{who}/policies`."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Response

from tablewright.edge.errors import BadRequest
from tablewright.edge.routes import Router
from tablewright.kit.http import (
    Cursor,
    IdempotencyKey,
    Page,
    Since,
    Until,
    VersionRead,
    based_on,
    marked,
    moment_of,
    page_of,
    version_needed,
)
from tablewright.systems.parental.access import OpenChild, SignedIn, VisibleChild
from tablewright.systems.parental.api.bodies import policies as views
from tablewright.systems.parental.api.bodies.common import PageSize
from tablewright.systems.parental.model import Override
from tablewright.systems.parental.parental import Parental

LONGEST_TIMELINE = timedelta(days=32)


def policies(parental: Parental) -> APIRouter:
    api = Router(tags=["policies"])
    service = parental.policies

    @api.post("/children/{phone}/policies", status_code=201, response_model_exclude_none=True)
    def create_policy(
        child: OpenChild, body: views.NewPolicy, key: IdempotencyKey, response: Response, actor: SignedIn
    ) -> views.PolicyView:
        """Create a policy. With an Idempotency-Key, a repeated request returns the first one."""
        saved = service.create(child, body.draft(), actor, key=key)
        return marked(response, views.saved_view(saved))

    @api.get("/children/{phone}/policies", response_model_exclude_none=True)
    def list_policies(
        child: VisibleChild, actor: SignedIn, size: PageSize = None, after: Cursor = None
    ) -> Page[views.PolicyView]:
        return page_of(service.page(child, actor, size, after), views.policy_view)

    @api.post("/children/{phone}/policies/{id}:pause", response_model_exclude_none=True)
    def pause_policy(
        child: OpenChild,
        id: str,
        body: views.Pause,
        response: Response,
        actor: SignedIn,
        version: VersionRead,
    ) -> views.PolicyView:
        """Pause a policy until a time, or until it is resumed."""
        paused = service.pause(child, id, actor, body.until, based_on(version, body.version))
        return marked(response, views.policy_view(paused))

    @api.post("/children/{phone}/policies/{id}:resume", response_model_exclude_none=True)
    def resume_policy(
        child: OpenChild,
        id: str,
        response: Response,
        actor: SignedIn,
        version: VersionRead,
        body: views.Resume | None = None,
    ) -> views.PolicyView:
        resumed = service.resume(child, id, actor, based_on(version, body.version if body else None))
        return marked(response, views.policy_view(resumed))

    @api.get("/children/{phone}/policies/{id}", response_model_exclude_none=True)
    def get_policy(child: VisibleChild, id: str, response: Response) -> views.PolicyView:
        return marked(response, views.policy_view(service.get(child, id)))

    @api.put("/children/{phone}/policies/{id}", response_model_exclude_none=True)
    def replace_policy(
        child: OpenChild,
        id: str,
        body: views.PolicyChange,
        key: IdempotencyKey,
        response: Response,
        actor: SignedIn,
        version: VersionRead,
    ) -> views.PolicyView:
        """Replace a policy, on the version that was read; 409 with the current one if it has changed."""
        seen = version_needed(based_on(version, body.version))
        saved = service.replace(child, id, body.draft(), actor, seen, key=key)
        return marked(response, views.saved_view(saved))

    @api.delete("/children/{phone}/policies/{id}", status_code=204)
    def delete_policy(child: OpenChild, id: str, actor: SignedIn, version: VersionRead) -> None:
        """Delete a policy."""
        service.delete(child, id, actor, version)

    @api.get("/parents/{who}/policies", response_model_exclude_none=True)
    def policies_of_parent(
        who: str, actor: SignedIn, size: PageSize = None, after: Cursor = None
    ) -> Page[views.PolicyView]:
        """All policies of my family, newest first; `me`, or the family's own address."""
        email = None if who == "me" else who
        return page_of(service.of_parent(actor, email, size, after), views.policy_view)

    return api


def overrides(parental: Parental) -> APIRouter:
    api = Router(tags=["exceptions"])
    service = parental.overrides

    @api.post("/children/{phone}/overrides", status_code=201, response_model_exclude_none=True)
    def add_override(
        child: OpenChild, body: views.NewOverride, key: IdempotencyKey, actor: SignedIn
    ) -> Override:
        """Allow or block an app, or `*`, for a while; it ends automatically."""
        return service.add(
            child,
            body.kind,
            body.app_name,
            body.end(),
            actor,
            begins_at=body.begins_at,
            reason=body.reason,
            key=key,
        )

    @api.get("/children/{phone}/overrides", response_model_exclude_none=True)
    def list_overrides(child: VisibleChild) -> list[Override]:
        return service.of_child(child)

    @api.delete("/children/{phone}/overrides/{id}", status_code=204)
    def end_override(child: OpenChild, id: str, actor: SignedIn) -> None:
        """End an exception early."""
        service.end(child, id, actor)

    return api


def effective(parental: Parental) -> APIRouter:
    api = Router(tags=["what is blocked"])
    repository = parental.repository

    @api.get("/children/{phone}/effective", response_model_exclude_none=True)
    def effective_now(
        child: VisibleChild,
        at: Annotated[str | None, Query(description="a time with its zone; now by default")] = None,
    ) -> views.EffectiveView:
        """What is blocked now, whether it is enforced, and the next change; `at` is another moment."""
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
    def timeline(child: VisibleChild, since: Since = None, until: Until = None) -> list[views.SpanView]:
        """What is blocked when, between two moments; the next day by default."""
        start = since or repository.now()
        end = until or start + timedelta(days=1)
        if not start < end <= start + LONGEST_TIMELINE:
            words = f"A timeline must end after it starts and have at most {LONGEST_TIMELINE.days} days."
            raise BadRequest("INVALID_TIME", words, "to")
        return [views.span_view(span) for span in parental.timeline(child, start, end)]

    return api
