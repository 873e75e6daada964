"""Administration: `/admin/users` and their quotas, suspension, audit log."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field, StringConstraints

from tablewright.kit.http import Body, Cursor, Page, listed, page_of
from tablewright.systems.campus.access import Admin
from tablewright.systems.campus.api.me import PageSize
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.model import AuditEntry, User

Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class QuotaChange(Body):
    storage_quota: Annotated[int, Field(ge=0)]


class Suspension(Body):
    reason: Reason


def admin(campus: Campus) -> APIRouter:
    api = APIRouter(prefix="/admin", tags=["admin"])

    @api.get("/users", response_model_exclude_none=True)
    def find_users(by: Admin, q: str = "", size: PageSize = None) -> Page[User]:
        """Users whose name, address or university id contains `q`."""
        return listed(campus.users.search(q, size or 20))

    @api.get("/users/{user_id}", response_model_exclude_none=True)
    def get_user(by: Admin, user_id: str) -> User:
        return campus.users.by_id(user_id)

    @api.put("/users/{user_id}/quota", response_model_exclude_none=True)
    def set_quota(by: Admin, user_id: str, body: QuotaChange) -> User:
        return campus.users.set_quota(user_id, body.storage_quota, by)

    @api.post("/users/{user_id}:suspend", response_model_exclude_none=True)
    def suspend(by: Admin, user_id: str, body: Suspension) -> User:
        return campus.users.suspend(user_id, by, body.reason)

    @api.post("/users/{user_id}:reinstate", response_model_exclude_none=True)
    def reinstate(by: Admin, user_id: str) -> User:
        return campus.users.reinstate(user_id, by)

    @api.get("/audit/{subject}", response_model_exclude_none=True)
    def history(by: Admin, subject: str, size: PageSize = None, after: Cursor = None) -> Page[AuditEntry]:
        """Who did what to a record, such as `file:{id}`; newest first."""
        return page_of(campus.repository.page(campus.repository.history(subject), size, after, by.user_id))

    return api
