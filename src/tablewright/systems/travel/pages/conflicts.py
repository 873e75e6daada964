"""Conflicts between two devices: both versions, which was kept and why, and the forms that resolve them.

Must hold: a conflict shows both versions in full and the current one; it is resolved only if the entity still has the
version that the page showed. Elsewhere: which version wins (docs/sync.md).
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import JsonValue

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, posted
from tablewright.systems.travel import rules
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.model import Operation, Strategy, Visit
from tablewright.systems.travel.pages import words as texts
from tablewright.systems.travel.pages.page import HOME, TravelPages
from tablewright.systems.travel.sync.merge import WHOLE
from tablewright.systems.travel.sync.operations import FieldConflict, conflicts_in, place_of

LIST = f"{HOME}/conflicts"
PAGE = 20
SEEN = "seen:"
_CHOICES: dict[str, Strategy] = {"keep": "server_wins", "other": "client_wins", "write": "manual"}


@dataclass(frozen=True, slots=True)
class Clash:
    """A field that two devices changed differently, in words; `now` is the current value if that is not `kept`."""

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
    """A conflict that is not resolved yet, with the current visit and the versions of all entities it is about.

    `taken` are the other fields of the same operation, which no other device had changed, with their values.
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
        """Whether its owner can resolve it by writing another value: for the notes or the date of one place."""
        fields = {clash.field for clash in self.clashes}
        return len(self.versions) == 1 and fields <= {"notes", "visited_date"}

    def writes(self, field: str) -> str:
        """The initial value of a form field: the current one."""
        return (getattr(self.visit, field) or "") if self.visit is not None else ""


def add_conflicts(router: APIRouter, pages: TravelPages) -> None:
    @router.get("/conflicts")
    def conflicts(request: Request, after: str | None = None) -> Response:
        return conflicts_page(pages, request, after)

    @router.post("/conflicts/{operation_id}")
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
            words = "Another device changed this after you opened the page. Check the current version and choose again."
            return conflicts_page(
                pages, request, wrong=(operation_id, Form(form.values, {}, words)), status=409
            )
        except CallerError as mistake:
            return conflicts_page(
                pages, request, wrong=(operation_id, form.refused(mistake)), status=mistake.status
            )
        return pages.console.go(LIST, f"Conflict resolved. {texts.SETTLED_BY[choice]}")


def _versions(form: Form) -> dict[str, int]:
    """The versions that the page showed, by entity."""
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
    clashes = conflicts_in(operation)
    entities = list(dict.fromkeys(clash.entity_id for clash in clashes)) or [operation.entity_id]
    now = {entity: _now(pages, operation.user_id, entity) for entity in entities}
    place, geography = place_of(entities[0]), pages.travel.geography
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
    """The current state of an entity: a live visit, or the settings."""

    version: int
    fields: dict[str, JsonValue] | None
    visit: Visit | None = None


def _now(pages: TravelPages, user_id: str, entity: str) -> Now:
    place = place_of(entity)
    if place is None:
        profile = pages.travel.repository.profile(user_id)
        return Now(profile.entity_version, rules.user_fields(profile))
    there = pages.travel.repository.visits_at(user_id, [place])[0]
    if there is None or there.is_deleted:
        return Now(there.sync_version if there is not None else 0, None)
    return Now(there.sync_version, rules.visit_fields(there), there)


def _taken(operation: Operation, clashing: set[str]) -> tuple[tuple[str, str], ...]:
    """The fields without a conflict and their values; trips and settings groups are left out."""
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
