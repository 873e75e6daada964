"""Families: membership and access (PC-X1).

Must hold: access is decided by the caller's family, never by a number in a URL; for any other caller a child, or a
family, does not exist. Elsewhere: invitations, the owner and addresses (guardians.py), numbers and their verification
(children.py, phone_proof.py), the end of a family (privacy.py).
"""

from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import BadRequest, Conflict, Forbidden, NotFound, Refused
from tablewright.kit.family import Membership
from tablewright.kit.tables import Actor, digest
from tablewright.mapping import Page
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.model import AuditEntry, Child, Family, Guardian, ReportDue, Turn
from tablewright.systems.parental.policy.destinations import check_domain
from tablewright.systems.parental.repository import Repository

FAMILIES_PER_PERSON = 5


class Families:
    """Families, and who may see and do what in them."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self.members: Membership[Family, Guardian] = Membership(
            repository, d.families, d.guardians, lambda subject: d.families_of_guardian(subject=subject)
        )

    # --- who may ---

    def of(self, actor: Actor) -> list[Family]:
        """The families of a caller."""
        return self.members.families_of(self.members.places_of(actor.subject))

    def membership(self, actor: Actor, family_id: str) -> Guardian:
        """The caller as one of a family; to anybody else there is no such family."""
        return self._repository.found(self._guardian(actor, family_id), "FAMILY")

    def own(self, actor: Actor, family_id: str | None = None) -> Family:
        """The family that is meant: the one named, or the only one there is."""
        if family_id is not None:
            self.membership(actor, family_id)
            return self._repository.family(family_id)
        families = self.of(actor)
        if not families:
            raise Forbidden(
                "NOT_GUARDIAN", "You don't belong to a family yet. Create one, or accept an invitation."
            )
        if len(families) > 1:
            words = "You belong to several families. Say which one with familyId."
            raise BadRequest("FAMILY_NEEDED", words, "familyId")
        return families[0]

    def child(self, actor: Actor, phone: str, *, reason: str | None = None, erased: bool = False) -> Child:
        """A child by its number, or its own name, for who may see it; CHILD_NOT_FOUND for everybody else.

        Support may look if it says why, and the family sees that it did (PC-X11). One that is being erased is there
        only for who wants to erase it.
        """
        key = field_rules.child_key(phone)
        holder = self._repository.child_of_phone(key) if "~" not in key else None
        if holder is not None and self.has(actor, holder.family_id):
            return holder
        # The number may have gone to another family, and the caller's own former child still has it as a key.
        former = self._repository.db.one(d.child_by_key(child=key))
        is_there = former is not None and (erased or former.erased_at is None)
        if former is not None and is_there and self.has(actor, former.family_id):
            return former
        if actor.role == "support" and holder is not None:
            return self._shown_to_support(actor, holder, reason)
        raise NotFound("CHILD")

    def open_child(self, actor: Actor, phone: str) -> Child:
        """A child whose number is held, to be changed; support may not."""
        child = self.child(Actor(actor.name, "parent", actor.subject, actor.email), phone)
        if child.released_at is not None:
            raise Conflict(
                "CHILD_RELEASED",
                "This number was released; its records can only be read, exported or erased.",
            )
        return child

    def has(self, actor: Actor, family_id: str) -> bool:
        """Whether a person belongs to a family, now."""
        return self._guardian(actor, family_id) is not None

    def _guardian(self, actor: Actor, family_id: str) -> Guardian | None:
        return self.members.member(family_id, actor.subject) if actor.subject else None

    def _shown_to_support(self, actor: Actor, child: Child, reason: str | None) -> Child:
        why = self.reason(reason)
        self._repository.write(
            "CHILD", self._repository.audit(child.family_id, child.child, "looked at", actor, reason=why)
        )
        return child

    def reason(self, reason: str | None) -> str:
        """Why staff looks or acts, as the family will read it; REASON_NEEDED without one."""
        why = field_rules.text_of(reason, "reason", 500)
        if why is None or len(why) < 3:
            raise BadRequest("REASON_NEEDED", "Enter a reason; the family can read it.", "reason")
        return why

    def owner(self, actor: Actor, family_id: str) -> Guardian:
        """The caller as the owner of a family; OWNER_ONLY for its other guardians."""
        guardian = self.membership(actor, family_id)
        if guardian.role != "owner":
            raise Forbidden("OWNER_ONLY", "Only the owner of the family can do this.")
        return guardian

    def address_of(self, reader: Actor, email: str | None = None) -> str:
        """The address under which a reader's family is kept: its owner's."""
        wanted = field_rules.email_address(email) if email is not None else None
        owners = [
            guardian.email
            for family in self.of(reader)
            for guardian in self._repository.guardians_of(family.family_id)
            if guardian.role == "owner"
        ]
        # In several families: the reader's own address if it is one of them.
        own = reader.email and field_rules.email_address(reader.email)
        owners.sort(key=lambda owner: owner != own)
        if wanted is not None and wanted == own and owners:
            return owners[0]
        if not owners or (wanted is not None and wanted not in owners):
            raise Forbidden("NOT_GUARDIAN", "This address doesn't belong to your family.")
        return wanted or owners[0]

    # --- families ---

    def create(self, name: str, actor: Actor, *, person: str = "", key: str | None = None) -> Family:
        """A family of which the caller is the owner; with `key`, one however often it is asked for."""
        email = self.address(actor)
        once = f"family:{digest(actor.subject, key)}" if key else None
        earlier = self._repository.db.done(once, d.PARENTAL) if once else None
        if earlier is not None:
            return self._repository.family(earlier.result["familyId"])
        now = self._repository.now()
        family = Family(
            family_id=self._repository.new_id("fam"), name=field_rules.name_of(name, "name"), created_at=now
        )
        owner = Guardian(
            family_id=family.family_id,
            subject=actor.subject,
            email=email,
            name=field_rules.name_of(person or actor.name, "guardianName"),
            role="owner",
            joined_at=now,
        )
        audit = self._repository.audit(
            family.family_id, family.family_id, "family created", actor, None, family
        )

        def attempt() -> Any:
            turn = self.one_more_family(actor)
            return self._repository.write(
                "FAMILY",
                d.families.create(family),
                d.guardians.create(owner),
                d.reports.create(ReportDue(family_id=family.family_id, at=now)),
                audit,
                turn,
                once=once,
                result={"familyId": family.family_id},
            )

        kept = self._repository.retried(None, attempt)
        return family if kept is None else self._repository.family(kept["familyId"])

    def change(
        self, family_id: str, changes: dict[str, Any], actor: Actor, expected: int | None = None
    ) -> Family:
        """Name, what is always allowed, what holds in an outage, when to be told of many attempts."""
        self.membership(actor, family_id)
        clean = _checked_settings(changes)
        return self._repository.retried(expected, lambda: self._change(family_id, clean, actor, expected))

    def _change(self, family_id: str, changes: dict[str, Any], actor: Actor, expected: int | None) -> Family:
        before = self._repository.family(family_id)
        if expected is not None and before.version != expected:
            raise VersionConflict(before)
        after = before.model_copy(update=changes)
        if field_rules.is_same(before, after):
            return before
        write = d.families.change(before, after)
        assert write.item is not None
        audit = self._repository.audit(family_id, family_id, "family changed", actor, before, write.item)
        self._repository.write("FAMILY", write, audit)
        return write.item

    def audit(
        self, family_id: str, actor: Actor, size: int | None = None, after: str | None = None
    ) -> Page[AuditEntry]:
        """Who changed or looked at what, newest first."""
        self.membership(actor, family_id)
        return self._repository.page(d.audit.of(family_id), size, after, actor.subject)

    def one_more_family(self, actor: Actor) -> Write[Turn]:
        """To be written with the guardian: of two families that someone joins at once, one is counted again."""
        turn = self._repository.limit_guard("families", actor.subject)
        field_rules.limited(len(self.of(actor)) + 1, FAMILIES_PER_PERSON, "families for a person")
        return turn

    # --- their children ---

    def children(self, actor: Actor, *, released: bool = False) -> list[Child]:
        """The caller's children, family by family."""
        return [
            child
            for family in self.of(actor)
            for child in self._repository.children_of(family.family_id, released=released)
            if child.erased_at is None
        ]

    # --- parts ---

    def address(self, actor: Actor) -> str:
        """The address of the login; EMAIL_NEEDED if it has none."""
        if actor.email is None:
            words = "Your login has no e-mail address. Sign in with one that does."
            raise Refused("EMAIL_NEEDED", words)
        return field_rules.email_address(actor.email)


def _checked_settings(changes: dict[str, Any]) -> dict[str, Any]:
    clean = dict(changes)
    if "name" in clean:
        clean["name"] = field_rules.name_of(clean["name"], "name")
    if "allowed_domains" in clean:
        domains = clean["allowed_domains"]
        field_rules.limited(
            len(domains), field_rules.ALLOWED_DOMAINS, "domains that are always allowed", "allowedDomains"
        )
        checked = [check_domain(text, f"allowedDomains[{n}]") for n, text in enumerate(domains)]
        clean["allowed_domains"] = list(dict.fromkeys(checked))
    most = clean.get("alert_after_blocks")
    if most is not None and not 1 <= most <= 1_000_000:
        words = "Enter a number of blocked attempts from 1 to 1000000."
        raise BadRequest("INVALID_NUMBER", words, "alertAfterBlocks")
    return clean
