"""Devices that block by names: told beforehand which, asked to look up again where those lead, kept at guarding DNS.

Each is asked in its own queue, for one may be slow.
Elsewhere: when (jobs.py, and on_change.py for a change of the registry), what a device does with it (firewall/).
"""

import logging
from collections.abc import Callable, Iterable
from functools import partial

from tablewright.kit.tables import digest
from tablewright.systems.parental.enforcement.dispatch import Parts, on_device
from tablewright.systems.parental.firewall.devices import GUARDS_DNS
from tablewright.systems.parental.firewall.driver import FirewallDriver, FirewallMistake, LearnsNames
from tablewright.systems.parental.model import (
    Device,
)

log = logging.getLogger("tablewright.parental")


def refresh_names(parental: Parts) -> None:
    """Apply the DNS filter of each gateway, send it the registry's names, and have it resolve them."""
    for device in parental.devices.all():
        keep_guard(parental, device)
    tell_names(parental, [name for app in parental.registry.all() for name in app.domains])
    look_up_again(parental)


def tell_names(parental: Parts, names: Iterable[str]) -> int:
    """Names that may be blocked, to devices that have to know them before; how many devices took them by now."""
    told = tuple(dict.fromkeys(names))
    if not told:
        return 0
    # Others' names are other work: in a queue neither may stand for both.
    return _each_gateway(parental, f"learn {digest(*told)}", lambda driver: driver.learn(told))


def look_up_again(parental: Parts) -> int:
    """Have devices that block addresses resolve their names again; returns how many did."""
    return _each_gateway(parental, "look up again", lambda driver: driver.look_up_again())


def keep_guard(parental: Parts, device: Device) -> None:
    """Also where nothing changed: it may have been changed on the device."""
    if device.kind not in GUARDS_DNS or not device.enabled:
        return
    on_device(parental, device.device_id, "guard", partial(_ask_guard, parental, device.device_id))


def _ask_guard(parental: Parts, device_id: str) -> None:
    try:
        parental.devices.keep_guard(device_id)
    except FirewallMistake as mistake:
        log.warning(
            "gateway not told its guard", extra={"device": device_id, "mistake": type(mistake).__name__}
        )


def _each_gateway(parental: Parts, name: str, work: Callable[[LearnsNames], object]) -> int:
    return sum(
        bool(
            on_device(
                parental, device.device_id, name, partial(_ask_gateway, parental, device.device_id, work)
            )
        )
        for device in parental.devices.all()
        if device.enabled and not parental.devices.needs_no_names(device.device_id)
    )


def _ask_gateway(parental: Parts, device_id: str, work: Callable[[LearnsNames], object]) -> bool:
    """Whether it has to know names, and was asked."""

    def asked(driver: FirewallDriver) -> None:
        if isinstance(driver, LearnsNames):
            work(driver)

    try:
        # Others are not even asked: that would be taken for a sign of life.
        is_one = parental.devices.learns_names(device_id)
        if is_one:
            parental.devices.call(device_id, asked)
        return is_one
    except FirewallMistake as mistake:
        log.warning(
            "gateway does not know names", extra={"device": device_id, "mistake": type(mistake).__name__}
        )
        return False
