"""The base of the operator's pages: the service, the console, and the check for the operator role.

Must hold: an operator sees devices, rules and failures but not whose they are: numbers are masked, names not shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import Request

from tablewright.edge.identity.guards import FindPrincipal
from tablewright.pages.layout import Console
from tablewright.systems.parental import access
from tablewright.systems.parental.model import Device
from tablewright.systems.parental.pages.page import HOME, ParentalPages
from tablewright.systems.parental.pages.words import app_words
from tablewright.systems.parental.parental import Parental

KINDS = {"simulated": "Simulated", "nftables": "Linux gateway (nftables)", "cisco_fmc": "Cisco FMC"}
ACTIONS = {
    "block": "Block {}",
    "unblock": "Unblock {}",
    "verify": "Check that {} is blocked",
    "reassign": "Block {} at a new address",
}
CAUSES: Mapping[str, str] = {
    "policy": "Rule saved",
    "exception": "Exception started or ended",
    "family": "Family settings changed",
    "child": "Child's time zone or pause changed",
    "session": "Device joined, moved or left",
    "window": "Time window opened or closed",
    "app": "App registry changed",
    "retry": "Retry after a failure",
}


@dataclass(frozen=True)
class OperatorPages(ParentalPages):
    """Parental controls for operators."""

    folder = "parental/operator"

    admits = staticmethod(access.operator)

    def words(self, request: Request) -> Mapping[str, Any]:
        return {
            "base": HOME,
            "kinds": KINDS,
            "actions": ACTIONS,
            "app_words": app_words,
            "seconds": seconds_words,
            "device_path": device_path,
            "state_of_device": state_of_device,
        }


def pages_of(parental: Parental, console: Console, who: FindPrincipal) -> OperatorPages:
    return OperatorPages(console, who, parental)


def device_path(device_id: str) -> str:
    return f"{HOME}/devices/{quote(device_id, safe='')}"


def state_of_device(device: Device) -> tuple[str, str]:
    """The state of a device as a word and its colour, by its last response."""
    if device.leaving_at is not None:
        return "being removed", "warn"
    if not device.enabled:
        return "switched off", ""
    if device.breaker_until is not None:
        return "paused after failures", "bad"
    if device.failures:
        return "failing", "warn"
    return ("healthy", "good") if device.last_ok_at is not None else ("not checked yet", "")


def seconds_words(seconds: float | None) -> str:
    """`0.3 s`, `12 s`, `4 min`; a dash if nothing was measured."""
    if seconds is None:
        return "–"
    if seconds < 0.995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
