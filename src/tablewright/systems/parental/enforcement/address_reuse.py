"""Addresses that go from one child to another: the next holder does not inherit a block (PC-D22, PC-S4).

Must hold: a session is called clean only when no rule of another child names its address on its device. While such a
rule cannot be removed there is an alert: one open entry in the history of the new holder, which operators see among
what failed and of which the family is told, without a word of whose rule it is.
Elsewhere: who starts on an address (sessions.py), telling the family (family/notices.py).
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any

from tablewright.design import Write
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement.apply import settle
from tablewright.systems.parental.model import EVERYTHING, Action, RuleMapping, Session
from tablewright.systems.parental.repository import Repository

log = logging.getLogger("tablewright.parental")

# Stands for the rule in the entry: it is about whatever names the address.
ALERT = "address:"
WORDS = "the firewall still has a block for the device that had this address before"
# Does what is to be done for these children, on a device without waiting for the end of a pause.
Free = Callable[[Iterable[str], str], object]


class Addresses:
    """Sees to it that addresses are free of others' rules."""

    def __init__(self, repository: Repository, free: Free) -> None:
        self._repository, self._free = repository, free

    def clean(self, sessions: Iterable[Session]) -> None:
        """Free the addresses of these sessions."""
        for one in sessions:
            if not one.is_clean:
                self._clean(one)

    def _clean(self, session: Session) -> None:
        others = self._foreign(session)
        if others:
            self._free({one.child: None for one in others}, session.device_id)
            others = self._foreign(session)
        if others:
            self._alert(session, others)
        else:
            self._settle(session, is_clean=True)

    def forget(self, sessions: Iterable[Session]) -> None:
        """These sessions have left their addresses: their alerts are closed."""
        for session in sessions:
            self._settle(session, is_clean=session.is_clean)

    def _settle(self, session: Session, *, is_clean: bool) -> None:
        if session.unclean_since is not None:
            settle(self._repository, session.child, alert_id(session), session.unclean_since)
        after = session.model_copy(update={"is_clean": is_clean, "unclean_since": None})
        self._repository.try_write(d.sessions.change(session, after))

    def _foreign(self, session: Session) -> list[RuleMapping]:
        return [
            one
            for one in self._repository.db.all(d.rules_of_address(private_ip=session.private_ip))
            if one.child != session.child and one.ftd_device_id == session.device_id
        ]

    def _alert(self, session: Session, others: list[RuleMapping]) -> None:
        """Once for a session, with the change that says so: who comes second finds it said."""
        if session.unclean_since is not None:
            return
        log.warning("address not clean", extra={"device": session.device_id, "rules": len(others)})
        now = self._repository.now()
        writes: list[Write[Any]] = [
            d.sessions.change(session, session.model_copy(update={"unclean_since": now})),
            d.actions.create(
                Action(
                    child=session.child,
                    occurred_at=now,
                    action_id=self._repository.new_timed_id(now),
                    action="verify",
                    app_name=EVERYTHING,
                    privateIP=session.private_ip,
                    rule_id=alert_id(session),
                    status="failed",
                    status_key="failed",
                    error_message=WORDS,
                    ftd_response={"deviceId": session.device_id},
                )
            ),
        ]
        self._repository.try_write(*writes)


def alert_id(session: Session) -> str:
    return f"{ALERT}{session.session_id}"


def is_alert(action: Action) -> bool:
    """Whether an entry says that an address is not clean."""
    return action.rule_id is not None and action.rule_id.startswith(ALERT)
