"""The demo users: sign-in without a password, on this machine only.

Each belongs to a system (or to none: the engineer) and has roles there. A token spells a role with its system in
front, `portal.admin`, so that an admin of one system has no rights in another.
Elsewhere: signing in as one of them (sign_in.py), roles by system (identity.py).
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
    """Two demo users would have the same login."""

    def __init__(self, subject: str) -> None:
        super().__init__(f"two demo users have the subject '{subject}'; change one of them")


def everybody(people: Iterable[Person]) -> tuple[Person, ...]:
    """All demo users; refused if two have the same subject."""
    found = tuple(people)
    seen: set[str] = set()
    for person in found:
        if person.subject in seen:
            raise TwoPeopleOneSubject(person.subject)
        seen.add(person.subject)
    return found
