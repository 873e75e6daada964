"""What was blocked in the past, by what firewalls confirmed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tablewright.systems.parental.enforcement.enforced_spans import BY_EXCEPTION, spans
from tablewright.systems.parental.firewall.removal import GIVEN_UP
from tablewright.systems.parental.model import Action, ActionKind, ActionStatus

MIDNIGHT = datetime(2026, 11, 16, tzinfo=UTC)
NOW = MIDNIGHT + timedelta(hours=13)


def _did(
    kind: ActionKind,
    hours: float,
    app: str = "A",
    ip: str = "10.0.0.1",
    status: ActionStatus = "success",
    error: str | None = None,
    by: tuple[str, ...] = ("p",),
) -> Action:
    at = MIDNIGHT + timedelta(hours=hours)
    return Action(
        child="c", occurred_at=at, action_id=f"{hours}", action=kind, app_name=app, privateIP=ip, status=status,
        error_message=error, policy_ids=list(by),
    )  # fmt: skip


def _found(*actions: Action, live: tuple[tuple[str, str], ...] = ()) -> list[tuple[str, float, float]]:
    return [
        (one.app, (one.start - MIDNIGHT) / timedelta(hours=1), (one.end - MIDNIGHT) / timedelta(hours=1))
        for one in spans(actions, live, MIDNIGHT, NOW)
    ]


def test_a_block_lasts_from_its_confirmation_to_that_of_its_end() -> None:
    assert _found(_did("block", 8), _did("unblock", 9)) == [("A", 8, 9)]


def test_what_was_blocked_at_midnight_begins_there_and_what_still_is_ends_now() -> None:
    assert _found(_did("block", -2), _did("unblock", 6)) == [("A", 0, 6)]
    assert _found(_did("block", -2), live=(("A", "10.0.0.1"),)) == [("A", 0, 13)]
    assert _found(_did("block", -4), _did("unblock", -2)) == []


def test_what_failed_neither_begins_nor_ends_anything() -> None:
    assert _found(_did("block", 8, status="failed"), _did("unblock", 9)) == []
    still = _found(_did("block", 8), _did("unblock", 9, status="failed"), live=(("A", "10.0.0.1"),))
    assert still == [("A", 8, 13)]


def test_a_rule_that_was_given_up_with_its_firewall_ends_there() -> None:
    assert _found(_did("block", 8), _did("unblock", 9, status="failed", error=GIVEN_UP)) == [("A", 8, 9)]


def test_a_move_to_another_address_is_one_block() -> None:
    moved = (
        _did("block", 8),
        _did("reassign", 9, ip="10.0.0.2"),
        _did("reassign", 9.1),
        _did("unblock", 10, ip="10.0.0.2"),
    )
    assert _found(*moved) == [("A", 8, 10)]


def test_a_block_without_a_policy_was_one_of_an_exception() -> None:
    (one,) = spans([_did("block", 8, by=()), _did("unblock", 9)], (), MIDNIGHT, NOW)
    assert one.why.override_id == BY_EXCEPTION
