"""Verification of an address: a one-time secret by mail, as a code and as a link (CP-D16).

Must hold: a secret works once, for 15 minutes, and as a code for five tries by its requester; only its keyed hash is
stored; the answer to a request does not reveal whether an address is known.
Elsewhere: limits on codes and tries, and requesters (kit/codes.py, kit/code_requesters.py).
"""

import hashlib
import hmac
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from tablewright.design import Write
from tablewright.edge.errors import NotFound, TooManyRequests
from tablewright.kit import codes
from tablewright.kit.code_requesters import UNKNOWN_ORIGIN, CodeRequester, CodeRequesters, RequestOrigin
from tablewright.kit.codes import CodeAllowance, CodeChecks, CodeLimits, new_code, warning
from tablewright.kit.tables import Actor
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules
from tablewright.systems.portal.errors import RaceLost
from tablewright.systems.portal.model import Challenge, Message, Purpose, Tenant
from tablewright.systems.portal.repository import SYSTEM, Repository

LIFETIME = codes.LIFETIME
_WRONG = "This code or link is wrong or has expired. Ask for a new one."
# A link's secret has 122 bits and cannot be guessed; anything shorter is a code.
_LINK_LENGTH = 32


class Verification:
    """One-time secrets, and the changes they allow."""

    def __init__(self, repository: Repository, secret: bytes, link: str) -> None:
        """`link` is the address in a mail, with {purpose}, {address} and {secret} in it."""
        self._repository, self._secret, self._link = repository, secret, link
        self.requesters = CodeRequesters(secret, repository.world)
        self._checks = CodeChecks(d.codes, repository, _WRONG)
        self._limits = CodeLimits(lambda text: self._hash(text, "allowance")[:32], self._checks.count)

    def start(self, email: str, caller: RequestOrigin = UNKNOWN_ORIGIN) -> str:
        """Send a secret if the address has an open account; the caller cannot tell. Returns the ticket with which the
        code may be typed from another network."""
        address = rules.email_address(email)
        asker = self.requesters.requester(address, replace(caller, ticket=""))
        allowed = self._allow(address, asker)
        tenant = self._repository.tenant_of(address)
        is_open = tenant is not None and tenant.active and tenant.status != "SUSPENDED"
        with suppress(RaceLost):  # the address changed at the same moment: treated as unknown
            self._send("verify", address, asker, allowed, tenant if is_open else None)
        return self.requesters.ticket(address, asker)

    def start_destination(self, tenant: Tenant, email: str, actor: Actor) -> Tenant:
        """Ask the owner of a new destination address before anything is sent there (CP-X10)."""
        address = rules.email_address(email, "destinationEmail")
        rules.check_open(tenant)
        asker = self.requesters.login(tenant.id)
        allowed = self._allow(address, asker)
        after = self._repository.stamped(tenant, actor, pending_destination_email=address)
        write = self._repository.within_item_limit(d.tenants.change(tenant, after), "customer")
        self._repository.write("TENANT", write)
        assert write.item is not None
        self._send("destination", address, asker, allowed, write.item)
        return write.item

    def destination_mail(self, tenant: Tenant) -> Message | None:
        """The newest mail with a code to the destination that is not confirmed yet; its state says if it was sent."""
        found = self._repository.db.all(d.outbox.of(tenant.id))
        address = tenant.pending_destination_email
        return next((one for one in found if one.recipient == address and one.template == "code"), None)

    def _allow(self, address: str, asker: CodeRequester) -> CodeAllowance:
        return self._limits.allow(
            address,
            asker,
            self._repository.now(),
            lambda _, words, wait: TooManyRequests("OTP_LIMIT", words, wait),
        )

    def _send(
        self,
        purpose: Purpose,
        address: str,
        asker: CodeRequester,
        allowed: CodeAllowance,
        tenant: Tenant | None,
    ) -> None:
        """Write a new secret and its mail. Without a tenant both are written too, without a recipient, so that time
        and wrong guesses do not reveal whether the address is known."""
        now = self._repository.now()
        world = self._repository.world
        code = new_code(world, allowed.is_long)
        secret = world.new_id().replace("-", "")
        challenge = Challenge(
            purpose=purpose,
            address=address,
            asker=asker.key,
            tenant_id=tenant.id if tenant is not None else "",
            code_hash=self._hash(address, code),
            link_hash=self._hash(address, secret),
            created_at=now,
            expires_at=now + LIFETIME,
        )
        link = self._link.format(purpose=purpose, address=quote(address, safe="@"), secret=secret)
        secrets, values = {"code": code, "link": link}, {"warning": warning(allowed.wrong)}
        if tenant is None:
            secrets = {name: "-" * len(text) for name, text in secrets.items()}
        mail = self._repository.outbox.mail(
            address if tenant is not None else "", "code", values, challenge.tenant_id or None,
            secrets=secrets, until=challenge.expires_at,
        )  # fmt: skip
        writes: list[Write[Any]] = [d.codes.challenges.put(challenge), mail]
        if tenant is not None:
            # No mail to an address that was erased or changed at the same moment.
            writes.append(self._repository.still_at(tenant))
        self._repository.write("CHALLENGE", *writes)

    def confirm(
        self,
        email: str,
        secret: str,
        purpose: Purpose = "verify",
        tenant_id: str | None = None,
        caller: RequestOrigin = UNKNOWN_ORIGIN,
    ) -> Tenant:
        """The tenant whose address is verified; CODE_INVALID for a wrong secret, OTP_TRIES after too many.

        A link may be opened anywhere. A code must come from its requester: for a destination, the tenant.
        """
        address = rules.email_address(email)
        asker = (
            self.requesters.login(tenant_id)
            if tenant_id is not None
            else self.requesters.requester(address, caller)
        )
        given = self._hash(address, secret.strip())
        by_link = self._of_link(purpose, address, given) if len(secret.strip()) == _LINK_LENGTH else None
        if by_link is not None and tenant_id in (None, by_link.tenant_id):
            self._limits.count_try(address, CodeRequester(by_link.asker), self._repository.now())
            return self._proved(by_link)
        challenge = self._checks.tried(purpose, address, asker.key)
        self._limits.count_try(address, asker, self._repository.now())
        if not hmac.compare_digest(given, challenge.code_hash):
            raise self._checks.refusal(challenge)
        return self._proved(challenge)

    def _of_link(self, purpose: Purpose, address: str, given: str) -> Challenge | None:
        found = self._repository.db.all(d.challenges_of(purpose=purpose, address=address))
        return next((one for one in found if hmac.compare_digest(given, one.link_hash)), None)

    def _proved(self, challenge: Challenge) -> Tenant:
        try:
            tenant = self._repository.retried(None, lambda: self._use(challenge))
        except (NotFound, RaceLost):  # another request has used the same secret
            raise self._checks.refusal() from None
        self._limits.count_success(challenge.address, CodeRequester(challenge.asker), self._repository.now())
        return tenant

    def _use(self, challenge: Challenge) -> Tenant:
        tenant = self._repository.tenant(challenge.tenant_id)
        # A secret verifies only the address it was sent to, not an account that has changed its address since.
        expected = tenant.email if challenge.purpose == "verify" else tenant.pending_destination_email
        if expected != challenge.address:
            raise self._checks.refusal()
        rules.check_open(tenant)
        used = d.codes.end(challenge)
        actor = Actor(challenge.address, "system")
        if challenge.purpose == "destination":
            after = self._repository.stamped(
                tenant, actor, destination_email=challenge.address, pending_destination_email=None
            )
            write, action = d.tenants.change(tenant, after), "destination verified"
        elif tenant.status == "UNVALIDATED":
            moved = rules.moved(tenant, "VALIDATED", "system", None)
            after = self._repository.stamped(moved, actor, address_verified_at=self._repository.now())
            write, action = d.tenants.move(tenant, after, by="system"), "address verified"
        else:
            # The owner now sees the orders that were placed for the address without signing in.
            after = self._repository.stamped(tenant, actor, address_verified_at=self._repository.now())
            write = d.tenants.change(tenant, after)
            self._repository.write("CODE", used, write)
            assert write.item is not None
            return write.item
        audit = self._repository.audit("tenants", tenant.id, action, SYSTEM, tenant, write.item)
        self._repository.write("CODE", used, write, audit)
        assert write.item is not None
        return write.item

    def register(self, tenant_id: str) -> Tenant:
        """Complete the registration of a verified tenant; a repetition changes nothing."""
        return self._repository.retried(None, lambda: self._register(tenant_id))

    def _register(self, tenant_id: str) -> Tenant:
        tenant = self._repository.tenant(tenant_id)
        rules.check_open(tenant)
        if tenant.status == "REGISTERED":
            return tenant
        after = self._repository.stamped(
            rules.moved(tenant, "REGISTERED", "user", None), Actor(tenant.email, "user")
        )
        move = d.tenants.move(tenant, after, by="user")
        audit = self._repository.audit("tenants", tenant.id, "registered", SYSTEM, tenant, move.item)
        self._repository.write("TENANT", move, audit)
        assert move.item is not None
        return move.item

    def _hash(self, address: str, secret: str) -> str:
        return hmac.new(self._secret, f"{address}\0{secret}".encode(), hashlib.sha256).hexdigest()
