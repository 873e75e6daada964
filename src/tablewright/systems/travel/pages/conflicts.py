"""What two devices said differently: both sides, what was kept and why, and settling it.

Must hold: nothing is lost by not looking; each conflict shows both sides in full, and what is there now; it is settled
from what was shown, or not at all. Elsewhere: who wins (docs/sync.md).
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import JsonValue, TypeAdapter

from tablewright.pages.forms import Form, posted
from tablewright.systems.travel import rules
from tablewright.systems.travel.errors import TravelMistake, VersionConflict
from tablewright.systems.travel.model import REGION_TYPES, Operation, Strategy, Visit
from tablewright.systems.travel.pages import words as texts
from tablewright.systems.travel.pages.page import HOME, TravelPages, refused, status_of
from tablewright.systems.travel.sync.merge import WHOLE
from tablewright.systems.travel.sync.operations import FieldConflict

LIST = f"{HOME}/conflicts"
PAGE = 20
SEEN = "seen:"
_CLASHES = TypeAdapter(list[FieldConflict])
_CHOICES: dict[str, Strategy] = {"keep": "server_wins", "other": "client_wins", "write": "manual"}


@dataclass(frozen=True, slots=True)
class Clash:
    """One field two sides differ on, in words; `now` if that is something else than was kept."""

    field: str
    title: str
    server: str
    client: str
    kept: str
    why: str
    strategy: Strategy
    now: str


@dataclass(frozen=True, slots=True)
class Open:
    """A conflict nobody has settled, with what the place says now and the versions of all it is about.

    `taken` is what the device said besides, that nobody else had changed, and what it said there.
    """

    operation: Operation
    name: str
    href: str
    device: str
    clashes: tuple[Clash, ...]
    taken: tuple[tuple[str, str], ...]
    visit: Visit | None
    versions: dict[str, int]

    @property
    def may_write(self) -> bool:
        """Whether it can be settled by writing something else: notes or a date of one place."""
        fields = {clash.field for clash in self.clashes}
        return len(self.versions) == 1 and fields <= {"notes", "visited_date"}

    def writes(self, field: str) -> str:
        """What the form begins with: what is there now."""
        return (getattr(self.visit, field) or "") if self.visit is not None else ""


def conflicts_router(pages: TravelPages) -> APIRouter:
    router = pages.router()

    @router.get("/conflicts", dependencies=[Depends(pages.signed_in)])
    def conflicts(request: Request, after: str | None = None) -> Response:
        return conflicts_page(pages, request, after)

    @router.post("/conflicts/{operation_id}", dependencies=[Depends(pages.signed_in)])
    def settle(operation_id: str, request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        profile = pages.traveller(request)
        choice = _CHOICES.get(form.get("choice"), "server_wins")
        data: dict[str, JsonValue] | None = None
        if choice == "manual":
            names = [name for name in ("notes", "visited_date") if name in form.values]
            data = {name: form.get(name).strip() or None for name in names}
        try:
            pages.travel.sync.resolve(profile.user_id, operation_id, choice, data, _versions(form))
        except VersionConflict:
            words = "Another device changed this meanwhile. Look at what it says now, then choose again."
            return conflicts_page(
                pages, request, wrong=(operation_id, Form(form.values, {}, words)), status=409
            )
        except TravelMistake as mistake:
            return conflicts_page(
                pages, request, wrong=(operation_id, refused(form, mistake)), status=status_of(mistake)
            )
        return pages.console.go(LIST, f"Settled. {texts.SETTLED_BY[choice]}")

    return router


def _versions(form: Form) -> dict[str, int]:
    """What was shown, by entity."""
    said = {name.removeprefix(SEEN): text for name, text in form.values.items() if name.startswith(SEEN)}
    return {entity: int(text) for entity, text in said.items() if text.isascii() and text.isdigit()}


def conflicts_page(
    pages: TravelPages, request: Request, after: str | None = None, wrong: tuple[str, Form] | None = None,
    status: int = 200,
) -> Response:  # fmt: skip
    profile = pages.traveller(request)
    page = pages.travel.sync.conflicts(profile.user_id, PAGE, after)
    devices = {
        one.device_id: one.name for one in pages.travel.repository.devices_of(profile.user_id, revoked=True)
    }
    return pages.page(
        request,
        "conflicts",
        title="Conflicts",
        status=status,
        profile=profile,
        found=[_open(pages, operation, devices) for operation in page.items],
        next=page.next,
        wrong=wrong or ("", Form()),
    )


def _open(pages: TravelPages, operation: Operation, devices: dict[str, str]) -> Open:
    details = operation.conflict_details or {}
    clashes = _CLASHES.validate_python(details.get("fields", []))
    entities = list(dict.fromkeys(clash.entity_id for clash in clashes)) or [operation.entity_id]
    now = {entity: _now(pages, operation.user_id, entity) for entity in entities}
    place, geography = texts.place_of(entities[0]), pages.travel.geography
    name = texts.place_name(geography, entities[0])
    several = {entity: f"{texts.place_name(geography, entity)}: " for entity in entities[1:] and entities}
    return Open(
        operation,
        f"{name} and {len(several) - 1} more" if several else name,
        f"{HOME}/places/{place[0]}/{place[1]}" if place is not None else f"{HOME}/settings",
        devices.get(operation.device_id, "the web"),
        tuple(_clash(clash, now[clash.entity_id], several.get(clash.entity_id, "")) for clash in clashes),
        () if several else _taken(operation, {clash.field for clash in clashes}),
        now[entities[0]].visit,
        {entity: each.version for entity, each in now.items()},
    )


@dataclass(frozen=True, slots=True)
class Now:
    """What an entity says now: a live visit, or the settings."""

    version: int
    fields: dict[str, JsonValue] | None
    visit: Visit | None = None


def _now(pages: TravelPages, user_id: str, entity: str) -> Now:
    place = texts.place_of(entity)
    if place is None:
        profile = pages.travel.repository.profile(user_id)
        return Now(profile.entity_version, rules.user_fields(profile))
    kind = next(each for each in REGION_TYPES if each == place[0])
    there = pages.travel.repository.visits_at(user_id, [(kind, place[1])])[0]
    if there is None or there.is_deleted:
        return Now(there.sync_version if there is not None else 0, None)
    return Now(there.sync_version, rules.visit_fields(there), there)


def _taken(operation: Operation, clashing: set[str]) -> tuple[tuple[str, str], ...]:
    """Fields and what was said of them; trips and switches have names of their own, and are not told apart here."""
    if WHOLE in clashing:
        return ()
    plain = {name: said for name, said in operation.entity_data.items() if not isinstance(said, dict)}
    return tuple(
        (texts.field_words(name), texts.side_words(name, said))
        for name, said in plain.items()
        if name not in clashing
    )


def _clash(clash: FieldConflict, now: Now, of: str) -> Clash:
    say = texts.side_words
    is_whole = clash.field == WHOLE or now.fields is None
    value: JsonValue = dict(now.fields) if now.fields is not None else None
    says = say(WHOLE, value) if is_whole else say(clash.field, (now.fields or {}).get(clash.field))
    kept = say(clash.field, clash.kept)
    return Clash(
        clash.field,
        of + texts.field_words(clash.field),
        say(clash.field, clash.server),
        say(clash.field, clash.client),
        kept,
        texts.STRATEGIES[clash.strategy],
        clash.strategy,
        says if says != kept else "",
    )
