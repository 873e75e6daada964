"""`/admin/...`: what failed, what is in conflict, the geography, an account by its address (SK-X13).

Must hold: an admin sees that something is wrong and where, not what its owner wrote; opening an account is recorded in
that account's audit log.
"""

from datetime import timedelta
from itertools import chain, islice
from typing import Annotated

from fastapi import APIRouter, Query

from tablewright.edge import Principal
from tablewright.edge.errors import BadRequest, NotFound
from tablewright.edge.routes import Router
from tablewright.kit.http import view_of
from tablewright.systems.travel.access import Admin
from tablewright.systems.travel.api import admin_bodies, bodies
from tablewright.systems.travel.api.bodies import After, PageSize
from tablewright.systems.travel.model import REGION_TYPES, OpenStatus
from tablewright.systems.travel.travel import Travel

ERASURES_AT_MOST = 500


def admin(travel: Travel) -> APIRouter:
    api = Router(prefix="/admin", tags=["admin"])
    accounts, repository, places = travel.accounts, travel.repository, travel.places

    @api.get("/operations")
    def operations(
        caller: Admin,
        status: Annotated[OpenStatus, Query()] = "failed",
        size: PageSize = None,
        after: After = None,
    ) -> bodies.Listed[admin_bodies.AdminOperation]:
        """Operations of all travellers that were refused or are in conflict, the oldest first."""
        page = travel.sync.by_status(status, caller.subject, size, after)
        return bodies.listed(page, admin_bodies.admin_operation)

    @api.get("/geography")
    def geography(caller: Admin) -> admin_bodies.GeographyView:
        """The geography of this server, and the published one."""
        return admin_bodies.GeographyView(
            data_version=places.data_version,
            published=places.release(),
            regions={kind: len(travel.geography.of(kind)) for kind in REGION_TYPES},
            countable={kind: travel.geography.denominator(kind) for kind in REGION_TYPES},
        )

    @api.post("/geography:publish")
    def publish(caller: Admin) -> admin_bodies.Published:
        """Publish the geography of this server, if the table has another version."""
        return admin_bodies.Published(written=places.publish(), data_version=places.data_version)

    @api.post("/users:find")
    def find_user(body: admin_bodies.LookupBody, caller: Admin) -> admin_bodies.AdminUser:
        """An account by its address or the keyed hash of it. In the body, so that no log has it."""
        if (body.email is None) == (body.email_hmac is None):
            raise BadRequest("INVALID_FIELD", "Send either email or email_hmac.", "email")
        if body.email is not None:
            user_id = accounts.owner_of_email(body.email)
        else:
            user_id = accounts.owner_of_hash(body.email_hmac or "")
        if user_id is None:
            raise NotFound("USER")
        return seen(user_id, caller)

    @api.get("/users/{user_id}")
    def get_user(user_id: str, caller: Admin) -> admin_bodies.AdminUser:
        return seen(user_id, caller)

    def seen(user_id: str, caller: Principal) -> admin_bodies.AdminUser:
        found = admin_bodies.admin_user(repository.profile(user_id), travel.devices.of(user_id, revoked=True))
        repository.db.write(repository.audit(user_id, "viewed by support", caller.subject, "admin"))
        return found

    @api.post("/users/{user_id}:minor")
    def set_minor(user_id: str, body: admin_bodies.MinorBody, caller: Admin) -> admin_bodies.AdminUser:
        """Mark an account as a child's, or as an adult's."""
        accounts.set_minor(user_id, body.is_minor, caller.subject, "admin")
        return seen(user_id, caller)

    @api.post("/users/{user_id}:recount")
    def recount(user_id: str, caller: Admin) -> dict[str, bool]:
        """Recount everything, and correct the counters."""
        repository.profile(user_id)
        return {"was_wrong": travel.statistics.repair(user_id) is not None}

    @api.delete("/users/{user_id}", status_code=202)
    def erase_user(user_id: str, caller: Admin) -> bodies.ErasureView:
        """Erase an account in a week, at its owner's request."""
        return bodies.ErasureView(erases_at=travel.privacy.ask(user_id, caller.subject, role="admin").due_at)

    @api.get("/erasures")
    def erasures(caller: Admin) -> list[admin_bodies.AdminErasure]:
        """What is asked for, the earliest first; then what was done, the last first."""
        until = repository.now() + timedelta(days=365)
        found = islice(chain(travel.privacy.erasures(until=until), travel.privacy.erased()), ERASURES_AT_MOST)
        return [view_of(admin_bodies.AdminErasure, erasure) for erasure in found]

    @api.post("/erasures:apply")
    def apply_deletions(caller: Admin) -> dict[str, int]:
        """After a copy of the table was restored: erase again the accounts erased since it was made."""
        return {"came_back": travel.privacy.apply_deletions()}

    return api
