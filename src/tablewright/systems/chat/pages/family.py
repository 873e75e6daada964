"""The pages of a family: its people, invitations, its name and time zone; and accepting an invitation."""

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, Posted
from tablewright.pages.layout import Crumb
from tablewright.pages.zones import ZONES
from tablewright.systems.chat.access import Me, OpenFamily
from tablewright.systems.chat.family_model import Family, FamilyRole, User
from tablewright.systems.chat.pages.child import LIST, child_path
from tablewright.systems.chat.pages.page import HOME, ChatPages

FAMILIES = f"{HOME}/families"


def family_path(family: Family) -> str:
    return f"{FAMILIES}/{family.family_id}"


def add_family(router: APIRouter, pages: ChatPages) -> None:
    _add_family(router, pages)
    _add_people(router, pages)
    _add_new(router, pages)
    _add_invitation(router, pages)


def _shown(
    pages: ChatPages,
    request: Request,
    me: User,
    family: Family,
    form: Form,
    named: Form | None = None,
    status: int = 200,
) -> Response:
    families = pages.chat.families
    tabs = [(one.name, family_path(one), one.family_id == family.family_id) for one in families.of(me)]
    return pages.page(
        request,
        "family",
        title=family.name,
        family=family,
        families=tabs,
        me=me,
        at=family_path(family),
        relatives=families.relatives(family),
        invited=families.invited(family),
        form=form,
        named=named or Form({"name": family.name, "timeZone": family.time_zone}),
        zones=ZONES,
        status=status,
    )


def _add_family(router: APIRouter, pages: ChatPages) -> None:
    families = pages.chat.families

    @router.get("/families")
    def first(request: Request, me: Me) -> Response:
        found = families.of(me)
        return pages.console.go(family_path(found[0]) if found else f"{HOME}/new-family")

    @router.get("/families/{family_id}")
    def family(request: Request, opened: OpenFamily) -> Response:
        return _shown(pages, request, opened.me, opened.family, Form({"place": "parent"}))

    @router.post("/families/{family_id}")
    def change(request: Request, opened: OpenFamily, form: Posted) -> Response:
        try:
            families.change(opened.family, opened.me, name=form.get("name"), time_zone=form.get("timeZone"))
        except CallerError as mistake:
            named = form.refused(mistake)
            return _shown(pages, request, opened.me, opened.family, Form(), named, mistake.status)
        return pages.console.go(family_path(opened.family), "Saved.")


def _add_people(router: APIRouter, pages: ChatPages) -> None:
    families = pages.chat.families

    @router.post("/families/{family_id}/invite")
    def invite(request: Request, opened: OpenFamily, form: Posted) -> Response:
        place: FamilyRole = "child" if form.get("place") == "child" else "parent"
        try:
            families.invite(opened.family, form.get("email"), opened.me, place)
        except CallerError as mistake:
            refused = form.refused(mistake)
            return _shown(pages, request, opened.me, opened.family, refused, status=mistake.status)
        return pages.console.go(family_path(opened.family), "Invitation sent.")

    @router.post("/families/{family_id}/withdraw")
    def withdraw(request: Request, opened: OpenFamily, form: Posted) -> Response:
        families.withdraw(opened.family, form.get("invitation"), opened.me)
        return pages.console.go(family_path(opened.family), "Invitation withdrawn.")

    @router.get("/families/{family_id}/remove/{user_id}")
    def ask_remove(request: Request, user_id: str, opened: OpenFamily) -> Response:
        leaves = user_id == opened.me.user_id
        return pages.console.confirm(
            request,
            title=f"Leave {opened.family.name}?" if leaves else "Remove this parent?",
            happens="Access to the children's chats ends at once.",
            button="Leave" if leaves else "Remove",
            back=family_path(opened.family),
            crumbs=(Crumb(opened.family.name, family_path(opened.family)),),
        )

    @router.post("/families/{family_id}/remove/{user_id}")
    def remove(request: Request, user_id: str, opened: OpenFamily) -> Response:
        families.remove(opened.family, user_id, opened.me)
        leaves = user_id == opened.me.user_id
        return pages.console.go(LIST if leaves else family_path(opened.family), "Removed.")


def _add_new(router: APIRouter, pages: ChatPages) -> None:
    def shown(request: Request, form: Form, status: int = 200) -> Response:
        return pages.page(
            request, "family_form", title="Create a family", form=form, zones=ZONES, status=status
        )

    @router.get("/new-family")
    def new(request: Request, me: Me) -> Response:
        return shown(request, Form({"timeZone": pages.chat.settings.time_zone}))

    @router.post("/new-family")
    def create(request: Request, me: Me, form: Posted) -> Response:
        try:
            pages.chat.families.create(me, form.get("name"), form.get("timeZone"))
        except CallerError as mistake:
            return shown(request, form.refused(mistake), mistake.status)
        return pages.console.go(LIST, "Family created. Add your children next.")


def _add_invitation(router: APIRouter, pages: ChatPages) -> None:
    families = pages.chat.families

    @router.get("/invitations/{token}")
    def invitation(request: Request, token: str, me: Me) -> Response:
        offered = families.membership.offered(token, me.email)
        return pages.page(
            request, "invitation", title="Invitation", offered=offered, token=token, families=families.of(me)
        )

    @router.post("/invitations/{token}")
    def accept(request: Request, token: str, me: Me, form: Posted) -> Response:
        offered = families.membership.offered(token, me.email)
        if offered.child_id is None:
            joined = families.accept(token, me)
            home = family_path(joined) if offered.place == "parent" else HOME
            return pages.console.go(home, f"You are in {joined.name} now.")
        child = pages.chat.children.take_over(token, families.own(me, form.get("family")), me)
        return pages.console.go(
            f"{child_path(child)}/consent", f"{child.name} is in your family now. Decide what you allow."
        )
