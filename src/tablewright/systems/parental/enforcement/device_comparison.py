"""A device compared with the table: rules on both, on one only, and unconfirmed ones. Pure.

It only says so; `Reconciler.verify` puts it right. Must hold: every rule of the table and every rule of ours on the
device is in the answer, once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tablewright.systems.parental.firewall.driver import DeviceRule
from tablewright.systems.parental.model import RuleMapping

State: TypeAlias = Literal["missing", "different", "unexpected", "in doubt", "refused", "same", "unseen"]
# The most urgent first.
ORDER: tuple[State, ...] = ("missing", "different", "unexpected", "refused", "in doubt", "unseen", "same")


@dataclass(frozen=True, slots=True)
class Compared:
    """One rule. `mapping` is what the table has of it, `rule` what the device has."""

    state: State
    mapping: RuleMapping | None
    rule: DeviceRule | None

    @property
    def name(self) -> str:
        if self.mapping is not None:
            return self.mapping.rule_name
        assert self.rule is not None
        return self.rule.name


def compared(known: Sequence[RuleMapping], there: Sequence[DeviceRule] | None) -> list[Compared]:
    """Both sides, what differs first. `there` is None while the device does not tell."""
    by_name = {rule.name: rule for rule in there or ()}
    names = {mapping.rule_name for mapping in known}
    found = [
        Compared(state_of(mapping, by_name.get(mapping.rule_name), there is not None), mapping, rule)
        for mapping in known
        for rule in [by_name.get(mapping.rule_name)]
    ]
    found += [Compared("unexpected", None, rule) for rule in there or () if rule.name not in names]
    return sorted(found, key=lambda one: (ORDER.index(one.state), one.name))


def state_of(mapping: RuleMapping, rule: DeviceRule | None, is_told: bool) -> State:
    """How one rule of the table stands to what the device has of it."""
    if mapping.status == "failed":
        return "refused"
    if mapping.status != "active":
        return "in doubt"
    if not is_told:
        return "unseen"
    if rule is None:
        return "missing"
    return "same" if rule.digest == mapping.digest else "different"
