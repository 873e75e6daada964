"""Proving that an address is somebody's: a one-time secret by mail, as digits and as a link (CP-D16).

Must hold: a secret works once, for a quarter of an hour and five tries; only its keyed hash is stored; whoever asks
learns nothing about whether an address is known. Limits are counted in the store, so that they hold over processes; a
try before it is looked at. Wrong ones are counted over a day as well: from fifty on codes are longer (edge/codes.py).
"""

import hashlib
import hmac
import re
from contextlib import suppress
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from tablewright.design import Write
from tablewright.edge.codes import new_code, warning
from tablewright.mapping import ConditionNotMet, Missing
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules
from tablewright.systems.portal.errors import NotThere, RaceLost, Refused, TooOften
from tablewright.systems.portal.model import Allowance, Challenge, Message, Purpose, Tenant
from tablewright.systems.portal.repository import SYSTEM, Actor, Repository

LIFETIME = timedelta(minutes=15)
TRIES = 5
STARTS_PER_HOUR = 5
_SECRETS = re.compile(r"\b\d{6}(?:\d{6})?\b|(?<=secret=)\w+")
_WRONG = "This code or link is not valid, or no longer. Ask for a new one."


class Verification:
    """One-time secrets, and what they open."""

    def __init__(self, repository: Repository, secret: bytes, link: str) -> None:
        """`link` is where a link in a mail leads, with {purpose}, {address} and {secret} in it."""
        self._repository, self._secret, self._link = repository, secret, link

    def start(self, email: str) -> None:
        """Send a secret, if there is anybody to send it to; the caller cannot tell."""
        address = rules.email_address(email)
        self._allow(address)
        tenant = self._repository.tenant_of(address)
        is_open = tenant is not None and tenant.active and tenant.status != "SUSPENDED"
        with suppress(RaceLost):  # the address was given up in this moment: as good as unknown
            self._send("verify", address, tenant if is_open else None)

    def start_destination(self, tenant: Tenant, email: str, actor: Actor) -> Tenant:
        """Ask the owner of a new destination address before anything is sent there (CP-X10)."""
        address = rules.email_address(email, "destinationEmail")
        rules.check_open(tenant)
        self._allow(address)
        after = self._repository.stamped(tenant, actor, pending_destination_email=address)
        write = self._repository.weighed(d.tenants.change(tenant, after), "tenant")
        self._repository.write("TENANT", write)
        assert write.item is not None
        self._send("destination", address, write.item)
        return write.item

    def _allow(self, address: str) -> None:
        now = self._repository.now()
        window = now.strftime("%Y-%m-%dT%H")
        name = f"verification-{self._hash(address, 'allowance')[:32]}"
        start = Allowance(name=name, window=window, expires_at=now + timedelta(hours=2))
        used = self._repository.db.apply(
            d.allowances.upsert(start).at(lambda allowance: allowance.used).add(1)
        ).used
        if used > STARTS_PER_HOUR:
            wait = 3600 - now.minute * 60 - now.second
            raise TooOften("OTP_LIMIT", "Too many codes were asked for. Try again later.", wait)

    def _send(self, purpose: Purpose, address: str, tenant: Tenant | None) -> None:
        """A new secret, and the mail with it; for nobody, one that nobody learns, so that wrong guesses look alike."""
        now = self._repository.now()
        world = self._repository.world
        wrong = self._wrong_today(address)
        code = new_code(world, wrong)
        secret = world.new_id().replace("-", "")
        challenge = Challenge(
            purpose=purpose,
            address=address,
            tenant_id=tenant.id if tenant is not None else "",
            code_hash=self._hash(address, code),
            link_hash=self._hash(address, secret),
            created_at=now,
            expires_at=now + LIFETIME,
        )
        link = self._link.format(purpose=purpose, address=quote(address, safe="@"), secret=secret)
        body = f"Your code is {code}. Or open {link}\nBoth work once, for 15 minutes.{warning(wrong)}"
        writes: list[Write[Any]] = [d.challenges.put(challenge)]
        if tenant is not None:
            writes.append(self._repository.mail(address, f"Your code: {code}", body, tenant.id))
            # Nothing goes to an address that was erased or given up in this very moment.
            writes.append(self._repository.still_at(tenant))
        self._repository.write("CHALLENGE", *writes)

    def confirm(
        self, email: str, secret: str, purpose: Purpose = "verify", tenant_id: str | None = None
    ) -> Tenant:
        """The tenant whose address is proved; CODE_INVALID for a wrong secret, OTP_TRIES after too many."""
        address = rules.email_address(email)
        challenge = self._tried(purpose, address)
        given = self._hash(address, secret.strip())
        right = any(hmac.compare_digest(given, known) for known in (challenge.code_hash, challenge.link_hash))
        if not right or (tenant_id is not None and challenge.tenant_id != tenant_id):
            raise Refused("CODE_INVALID", _WRONG, "code", {"triesLeft": TRIES - challenge.tries})
        return self._proved(challenge)

    def _tried(self, purpose: Purpose, address: str) -> Challenge:
        """Count the try before looking at it, so that guesses in parallel count too."""
        attempt = d.challenges.update(purpose, address).at(lambda challenge: challenge.tries).add(1)
        try:
            tried = self._repository.db.apply(attempt.when(lambda challenge: challenge.tries < TRIES))
        except Missing:
            raise Refused("CODE_INVALID", _WRONG, "code") from None
        except ConditionNotMet:
            raise TooOften("OTP_TRIES", "Too many wrong codes. Ask for a new one.", 60) from None
        self._repository.db.write(self._one_wrong(address, 1))
        return tried

    def _one_wrong(self, address: str, more: int) -> Write[Allowance]:
        """Today's wrong tries for an address, one more or one less."""
        start = self._day(address)
        return d.allowances.upsert(start).at(lambda allowance: allowance.used).add(more)

    def _wrong_today(self, address: str) -> int:
        day = self._day(address)
        found = self._repository.db.one(d.allowances.get(day.name, day.window), consistent=True)
        return found.used if found is not None else 0

    def _day(self, address: str) -> Allowance:
        now = self._repository.now()
        name = f"verification-wrong-{self._hash(address, 'allowance')[:32]}"
        return Allowance(name=name, window=now.strftime("%Y-%m-%d"), expires_at=now + timedelta(days=1))

    def _proved(self, challenge: Challenge) -> Tenant:
        try:
            return self._repository.retried(None, lambda: self._use(challenge))
        except (NotThere, RaceLost):  # the same secret was used by somebody faster
            raise Refused("CODE_INVALID", _WRONG, "code") from None

    def _use(self, challenge: Challenge) -> Tenant:
        tenant = self._repository.tenant(challenge.tenant_id)
        # A secret proves the address it was sent to, and nothing of an account that has another one by now.
        expected = tenant.email if challenge.purpose == "verify" else tenant.pending_destination_email
        if expected != challenge.address:
            raise Refused("CODE_INVALID", _WRONG, "code")
        rules.check_open(tenant)
        known = challenge.code_hash
        used = d.challenges.discard(challenge.purpose, challenge.address).when(lambda c: c.code_hash == known)
        actor = Actor(challenge.address, "system")
        right = self._one_wrong(challenge.address, -1)  # it was counted, and was none of them
        if challenge.purpose == "destination":
            after = self._repository.stamped(
                tenant, actor, destination_email=challenge.address, pending_destination_email=None
            )
            write, action = d.tenants.change(tenant, after), "destination verified"
        elif tenant.status == "UNVALIDATED":
            after = self._repository.stamped(rules.moved(tenant, "VALIDATED", "system", None), actor)
            write, action = d.tenants.move(tenant, after, by="system"), "address verified"
        else:
            self._repository.write("CODE", used, right)
            return tenant
        audit = self._repository.audit("tenants", tenant.id, action, SYSTEM, tenant, write.item)
        self._repository.write("CODE", used, right, write, audit)
        assert write.item is not None
        return write.item

    def register(self, tenant_id: str) -> Tenant:
        """Complete the registration of a verified tenant; again is fine."""
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


def covered(mail: Message) -> Message:
    """A mail for others than who gets it: what would sign them in is covered."""
    words = {"subject": _SECRETS.sub("••••••", mail.subject), "body": _SECRETS.sub("••••••", mail.body)}
    return mail.model_copy(update=words)
