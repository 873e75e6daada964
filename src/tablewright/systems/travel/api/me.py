"""`/me`: the account, its logins, devices, blocks, picture; what is taken away, brought in, erased."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends, Query, Request, Response

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.downloads import download
from tablewright.edge.errors import BadRequest
from tablewright.edge.etags import mark
from tablewright.edge.routes import Router
from tablewright.kit.http import IdempotencyKey, VersionRead, view_of
from tablewright.systems.travel.access import TRAVEL, Caller, Traveller
from tablewright.systems.travel.account.accounts import Proved
from tablewright.systems.travel.account.pictures import PICTURE_BYTES
from tablewright.systems.travel.api import bodies
from tablewright.systems.travel.api.auth import apple_or_503, typed_by
from tablewright.systems.travel.api.bodies import After, PageSize, root_of
from tablewright.systems.travel.model import AuthProvider
from tablewright.systems.travel.places.visits_csv import BYTES_AT_MOST
from tablewright.systems.travel.places.visits_import import Report
from tablewright.systems.travel.travel import Travel


def me(travel: Travel) -> APIRouter:
    api = Router(tags=["me"])
    accounts, repository = travel.accounts, travel.repository

    def shown(user_id: str, request: Request, response: Response) -> bodies.Me:
        profile = repository.profile(user_id)
        mark(response, profile.entity_version)
        picture = travel.pictures.address(profile, root_of(request))
        return bodies.me_view(profile).model_copy(update={"profile_picture_url": picture})

    @api.get("/me")
    def get_me(request: Request, response: Response, who: Traveller) -> bodies.Me:
        """My account."""
        return shown(who.user_id, request, response)

    @api.patch("/me")
    def change_me(
        body: bodies.MeChange, request: Request, response: Response, who: Traveller, version: VersionRead
    ) -> bodies.Me:
        """Change the sent fields, on all my devices. With If-Match, only if this is still the current version."""
        if body.is_minor is not None:
            found = accounts.set_minor(who.user_id, body.is_minor, who.user_id, who.role, version)
            version = found.entity_version if version is not None else None
        if settings := body.settings():
            result = travel.sync.change_user(who.user_id, settings, version)
            if result.status == "failed":
                raise BadRequest(
                    result.error or "FAILED", result.message or "The change was refused.", result.field
                )
        return shown(who.user_id, request, response)

    @api.delete("/me", status_code=202)
    def erase_me(who: Traveller) -> bodies.ErasureView:
        """Erase the account with all its data in a week; until then this can be cancelled."""
        return bodies.ErasureView(erases_at=travel.privacy.ask(who.user_id, who.user_id).due_at)

    @api.post("/me:keep")
    def keep_me(request: Request, response: Response, who: Traveller) -> bodies.Me:
        """Cancel the erasure of my account."""
        travel.privacy.keep(who.user_id, who.user_id)
        return shown(who.user_id, request, response)

    @api.get("/me/audit")
    def audit(who: Traveller, size: PageSize = None, after: After = None) -> bodies.Listed[bodies.AuditView]:
        """What was done to my account, the latest first."""
        page = accounts.audit(who.user_id, size, after)
        return bodies.listed(
            page, lambda entry: view_of(bodies.AuditView, entry, at=entry.audit_at, details=entry.after)
        )

    # --- logins ---

    @api.post("/me/logins/apple")
    def link_apple(
        body: bodies.AppleLinkBody, request: Request, response: Response, who: Traveller
    ) -> bodies.Me:
        """Sign in with Apple from now on, too."""
        login = apple_or_503(travel).verify(body.id_token, body.nonce)
        travel.nonces.spend(body.nonce, who.device_id or who.user_id)
        accounts.link(who.user_id, Proved("apple", login.subject, login.email), who.user_id)
        return shown(who.user_id, request, response)

    @api.post("/me/logins/email")
    def link_email(body: bodies.CodeBody, request: Request, response: Response, who: Traveller) -> bodies.Me:
        """Sign in by this address from now on, with the code that was sent to it; it replaces the one before."""
        address = travel.email_login.prove(body.email, body.code, typed_by(request, body))
        accounts.link(who.user_id, Proved("email", email=address), who.user_id)
        return shown(who.user_id, request, response)

    @api.delete("/me/logins/{provider}")
    def unlink(provider: AuthProvider, request: Request, response: Response, who: Traveller) -> bodies.Me:
        """Remove a login, unless it is the last."""
        accounts.unlink(who.user_id, provider, who.user_id)
        return shown(who.user_id, request, response)

    return api


def devices(travel: Travel) -> APIRouter:
    api = Router(tags=["devices"])

    @api.get("/me/devices")
    def list_devices(
        who: Traveller, revoked: Annotated[bool, Query(description="those that were signed out, too")] = False
    ) -> list[bodies.DeviceView]:
        """My devices, the one seen last first."""
        found = travel.devices.of(who.user_id, revoked=revoked)
        return [bodies.device_view(device, who.device_id) for device in found]

    @api.post("/me/devices")
    def register(body: bodies.DeviceBody, who: Traveller, caller: Caller) -> bodies.DeviceView:
        """Register a device that signed in elsewhere, such as a browser. Safe to repeat; a repeat renames it."""
        device = travel.devices.register(who.user_id, body.gadget())
        if who.device_id is None:  # it speaks of itself
            session = travel.sessions.of_login(who.user_id, caller.claims)
            travel.sessions.bind(who.user_id, caller.claims, session, device.device_id)
        return bodies.device_view(device, who.device_id or device.device_id)

    @api.post("/me/devices:sign-out-others")
    def sign_out_others(who: Traveller) -> list[bodies.DeviceView]:
        """Sign out every device but this one."""
        gone = travel.devices.revoke_others(who.user_id, who.device_id, who.user_id, who.session_id)
        return [bodies.device_view(device, who.device_id) for device in gone]

    @api.delete("/me/devices/{device_id}", status_code=204)
    def revoke(device_id: str, who: Traveller) -> None:
        """Sign a device out: it cannot sync until its owner signs in there again."""
        travel.devices.revoke(who.user_id, device_id, who.user_id)

    return api


def blocks(travel: Travel) -> APIRouter:
    api = Router(tags=["privacy"])

    @api.get("/me/blocks")
    def list_blocks(
        who: Traveller, size: PageSize = None, after: After = None
    ) -> bodies.Listed[bodies.BlockView]:
        """The travellers I blocked."""
        return bodies.listed(travel.privacy.blocks(who.user_id, size, after), bodies.block_view)

    @api.put("/me/blocks/{user_id}")
    def block(user_id: str, who: Traveller) -> bodies.BlockView:
        """From now on neither sees the other."""
        return bodies.block_view(travel.privacy.block(who.user_id, user_id))

    @api.delete("/me/blocks/{user_id}", status_code=204)
    def unblock(user_id: str, who: Traveller) -> None:
        travel.privacy.unblock(who.user_id, user_id)

    @api.get("/travellers/{user_id}")
    def public_map(user_id: str, request: Request, who: Traveller) -> bodies.PublicView:
        """The public map of a traveller."""
        found = travel.sharing.public_map(who.user_id, user_id)
        return bodies.public_view(found, travel.pictures.address(found.profile, root_of(request)))

    @api.get("/travellers/{user_id}/picture/{name}")
    def picture(user_id: str, name: str, who: Traveller) -> Response:
        """The picture of a traveller whose map is public, or mine."""
        profile = travel.sharing.public_map(who.user_id, user_id).profile
        content, kind = travel.pictures.get(profile, name)
        return Response(content, media_type=kind, headers={"Cache-Control": "private, max-age=86400"})

    @api.put("/me/picture")
    def set_picture(
        request: Request,
        who: Traveller,
        content: Annotated[bytes, Body(media_type="image/*", max_length=PICTURE_BYTES)],
    ) -> bodies.Told:
        """A PNG, JPEG or WebP of at most 512 KB, 12 000 pixels on a side and 50 megapixels."""
        profile = travel.pictures.put(who.user_id, content, request.headers.get("content-type", ""))
        return bodies.Told(message=travel.pictures.address(profile, root_of(request)) or "")

    @api.delete("/me/picture", status_code=204)
    def remove_picture(who: Traveller) -> None:
        travel.pictures.remove(who.user_id)

    return api


def baggage(travel: Travel, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["export"])
    pace = Depends(limit_rate(buckets, "baggage", per_minute=10, burst=20, identity=TRAVEL.caller))

    @api.get("/export", dependencies=[pace])
    def export(who: Traveller, format: Literal["json", "csv", "geojson"] = "json") -> Any:
        """Everything as JSON, or the places as CSV or GeoJSON."""
        profile = travel.repository.profile(who.user_id)
        exporting = travel.exporting
        content: str | bytes
        if format == "csv":
            content = exporting.sheet(who.user_id)
        else:
            make = exporting.geojson if format == "geojson" else exporting.everything
            content = bodies.as_json(make(who.user_id))
        return download(content, "skratch", profile.display_name or "", travel.repository.now(), format)

    @api.post("/import", dependencies=[pace])
    def import_sheet(
        who: Traveller,
        content: Annotated[bytes, Body(media_type="text/csv", max_length=BYTES_AT_MOST)],
        key: IdempotencyKey,
    ) -> Report:
        """Mark the places of a CSV file; the report lists the refused lines."""
        return travel.importing.take(who.user_id, content, key=key)

    return api
