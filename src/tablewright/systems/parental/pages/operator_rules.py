"""Rules compared with a firewall: missing, unknown and unconfirmed ones; and comparing now.

Must hold: the page changes nothing, on the device or in the table; "compare now" does.
"""

from collections import Counter
from collections.abc import Sequence

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import NotFound
from tablewright.systems.parental.enforcement import device_comparison
from tablewright.systems.parental.enforcement.device_comparison import ORDER
from tablewright.systems.parental.enforcement.plan import NEVER
from tablewright.systems.parental.firewall.driver import DeviceRule, FirewallMistake
from tablewright.systems.parental.pages.operator_page import OperatorPages

MOST_SHOWN = 200
# For each state: its name, its colour, and what it means.
STATES = {
    "missing": ("missing", "bad", "in our records, but not on the firewall"),
    "different": ("different", "bad", "the firewall has a different rule with this name"),
    "unexpected": ("unexpected", "warn", "on the firewall, but not in our records"),
    "refused": ("refused", "bad", "the firewall refuses it"),
    "in doubt": ("in doubt", "warn", "being changed, or not confirmed"),
    "unseen": ("not compared", "", "the firewall can't list its rules"),
    "same": ("active", "good", "on the firewall as recorded"),
}


def add_rules(router: APIRouter, pages: OperatorPages) -> None:
    parental = pages.parental

    @router.get("/rules")
    def rules(request: Request, device: str = "", show: str = "") -> Response:
        devices = parental.devices.all()
        chosen = next((one for one in devices if one.device_id == device), None)
        if device and chosen is None:
            raise NotFound("DEVICE")
        chosen = chosen or next(iter(devices), None)
        if chosen is None:
            return pages.page(
                request, "rules", title="Rules", devices=[], device=None, rows=[], counts={}, show="", error="",
                states=STATES, order=ORDER, left=0, never=NEVER, total=0,
            )  # fmt: skip
        there, error = told(pages, chosen.device_id)
        # The device first, as verify does: what it has was in the table before.
        known = parental.records.all_rules_of_device(chosen.device_id)
        found = device_comparison.compared(known, there)
        counts: Counter[str] = Counter(one.state for one in found)
        rows = [one for one in found if show in ("", one.state)]
        return pages.page(
            request,
            "rules",
            title="Rules",
            devices=devices,
            device=chosen,
            rows=rows[:MOST_SHOWN],
            left=max(len(rows) - MOST_SHOWN, 0),
            counts=counts,
            total=len(found),
            show=show,
            error=error,
            states=STATES,
            order=ORDER,
            never=NEVER,
        )


def told(pages: OperatorPages, device_id: str) -> tuple[Sequence[DeviceRule] | None, str]:
    """The rules a firewall reports, or why it reports none."""
    try:
        return pages.parental.devices.call(device_id, lambda driver: driver.list()), ""
    except FirewallMistake as mistake:
        return None, str(mistake)
