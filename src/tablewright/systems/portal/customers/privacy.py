"""A customer's personal data: where it is, its export and its erasure (CP-X6, CP-D17).

An erasure keeps id, orders and amounts, and removes names and addresses: first the record, so that nothing new is
written about the person, then history and mail. Pending secrets go in the transaction of the record: only it has the
address they are found by. Elsewhere: the list, the order of the parts and the certificate (kit/subjects.py).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from tablewright.design import Data
from tablewright.kit.erased import ErasedList
from tablewright.kit.subjects import Left, Part, Step, Subject
from tablewright.kit.tables import Actor
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules
from tablewright.systems.portal.model import AuditEntry, Purpose, Tenant
from tablewright.systems.portal.repository import SYSTEM, Repository

_ERASED = "[erased]"
_ERASURE = "erased"
_BACK = "erased earlier; a restored copy had brought it back"
# By the names of the API: the values of audit entries have those.
_NAMES = {name: d.tenants.shape.fields[name].stored for name in d.tenants.shape.data}


@dataclass(frozen=True, slots=True)
class Request:
    """An export or erasure of a customer's data. An `own` export is for the customer, the others are for staff."""

    tenant: Tenant
    own: bool = False
    actor: Actor = SYSTEM
    reason: str = _BACK


class Privacy:
    """Export and erasure. Who may is decided before."""

    def __init__(self, repository: Repository, erased: ErasedList) -> None:
        self._repository, self._erased = repository, erased
        self.customer: Subject[Request] = Subject(
            "customer",
            repository,
            lambda asked: asked.tenant.id,
            (
                Part(d.tenant_by_id, "tenant", keep="the id, for the orders; without names and addresses"),
                Part(
                    d.orders_of_tenant,
                    "orders",
                    only=lambda asked, order: not asked.own or rules.is_claimed(order, asked.tenant),
                    keep="financial records, for seven years; they have no name or address",
                ),
                Step(
                    "tenant", self._forget, (d.tenants, d.codes.challenges), "codes of a quarter of an hour"
                ),
                Part(d.audits["tenants"].by_owner, "history", redact=lambda _, entry: _redacted(entry)),
                Part(d.outbox.owned, "messages", show=repository.outbox.exported),
                Left((d.audits["products"].entries, d.audits["campaigns"].entries), "what staff did"),
            ),
            erased,
        )

    def export(self, id: str, *, own: bool = False) -> dict[str, Any]:
        """All data about a tenant; the `own` export leaves out orders that the tenant may not see yet."""
        return self.customer.export(Request(self._repository.tenant(id), own=own))

    def erase(self, id: str, actor: Actor, reason: str) -> Tenant:
        """Erase the personal data. A repetition continues an interrupted erasure."""
        self.customer.erase(Request(self._repository.tenant(id), actor=actor, reason=reason))
        return self._repository.tenant(id)

    def erase_again(self) -> int:
        """Erase again the tenants on the list whose record or mail a restored table brought back; how many."""
        found = self._repository.tenants_by_id(self._erased.entries())
        back = [one for one in found.values() if one.erased_at is None or self._has_mail(one.id)]
        for tenant in back:
            self.customer.erase(Request(tenant))
        return len(back)

    def _has_mail(self, id: str) -> bool:
        return self._repository.db.first(d.outbox.of(id)) is not None

    def _forget(self, asked: Request) -> int:
        return self._repository.retried(None, lambda: self._forgotten(asked))

    def _forgotten(self, asked: Request) -> int:
        """Redact the record, with its audit entry, and remove pending secrets; how many items, 0 if that was done."""
        before = self._repository.tenant(asked.tenant.id)
        if before.erased_at is not None:
            return 0
        gone = dict.fromkeys(name for name in _NAMES if name != "email")
        after = self._repository.stamped(
            before, asked.actor, **gone, email=f"{before.id}@{rules.ERASED_DOMAIN}", active=False,
            erased_at=self._repository.now(),
        )  # fmt: skip
        # The entry records the erasure and none of the erased values.
        reason = asked.reason
        for name, data in d.tenants.shape.data.items():
            if data is Data.PERSONAL and (value := getattr(before, name)):
                reason = re.sub(re.escape(value), _ERASED, reason, flags=re.IGNORECASE)
        audit = self._repository.audit("tenants", before.id, _ERASURE, asked.actor, None, None, reason)
        secrets = [
            d.codes.discard(one)
            for purpose, address in _on_their_way(before)
            for one in self._repository.db.all(d.challenges_of(purpose=purpose, address=address))
            if one.tenant_id in ("", before.id)  # other tenants may have requested the same destination
        ]
        self._repository.write("TENANT", d.tenants.change(before, after), audit, *secrets)
        return 1 + len(secrets)


def _on_their_way(tenant: Tenant) -> Iterator[tuple[Purpose, str]]:
    """The purposes and addresses that secrets may have been sent for."""
    yield "verify", tenant.email
    if tenant.pending_destination_email:
        yield "destination", tenant.pending_destination_email


def _redacted(entry: AuditEntry) -> AuditEntry:
    """The entry without personal data: values, reason, and the person's name as the actor."""
    is_theirs = entry.role in ("user", "tenant")
    return entry.model_copy(
        update={
            "before": _nameless(entry.before),
            "after": _nameless(entry.after),
            "actor": _ERASED if is_theirs else entry.actor,
            "reason": _ERASED if entry.reason and entry.action != _ERASURE else entry.reason,
        }
    )


def _nameless(values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: _ERASED if name in _NAMES.values() else value for name, value in values.items()}
