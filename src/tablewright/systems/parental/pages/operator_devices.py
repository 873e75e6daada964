"""Firewalls: the state of each in numbers; adding one, switching one off, comparing one now.

A Linux gateway also has its DNS filter and the networks it never blocks. A simulated firewall can be made slow,
unreliable or unreachable, to see what parents see then, and asked whether it would block a connection.
Must hold: the list of firewalls calls none of them, so one that hangs does not hang the page.
"""

from ipaddress import ip_address

from fastapi import APIRouter, Request, Response
from pydantic import Field

from tablewright.edge.errors import CallerError, Conflict, NotFound
from tablewright.english import plural
from tablewright.pages.forms import Form, FormWrong, form_of, read
from tablewright.pages.layout import Crumb
from tablewright.systems.parental.api.bodies.operators import DeviceChange, NewDevice
from tablewright.systems.parental.enforcement import monitoring, on_change
from tablewright.systems.parental.enforcement.device_audit import Verified
from tablewright.systems.parental.enforcement.meters import Measured, Times
from tablewright.systems.parental.firewall import removal
from tablewright.systems.parental.firewall.devices import GUARDS_DNS
from tablewright.systems.parental.firewall.driver import PREFIX, FirewallMistake, Flow
from tablewright.systems.parental.firewall.removal import RemovalPlan
from tablewright.systems.parental.firewall.simulated import Faults, SimulatedFirewall
from tablewright.systems.parental.model import Device, DnsGuard, Value
from tablewright.systems.parental.pages.operator_page import CAUSES, KINDS, OperatorPages, device_path
from tablewright.systems.parental.pages.page import (
    HOME,
    Asked,
    Posted,
    overtaken,
    refused,
    version_of,
)

_LISTED = Crumb("Firewalls", f"{HOME}/devices")


class TypedFaults(Value):
    """The faults of a simulated firewall as typed: shares in percent."""

    latency: float = Field(0.0, ge=0, le=30)
    failures: float = Field(0.0, ge=0, le=100)
    lost_answers: float = Field(0.0, ge=0, le=100)
    calls_per_minute: int | None = Field(None, ge=1, le=100_000)
    is_down: bool = False

    def faults(self, before: Faults) -> Faults:
        return Faults(
            self.latency,
            self.failures / 100,
            self.lost_answers / 100,
            self.calls_per_minute,
            self.is_down,
            before.rejected_labels,
        )


def add_devices(router: APIRouter, pages: OperatorPages) -> None:
    # First: otherwise "new" would be read as a device.
    for part in (_forms, _lists, _actions, _guards, _simulated):
        part(router, pages)


# --- list and page ---


def _lists(router: APIRouter, pages: OperatorPages) -> None:
    parental = pages.parental

    @router.get("/devices")
    def list_devices(request: Request) -> Response:
        figures = monitoring.read(parental, on_change.consumers(parental))
        return pages.page(request, "devices", title="Firewalls", figures=figures)

    @router.get("/devices/{id}")
    def device(request: Request, id: str, form: Asked) -> Response:
        return show_device(pages, request, id, tried=form)


def show_device(
    pages: OperatorPages,
    request: Request,
    id: str,
    *,
    guard: Form | None = None,
    faults: Form | None = None,
    tried: Form | None = None,
    status: int = 200,
) -> Response:
    """A firewall's page; `guard`, `faults` and `tried` are what was typed into its forms."""
    parental = pages.parental
    device = parental.devices.get(id)
    measured = parental.devices.meters.measured()
    simulated, closed = _simulation(pages, device)
    tried, verdict = _tried(simulated, tried or Form())
    return pages.page(
        request,
        "device",
        title=device.name,
        crumbs=(_LISTED,),
        status=status,
        device=device,
        one=monitoring.of_device(parental, device, measured),
        causes=_causes(measured, id),
        guards=device.kind in GUARDS_DNS,
        no_guard=DnsGuard(),
        guard=guard or _form_of_guard(device.guard),
        simulated=simulated,
        closed=closed,
        faults=faults or (_form_of_faults(simulated.faults) if simulated else Form()),
        has_faults=simulated is not None and simulated.faults != Faults(),
        tried=tried,
        verdict=verdict,
    )


def _simulation(pages: OperatorPages, device: Device) -> tuple[SimulatedFirewall | None, str]:
    """The device, if it is a simulated one; and why it cannot be opened, if it cannot."""
    try:
        return pages.parental.devices.simulated(device.device_id), ""
    except FirewallMistake as mistake:
        return None, str(mistake)


def _causes(measured: Measured, id: str) -> list[tuple[str, Times]]:
    found = [(CAUSES[cause], times) for (of, cause), times in measured.enforced.items() if of == id]
    return sorted(found, key=lambda pair: -pair[1].count)


def _tried(simulated: SimulatedFirewall | None, form: Form) -> tuple[Form, tuple[str, str] | None]:
    """Whether a connection would be blocked, as a sentence and its colour."""
    source, name = form.get("source").strip(), form.get("destination").strip().lower()
    if simulated is None or not (source or name):
        return Form({"source": source, "destination": name}), None
    form = Form({"source": source, "destination": name})
    try:
        ip_address(source)
    except ValueError:
        return form.wrong("source", "Enter the address of a child's device, such as 10.20.30.40."), None
    is_address = name.replace(".", "").isdigit() or ":" in name
    try:
        flow = Flow(
            source, ip_address(name).compressed if is_address else "", name="" if is_address else name
        )
    except ValueError:
        return form.wrong("destination", "Enter a name such as www.tiktok.com, or an address."), None
    if simulated.is_blocked(flow):
        return form, (f"Blocked: {source} can't reach {name or 'anything'} on TCP 443.", "bad")
    return form, (f"Not blocked: {source} can reach {name or 'everything'} on TCP 443.", "good")


# --- changes ---


def _forms(router: APIRouter, pages: OperatorPages) -> None:
    devices = pages.parental.devices

    def show(request: Request, form: Form, device: Device | None = None, status: int = 200) -> Response:
        crumbs = (_LISTED, Crumb(device.name, device_path(device.device_id))) if device else (_LISTED,)
        return pages.page(
            request, "device_form", title="Edit" if device else "New firewall", crumbs=crumbs, status=status,
            form=form, device=device, options=list(KINDS.items()),
        )  # fmt: skip

    @router.get("/devices/new")
    def new(request: Request) -> Response:
        return show(request, Form({"kind": "simulated"}))

    @router.post("/devices/new")
    def add(request: Request, form: Posted) -> Response:
        try:
            made = devices.add(read(form, NewDevice).device())
        except (FormWrong, CallerError) as mistake:
            again = refused(form, mistake)
            if isinstance(mistake, CallerError) and mistake.code == "EXISTS":
                again = form.wrong("deviceId", "There is already a firewall with this ID.")
            return show(request, again, status=mistake.status)
        said = f"{made.name} was added. It gets rules once a child's device is reported behind it."
        return pages.console.go(device_path(made.device_id), said)

    @router.get("/devices/{id}/edit")
    def edit(request: Request, id: str) -> Response:
        device = devices.get(id)
        return show(request, form_of(device), device)

    @router.post("/devices/{id}/edit")
    def save(request: Request, id: str, form: Posted) -> Response:
        device = devices.get(id)
        try:
            change = read(form, DeviceChange)
            devices.change(
                id,
                change.version,
                name=change.name,
                address=change.address.strip(),
                access_policy_id=change.access_policy_id.strip(),
                secret_name=(change.secret_name or "").strip() or None,
            )
        except (FormWrong, CallerError) as mistake:
            return show(request, refused(form, mistake), device, mistake.status)
        return pages.console.go(device_path(id), "Saved. The new settings are used from now on.")


def _actions(router: APIRouter, pages: OperatorPages) -> None:
    parental = pages.parental

    @router.post("/devices/{id}/health")
    def health(id: str) -> Response:
        told = parental.devices.health(id)
        if told.is_ok:
            said = ", ".join(word for word in (told.version, told.detail) if word)
            return pages.console.go(device_path(id), f"It responds: {said or 'healthy'}.")
        return pages.console.go(
            device_path(id), f"It does not respond: {told.detail or 'no reason given'}.", "bad"
        )

    @router.post("/devices/{id}/verify")
    def verify(id: str, form: Posted) -> Response:
        parental.devices.get(id)
        back = f"{HOME}/rules?device={id}" if form.get("to") == "rules" else device_path(id)
        try:
            done = parental.reconciler.verify(id)
        except FirewallMistake as mistake:
            return pages.console.go(back, f"Comparison failed: {mistake}.", "bad")
        return pages.console.go(back, verified_words(done))

    @router.post("/devices/{id}/switch")
    def switch(id: str, form: Posted) -> Response:
        is_on = form.get("to") == "on"
        parental.devices.change(id, version_of(form), enabled=is_on)
        if is_on:
            said = "Switched on. Waiting changes are being applied."
            return pages.console.go(device_path(id), said)
        said = "Switched off. It keeps its rules and gets no requests until it is switched on."
        return pages.console.go(device_path(id), said, "note")

    @router.get("/devices/{id}/remove")
    def ask_to_remove(request: Request, id: str) -> Response:
        plan = removal.plan(parental.repository, parental.devices, id)
        known = plan.device
        return pages.console.confirm(
            request,
            title=f"Remove {known.name}?",
            happens=removal_words(plan),
            button="Remove firewall",
            back=device_path(id),
            crumbs=(_LISTED, Crumb(known.name, device_path(id))),
            form=Form({"version": str(known.version)}),
            details={
                "Rules it may still have": plan.left,
                "Rules not sent to it yet": plan.waiting,
                "Children affected": plan.children,
                "Sessions behind it": plan.sessions,
            },
            undo=f"This cannot be undone. The names of rules that remain on it start with {PREFIX}.",
        )

    @router.post("/devices/{id}/remove")
    def remove(request: Request, id: str, form: Posted) -> Response:
        who, expected = pages.actor(request), version_of(form)
        name = parental.devices.get(id).name
        try:
            left = removal.remove(parental.repository, parental.devices, id, who, expected)
        except Conflict as mistake:
            return pages.console.go(device_path(id), mistake.message, "bad")
        may = f" It may still have {plural(left, 'rule')}." if left else ""
        return pages.console.go(f"{HOME}/devices", f"{name} was removed.{may}", "note")


def removal_words(plan: RemovalPlan) -> str:
    """What happens when a firewall is removed."""
    keeps = f"It may keep {plural(plan.left, 'rule')}, which you have to delete on the firewall."
    return (
        f"The records of {plan.device.name}, its rules and {plural(plan.sessions, 'session')} are deleted, and other "
        "sessions behind it end. The history of each child says so. "
        f"{keeps if plan.left else 'None of our rules remain on it.'} Work that was waiting for it, such as the "
        "erasure of a child, continues without it."
    )


def verified_words(done: Verified) -> str:
    """What a comparison found and repaired."""
    parts = [f"Compared: {plural(done.seen, 'rule')} on the firewall"]
    if done.missing:
        parts.append(f"{done.missing} restored")
    if done.adopted:
        parts.append(f"{done.adopted} recognised as ours")
    if done.removed:
        parts.append(f"{done.removed} unknown removed")
    return (", ".join(parts) if len(parts) > 1 else f"{parts[0]}, all as recorded") + "."


# --- Linux gateways only ---


def _guards(router: APIRouter, pages: OperatorPages) -> None:
    devices = pages.parental.devices

    @router.post("/devices/{id}/guard")
    def guard(request: Request, id: str, form: Posted) -> Response:
        typed = DnsGuard(
            safe=form.get("safe").split(),
            guarded=form.get("guarded").split(),
            refuses_encrypted_dns=form.is_ticked("refusesEncryptedDns"),
        )
        # Not by the device's version: every response changes that.
        now = devices.get(id).guard.model_dump_json()
        if form.get("was") != now:
            return show_device(pages, request, id, guard=overtaken(form, "this", was=now), status=409)
        try:
            device = devices.change(id, guard=typed)
        except CallerError as mistake:
            again = _beside_networks(form, mistake)
            return show_device(pages, request, id, guard=again, status=mistake.status)
        if device.guard_kept == device.guard:
            return pages.console.go(device_path(id), "Saved and active on the gateway.")
        said = "Saved, but the gateway does not have the settings yet. We keep trying."
        return pages.console.go(device_path(id), said, "note")


def _form_of_guard(guard: DnsGuard) -> Form:
    return form_of({**guard.model_dump(by_alias=True), "was": guard.model_dump_json()})


def _beside_networks(form: Form, mistake: CallerError) -> Form:
    """A refusal beside the list it is about: `guard.safe[2]` is in the field `safe`."""
    name = (mistake.field or "").removeprefix("guard.").partition("[")[0]
    return form.wrong(name, mistake.message) if name in ("safe", "guarded") else refused(form, mistake)


# --- simulated firewalls only ---


def _simulated(router: APIRouter, pages: OperatorPages) -> None:
    def device(id: str) -> SimulatedFirewall:
        found = pages.parental.devices.simulated(id)
        if found is None:
            raise NotFound("DEVICE", "Only a simulated firewall can be made to fail.")
        return found

    @router.post("/devices/{id}/faults")
    def faults(request: Request, id: str, form: Posted) -> Response:
        simulated = device(id)
        try:
            typed = read(form, TypedFaults, isDown=form.is_ticked("isDown"))
        except FormWrong as wrong:
            return show_device(pages, request, id, faults=wrong.form, status=422)
        simulated.faults = typed.faults(simulated.faults)
        if simulated.faults == Faults():
            return pages.console.go(
                device_path(id), "Faults cleared. Waiting changes are retried automatically."
            )
        return pages.console.go(device_path(id), "Fault settings applied.", "note")

    @router.post("/devices/{id}/mend")
    def mend(id: str) -> Response:
        device(id).faults = Faults()
        return pages.console.go(device_path(id), "Faults cleared. Waiting changes are retried automatically.")

    @router.get("/devices/{id}/wipe")
    def ask_to_wipe(request: Request, id: str) -> Response:
        device(id)
        known = pages.parental.devices.get(id)
        return pages.console.confirm(
            request,
            title=f"Wipe the rules of {known.name}?",
            happens="The simulated firewall loses all its rules, as if it had been replaced. Nothing is blocked there "
            "until it is compared with our records, which happens automatically within 10 minutes.",
            button="Wipe its rules",
            back=device_path(id),
            crumbs=(_LISTED, Crumb(known.name, device_path(id))),
            undo="“Compare now” restores every rule at once.",
        )

    @router.post("/devices/{id}/wipe")
    def wipe(id: str) -> Response:
        device(id).wipe()
        said = (
            "Its rules were wiped. Choose “Compare now” to restore them, or see the differences under Rules."
        )
        return pages.console.go(device_path(id), said, "note")


def _form_of_faults(faults: Faults) -> Form:
    values = {
        "latency": f"{faults.latency:g}",
        "failures": f"{faults.failures * 100:g}",
        "lostAnswers": f"{faults.lost_answers * 100:g}",
        "callsPerMinute": "" if faults.calls_per_minute is None else str(faults.calls_per_minute),
    }
    return Form({**values, "isDown": "on"} if faults.is_down else values)
