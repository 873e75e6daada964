"""Tenants: found or created at checkout, moved through their states, soft-deleted; reminded to verify their address.

Must hold: one tenant for one address (the guard); every change by staff has its audit entry in the same transaction;
nothing here deletes a tenant's record; a tenant gets one reminder. Elsewhere: export and erasure (privacy.py).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from tablewright.design import Query, Write, absent
from tablewright.edge.errors import Conflict, Forbidden, Refused
from tablewright.kit.tables import Actor
from tablewright.mapping import Page, Stale
from tablewright.systems.portal import design as d
from tablewright.systems.portal import field_rules, rules, tallies
from tablewright.systems.portal.errors import Changed, RaceLost
from tablewright.systems.portal.model import AuditEntry, Order, Status, Tally, Tenant
from tablewright.systems.portal.repository import CHECKOUT, Repository

REMIND_AFTER = timedelta(hours=24)
REMIND_UNTIL = timedelta(days=7)
PROPOSE_PURGE_AFTER = timedelta(days=90)
PROPOSED_IN_A_MAIL = 100
PROPOSAL_KEPT = timedelta(days=32)  # longer than a month
JOB_ACTOR = Actor("system:jobs", "system")


class Tenants:
    """What can be done with tenants."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    # --- reads ---

    def get(self, id: str) -> Tenant:
        return self._repository.tenant(id)

    def page(
        self,
        reader: Actor,
        *,
        status: Status | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        active: bool | None = True,
        size: int | None = None,
        after: str | None = None,
    ) -> Page[Tenant]:
        """Newest first: active, deleted, or (None) both; optionally by status and time."""
        query = self.listed(status=status, since=since, until=until, active=active)
        return self._repository.page(query, size, after, reader.subject)

    def listed(
        self,
        *,
        status: Status | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        active: bool | None = True,
    ) -> Query[Tenant]:
        """The list as a request, to be read in either direction."""
        if since is not None and until is not None and until < since:
            raise Refused("DATE_ORDER", "The last day must not be before the first day.", "to")
        if status is None and (since or until):
            raise Refused("STATUS_NEEDED", "Choose a status to filter by date.", "status")
        if status is not None:
            query = d.tenants_by_status(status=status, since=since, until=until)
            if active is not None:
                query = query.where(lambda tenant: tenant.active == active)
        elif active is None:
            query = d.tenants_by_active(active=True).beside(d.tenants_by_active(active=False))
        else:
            query = d.tenants_by_active(active=active)
        return query

    def tally(self) -> Tally:
        """How many tenants there are of each sort (tallies.py); may be a second late."""
        return tallies.tally_of(self._repository, "tenants")

    def history(
        self, id: str, reader: Actor, size: int | None = None, after: str | None = None
    ) -> Page[AuditEntry]:
        return self._repository.page(d.audits["tenants"].of(id), size, after, reader.subject)

    # --- checkout ---

    def at_checkout(self, email: str, organization_name: str | None, *, is_guest: bool = True) -> Tenant:
        """The tenant of an address: found, created, or reactivated (CP-19, CP-D15).

        TENANT_SUSPENDED is raised only for the signed-in tenant; a guest could be anyone and must not learn it.
        """
        address = rules.email_address(email)
        now = self._repository.now()
        new = Tenant(
            id=self._repository.new_id("tenant"),
            email=address,
            organization_name=organization_name or None,
            date_created=now,
            date_last_updated=now,
            last_updated_by=CHECKOUT.name,
        )

        def attempt() -> Tenant:
            tenant, created = self._repository.db.get_or_create(
                self._repository.within_item_limit(d.tenants.create(new), "customer")
            )
            if created:
                return tenant
            if tenant.status == "SUSPENDED" and not is_guest:
                rules.check_open(tenant)
            is_usable = tenant.active or tenant.status == "SUSPENDED"
            return tenant if is_usable else self._reactivate(tenant)

        busy = Conflict("STATUS_CONFLICT", "This account is being changed right now. Try again in a moment.")
        return self._repository.retried(None, attempt, busy=busy)

    def _reactivate(self, tenant: Tenant) -> Tenant:
        after = self._repository.stamped(
            tenant, CHECKOUT, active=True, status="UNVALIDATED", previous_status=None, reminder_sent_at=None
        )
        move = d.tenants.move(tenant, after, by=d.OVERRIDE)
        reason = "the address was used at checkout"
        audit = self._repository.audit("tenants", tenant.id, "reactivated", CHECKOUT, tenant, after, reason)
        self._repository.write("TENANT", move, audit)
        assert move.item is not None
        return move.item

    # --- changes ---

    def create(
        self, email: str, organization_name: str | None, destination_email: str | None, actor: Actor
    ) -> Tenant:
        """Create a tenant by hand; EMAIL_EXISTS if the address has one."""
        field_rules.check(
            field_rules.tenant_mistakes({"email": email, "destination_email": destination_email})
        )
        now = self._repository.now()
        tenant = Tenant(
            id=self._repository.new_id("tenant"),
            email=rules.email_address(email),
            organization_name=organization_name or None,
            destination_email=rules.email_address(destination_email, "destinationEmail")
            if destination_email
            else None,
            date_created=now,
            date_last_updated=now,
            last_updated_by=actor.name,
        )
        audit = self._repository.audit("tenants", tenant.id, "created", actor, None, tenant)
        self._repository.write(
            "TENANT", self._repository.within_item_limit(d.tenants.create(tenant), "customer"), audit
        )
        return tenant

    def change(self, id: str, changes: dict[str, Any], actor: Actor, expected: int | None = None) -> Tenant:
        """Change a tenant's fields; `active` soft-deletes and restores."""
        if changes.get("destination_email"):
            address = rules.email_address(changes["destination_email"], "destinationEmail")
            changes = {**changes, "destination_email": address}
        return self._repository.retried(expected, lambda: self._change(id, changes, actor, expected))

    def _change(self, id: str, changes: dict[str, Any], actor: Actor, expected: int | None) -> Tenant:
        before = self._seen(id, expected)
        if actor.role == "tenant":
            rules.check_open(before)
        after = self._repository.stamped(before, actor, **changes)
        if rules.is_same(before, after):
            return before
        action = "changed"
        if before.active != after.active:
            action = "restored" if after.active else "deleted"
        write = self._repository.within_item_limit(d.tenants.change(before, after), "customer")
        return self._saved(write, before, action, actor)

    def restore(self, id: str, actor: Actor, expected: int | None = None) -> Tenant:
        return self.change(id, {"active": True}, actor, expected)

    def move(
        self,
        id: str,
        status: Status | None,
        actor: Actor,
        *,
        reason: str | None = None,
        override: bool = False,
        expected: int | None = None,
    ) -> Tenant:
        """Change a tenant's status; without one, lift the suspension and set the status from before it."""
        before = self._seen(id, expected)
        if status is None:
            status = before.previous_status or "REGISTERED"
        if override and actor.role != "admin":
            raise Forbidden("ADMIN_ONLY", "Only an admin can force a status.")
        as_whom = d.OVERRIDE if override else actor.role
        if status == "SUSPENDED" and not reason:
            raise Refused("REASON_NEEDED", "Give a reason for the suspension.", "reason")
        after = rules.moved(before, status, as_whom, reason)
        if before.status == "UNVALIDATED" and status != "SUSPENDED":
            after = after.model_copy(update={"address_verified_at": self._repository.now()})
        after = self._repository.stamped(after, actor)
        action = "forced" if override else "moved"
        with _or_conflict(expected):
            return self._saved(d.tenants.move(before, after, by=as_whom), before, action, actor, reason)

    def change_email(self, id: str, email: str, actor: Actor, expected: int | None = None) -> Tenant:
        """Change the address, as an admin: the unique guard moves from the old address to the new one (CP-D3)."""
        before = self._seen(id, expected)
        after = self._repository.stamped(before, actor, email=rules.email_address(email))
        write = self._repository.within_item_limit(d.tenants.change(before, after), "customer")
        with _or_conflict(expected):
            return self._saved(write, before, "e-mail changed", actor)

    def _seen(self, id: str, expected: int | None) -> Tenant:
        before = self._repository.tenant(id)
        if before.erased_at is not None:
            raise Conflict("TENANT_ERASED", "This customer was erased and can no longer be changed.")
        if expected is not None and before.version != expected:
            raise Changed
        return before

    def _saved(
        self, write: Write[Tenant], before: Tenant, action: str, actor: Actor, reason: str | None = None
    ) -> Tenant:
        assert write.item is not None
        audit = self._repository.audit("tenants", before.id, action, actor, before, write.item, reason)
        self._repository.write("TENANT", write, audit)
        return write.item

    # --- addresses that were never verified ---

    def remind_unvalidated(self) -> int:
        """Send one reminder to each tenant who has not verified the address; how many (CP-10, CP-D57)."""
        repository = self._repository
        now = repository.now()
        sent = 0
        query = d.tenants_by_status(status="UNVALIDATED", since=now - REMIND_UNTIL, until=now - REMIND_AFTER)
        for tenant in repository.db.all(query):
            if tenant.reminder_sent_at is not None:
                continue
            after = repository.stamped(tenant, JOB_ACTOR, reminder_sent_at=now)
            mail = repository.outbox.mail(tenant.email, "reminder", owner=tenant.id)
            try:
                repository.db.write(d.tenants.change(tenant, after), mail)
                sent += 1
            except Stale:
                continue  # verified, changed or reminded by another run at the same moment
        return sent

    def propose_purge(self, staff: Sequence[str]) -> list[str]:
        """The ids of tenants who have not verified their address in 90 days (CP-X11).

        Staff gets a list once a month and decides; this deletes nothing.
        """
        repository = self._repository
        now = repository.now()
        query = d.tenants_by_status(status="UNVALIDATED", until=now - PROPOSE_PURGE_AFTER)
        found = [tenant.id for tenant in repository.db.all(query)]
        if found:
            values = {"count": str(len(found)), "ids": "\n".join(found[:PROPOSED_IN_A_MAIL])}
            mails = [repository.outbox.mail(to, "purge proposal", values) for to in staff]
            repository.db.write(*mails, once=f"purge-proposal:{now:%Y-%m}", kept=PROPOSAL_KEPT)
        return found

    # --- orders ---

    def orders(
        self, id: str, reader: Actor, size: int | None = None, after: str | None = None
    ) -> Page[Order]:
        """A tenant's orders, newest first. Staff sees all, others only claimed ones (rules.is_claimed)."""
        query = self._orders(self._repository.tenant(id), own=not reader.is_staff)
        with self._repository.translated("ORDER"):
            return self._repository.page(query, size, after, reader.subject)

    def _orders(self, tenant: Tenant, *, own: bool) -> Query[Order]:
        query = d.orders_of_tenant(tenant_id=tenant.id)
        if not own:
            return query
        verified = tenant.address_verified_at
        if verified is None:
            return query.where(lambda order: absent(order.guest) | (order.guest == False))  # noqa: E712  # noted
        return query.where(
            lambda order: absent(order.guest) | (order.guest == False) | (order.placed_at <= verified)  # noqa: E712  # noted
        )


@contextmanager
def _or_conflict(expected: int | None) -> Iterator[None]:
    """A race is a STATUS_CONFLICT without an expected version, and STALE with one (CP-D4)."""
    try:
        yield
    except Changed:
        if expected is not None:
            raise
        raise RaceLost from None
