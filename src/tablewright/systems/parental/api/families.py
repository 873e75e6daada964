"""`/families`, `/invitations`, `/parents/me`, `/children`: families, guardians and children."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response

from tablewright.edge import Principal, RateLimiter, limit_rate
from tablewright.edge.downloads import attachment
from tablewright.edge.idempotency import idempotency_key
from tablewright.kit.tables import Actor
from tablewright.systems.parental.api.bodies import families as views
from tablewright.systems.parental.api.bodies.common import Page
from tablewright.systems.parental.api.common import (
    Doors,
    IfMatch,
    PageSize,
    StartAt,
    Why,
    actor_of,
    expected,
    marked,
    page_of,
)
from tablewright.systems.parental.family.privacy import BACKUPS, Sheet
from tablewright.systems.parental.model import AuditEntry, Child, Guardian, Invitation
from tablewright.systems.parental.parental import Parental
from tablewright.systems.parental.rules import child_key


def families(parental: Parental, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["families"])
    service, guardians = parental.families, parental.guardians

    def seen(family_id: str, actor: Actor) -> views.FamilyView:
        family = service.own(actor, family_id)
        return views.family_view(family, guardians.of(family_id, actor), actor.subject)

    @api.get("/parents/me", response_model_exclude_none=True)
    def me(caller: Annotated[Principal, Depends(doors.signed_in)]) -> views.Me:
        """The caller, its families and its invitations."""
        actor = actor_of(caller)
        return views.Me(
            subject=caller.subject,
            email=caller.email,
            families=[seen(family.family_id, actor) for family in service.of(actor)],
            invitations=guardians.invited(actor),
        )

    @api.post("/parents/me:email")
    def take_email(caller: Annotated[Principal, Depends(doors.signed_in)]) -> list[Guardian]:
        """Use the e-mail address of my login from now on; policies and metrics are updated."""
        return guardians.change_email(actor_of(caller))

    @api.post("/families", status_code=201, response_model_exclude_none=True)
    def create_family(
        body: views.NewFamily,
        request: Request,
        response: Response,
        caller: Annotated[Principal, Depends(doors.signed_in)],
    ) -> views.FamilyView:
        """Create a family; the caller becomes its owner."""
        actor = actor_of(caller)
        made = service.create(body.name, actor, person=body.guardian_name, key=idempotency_key(request))
        return marked(response, seen(made.family_id, actor))

    @api.get("/families", response_model_exclude_none=True)
    def list_families(caller: Annotated[Principal, Depends(doors.signed_in)]) -> list[views.FamilyView]:
        actor = actor_of(caller)
        return [seen(family.family_id, actor) for family in service.of(actor)]

    @api.get("/families/{id}", response_model_exclude_none=True)
    def get_family(
        id: str, response: Response, caller: Annotated[Principal, Depends(doors.signed_in)]
    ) -> views.FamilyView:
        return marked(response, seen(id, actor_of(caller)))

    @api.patch("/families/{id}", response_model_exclude_none=True)
    def change_family(
        id: str,
        body: views.FamilyChange,
        response: Response,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        match: IfMatch = None,
    ) -> views.FamilyView:
        """Change the fields that are sent: name, always allowed sites, behaviour in an outage, alert limit."""
        actor = actor_of(caller)
        service.change(id, body.changes(), actor, expected(match, body.version))
        return marked(response, seen(id, actor))

    @api.get("/families/{id}/deletion", response_model_exclude_none=True)
    def plan_of_deletion(
        id: str, caller: Annotated[Principal, Depends(doors.signed_in)]
    ) -> views.FamilyDeletion:
        """What deleting the family would delete, and when; owner only."""
        return views.family_deletion(parental.deletion.plan(id, actor_of(caller)), BACKUPS)

    @api.delete("/families/{id}", status_code=202, response_model_exclude_none=True)
    def delete_family(
        id: str,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        at_once: Annotated[bool, Query(alias="atOnce")] = False,
    ) -> views.Closes:
        """Delete the family and all its data: in a week, with time to cancel, or at once."""
        family = parental.deletion.delete(id, actor_of(caller), at_once=at_once)
        return views.Closes(closes_at=family.closes_at, backups=BACKUPS)

    @api.post("/families/{id}:keep", response_model_exclude_none=True)
    def keep_family(
        id: str, response: Response, caller: Annotated[Principal, Depends(doors.signed_in)]
    ) -> views.FamilyView:
        """Cancel the deletion within the week."""
        actor = actor_of(caller)
        parental.deletion.keep(id, actor)
        return marked(response, seen(id, actor))

    @api.get("/families/{id}/audit", response_model_exclude_none=True)
    def audit_of_family(
        id: str,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[AuditEntry]:
        """Who changed or viewed what, newest first; includes views by support, with the reason."""
        return page_of(service.audit(id, actor_of(caller), size, after), lambda entry: entry)

    @api.post("/families/{id}/invitations", status_code=201)
    def invite(
        id: str, body: views.NewInvitation, caller: Annotated[Principal, Depends(doors.signed_in)]
    ) -> Invitation:
        """Invite a guardian by mail; they accept by signing in with that address."""
        return guardians.invite(id, body.email, actor_of(caller))

    @api.get("/families/{id}/invitations")
    def invitations_of_family(
        id: str, caller: Annotated[Principal, Depends(doors.signed_in)]
    ) -> list[Invitation]:
        return guardians.invitations(id, actor_of(caller))

    @api.delete("/families/{id}/invitations/{invitation}", status_code=204)
    def withdraw(id: str, invitation: str, caller: Annotated[Principal, Depends(doors.signed_in)]) -> None:
        guardians.withdraw(id, invitation, actor_of(caller))

    @api.post("/invitations/{id}:accept", response_model_exclude_none=True)
    def accept(
        id: str, body: views.Acceptance, caller: Annotated[Principal, Depends(doors.signed_in)]
    ) -> views.FamilyView:
        actor = actor_of(caller)
        return seen(guardians.accept(id, actor, person=body.guardian_name).family_id, actor)

    @api.post("/invitations/{id}:decline", status_code=204)
    def decline(id: str, caller: Annotated[Principal, Depends(doors.signed_in)]) -> None:
        guardians.decline(id, actor_of(caller))

    @api.delete("/families/{id}/guardians/{subject}", status_code=204)
    def remove_guardian(
        id: str, subject: str, caller: Annotated[Principal, Depends(doors.signed_in)]
    ) -> None:
        """Remove a guardian (owner only), or leave the family."""
        guardians.remove(id, subject, actor_of(caller))

    @api.post("/families/{id}/guardians/{subject}:make-owner")
    def hand_over(id: str, subject: str, caller: Annotated[Principal, Depends(doors.signed_in)]) -> Guardian:
        return guardians.hand_over(id, subject, actor_of(caller))

    return api


def children(parental: Parental, doors: Doors, buckets: RateLimiter) -> APIRouter:
    api = APIRouter(tags=["children"])
    service = parental.families
    pace = limit_rate(buckets, "number-proofs", per_minute=30, burst=20)

    @api.post("/number-proofs", status_code=202, dependencies=[Depends(pace)])
    def prove_number(
        body: views.NumberProof, caller: Annotated[Principal, Depends(doors.signed_in)]
    ) -> dict[str, str]:
        """Send a code to a number; the response does not reveal whether the number is in use."""
        parental.children.prove(body.phone_number, actor_of(caller), body.family_id)
        return {"message": "A code is on its way to this number. It works for 15 minutes."}

    @api.post("/children", status_code=201, dependencies=[Depends(pace)], response_model_exclude_none=True)
    def add_child(
        body: views.NewChild,
        request: Request,
        response: Response,
        caller: Annotated[Principal, Depends(doors.signed_in)],
    ) -> views.ChildView:
        """Add a child, with the code that was sent to its number."""
        child = parental.children.add(
            body.phone_number,
            body.code,
            body.child_name,
            body.timezone,
            actor_of(caller),
            family_id=body.family_id,
            key=idempotency_key(request),
        )
        return marked(response, views.child_view(child))

    @api.get("/children", response_model_exclude_none=True)
    def list_children(
        caller: Annotated[Principal, Depends(doors.signed_in)],
        released: Annotated[bool, Query(alias="includeReleased")] = False,
    ) -> list[views.ChildView]:
        """My children; those whose number was released only on request."""
        return [views.child_view(child) for child in service.children(actor_of(caller), released=released)]

    @api.get("/children/{phone}", response_model_exclude_none=True)
    def get_child(
        phone: str,
        response: Response,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        reason: Why = None,
    ) -> views.ChildView:
        return marked(response, views.child_view(service.child(actor_of(caller), phone, reason=reason)))

    @api.patch("/children/{phone}", response_model_exclude_none=True)
    def change_child(
        phone: str,
        body: views.ChildChange,
        response: Response,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        match: IfMatch = None,
    ) -> views.ChildView:
        """Change the fields that are sent: name, time zone, pause."""
        actor = actor_of(caller)
        child = service.open_child(actor, phone)
        changed = parental.children.change(child, body.changes(), actor, expected(match, body.version))
        return marked(response, views.child_view(changed))

    @api.post("/children/{phone}:release", response_model_exclude_none=True)
    def release(
        phone: str, body: views.Reason, caller: Annotated[Principal, Depends(doors.signed_in)]
    ) -> views.ChildView | views.Released:
        """Release the number: nothing is blocked for it any more. Operators need a reason and see only the result."""
        actor = actor_of(caller)
        released = parental.children.release(to_release(actor, phone), actor, body.reason)
        is_own = service.has(actor, released.family_id)
        return views.child_view(released) if is_own else views.released_view(released)

    def to_release(actor: Actor, phone: str) -> Child:
        """The caller's own child; for an operator the child that has the number."""
        holder = parental.repository.child_of_phone(child_key(phone)) if actor.role == "operator" else None
        if holder is not None and not service.has(actor, holder.family_id):
            return holder
        return service.child(Actor(actor.name, "parent", actor.subject, actor.email), phone)

    @api.post("/children/{phone}:number", dependencies=[Depends(pace)], response_model_exclude_none=True)
    def change_number(
        phone: str, body: views.NumberChange, caller: Annotated[Principal, Depends(doors.signed_in)]
    ) -> views.ChildView:
        """Change a child's number, with the code that was sent to the new one; all its data moves."""
        actor = actor_of(caller)
        child = service.open_child(actor, phone)
        return views.child_view(parental.children.change_number(child, body.phone_number, body.code, actor))

    @api.get("/children/{phone}/export")
    def export_child(
        phone: str,
        response: Response,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        format: Literal["json", "csv"] = "json",
        of: Sheet = "metrics",
        reason: Why = None,
    ) -> Any:
        """All data about a child as JSON, or one list as CSV."""
        child = service.child(actor_of(caller), phone, reason=reason)
        now = parental.repository.now()
        if format == "json":
            response.headers.update(attachment("parental", child.child_name, now, "json"))
            return parental.privacy.export(child)
        headers = attachment("parental", f"{child.child_name} {of}", now, "csv")
        text = parental.privacy.sheet(child, of)
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)

    @api.delete("/children/{phone}", status_code=202, response_model_exclude_none=True)
    def erase_child(phone: str, caller: Annotated[Principal, Depends(doors.signed_in)]) -> views.Erasing:
        """Erase all data about a child. Rules on an unreachable device are removed when it is back."""
        actor = actor_of(caller)
        parent = Actor(actor.name, "parent", actor.subject, actor.email)
        # Also one that is being erased: to see what that waits for.
        child = service.child(parent, phone, erased=True)
        service.owner(actor, child.family_id)
        return views.erasing(parental.privacy.erase(child, actor), BACKUPS)

    return api
