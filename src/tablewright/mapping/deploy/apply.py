"""Carry out the steps of a plan over a Call, one after another, each awaited.

Must hold: a step that loses something runs only if that is allowed, and what follows it on the same subject waits with
it; a run that was cut off is continued by planning from what is live; a table or index that another has created in
the time between is not an error.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tablewright.client import Call, CallRefused
from tablewright.client.retries import Retries
from tablewright.mapping.deploy.states import table_state
from tablewright.mapping.deploy.steps import Request, Step

# What the service answers while a table is too new or something else is under way, and how often to try again.
_NOT_YET = {
    "ContinuousBackupsUnavailableException": 60,
    "LimitExceededException": 60,
    "ResourceInUseException": 12,
}
_UNKNOWN = "UnknownOperationException"
SHORT, LONG = 0.05, 2.0

Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Left:
    """A step that was not carried out, and why."""

    step: Step
    why: str


def apply(
    call: Call,
    steps: Sequence[Step],
    *,
    allow_loss: bool,
    scaling: Call | None = None,
    retries: Retries | None = None,
    notify: Notify = lambda text: None,
    is_pending: Callable[[Step], bool] = lambda step: True,
) -> tuple[Left, ...]:
    """Carry out what can be; returns the rest. `is_pending` plans again, from what is live, whether a step is still to
    be done: one that is refused because another process has done it is not an error."""
    retries = retries or Retries()
    left: dict[tuple[str, str], Left] = {}
    for number, step in enumerate(steps, 1):
        why = _reason(step, left, allow_loss=allow_loss)
        service = scaling if step.is_scaling else call
        if why or service is None:
            left[step.table, step.subject] = Left(step, why or step.advice)
            continue
        notify(f"{number} of {len(steps)}: {step.table}: {step.action} {step.subject}")
        try:
            for request in step.calls:
                _send(service, request, retries)
        except CallRefused as refusal:
            if refusal.name == _UNKNOWN:
                left[step.table, step.subject] = Left(step, "the endpoint does not have this setting")
            elif is_pending(step):
                raise
        if not step.is_scaling:
            await_settled(call, step.table, retries, notify)
    return tuple(left.values())


def _reason(step: Step, left: dict[tuple[str, str], Left], *, allow_loss: bool) -> str:
    """Why a step is not carried out; empty if it is."""
    if not step.can_run:
        return step.advice
    if step.loses and not allow_loss:
        return f"it loses {step.loses}; add --yes"
    before = left.get((step.table, step.subject))
    return f"the step before it was not carried out: {before.why}" if before else ""


def _send(call: Call, request: Request, retries: Retries) -> None:
    verb, arguments = request
    pause, tried = SHORT, 0
    while True:
        try:
            call(verb, arguments)
            return
        except CallRefused as refusal:
            if verb == "CreateTable" and refusal.name == "ResourceInUseException":
                return
            tried += 1
            if tried >= _NOT_YET.get(refusal.name, 0):
                raise
        retries.sleep(pause)
        pause = min(pause * 1.5, LONG)


def await_settled(call: Call, name: str, retries: Retries, notify: Notify = lambda text: None) -> None:
    """Wait until a table and its indexes are ACTIVE, or the table is gone. A backfill takes as long as it takes."""
    pause, said = SHORT, ""
    while True:
        try:
            busy = table_state(call("DescribeTable", {"TableName": name})["Table"]).busy
        except CallRefused as refusal:
            if refusal.name != "ResourceNotFoundException":
                raise
            return
        if not busy:
            return
        if busy != said:
            said = busy
            notify(f"{name}: {busy}, waiting")
        retries.sleep(pause)
        pause = min(pause * 1.5, LONG)
