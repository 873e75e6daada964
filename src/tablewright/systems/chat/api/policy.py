"""What is published: `/policy/retention`, `/policy/notice`, `/policy/safety`; and the programme behind it (ZC-X24)."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import StringConstraints

from tablewright.edge.routes import Router
from tablewright.kit.http import Body, Page, listed, view_of
from tablewright.systems.chat.access import Administrator
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family.notices import CrisisProtocol, Notice
from tablewright.systems.chat.family.retention import RetentionPolicy
from tablewright.systems.chat.model import AuditEntry, Value
from tablewright.systems.chat.settings import Vendor

DocumentReference = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=500)]


class Assessment(Body):
    """Where the document of a risk assessment is."""

    document: DocumentReference


class ProgrammeEntry(Value):
    audit_at: datetime
    actor: str
    action: str


class VendorView(Value):
    """A third party in the register, and whether it has given a written assurance."""

    name: str
    purpose: str
    data: str
    assurance: str
    is_assured: bool


def vendor_view(vendor: Vendor) -> VendorView:
    return view_of(VendorView, vendor, is_assured=bool(vendor.assurance))


def entry_view(entry: AuditEntry) -> ProgrammeEntry:
    return view_of(ProgrammeEntry, entry)


def policy(chat: Chat) -> APIRouter:
    api = Router(tags=["policy"])

    @api.get("/policy/retention")
    def retention() -> RetentionPolicy:
        """How long each class of data is kept, and why. Public."""
        return chat.notices.retention()

    @api.get("/policy/notice")
    def notice() -> Notice:
        """The notice to parents: third parties, purposes, retention, identifiers, rights. Public."""
        return chat.notices.notice()

    @api.get("/policy/safety")
    def safety() -> CrisisProtocol:
        """What happens after a message about self-harm. Public."""
        return chat.notices.crisis()

    @api.get("/admin/vendors")
    def vendors(by: Administrator) -> Page[VendorView]:
        """The register of third parties."""
        return listed(map(vendor_view, chat.notices.third_parties()))

    @api.get("/admin/assessments")
    def assessments(by: Administrator) -> Page[ProgrammeEntry]:
        """Risk assessments and reminders, the newest first."""
        return listed(map(entry_view, chat.notices.assessments()))

    @api.post("/admin/assessments", status_code=204)
    def record_assessment(by: Administrator, body: Assessment) -> None:
        """Record that the yearly risk assessment took place."""
        chat.notices.record_assessment(by, body.document)

    return api
