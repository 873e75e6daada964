"""People for the tests of families: logins that enter, a family with a parent and a child, mail that was written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from tests.systems.chat.place import Place

from tablewright.edge import Principal
from tablewright.systems.chat.family_model import Family, Scope, User
from tablewright.systems.chat.jobs import run_tasks

BORN = date(2019, 6, 1)


def enters(at: Place, subject: str, *roles: str, email: str | None = None) -> User:
    """The user of a login; its address is the subject's at example.org."""
    address = email or f"{subject}@example.org"
    return at.chat.people.entered(
        Principal(subject, frozenset(roles), address, claims={"name": subject.title()})
    )


@dataclass(frozen=True)
class Household:
    """A family with one parent and one child of ten."""

    parent: User
    family: Family
    child: User


def household(at: Place, name: str = "ann", child: str = "kim", born: date = BORN) -> Household:
    parent = enters(at, name)
    family = at.chat.families.create(parent, f"Family of {name}", "America/Los_Angeles")
    return Household(parent, family, at.chat.children.add(family, child.title(), born, parent, user_id=child))


def second_parent(at: Place, home: Household, name: str = "bob") -> User:
    parent = enters(at, name)
    at.chat.families.invite(home.family, f"{name}@example.org", home.parent)
    at.chat.families.accept(token_in(mail_to(at, f"{name}@example.org")), parent)
    return parent


def consented(at: Place, home: Household, *scopes: Scope) -> User:
    """The child, after the parent consented to scopes through a verified identity."""
    at.chat.consents.record_verification(
        home.parent, "id_and_face", "case 17", enters(at, "root", "administrator")
    )
    return at.chat.consents.consent_verified(
        home.parent,
        again(at, home.child),
        scopes or ("collect_and_use",),
        "id_and_face",
        at.chat.notices.version,
    )


def again(at: Place, user: User) -> User:
    return at.chat.people.by_id(user.user_id)


def mails(at: Place) -> list[tuple[str, str, str]]:
    """The mails that wait, the oldest first: recipient, subject, body with its secrets."""
    box, found = at.chat.repository.outbox, []
    for message in at.db.all(box.in_state("PENDING")):
        text = box.texts.text(message, message.message_id, message.recipient)
        found.append((message.recipient, text.subject, text.body))
    return found[::-1]


def mail_to(at: Place, address: str) -> str:
    """The text of the newest mail to an address."""
    return [body for recipient, _, body in mails(at) if recipient == address][-1]


def token_in(body: str) -> str:
    (found,) = re.findall(r"/invitations/([\w-]+)", body)
    return str(found)


def code_in(body: str) -> str:
    return str(re.findall(r"\b\d{6}\b", body)[0])


def runs_tasks(at: Place) -> int:
    return run_tasks(at.chat)
