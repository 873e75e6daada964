"""The caller: `/me`, the age gate, own consent, export and erasure of oneself; identity checks that staff record."""

from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import StringConstraints

from tablewright.edge.routes import Router
from tablewright.kit.erased import Certificate
from tablewright.kit.http import Body, Cursor, Page, VersionRead, page_of
from tablewright.systems.chat.access import Administrator, Me
from tablewright.systems.chat.api.children import AccessView, ProfileView, access_view, profile_view
from tablewright.systems.chat.api.conversations import PageSize
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.errors import NoConsent
from tablewright.systems.chat.family_model import Language, Method, Scope, Verification
from tablewright.systems.chat.model import Partitions

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
Reference = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class ProfileChange(Body):
    """What people change of themselves."""

    name: Name | None = None
    language: Language | None = None
    time_zone: str | None = None


class BirthDate(Body):
    birth_date: date


class OwnConsent(Body):
    """What someone of 13 or older allows; an empty list withdraws everything."""

    scopes: list[Scope]


class MessagePartitions(Body):
    """In how many partitions the messages of a user's next conversations are."""

    partitions: Partitions


class VerificationRecord(Body):
    """An identity check that took place; `reference` is the case number of the service that made it."""

    method: Method
    reference: Reference


def people(chat: Chat) -> APIRouter:
    api = Router(tags=["me"])

    @api.get("/me", response_model_exclude_none=True)
    def get_me(me: Me) -> ProfileView:
        return profile_view(me, chat.people.today())

    @api.patch("/me", response_model_exclude_none=True)
    def change_me(body: ProfileChange, me: Me, version: VersionRead = None) -> ProfileView:
        """Name and time zone; the zone of a child is that of its family."""
        changes = {name: value for name, value in body.changes().items() if value is not None}
        if me.family_id is not None:
            changes.pop("time_zone", None)
        return profile_view(chat.people.change(me, changes, me, version), chat.people.today())

    @api.put("/me/birth-date", response_model_exclude_none=True)
    def state_birth_date(body: BirthDate, me: Me) -> ProfileView:
        """The age gate: a student states the birth date once."""
        return profile_view(chat.people.state_birth_date(me, body.birth_date), chat.people.today())

    @api.put("/me/consent", response_model_exclude_none=True)
    def decide(body: OwnConsent, me: Me) -> ProfileView:
        """Decide for oneself: adults, and those of 13 and older who are in no family."""
        return profile_view(chat.consents.decide_alone(me, body.scopes), chat.people.today())

    @api.get("/me/export")
    def export_me(me: Me) -> dict[str, Any]:
        """Everything that is kept about the caller."""
        return chat.privacy.export(me)

    @api.get("/me/access-log", response_model_exclude_none=True)
    def who_looked(me: Me, size: PageSize = None, after: Cursor = None) -> Page[AccessView]:
        """Who looked at the caller's data, the newest first."""
        found = chat.repository.page(chat.access_log.of(me.user_id), size, after, me.user_id)
        return page_of(found, access_view)

    @api.post("/me/erase")
    def erase_me(me: Me) -> Certificate:
        """Erase the caller; a child in a family asks a parent."""
        if me.family_id is not None and not me.is_adult_on(chat.people.today()):
            raise NoConsent("Ask a parent to delete your chats.")
        return chat.erasure.erase(me, me, "asked for by the person")

    @api.post("/admin/users/{user_id}/verifications", status_code=201, response_model_exclude_none=True)
    def record_verification(user_id: str, body: VerificationRecord, by: Administrator) -> Verification:
        """Record that the identity of a parent was verified, by questions or by ID and face."""
        return chat.consents.record_verification(chat.people.by_id(user_id), body.method, body.reference, by)

    @api.put("/admin/users/{user_id}/message-partitions", response_model_exclude_none=True)
    def spread(user_id: str, body: MessagePartitions, by: Administrator) -> MessagePartitions:
        """Spread the messages of a user who writes more than one partition takes; conversations that exist stay."""
        changes = {"message_partitions": body.partitions}
        changed = chat.people.change(chat.people.by_id(user_id), changes, by)
        return MessagePartitions(partitions=changed.message_partitions)

    @api.get("/admin/users/{user_id}/accesses", response_model_exclude_none=True)
    def what_someone_looked_at(
        user_id: str, by: Administrator, size: PageSize = None, after: Cursor = None
    ) -> Page[AccessView]:
        """What someone looked at, the newest first."""
        found = chat.repository.page(chat.access_log.by(user_id), size, after, by.user_id)
        return page_of(found, access_view)

    return api
