"""The people of the demo world: whom one may be without a password, on this machine only.

Each belongs to a system (or to none: the engineer) and has roles there. A token spells a role with its system in
front, `portal.admin`, so that an admin of one system is nobody in the next.
Elsewhere: signing in as one of them (sign_in.py), who tells the systems (identity.py).
"""

from collections.abc import Iterable

from tablewright.kit.system import Person

ENGINEER = "engineer"


THE_ENGINEER = Person(
    subject="engineer_rosa",
    name="Rosa Lindqvist",
    role="Engineer",
    sees="Every design: tables, keys, patterns with what they cost, and the items themselves.",
    roles=(ENGINEER,),
    email="rosa@tablewright.example",
    used_mfa=True,
    home="/console/designs",
)


class TwoPeopleOneSubject(ValueError):
    """Two seeded people would have the same login."""

    def __init__(self, subject: str) -> None:
        super().__init__(f"two people of the demo are '{subject}'; give one of them another subject")


def everybody(people: Iterable[Person]) -> tuple[Person, ...]:
    """All of them, each subject once."""
    found = tuple(people)
    seen: set[str] = set()
    for person in found:
        if person.subject in seen:
            raise TwoPeopleOneSubject(person.subject)
        seen.add(person.subject)
    return found
