"""Families: `/families`, their members, invitations and chats; `/invitations/{token}` (ZC-X9, ZC-15)."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import StringConstraints

from tablewright.edge.errors import Refused
from tablewright.edge.routes import Router
from tablewright.kit.http import Body, Cursor, Page, VersionRead, listed, marked, page_of, view_of
from tablewright.systems.chat.access import Me, OpenFamily
from tablewright.systems.chat.api.conversations import PageSize
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family.families import Relative
from tablewright.systems.chat.family_model import Family, Invitation
from tablewright.systems.chat.model import FamilyConversation, Value

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
Address = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=254)]


class NewFamily(Body):
    name: Name
    time_zone: str = "UTC"


class FamilyChange(Body):
    name: Name | None = None
    time_zone: str | None = None


class InvitationRequest(Body):
    """Whom to invite; `place` is `child` for a student with a login of their own."""

    email: Address
    place: Literal["parent", "child"] = "parent"


class Acceptance(Body):
    """The family that takes over a child; absent if the invitation is a place in a family."""

    family_id: str | None = None


class FamilyView(Value):
    family_id: str
    name: str
    time_zone: str
    parents: int
    children: int
    created_at: datetime
    version: int


class MemberView(Value):
    user_id: str
    name: str
    place: Literal["parent", "child"]
    joined_at: datetime


class InvitationView(Value):
    """An invitation that waits. Its token is in the mail alone."""

    invitation_id: str
    email: str
    place: Literal["parent", "child"]
    child_id: str | None = None
    expires_at: datetime


def family_view(family: Family) -> FamilyView:
    return view_of(FamilyView, family)


def member_view(one: Relative) -> MemberView:
    return view_of(MemberView, one.member, name=one.user.name)


def invitation_view(invitation: Invitation) -> InvitationView:
    return view_of(InvitationView, invitation)


def families(chat: Chat) -> APIRouter:
    api = Router(tags=["families"])
    service = chat.families

    @api.post("/families", status_code=201)
    def create_family(body: NewFamily, me: Me, response: Response) -> FamilyView:
        """A new family with the caller as its parent."""
        return marked(response, family_view(service.create(me, body.name, body.time_zone)))

    @api.get("/families")
    def list_families(me: Me) -> Page[FamilyView]:
        """The families in which the caller is a parent."""
        return listed(map(family_view, service.of(me)))

    @api.get("/families/{family_id}")
    def get_family(opened: OpenFamily, response: Response) -> FamilyView:
        return marked(response, family_view(opened.family))

    @api.patch("/families/{family_id}")
    def change_family(
        opened: OpenFamily, body: FamilyChange, response: Response, version: VersionRead = None
    ) -> FamilyView:
        changed = service.change(
            opened.family, opened.me, name=body.name, time_zone=body.time_zone, expected=version
        )
        return marked(response, family_view(changed))

    @api.get("/families/{family_id}/members")
    def list_members(opened: OpenFamily) -> Page[MemberView]:
        return listed(map(member_view, service.relatives(opened.family)))

    @api.delete("/families/{family_id}/members/{user_id}", status_code=204)
    def remove_member(opened: OpenFamily, user_id: str) -> None:
        """Remove a parent, or leave; access ends at once."""
        service.remove(opened.family, user_id, opened.me)

    @api.get("/families/{family_id}/conversations", response_model_exclude_none=True)
    def list_conversations(
        opened: OpenFamily, size: PageSize = None, after: Cursor = None
    ) -> Page[FamilyConversation]:
        """The chats of the family's children, the newest first; the parents see that this was read."""
        return page_of(chat.family_chats.of(opened.family, opened.me, size, after))

    @api.post("/families/{family_id}/invitations", status_code=201, response_model_exclude_none=True)
    def invite(opened: OpenFamily, body: InvitationRequest) -> InvitationView:
        """Invite a second parent, or a student as a child, by mail."""
        return invitation_view(service.invite(opened.family, body.email, opened.me, body.place))

    @api.get("/families/{family_id}/invitations", response_model_exclude_none=True)
    def list_invitations(opened: OpenFamily) -> Page[InvitationView]:
        return listed(map(invitation_view, service.invited(opened.family)))

    @api.delete("/families/{family_id}/invitations/{invitation_id}", status_code=204)
    def withdraw(opened: OpenFamily, invitation_id: str) -> None:
        service.withdraw(opened.family, invitation_id, opened.me)

    @api.post("/invitations/{token}:accept")
    def accept(token: str, me: Me, body: Acceptance | None = None) -> FamilyView:
        """Take the place, or the child, that was offered to the caller's address."""
        wanted = None if body is None else body.family_id
        if service.membership.offered(token, me.email).child_id is None:
            return family_view(service.accept(token, me))
        if wanted is None:
            raise Refused("FAMILY_NEEDED", "Choose the family that takes over the child.", "familyId")
        family = service.own(me, wanted)
        chat.children.take_over(token, family, me)
        return family_view(service.own(me, wanted))

    return api
