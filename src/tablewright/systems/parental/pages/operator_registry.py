"""The registry of apps: each app's data, how many rules and children a change affects, editing and retiring (PC-X15).

Must hold: a change is conditional on the version that was shown; before an app is retired the page shows how many rules
use it. The registry checks what is typed, and its error is shown beside the field. An app's name may have any
characters, so it is in the query of a URL and not in its path.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import BadRequest, CallerError, NotFound
from tablewright.english import plural
from tablewright.pages.forms import Form
from tablewright.pages.layout import Crumb
from tablewright.pages.lists import Listing, here
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.firewall import compiler
from tablewright.systems.parental.model import App, BlockedApp, IpRange
from tablewright.systems.parental.pages.operator_page import OperatorPages
from tablewright.systems.parental.pages.page import HOME, Asked, Posted, overtaken, version_of
from tablewright.systems.parental.policy.registry import EDITED, Affected

_LISTED = Crumb("App registry", f"{HOME}/registry")
AT_A_TIME = 50
ON, OFF = "on", "off"


def add_registry(router: APIRouter, pages: OperatorPages) -> None:
    for part in (_lists, _forms, _actions):
        part(router, pages)


# --- list and page ---


def _lists(router: APIRouter, pages: OperatorPages) -> None:
    registry = pages.parental.registry

    @router.get("/registry")
    def list_apps(request: Request, form: Asked) -> Response:
        apps = registry.all()
        found = [app for app in apps if _fits(app, form)]
        listing, first = part_of(request, found, form.get("from"))
        return pages.page(
            request,
            "registry",
            title="App registry",
            form=form,
            listing=listing,
            first=first,
            count=len(found),
            total=len(apps),
            categories=categories(apps),
            app_path=app_path,
            edited=EDITED,
        )

    @router.get("/registry/app")
    def app(request: Request, name: str = "") -> Response:
        found = one(pages, name)
        return pages.page(
            request,
            "app",
            title=found.app_name,
            crumbs=(_LISTED,),
            app=found,
            affected=registry.affected(found.app_name),
            left_out=compiler.left_out(found, [BlockedApp(app_name=found.app_name)], ()),
            entries=pages.parental.registry.changes(found.app_name),
            edited=EDITED,
            app_query=app_query(found.app_name),
        )


def part_of(request: Request, found: Sequence[App], start: str) -> tuple[Listing[App], int]:
    """One page of the apps, and the number of its first: the whole registry is read, so numbers are known."""
    at = min(int(start), len(found)) if start.isascii() and start.isdigit() else 1
    at = max(at, 1)
    items = tuple(found[at - 1 : at - 1 + AT_A_TIME])
    following = str(at + AT_A_TIME) if at - 1 + AT_A_TIME < len(found) else None
    before = str(max(at - AT_A_TIME, 1)) if at > 1 else None
    return Listing(
        items,
        next=here(request, **{"from": following}) if following else None,
        previous=here(request, **{"from": before if before != "1" else None}) if before else None,
    ), at


def one(pages: OperatorPages, name: str) -> App:
    found = pages.parental.registry.app(name) if name.strip() else None
    if found is None:
        raise NotFound("APP")
    return found


def categories(apps: tuple[App, ...]) -> list[str]:
    return sorted({app.app_category for app in apps}, key=str.casefold)


def app_query(name: str) -> str:
    return urlencode({"name": name})


def app_path(name: str) -> str:
    return f"{HOME}/registry/app?{app_query(name)}"


def _fits(app: App, form: Form) -> bool:
    wanted = form.get("q").strip().casefold()
    if form.get("category") and app.app_category != form.get("category"):
        return False
    match form.get("show"):
        case "retired" if not app.retired:
            return False
        case "edited" if app.data_version != EDITED:
            return False
        case "" if app.retired and not wanted:
            return False
        case _:
            texts = (app.app_name, app.app_category, app.description or "", *app.domains)
            return not wanted or any(wanted in text.casefold() for text in texts)


def affected_words(found: Affected) -> str:
    """How many rules and children a change affects."""
    if not found.policies:
        return "No rule uses it"
    policies = plural(len(found.policies), "rule uses", "rules use")
    return f"{policies} it, for {plural(len(found.children), 'child', 'children')}"


# --- forms ---


def _forms(router: APIRouter, pages: OperatorPages) -> None:
    registry = pages.parental.registry

    def show(request: Request, form: Form, app: App | None = None, status: int = 200) -> Response:
        crumbs = (_LISTED, Crumb(app.app_name, app_path(app.app_name))) if app else (_LISTED,)
        return pages.page(
            request,
            "app_form",
            title="Edit" if app else "New app",
            crumbs=crumbs,
            status=status,
            form=form,
            app=app,
            categories=categories(registry.all()),
            affected=affected_words(registry.affected(app.app_name)) if app else "",
            app_query=app_query(app.app_name) if app else "",
        )

    def save(request: Request, form: Form, before: App | None, name: str) -> Response:
        try:
            version = version_of(form) if before is not None else None
            if before is None and registry.app(name) is not None:
                raise BadRequest(
                    "EXISTS", "There is already an app with this name. Edit that one.", "appName"
                )
            saved = registry.save(name, typed(form, before), pages.actor(request), version)
        except VersionConflict:
            current = one(pages, name)
            return show(request, overtaken(form, "this app", version=str(current.version)), current, 409)
        except CallerError as mistake:
            return show(request, beside(form, mistake), before, mistake.status)
        said = "Saved. Firewall rules are updated within a minute."
        return pages.console.go(app_path(saved.app_name), said)

    @router.get("/registry/new")
    def new(request: Request) -> Response:
        return show(request, Form({"defaultPorts": "443 TCP"}))

    @router.post("/registry/new")
    def create(request: Request, form: Posted) -> Response:
        return save(request, form, None, form.get("appName"))

    @router.get("/registry/edit")
    def edit(request: Request, name: str = "") -> Response:
        app = one(pages, name)
        return show(request, form_of_app(app), app)

    @router.post("/registry/edit")
    def change(request: Request, form: Posted, name: str = "") -> Response:
        app = one(pages, name)
        return save(request, form, app, app.app_name)


def form_of_app(app: App) -> Form:
    """An app as a form: one domain, port or range per line."""
    values = {
        "appCategory": app.app_category,
        "description": app.description or "",
        "popularity": "" if app.popularity is None else str(app.popularity),
        "domains": "\n".join(app.domains),
        "defaultPorts": "\n".join(f"{port.port} {port.protocol}" for port in app.default_ports),
        "ipRanges": "\n".join(range_line(each) for each in app.ip_ranges),
        "source": app.source or "",
        "version": str(app.version),
    }
    return Form(values)


def range_line(given: IpRange) -> str:
    """A range as typed: with `on` or `off` if that differs from the default."""
    if IpRange.model_validate({"cidr": given.cidr}).enforce == given.enforce:
        return given.cidr
    return f"{given.cidr} {ON if given.enforce else OFF}"


def typed(form: Form, before: App | None) -> dict[str, Any]:
    """What was typed as the fields of an app; BadRequest with the field for a line that cannot be read."""
    known = {each.cidr: each for each in before.ip_ranges} if before is not None else {}
    popularity = form.get("popularity").strip()
    if popularity and not (popularity.isascii() and popularity.isdigit()):
        raise BadRequest("INVALID_APP", "Popularity must be a rank: 1, 2, 3 and so on.", "popularity")
    return {
        "appCategory": form.get("appCategory"),
        "description": form.get("description"),
        "source": form.get("source"),
        "popularity": int(popularity) if popularity else None,
        "domains": _lines(form, "domains"),
        "defaultPorts": [_port(line, number) for number, line in enumerate(_lines(form, "defaultPorts"))],
        "ipRanges": [_range(line, number, known) for number, line in enumerate(_lines(form, "ipRanges"))],
        "retired": before.retired if before is not None else False,
    }


def _lines(form: Form, name: str) -> list[str]:
    return [line.strip() for line in form.get(name).splitlines() if line.strip()]


def _port(line: str, number: int) -> dict[str, Any]:
    port, _, protocol = line.replace("/", " ").partition(" ")
    if not (port.isascii() and port.isdigit()) or protocol.strip().upper() not in ("", "TCP", "UDP"):
        words = f"“{line}” isn't a valid port. Write 443 TCP or 3478 UDP."
        raise BadRequest("INVALID_PORT", words, f"defaultPorts[{number}]")
    return {"port": int(port), "protocol": protocol.strip().upper() or "TCP"}


def _range(line: str, number: int, known: dict[str, IpRange]) -> dict[str, Any]:
    cidr, _, word = line.partition(" ")
    word = word.strip().lower()
    if word not in ("", ON, OFF):
        words = f"“{line}”: write “on”, “off” or nothing after a range."
        raise BadRequest("INVALID_CIDR", words, f"ipRanges[{number}]")
    before = known.get(cidr)
    if before is not None and range_line(before) == line:
        return before.model_dump(mode="json", by_alias=True)  # with its reason
    if not word:
        return {"cidr": cidr}
    return {
        "cidr": cidr,
        "enforce": word == ON,
        "why": "switched off by an operator" if word == OFF else None,
    }


def beside(form: Form, mistake: CallerError) -> Form:
    """A refusal beside its field; for a line, with the line number."""
    name, _, rest = (mistake.field or "").partition("[")
    if name not in ("appName", *form.values):
        return Form(form.values, error=mistake.message)
    line = rest.partition("]")[0]
    words = f"Line {int(line) + 1}: {mistake.message}" if line.isdigit() else mistake.message
    return form.wrong(name, words)


# --- retire, restore, load ---


def _actions(router: APIRouter, pages: OperatorPages) -> None:
    registry = pages.parental.registry

    @router.get("/registry/retire")
    def ask_to_retire(request: Request, name: str = "") -> Response:
        app = one(pages, name)
        found = registry.affected(app.app_name)
        return pages.console.confirm(
            request,
            title=f"Retire {app.app_name}?",
            happens=f"Parents can no longer choose {app.app_name}. {affected_words(found)}"
            + ("; they keep blocking it." if found.policies else "."),
            button=f"Retire {app.app_name}",
            back=app_path(app.app_name),
            crumbs=(_LISTED, Crumb(app.app_name, app_path(app.app_name))),
            form=Form({"name": app.app_name, "version": str(app.version)}),
            details={
                "Rules that use it": len(found.policies),
                "Children affected": len(found.children),
            },
            undo="You can restore it at any time.",
        )

    @router.post("/registry/retire")
    def retire(request: Request, form: Posted) -> Response:
        app = registry.retire(form.get("name"), pages.actor(request), version_of(form))
        return pages.console.go(app_path(app.app_name), f"{app.app_name} is no longer offered.", "note")

    @router.post("/registry/restore")
    def restore(request: Request, form: Posted) -> Response:
        app = one(pages, form.get("name"))
        fields = {**app.model_dump(mode="json", by_alias=True), "retired": False}
        registry.save(app.app_name, fields, pages.actor(request), version_of(form))
        return pages.console.go(app_path(app.app_name), f"{app.app_name} is offered again.")

    @router.post("/registry/load")
    def load() -> Response:
        done = registry.load()
        said = f"{plural(len(done.created), 'app')} added, {len(done.updated)} updated"
        kept = f", {len(done.kept)} edited by an operator left unchanged" if done.kept else ""
        return pages.console.go(f"{HOME}/registry", f"{said}{kept}.")
