"""Notices to parents and the public, made from the design and the settings (ZC-24, ZC-26, ZC-X24, ZC-X25).

`version` is a digest of what the notice says: a change of the design or of the settings makes a new version, and a
parent consents to the version that was read. Elsewhere: the retention policy (retention.py), consent (consent.py).
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from itertools import islice
from typing import Any

from tablewright.design import Write
from tablewright.systems.chat import design as d
from tablewright.systems.chat.family.people import actor_of
from tablewright.systems.chat.family.retention import (
    NOT_ADVICE,
    KeptClass,
    KeptEntity,
    RetentionPolicy,
    as_json,
    retention_policy,
)
from tablewright.systems.chat.family_model import Scope, User
from tablewright.systems.chat.legacy.clear_copies import ClearCopy
from tablewright.systems.chat.model import AuditEntry, Value
from tablewright.systems.chat.repository import SYSTEM, Repository
from tablewright.systems.chat.rules import RetentionPeriods
from tablewright.systems.chat.settings import Settings, Vendor
from tablewright.systems.chat.talk.safety_counts import SafetyCounts
from tablewright.systems.chat.talk.safety_phrases import ABUSE_REFERRAL, REFERRAL

SCOPE_WORDS: Mapping[Scope, str] = {
    "collect_and_use": "store what the child writes, and reply to it on this machine",
    "disclosure": "send what the child writes to the provider of a language model",
    "profiling": "remember interests, favourites and learning style of the child",
}
REACHED_BY = ("e-mail address", "phone number, if a code is sent by text message")
PROGRAMME = "programme:security"
YEARLY, REMIND_AGAIN = timedelta(days=365), timedelta(days=30)
ASSESSED, REMINDED = "risk assessment recorded", "risk assessment reminder"
RIGHTS = (
    "A parent can read every chat of the child, and see who else looked.",
    "A parent can export everything that is kept, as JSON or as a page to read.",
    "A parent can withdraw each consent at any time; chatting on this machine does not need consent to disclosure.",
    "A parent can have everything erased; a certificate lists what was removed.",
    "No voice, picture or biometric data is accepted.",
    "The animals are computer programs. The chat says so at its first message and every three hours.",
)
CRISIS_STEPS = (
    "A message that may be about self-harm, abuse or danger is recognised before the animal replies.",
    "The child reads a fixed answer at once: that it is not alone, and whom it can call or text.",
    "The message goes to the review queue of the zookeepers as urgent, and is not sent to a language model.",
    "A zookeeper reads it, speaks to a parent if the child is in a family, and closes the case with a note.",
    "How often this happened is counted by day, without names.",
)


class Notice(Value):
    """The notice to parents."""

    version: str
    operator: str
    address: str
    contact: str
    security_coordinator: str
    scopes: dict[str, str]
    third_parties: list[Vendor]
    collected: list[KeptEntity]
    identifiers: list[str]
    retention: list[KeptClass]
    rights: list[str]
    note: str


class CrisisProtocol(Value):
    """What happens after a message about self-harm, as it is published (ZC-X25)."""

    steps: list[str]
    # What the child reads at once, after words about self-harm and about abuse.
    referral: list[str]
    # How often each protocol was used in the last year.
    counts: dict[str, int]
    contact: str
    note: str


class Notices:
    """The notices of one zoo."""

    def __init__(
        self,
        repository: Repository,
        periods: RetentionPeriods,
        settings: Settings,
        url: str = "",
        clear_copies: Callable[[], Sequence[ClearCopy]] = tuple,
    ) -> None:
        self._clear_copies = clear_copies
        self._repository, self._periods, self._settings = repository, periods, settings
        self._url = url.rstrip("/")

    # --- what is published ---

    @cached_property
    def version(self) -> str:
        """A digest of everything that the notice says."""
        said = json.dumps(as_json(self._notice("")), sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:12]

    @property
    def link(self) -> str:
        return f"{self._url}/console/chat/policy/notice"

    def notice(self) -> Notice:
        return self._notice(self.version)

    def retention(self) -> RetentionPolicy:
        reviewed, copies = self._settings.legal_reviewed_on, [str(one) for one in self._clear_copies()]
        return retention_policy(d.CHAT, self._periods, self.version, reviewed, copies)

    def crisis(self) -> CrisisProtocol:
        return CrisisProtocol(
            steps=list(CRISIS_STEPS),
            referral=[REFERRAL, ABUSE_REFERRAL],
            counts=self._safety_counts(),
            contact=self._settings.operator_email,
            note=NOT_ADVICE,
        )

    def _safety_counts(self) -> dict[str, int]:
        since = (self._repository.now() - YEARLY).date()
        found = SafetyCounts(self._repository).total(since)
        # Not of the protocol, and so not published.
        return {str(name): number for name, number in found.items() if name != "parent_reads"}

    def third_parties(self) -> list[Vendor]:
        """The vendor register: those of the settings, and the provider of the model if one is configured."""
        found = list(self._settings.vendors)
        model = self._settings.provider
        if self._settings.model_url and model and all(one.name != model for one in found):
            data = (
                "Messages without names and addresses, only of children whose parent consented to disclosure"
            )
            found.append(Vendor(name=model, purpose="To write the replies of the animals", data=data))
        return found

    def without_assurance(self) -> list[Vendor]:
        """Third parties without a written assurance: a model of theirs is sent nothing (talk/providers.py)."""
        return [one for one in self.third_parties() if not one.assurance]

    def _notice(self, version: str) -> Notice:
        policy = retention_policy(d.CHAT, self._periods, "", self._settings.legal_reviewed_on)
        settings = self._settings
        return Notice(
            version=version,
            operator=settings.operator_name,
            address=settings.operator_address,
            contact=settings.operator_email,
            security_coordinator=settings.security_coordinator,
            scopes={str(scope): words for scope, words in SCOPE_WORDS.items()},
            third_parties=self.third_parties(),
            collected=policy.records,
            identifiers=identifiers(),
            retention=policy.classes,
            rights=list(RIGHTS),
            note=NOT_ADVICE,
        )

    # --- mail to parents ---

    def direct_notice(self, parent: User, child: User) -> Sequence[Write[Any]]:
        """The direct notice that a parent gets before consenting."""
        if parent.email is None:
            return ()
        third = "; ".join(f"{one.name}: {one.purpose}" for one in self.third_parties()) or "none"
        values = {
            "child": child.name,
            "operator": self._settings.operator_name,
            "contact": self._settings.operator_email,
            "third": third,
            "notice": self.link,
            "version": self.version,
        }
        return (self._repository.outbox.mail(parent.email, "direct notice", values, child.user_id),)

    def consent_given(self, parent: User, child: User) -> Write[Any]:
        values = {
            "child": child.name,
            "scopes": "\n".join(f"- {SCOPE_WORDS[scope]}" for scope in child.scopes),
            "link": f"{self._url}/console/chat/children/{child.user_id}/consent",
        }
        return self._repository.outbox.mail(parent.email or "", "consent given", values, child.user_id)

    def withdrawn(self, by: User, child: User) -> Sequence[Write[Any]]:
        if by.email is None or by.user_id == child.user_id:
            return ()
        link = f"{self._url}/console/chat/children/{child.user_id}"
        values = {"child": child.name, "link": link}
        return (self._repository.outbox.mail(by.email, "consent withdrawn", values, child.user_id),)

    # --- the yearly assessment ---

    def record_assessment(self, by: User, document: str) -> None:
        """The yearly risk assessment took place; `document` says where it is."""
        entry = self._repository.audit(PROGRAMME, ASSESSED, actor_of(by), None, {"document": document})
        self._repository.db.write(entry)

    def assessments(self) -> list[AuditEntry]:
        """The entries about the programme, the newest first."""
        return list(islice(self._repository.db.all(self._repository.compliance_log(PROGRAMME)), 50))

    def remind_of_assessment(self) -> int:
        """Write to the coordinator if there was no assessment for a year; again each month. 1 if a mail was written."""
        now, recipient = self._repository.now(), self._settings.operator_email
        entries = self.assessments()
        for entry in entries:
            waits = YEARLY if entry.action == ASSESSED else REMIND_AGAIN
            if entry.audit_at > now - waits:
                return 0
        unassured = ", ".join(one.name for one in self.without_assurance()) or "none"
        values = {
            "coordinator": self._settings.security_coordinator or "not named yet",
            "unassured": unassured,
            "records": str(len(self.retention().records)),
            "link": f"{self._url}/console/chat/compliance",
        }
        mail = self._repository.outbox.mail(recipient, "assessment due", values, "operator")
        reminded = self._repository.audit(PROGRAMME, REMINDED, SYSTEM)
        # Another process may have read the same entries at this moment.
        once = f"assessment-due:{entries[0].audit_id if entries else 'never'}"
        return int(not self._repository.db.write(mail, reminded, once=once).repeated)


def identifiers() -> list[str]:
    """The persistent identifiers that are kept: how people are reached, and every id in the key of a record."""
    names = {
        shape.fields[name].stored
        for shape in d.CHAT.shapes
        if shape.data
        for name in shape.key.parameters
        if name.endswith("_id")
    }
    return [*REACHED_BY, *sorted(names)]
