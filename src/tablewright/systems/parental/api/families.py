"""`/families`, `/invitations`, `/parents/me`, `/children`: families, guardians and children."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.downloads import attachment, download
from tablewright.edge.routes import Router
from tablewright.kit.http import Cursor, IdempotencyKey, Page, VersionRead, based_on, marked, page_of
from tablewright.kit.tables import Actor
from tablewright.systems.parental.access import OpenChild, OwnFamily, SignedIn, VisibleChild
from tablewright.systems.parental.api.bodies import families as views
from tablewright.systems.parental.api.bodies.common import PageSize
from tablewright.systems.parental.family.privacy import BACKUPS, Sheet
from tablewright.systems.parental.field_rules import child_key
from tablewright.systems.parental.model import AuditEntry, Child, Family, Guardian, Invitation
from tablewright.systems.parental.parental import Parental


def families(parental: Parental) -> APIRouter:
    api = Router(tags=["families"])
    service, guardians = parental.families, parental.guardians

    def seen(family: Family, actor: Actor) -> views.FamilyView:
        return views.family_view(family, guardians.of(family.family_id, actor), actor.subject)

    @api.get("/parents/me", response_model_exclude_none=True)
    def me(actor: SignedIn) -> views.Me:
        """The caller, its families and its invitations."""
        return views.Me(
            subject=actor.subject,
            email=actor.email,
            families=[seen(family, actor) for family in service.of(actor)],
            invitations=guardians.invited(actor),
        )

    @api.post("/parents/me:email")
    def take_email(actor: SignedIn) -> list[Guardian]:
        """Use the e-mail address of my login from now on; policies and metrics are updated."""
        return guardians.change_email(actor)

    @api.post("/families", status_code=201, response_model_exclude_none=True)
    def create_family(
        body: views.NewFamily, key: IdempotencyKey, response: Response, actor: SignedIn
    ) -> views.FamilyView:
        """Create a family; the caller becomes its owner."""
        made = service.create(body.name, actor, person=body.guardian_name, key=key)
        return marked(response, seen(made, actor))

    @api.get("/families", response_model_exclude_none=True)
    def list_families(actor: SignedIn) -> list[views.FamilyView]:
        return [seen(family, actor) for family in service.of(actor)]

    @api.get("/families/{id}", response_model_exclude_none=True)
    def get_family(family: OwnFamily, response: Response, actor: SignedIn) -> views.FamilyView:
        return marked(response, seen(family, actor))

    @api.patch("/families/{id}", response_model_exclude_none=True)
    def change_family(
        family: OwnFamily, body: views.FamilyChange, response: Response, actor: SignedIn, version: VersionRead
    ) -> views.FamilyView:
        """Change the fields that are sent: name, always allowed sites, behaviour in an outage, alert limit."""
        read = based_on(version, body.version)
        changed = service.change(family.family_id, body.changes(), actor, read)
        return marked(response, seen(changed, actor))

    @api.get("/families/{id}/deletion", response_model_exclude_none=True)
    def plan_of_deletion(family: OwnFamily, actor: SignedIn) -> views.FamilyDeletion:
        """What deleting the family would delete, and when; owner only."""
        return views.family_deletion(parental.deletion.plan(family.family_id, actor), BACKUPS)

    @api.delete("/families/{id}", status_code=202, response_model_exclude_none=True)
    def delete_family(
        family: OwnFamily, actor: SignedIn, at_once: Annotated[bool, Query(alias="atOnce")] = False
    ) -> views.Closes:
        """Delete the family and all its data: in a week, with time to cancel, or at once."""
        closing = parental.deletion.delete(family.family_id, actor, at_once=at_once)
        return views.Closes(closes_at=closing.closes_at, backups=BACKUPS)

    @api.post("/families/{id}:keep", response_model_exclude_none=True)
    def keep_family(family: OwnFamily, response: Response, actor: SignedIn) -> views.FamilyView:
        """Cancel the deletion within the week."""
        return marked(response, seen(parental.deletion.keep(family.family_id, actor), actor))

    @api.get("/families/{id}/audit", response_model_exclude_none=True)
    def audit_of_family(
        family: OwnFamily, actor: SignedIn, size: PageSize = None, after: Cursor = None
    ) -> Page[AuditEntry]:
        """Who changed or viewed what, newest first; includes views by support, with the reason."""
        return page_of(service.audit(family.family_id, actor, size, after))

    @api.post("/families/{id}/invitations", status_code=201)
    def invite(family: OwnFamily, body: views.NewInvitation, actor: SignedIn) -> Invitation:
        """Invite a guardian by mail; they accept by signing in with that address."""
        return guardians.invite(family.family_id, body.email, actor)

    @api.get("/families/{id}/invitations")
    def invitations_of_family(family: OwnFamily, actor: SignedIn) -> list[Invitation]:
        return guardians.invitations(family.family_id, actor)

    @api.delete("/families/{id}/invitations/{invitation}", status_code=204)
    def withdraw(family: OwnFamily, invitation: str, actor: SignedIn) -> None:
        guardians.withdraw(family.family_id, invitation, actor)

    @api.post("/invitations/{id}:accept", response_model_exclude_none=True)
    def accept(id: str, body: views.Acceptance, actor: SignedIn) -> views.FamilyView:
        return seen(guardians.accept(id, actor, person=body.guardian_name), actor)

    @api.post("/invitations/{id}:decline", status_code=204)
    def decline(id: str, actor: SignedIn) -> None:
        guardians.decline(id, actor)

    @api.delete("/families/{id}/guardians/{subject}", status_code=204)
    def remove_guardian(family: OwnFamily, subject: str, actor: SignedIn) -> None:
        """Remove a guardian (owner only), or leave the family."""
        guardians.remove(family.family_id, subject, actor)

    @api.post("/families/{id}/guardians/{subject}:make-owner")
    def hand_over(family: OwnFamily, subject: str, actor: SignedIn) -> Guardian:
        return guardians.hand_over(family.family_id, subject, actor)

    return api


def children(parental: Parental, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["children"])
    service = parental.families
    pace = Depends(limit_rate(buckets, "number-proofs", per_minute=30, burst=20))

    @api.post("/number-proofs", status_code=202, dependencies=[pace])
    def prove_number(body: views.NumberProof, actor: SignedIn) -> dict[str, str]:
        """Send a code to a number; the response does not reveal whether the number is in use."""
        parental.children.prove(body.phone_number, actor, body.family_id)
        return {"message": "A code is on its way to this number. It works for 15 minutes."}

    @api.post("/children", status_code=201, dependencies=[pace], response_model_exclude_none=True)
    def add_child(
        body: views.NewChild, key: IdempotencyKey, response: Response, actor: SignedIn
    ) -> views.ChildView:
        """Add a child, with the code that was sent to its number."""
        child = parental.children.add(
            body.phone_number,
            body.code,
            body.child_name,
            body.timezone,
            actor,
            family_id=body.family_id,
            key=key,
        )
        return marked(response, views.child_view(child))

    @api.get("/children", response_model_exclude_none=True)
    def list_children(
        actor: SignedIn, released: Annotated[bool, Query(alias="includeReleased")] = False
    ) -> list[views.ChildView]:
        """My children; those whose number was released only on request."""
        return [views.child_view(child) for child in service.children(actor, released=released)]

    @api.get("/children/{phone}", response_model_exclude_none=True)
    def get_child(child: VisibleChild, response: Response) -> views.ChildView:
        return marked(response, views.child_view(child))

    @api.patch("/children/{phone}", response_model_exclude_none=True)
    def change_child(
        child: OpenChild, body: views.ChildChange, response: Response, actor: SignedIn, version: VersionRead
    ) -> views.ChildView:
        """Change the fields that are sent: name, time zone, pause."""
        changed = parental.children.change(child, body.changes(), actor, based_on(version, body.version))
        return marked(response, views.child_view(changed))

    @api.post("/children/{phone}:release", response_model_exclude_none=True)
    def release(phone: str, body: views.Reason, actor: SignedIn) -> views.ChildView | views.Released:
        """Release the number: nothing is blocked for it any more. Operators need a reason and see only the result."""
        released = parental.children.release(to_release(actor, phone), actor, body.reason)
        is_own = service.has(actor, released.family_id)
        return views.child_view(released) if is_own else views.released_view(released)

    def to_release(actor: Actor, phone: str) -> Child:
        """The caller's own child; for an operator the child that has the number."""
        holder = parental.repository.child_of_phone(child_key(phone)) if actor.role == "operator" else None
        if holder is not None and not service.has(actor, holder.family_id):
            return holder
        return service.child(Actor(actor.name, "parent", actor.subject, actor.email), phone)

    @api.post("/children/{phone}:number", dependencies=[pace], response_model_exclude_none=True)
    def change_number(child: OpenChild, body: views.NumberChange, actor: SignedIn) -> views.ChildView:
        """Change a child's number, with the code that was sent to the new one; all its data moves."""
        return views.child_view(parental.children.change_number(child, body.phone_number, body.code, actor))

    @api.get("/children/{phone}/export")
    def export_child(
        child: VisibleChild,
        response: Response,
        format: Literal["json", "csv"] = "json",
        of: Sheet = "metrics",
    ) -> Any:
        """All data about a child as JSON, or one list as CSV."""
        now = parental.repository.now()
        if format == "json":
            response.headers.update(attachment("parental", child.child_name, now, "json"))
            return parental.privacy.export(child)
        text = parental.privacy.sheet(child, of)
        return download(text, "parental", f"{child.child_name} {of}", now, "csv")

    @api.delete("/children/{phone}", status_code=202, response_model_exclude_none=True)
    def erase_child(phone: str, actor: SignedIn) -> views.Erasing:
        """Erase all data about a child. Rules on an unreachable device are removed when it is back."""
        parent = Actor(actor.name, "parent", actor.subject, actor.email)
        # Also one that is being erased: to see what that waits for.
        child = service.child(parent, phone, erased=True)
        service.owner(actor, child.family_id)
        return views.erasing(parental.privacy.erase(child, actor), BACKUPS)

    return api
