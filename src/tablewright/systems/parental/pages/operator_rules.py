"""Rules beside what a firewall has: what is missing there, what nobody knew, what is in doubt; and comparing now.

Must hold: the page changes nothing, on the device or in the table; "compare now" does.
"""

from collections import Counter
from collections.abc import Sequence

from fastapi import APIRouter, Depends, Request, Response

from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import device_comparison
from tablewright.systems.parental.enforcement.device_comparison import ORDER
from tablewright.systems.parental.enforcement.plan import NEVER
from tablewright.systems.parental.errors import NotThere
from tablewright.systems.parental.firewall.driver import DeviceRule, FirewallMistake
from tablewright.systems.parental.pages.operator_page import OperatorPages

MOST_SHOWN = 200
# A word for each state, its colour, and what it means.
STATES = {
    "missing": ("missing", "bad", "our records say it is there, the firewall says it is not"),
    "different": ("different", "bad", "the firewall has another rule of that name"),
    "unexpected": ("unexpected", "warn", "it is on the firewall and in no record of ours"),
    "refused": ("refused", "bad", "the firewall will not take it"),
    "in doubt": ("in doubt", "warn", "somebody is at it, or it was not confirmed"),
    "unseen": ("not compared", "", "the firewall does not tell what it has"),
    "same": ("in force", "good", "on the firewall as it shall be"),
}


def rules_router(pages: OperatorPages) -> APIRouter:
    router = pages.router()
    parental = pages.parental

    @router.get("/rules", dependencies=[Depends(pages.operator)])
    def rules(request: Request, device: str = "", show: str = "") -> Response:
        devices = parental.devices.all()
        chosen = next((one for one in devices if one.device_id == device), None)
        if device and chosen is None:
            raise NotThere("DEVICE")
        chosen = chosen or next(iter(devices), None)
        if chosen is None:
            return pages.page(
                request, "rules", title="Rules", devices=[], device=None, rows=[], counts={}, show="", error="",
                states=STATES, order=ORDER, left=0, never=NEVER, total=0,
            )  # fmt: skip
        there, error = told(pages, chosen.device_id)
        # The device first, as verify does: what it has was in the table before.
        known = list(parental.repository.db.all(d.rules_of_device(device_id=chosen.device_id)))
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

    return router


def told(pages: OperatorPages, device_id: str) -> tuple[Sequence[DeviceRule] | None, str]:
    """What a firewall says it has, or why it does not say."""
    try:
        return pages.parental.devices.call(device_id, lambda driver: driver.list()), ""
    except FirewallMistake as mistake:
        return None, str(mistake)
