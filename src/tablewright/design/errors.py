"""Errors in a design, or in a value that is used with one.

A `Finding` is one error in a design: the rule, where, why, and the fix; `build()` collects all of them. The exceptions
are for values that are known only at run time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "information"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake in a design. `where` names the element, such as `travel.visits.sk`, `line` that of a document.

    `evidence` are the figures behind it; `reason` is why it is accepted, where it is.
    """

    rule: str
    where: str
    why: str
    fix: str
    severity: Severity = "error"
    line: int = 0
    evidence: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.rule} at {self.where}: {self.why}. Fix: {self.fix}"


class DesignMistake(Exception):
    """The base of all errors of the design package."""


class DesignRefused(DesignMistake):
    """A design that cannot work; `findings` are all that is wrong with it."""

    def __init__(self, design: str, findings: Sequence[Finding]) -> None:
        self.design, self.findings = design, tuple(findings)
        count = "1 mistake" if len(findings) == 1 else f"{len(findings)} mistakes"
        super().__init__(f"the design '{design}' has {count}\n  " + "\n  ".join(map(str, findings)))


class DesignClosed(DesignMistake):
    """Something was added to a design after build()."""


class NotStorable(DesignMistake):
    """A field has a type that no DynamoDB attribute can hold."""

    def __init__(self, where: str, why: str, fix: str) -> None:
        self.where, self.why, self.fix = where, why, fix
        super().__init__(f"{where}: {why}. Fix: {fix}")


class VectorMisfit(DesignMistake, ValueError):
    """A search's vector does not fit its index, or too many results are asked for."""


class KeyPartUnusable(DesignMistake, ValueError):
    """A value cannot be part of a key: empty, too long, negative, without a time zone."""


class KeyTextUnusable(KeyPartUnusable):
    """A text can never be part of a key: it is empty, or not Unicode. `value` is the text."""

    def __init__(self, why: str, value: str) -> None:
        self.value = value
        super().__init__(why)


class UnknownField(DesignMistake):
    """A path names a field the model does not have."""


class NotAPath(DesignMistake, TypeError):
    """A lambda did something other than read or compare fields."""


class MoveNotAllowed(DesignMistake):
    """A state machine has no such move, or not for this actor."""

    def __init__(self, entity: str, start: str, end: str, actor: str, allowed: Sequence[str]) -> None:
        self.entity, self.start, self.end = entity, start, end
        self.actor, self.allowed = actor, tuple(allowed)
        who = f"only {' or '.join(sorted(allowed))} may" if allowed else "there is no such move"
        super().__init__(f"{entity}: {actor} cannot move {start} to {end}; {who}")


class StateNeedsAMove(DesignMistake):
    """A write changes a state without naming the actor."""

    def __init__(self, entity: str, field: str) -> None:
        super().__init__(
            f"{entity}: '{field}' is a state; write {entity}.move(before, after, by=actor) or "
            f"{entity}.update(...).move(state, by=actor), which check the move"
        )


class IndexKeyNeedsTheItem(DesignMistake):
    """A partial update touches a field from which a key is made together with fields it does not know."""

    def __init__(self, entity: str, attribute: str, field: str, missing: Sequence[str]) -> None:
        self.entity, self.attribute, self.field, self.missing = entity, attribute, field, tuple(missing)
        needs = f"is made from {', '.join(missing)} too"
        if not missing:
            needs = "cannot follow a value computed by the store"
        super().__init__(
            f"{entity}: '{field}' is part of the key attribute {attribute}, which {needs}; "
            f"read the item and write {entity}.change(before, after)"
        )


class FieldIsFixed(DesignMistake):
    """A write changes something that may not change: a key, a version, an immutable field."""
