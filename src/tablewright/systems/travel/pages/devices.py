"""A traveller's devices: how far each has synced, what it changed, and the forms that rename it or sign it out."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge.errors import BadRequest, NotFound
from tablewright.pages.forms import Form, form_of, posted
from tablewright.pages.layout import Crumb
from tablewright.systems.travel.model import Device, Profile
from tablewright.systems.travel.pages.page import HOME, TravelPages

LIST = f"{HOME}/devices"
PAGE = 25


def add_devices(router: APIRouter, pages: TravelPages) -> None:
    def find(profile: Profile, device_id: str) -> Device:
        for device in pages.travel.devices.of(profile.user_id, revoked=True):
            if device.device_id == device_id:
                return device
        raise NotFound("DEVICE")

    @router.get("/devices")
    def devices(request: Request) -> Response:
        profile = pages.traveller(request)
        head = pages.travel.repository.head(profile.user_id)
        found = pages.travel.devices.of(profile.user_id, revoked=True)
        return pages.page(
            request,
            "devices",
            title="Devices",
            profile=profile,
            devices=[device for device in found if device.revoked_at is None],
            gone=[device for device in found if device.revoked_at is not None],
            here_id=pages.device_here(request),
            newest=head.server_version if head is not None else 0,
        )

    @router.get("/devices/{device_id}")
    def device(device_id: str, request: Request, after: str | None = None) -> Response:
        return device_page(request, device_id, after)

    def device_page(
        request: Request,
        device_id: str,
        after: str | None = None,
        form: Form | None = None,
        status: int = 200,
    ) -> Response:
        profile = pages.traveller(request)
        found = find(profile, device_id)
        page = pages.travel.sync.operations(profile.user_id, device_id, PAGE, after)
        return pages.page(
            request,
            "device",
            title=found.name,
            status=status,
            crumbs=(Crumb("Devices", LIST),),
            profile=profile,
            device=found,
            here_id=pages.device_here(request),
            form=form or form_of({"name": found.name}),
            operations=page.items,
            next=page.next,
        )

    @router.post("/devices/{device_id}/name")
    def rename(device_id: str, request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        profile = pages.traveller(request)
        try:
            found = pages.travel.devices.rename(profile.user_id, device_id, form.get("name"))
        except BadRequest as mistake:
            return device_page(request, device_id, form=form.refused(mistake), status=mistake.status)
        return pages.console.go(f"{LIST}/{device_id}", f"Renamed to {found.name}.")

    @router.get("/devices/{device_id}/sign-out")
    def ask(device_id: str, request: Request) -> Response:
        found = find(pages.traveller(request), device_id)
        is_here = device_id == pages.device_here(request)
        return pages.console.confirm(
            request,
            title=f"Sign out {found.name}?",
            happens=f"{'This is the browser you are using, so you will be signed out here. ' if is_here else ''}"
            "It will no longer sync, and your account can't be opened on it until you sign in there again. What it "
            "has already sent stays on your map. Its own copy of the map stays on the device.",
            undo="Changes it has not sent yet stay on the device, and are sent if you sign in there again.",
            button="Sign out",
            back=LIST,
            crumbs=(Crumb("Devices", LIST),),
        )

    @router.post("/devices/{device_id}/sign-out")
    def sign_out(device_id: str, request: Request) -> Response:
        profile = pages.traveller(request)
        is_here = device_id == pages.device_here(request)
        found = pages.travel.devices.revoke(profile.user_id, device_id, profile.user_id)
        if is_here:
            gone = pages.console.go(
                f"{HOME}/sign-in", "You are signed out of Skratch in this browser.", "note"
            )
            pages.console.cookie.drop(gone)
            return gone
        return pages.console.go(LIST, f"{found.name} is signed out.")

    @router.post("/devices/sign-out-others")
    def sign_out_others(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        profile = pages.traveller(request)
        caller = pages.caller(request)
        own = pages.travel.sessions.of_login(caller.subject, caller.claims)
        gone = pages.travel.devices.revoke_others(
            profile.user_id,
            form.get("keep") or None,
            profile.user_id,
            own.session_id if own is not None else None,
        )
        count = len(gone)
        return pages.console.go(LIST, f"{count} {'device' if count == 1 else 'devices'} signed out.")
