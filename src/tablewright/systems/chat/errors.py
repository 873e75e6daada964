"""The errors that only Zoo chat has, with the codes of its API (C.2).

Elsewhere: the errors that all systems have (edge/errors.py).
"""

from tablewright.edge.errors import BadRequest, CallerError, Conflict, Forbidden, Refused


class Changed(CallerError):
    """The caller read an older version: it was changed in between."""

    code = "VERSION_CONFLICT"
    status = 409

    def __init__(self) -> None:
        super().__init__(
            "Someone else changed this after you opened it. Reload it, then make your change again."
        )


class RaceLost(Conflict):
    """Another write changed what this one depends on, at the same moment."""

    def __init__(self) -> None:
        super().__init__("VERSION_CONFLICT", "This was changed at the same moment. Reload it and try again.")


class TextTooLong(BadRequest):
    """A message is longer than a message may be."""

    def __init__(self, most: int) -> None:
        super().__init__("TEXT_TOO_LONG", f"A message can have at most {most} characters.", "text")


class BadRole(BadRequest):
    """A client sent a message in the name of the animal, the system or a tool (ZC-X16)."""

    def __init__(self) -> None:
        super().__init__("BAD_ROLE", "Only messages of the user can be sent.", "role")


class Archived(Conflict):
    """The conversation takes no messages until it is reopened (ZC-D8)."""

    def __init__(self) -> None:
        super().__init__("ARCHIVED", "This chat is archived. Reopen it to write in it.")


class BeingMoved(Conflict):
    """The conversation is being moved between the first version and this one (ZC-D24)."""

    def __init__(self) -> None:
        super().__init__("BEING_MOVED", "This chat is being moved. Try again in a moment.")


class TurnInProgress(Conflict):
    """Another request answers this message at the moment."""

    def __init__(
        self, message: str = "This message is being answered in another window. Try again soon."
    ) -> None:
        super().__init__("TURN_IN_PROGRESS", message)


class NoConsent(Forbidden):
    """A parent has not consented, or has withdrawn the consent (ZC-X1)."""

    def __init__(self, message: str = "A parent has to allow this first.") -> None:
        super().__init__("NO_CONSENT", message)


class NoAccount(Forbidden):
    """Someone of the first version has no account, so no consent can be on record (ZC-X1)."""

    def __init__(self) -> None:
        super().__init__(
            "NO_ACCOUNT", "There is no account for this person. Create one before the chat goes on."
        )


class NotInFamily(Forbidden):
    """The caller is not a parent in this family, or not of this child."""

    def __init__(self) -> None:
        super().__init__("NOT_IN_FAMILY", "You are not a parent in this family.")


class Blocked(Forbidden):
    """A guardrail does not let the message through; the message is what the child reads (ZC-X2)."""

    def __init__(self, message: str) -> None:
        super().__init__("BLOCKED_BY_GUARDRAIL", message)


class Erased(Refused):
    """The data of this person was erased, or is being erased."""

    status = 410

    def __init__(self) -> None:
        super().__init__("ERASED", "This account was deleted, with everything in it.")
