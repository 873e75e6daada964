"""A traveller's devices: how far each has synced, what it did, and signing it out."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.console.console import Crumb
from tablewright.app.console.forms import Form, posted
from tablewright.app.console.travel.desk import HOME, Desk
from tablewright.systems.travel.errors import NotThere
from tablewright.systems.travel.model import Device, Profile

LIST = f"{HOME}/devices"
PAGE = 25


def devices_router(desk: Desk) -> APIRouter:
    router = desk.router()

    def find(profile: Profile, device_id: str) -> Device:
        for device in desk.travel.devices.of(profile.user_id, revoked=True):
            if device.device_id == device_id:
                return device
        raise NotThere("DEVICE")

    @router.get("/devices", dependencies=[Depends(desk.signed_in)])
    def devices(request: Request) -> Response:
        profile = desk.traveller(request)
        head = desk.travel.repository.head(profile.user_id)
        found = desk.travel.devices.of(profile.user_id, revoked=True)
        return desk.page(
            request,
            "devices",
            title="Devices",
            profile=profile,
            devices=[device for device in found if device.revoked_at is None],
            gone=[device for device in found if device.revoked_at is not None],
            newest=head.server_version if head is not None else 0,
        )

    @router.get("/devices/{device_id}", dependencies=[Depends(desk.signed_in)])
    def device(device_id: str, request: Request, after: str | None = None) -> Response:
        profile = desk.traveller(request)
        found = find(profile, device_id)
        page = desk.travel.sync.operations(profile.user_id, device_id, PAGE, after)
        return desk.page(
            request,
            "device",
            title=found.name,
            crumbs=(Crumb("Devices", LIST),),
            profile=profile,
            device=found,
            operations=page.items,
            next=page.next,
        )

    @router.get("/devices/{device_id}/sign-out", dependencies=[Depends(desk.signed_in)])
    def ask(device_id: str, request: Request) -> Response:
        found = find(desk.traveller(request), device_id)
        return desk.console.confirm(
            request,
            title=f"Sign out {found.name}?",
            happens="It cannot send or get anything any more. What it marked and sent stays on your map.",
            undo="What it has not sent yet stays on it, and is sent if somebody signs in there again.",
            button="Sign it out",
            back=LIST,
            crumbs=(Crumb("Devices", LIST),),
        )

    @router.post("/devices/{device_id}/sign-out", dependencies=[Depends(desk.signed_in)])
    def sign_out(device_id: str, request: Request) -> Response:
        profile = desk.traveller(request)
        found = desk.travel.devices.revoke(profile.user_id, device_id, profile.user_id)
        return desk.console.go(LIST, f"{found.name} is signed out.")

    @router.post("/devices/sign-out-others", dependencies=[Depends(desk.signed_in)])
    def sign_out_others(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        profile = desk.traveller(request)
        gone = desk.travel.devices.revoke_others(profile.user_id, form.get("keep") or None, profile.user_id)
        count = len(gone)
        return desk.console.go(LIST, f"{count} {'device is' if count == 1 else 'devices are'} signed out.")

    return router
