"""Who a signed path was made for, as its subject: each read checks this reader again (api/signed_reads.py)."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Reader:
    """A user, the visitor of a public link, or a user who reads a part of a submission; with its id."""

    kind: Literal["user", "link", "submission"]
    id: str
    submission_id: str = ""
    part_id: str = ""

    @property
    def subject(self) -> str:
        """As it is signed. The id comes last: a user's may have any letter but a space."""
        if self.kind == "submission":
            return f"submission {self.submission_id} {self.part_id} {self.id}"
        return f"{self.kind} {self.id}"


def of_user(user_id: str) -> Reader:
    return Reader("user", user_id)


def of_link(link_id: str) -> Reader:
    return Reader("link", link_id)


def reader_of(subject: str) -> Reader:
    """The reader of a subject that was signed."""
    match subject.split(" "):
        case ["submission", submission_id, part_id, user_id]:
            return Reader("submission", user_id, submission_id, part_id)
        case ["link", link_id]:
            return of_link(link_id)
        case [*_, user_id]:
            return of_user(user_id)
        case _:
            raise AssertionError(subject)
