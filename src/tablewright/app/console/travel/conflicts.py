"""What two devices said differently: both sides, what was kept and why, and settling it.

Must hold: nothing is lost by not looking; each conflict shows both sides in full. Elsewhere: who wins (docs/sync.md).
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import JsonValue, TypeAdapter

from tablewright.app.console.forms import Form, posted
from tablewright.app.console.travel import wording
from tablewright.app.console.travel.desk import HOME, Desk, refused, status_of
from tablewright.systems.travel.errors import TravelMistake
from tablewright.systems.travel.model import Operation, Strategy, Visit
from tablewright.systems.travel.operations import FieldConflict

LIST = f"{HOME}/conflicts"
PAGE = 20
_CLASHES = TypeAdapter(list[FieldConflict])
_CHOICES: dict[str, Strategy] = {"keep": "server_wins", "other": "client_wins", "write": "manual"}


@dataclass(frozen=True, slots=True)
class Clash:
    """One field two sides differ on, in words."""

    field: str
    title: str
    server: str
    client: str
    kept: str
    why: str
    strategy: Strategy


@dataclass(frozen=True, slots=True)
class Open:
    """A conflict nobody has settled, with what the place says now."""

    operation: Operation
    name: str
    href: str
    device: str
    clashes: tuple[Clash, ...]
    visit: Visit | None

    @property
    def may_write(self) -> bool:
        """Whether it can be settled by writing something else: notes or a date of one place."""
        return {clash.field for clash in self.clashes} <= {"notes", "visited_date"}

    def writes(self, field: str) -> str:
        """What the form begins with: what is there now."""
        return (getattr(self.visit, field) or "") if self.visit is not None else ""


def conflicts_router(desk: Desk) -> APIRouter:
    router = desk.router()

    @router.get("/conflicts", dependencies=[Depends(desk.signed_in)])
    def conflicts(request: Request, after: str | None = None) -> Response:
        return conflicts_page(desk, request, after)

    @router.post("/conflicts/{operation_id}", dependencies=[Depends(desk.signed_in)])
    def settle(operation_id: str, request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        profile = desk.traveller(request)
        choice = _CHOICES.get(form.get("choice"), "server_wins")
        data: dict[str, JsonValue] | None = None
        if choice == "manual":
            names = [name for name in ("notes", "visited_date") if name in form.values]
            data = {name: form.get(name).strip() or None for name in names}
        try:
            desk.travel.sync.resolve(profile.user_id, operation_id, choice, data)
        except TravelMistake as mistake:
            return conflicts_page(
                desk, request, wrong=(operation_id, refused(form, mistake)), status=status_of(mistake)
            )
        return desk.console.go(LIST, f"Settled. {wording.SETTLED_BY[choice]}")

    return router


def conflicts_page(
    desk: Desk, request: Request, after: str | None = None, wrong: tuple[str, Form] | None = None, status: int = 200
) -> Response:  # fmt: skip
    profile = desk.traveller(request)
    page = desk.travel.sync.conflicts(profile.user_id, PAGE, after)
    devices = {
        one.device_id: one.name for one in desk.travel.repository.devices_of(profile.user_id, revoked=True)
    }
    return desk.page(
        request,
        "conflicts",
        title="Conflicts",
        status=status,
        profile=profile,
        found=[_open(desk, operation, devices) for operation in page.items],
        next=page.next,
        wrong=wrong or ("", Form()),
    )


def _open(desk: Desk, operation: Operation, devices: dict[str, str]) -> Open:
    details = operation.conflict_details or {}
    clashes = _CLASHES.validate_python(details.get("fields", []))
    entity = clashes[0].entity_id if clashes else operation.entity_id
    place = wording.place_of(entity)
    region = desk.travel.geography.get(*place) if place is not None else None
    visit = (
        desk.travel.repository.visits_at(operation.user_id, [(region.region_type, region.region_code)])[0]
        if region is not None
        else None
    )
    return Open(
        operation,
        wording.place_name(desk.travel.geography, entity),
        f"{HOME}/places/{place[0]}/{place[1]}" if place is not None else f"{HOME}/settings",
        devices.get(operation.device_id, "the web"),
        tuple(_clash(clash) for clash in clashes),
        visit if visit is not None and not visit.is_deleted else None,
    )


def _clash(clash: FieldConflict) -> Clash:
    say = wording.side_words
    return Clash(
        clash.field,
        wording.field_words(clash.field),
        say(clash.field, clash.server),
        say(clash.field, clash.client),
        say(clash.field, clash.kept),
        wording.STRATEGIES[clash.strategy],
        clash.strategy,
    )
