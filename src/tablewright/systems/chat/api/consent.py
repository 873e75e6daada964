"""Consent: `/children/{id}/consent`, by code or after an identity check, and withdrawal (ZC-X1, ZC-X23)."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field, StringConstraints

from tablewright.edge.errors import BadRequest
from tablewright.edge.routes import Router
from tablewright.kit.http import Body, view_of
from tablewright.systems.chat.access import OpenChild, OwnChild, note_view
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family_model import Consent, ConsentAction, Method, Scope, User
from tablewright.systems.chat.model import Value

Code = Annotated[str, StringConstraints(strip_whitespace=True, min_length=4, max_length=20)]
Phone = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^\+[0-9]{7,15}$")]
Scopes = Annotated[list[Scope], Field(min_length=1, max_length=3)]


class CodeRequest(Body):
    """A code by mail (`email_plus`) or text message (`text_plus`), for these scopes, after this notice."""

    scopes: Scopes
    method: Method
    notice_version: str
    phone: Phone | None = None


class ConsentGiven(Body):
    """A code that was received; or scopes with the method by which the parent's identity was verified."""

    code: Code | None = None
    scopes: Scopes | None = None
    method: Method | None = None
    notice_version: str | None = None


class ConsentWithdrawn(Body):
    """The scopes that end."""

    scopes: Scopes


class ConsentRecord(Value):
    at: datetime
    action: ConsentAction
    scopes: list[Scope]
    method: Method
    given_by: str
    notice_version: str
    generation: int


class ConsentView(Value):
    """What holds now, and what was decided before, the newest first."""

    scopes: list[Scope]
    stays_local: bool
    generation: int
    notice_version: str
    history: list[ConsentRecord]


def record_view(consent: Consent) -> ConsentRecord:
    return view_of(ConsentRecord, consent)


def consent(chat: Chat) -> APIRouter:
    api = Router(tags=["consent"])

    def shown(child: User) -> ConsentView:
        return ConsentView(
            scopes=child.scopes,
            stays_local=child.stays_local,
            generation=child.consent_generation,
            notice_version=chat.notices.version,
            history=[record_view(one) for one in chat.consents.history(child)],
        )

    @api.get("/children/{child_id}/consent")
    def get_consent(opened: OpenChild) -> ConsentView:
        note_view(chat, opened, "consent")
        return shown(opened.child)

    @api.post("/children/{child_id}/consent:request", status_code=202)
    def request_code(opened: OwnChild, body: CodeRequest) -> dict[str, str]:
        """Send the parent a code, with the notice and what it would allow."""
        chat.consents.request(
            opened.me, opened.child, body.scopes, body.method, body.notice_version, body.phone or ""
        )
        return {"sent": body.method}

    @api.post("/children/{child_id}/consent", status_code=201)
    def give_consent(opened: OwnChild, body: ConsentGiven) -> ConsentView:
        """Consent with the code that was sent, or after an identity check that the zoo has recorded."""
        if body.code is not None:
            return shown(chat.consents.confirm(opened.me, opened.child, body.code))
        if body.notice_version is None:
            words = "noticeVersion is missing: send the version of the notice that was read, or a code."
            raise BadRequest("NOTICE_VERSION_MISSING", words, "noticeVersion")
        child = chat.consents.consent_verified(
            opened.me, opened.child, body.scopes or [], body.method or "email_plus", body.notice_version
        )
        return shown(child)

    @api.delete("/children/{child_id}/consent")
    def withdraw(
        opened: OpenChild,
        body: ConsentWithdrawn | None = None,
        scopes: Annotated[list[Scope] | None, Query()] = None,
    ) -> ConsentView:
        """Withdraw the scopes of the body or the query, or without both everything; what needs them is refused."""
        if body is not None and scopes is not None:
            raise BadRequest(
                "SCOPES_TWICE", "Name the scopes in the body or in the query, not in both.", "scopes"
            )
        gone = scopes if body is None else body.scopes
        return shown(chat.consents.withdraw(opened.me, opened.child, gone or ()))

    return api
