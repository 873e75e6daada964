"""A device compared with the table, and both put right (PC-43, PC-S7).

Must hold: what is missing on the device or different there is made again, unknown rules are removed, and what
another process holds is left to it; what the index does not show yet is known all the same.
Elsewhere: when it is done (regular_checks.py), making rules (apply.py).
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import address_stays, plan
from tablewright.systems.parental.enforcement.apply import Attempt, action_of, is_in_force, resolve
from tablewright.systems.parental.enforcement.plan import NEVER
from tablewright.systems.parental.firewall.devices import Devices
from tablewright.systems.parental.firewall.driver import DeviceRule, FirewallMistake
from tablewright.systems.parental.model import RuleMapping
from tablewright.systems.parental.repository import Repository

log = logging.getLogger("tablewright.parental")

REFRESH = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Verified:
    """A device compared with the table."""

    seen: int = 0
    adopted: int = 0
    missing: int = 0
    removed: int = 0


class Verifying:
    """Compares devices with the table."""

    def __init__(
        self,
        repository: Repository,
        devices: Devices,
        mend: Callable[[Iterable[str], str], object],
    ) -> None:
        """`mend` does what is to be done for children on a device."""
        self._repository, self._devices, self._mend = repository, devices, mend

    def verify(self, device_id: str) -> Verified:
        """Compare a device with the table: restore what is missing or different, remove unknown rules (PC-43)."""
        # The device first: what is on it by now was claimed before, so it is in the table when that is read.
        there = self._devices.call(device_id, lambda driver: driver.list())
        deploys = self._devices.needs_deploy(device_id)
        by_name = {rule.name: rule for rule in there}
        known = list(self._repository.db.all(d.rules_of_device(device_id=device_id)))
        adopted = missing = 0
        for mapping in known:
            rule = by_name.get(mapping.rule_name)
            adopts = not deploys or (rule is not None and is_in_force(rule))
            match self.compare(mapping, rule, adopts=adopts):
                case "adopted":
                    adopted += 1
                case "missing":
                    missing += 1
        names = {mapping.rule_name for mapping in known}
        children = {mapping.child for mapping in known}
        removed = 0
        for rule in there:
            # Looked for just before it goes: since the device was read it may be wanted again.
            if rule.name in names or self._known_as(device_id, rule) is not None:
                continue
            log.warning("unknown rule removed", extra={"device": device_id, "rule": rule.name})
            self._devices.call(device_id, lambda driver, id=rule.id: driver.remove(id))  # type: ignore[misc]  # binds the loop's value
            removed += 1
            again = self._known_as(device_id, rule)
            if again is not None:
                # Wanted in that very moment: what was made of it may be what we took away.
                missing += self.compare(again, None, adopts=False) == "missing"
                children.add(again.child)
        if removed and deploys:
            self._devices.call(device_id, lambda driver: driver.deploy())
        self._mend(children, device_id)
        return Verified(len(there), adopted, missing, removed)

    def compare(self, mapping: RuleMapping, rule: DeviceRule | None, *, adopts: bool) -> str:
        """One rule of the table and what the device has of it."""
        now = self._repository.now()
        is_same = rule is not None and rule.digest == mapping.digest
        if mapping.status == "active" and rule is not None and is_same:
            if now - mapping.last_verified >= REFRESH or mapping.device_rule_id != rule.id:
                after = mapping.moved(last_verified=now, device_rule_id=rule.id)
                self._repository.try_write(d.rules.change(mapping, after))
            return "seen"
        if mapping.status == "active":
            return self._doubt(mapping, rule, now)
        if not (adopts and is_same and mapping.status == "pending" and not plan.is_held(mapping, now)):
            return "waits"
        # A process died, or the answer was lost, after the device had taken it (PC-S7).
        assert rule is not None
        resolve(self._repository, mapping)
        after = mapping.moved(
            status="active", device_rule_id=rule.id, attempt=0, next_try_at=None, error=None,
            failing_since=None, confirmed_at=now, last_verified=now,
        )  # fmt: skip
        found = Attempt("verify", mapping, None, now, now, rule)
        action = action_of(found, self._repository.new_timed_id(now), "success")
        return (
            "adopted"
            if self._repository.try_write(d.rules.move(mapping, after, by="system"), d.actions.create(action))
            else ""
        )

    def _doubt(self, mapping: RuleMapping, rule: DeviceRule | None, now: datetime) -> str:
        """A rule that should be there and is not: the next reconcile of the child adds it again."""
        words = (
            "the rule was missing on the firewall"
            if rule is None
            else "the rule on the firewall was different"
        )
        after = mapping.moved(
            status="pending", device_rule_id=None if rule is None else rule.id, next_try_at=now, error=words,
            failing_since=now, last_verified=NEVER,
        )  # fmt: skip
        found = Attempt("verify", mapping, None, now, now, rule, FirewallMistake(words))
        action = action_of(found, self._repository.new_timed_id(now), "failed")
        return (
            "missing"
            if self._repository.try_write(d.rules.move(mapping, after, by="system"), d.actions.create(action))
            else ""
        )

    def _known_as(self, device_id: str, rule: DeviceRule) -> RuleMapping | None:
        """A rule that the index does not show, as the guard of its address has it: indexes lag behind, guards do not,
        and a rule is claimed only for who has the address."""
        holder = address_stays.holder(self._repository, device_id, rule.source)
        if holder is None:
            return None
        found = self._repository.db.all(d.rules_of_child(child=holder.child))
        return next((mapping for mapping in found if mapping.rule_name == rule.name), None)
