"""What a parent allows a child: by scope, after the notice, with a code or an identity check; and its end.

Elsewhere: the rules of consent (family/consent.py), the notice itself (policy.py).
"""

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, Posted
from tablewright.systems.chat.access import OpenChild, OwnChild
from tablewright.systems.chat.family.consent import STRONG
from tablewright.systems.chat.family.notices import SCOPE_WORDS
from tablewright.systems.chat.family_model import Method, Scope, User
from tablewright.systems.chat.pages.child import PURPOSE, child_page, child_path
from tablewright.systems.chat.pages.page import ChatPages
from tablewright.systems.chat.pages.policy import SCOPE_TITLES

METHODS: dict[Method, str] = {
    "email_plus": "Code by mail",
    "text_plus": "Code by text message",
    "questions": "Questions answered at the zoo",
    "id_and_face": "ID shown at the zoo",
    "self": "Own decision",
}
_OFFERED: tuple[Method, ...] = ("email_plus", "text_plus", "questions", "id_and_face")
_SCOPES: tuple[Scope, ...] = ("collect_and_use", "disclosure", "profiling")


def add_consent(router: APIRouter, pages: ChatPages) -> None:
    _add_decision(router, pages)
    _add_withdrawal(router, pages)


def _shown(
    pages: ChatPages, request: Request, child: User, form: Form, sent: str = "", status: int = 200
) -> Response:
    scopes = [(scope, SCOPE_TITLES[scope], SCOPE_WORDS[scope]) for scope in _SCOPES]
    return child_page(
        pages,
        request,
        "child_consent",
        child,
        "Consent",
        form=form,
        sent=sent,
        scopes=scopes,
        methods=[(each, METHODS[each]) for each in _OFFERED],
        method_words=METHODS,
        version=pages.chat.notices.version,
        history=pages.chat.consents.history(child),
        status=status,
    )


def _add_decision(router: APIRouter, pages: ChatPages) -> None:
    consents = pages.chat.consents

    @router.get("/children/{child_id}/consent")
    def consent(request: Request, opened: OpenChild) -> Response:
        pages.chat.access_log.note(opened.child.user_id, opened.me, PURPOSE, "consent")
        ticked = dict.fromkeys(map(str, opened.child.scopes or ["collect_and_use"]), "on")
        return _shown(pages, request, opened.child, Form({**ticked, "method": "email_plus"}))

    @router.post("/children/{child_id}/consent")
    def decide(request: Request, opened: OwnChild, form: Posted) -> Response:
        child, me = opened.child, opened.me
        wanted = [scope for scope in _SCOPES if form.is_ticked(scope)]
        method: Method = next((each for each in _OFFERED if each == form.get("method")), "email_plus")
        version, phone = form.get("version"), form.get("phone")
        try:
            if method in STRONG:
                consents.consent_verified(me, child, wanted, method, version)
                return pages.console.go(
                    f"{child_path(child)}/consent", "Thank you. Your consent is recorded."
                )
            consents.request(me, child, wanted, method, version, phone)
        except CallerError as mistake:
            return _shown(pages, request, child, form.refused(mistake), status=mistake.status)
        sent = phone if method == "text_plus" else me.email or ""
        return _shown(pages, request, child, Form(), sent=sent)

    @router.post("/children/{child_id}/consent/confirm")
    def confirm(request: Request, opened: OwnChild, form: Posted) -> Response:
        child, me = opened.child, opened.me
        try:
            consents.confirm(me, child, form.get("code"))
        except CallerError as mistake:
            found = form.refused(mistake)
            return _shown(pages, request, child, found, me.email or "", mistake.status)
        return pages.console.go(f"{child_path(child)}/consent", "Thank you. Your consent is recorded.")


def _add_withdrawal(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    @router.post("/children/{child_id}/consent/withdraw")
    def withdraw(request: Request, opened: OpenChild, form: Posted) -> Response:
        child = opened.child
        gone = [scope for scope in _SCOPES if scope == form.get("scope")]
        if gone:
            chat.consents.withdraw(opened.me, child, gone)
        return pages.console.go(f"{child_path(child)}/consent", "Withdrawn. It applies from now on.")

    @router.post("/children/{child_id}/consent/local")
    def local(request: Request, opened: OpenChild, form: Posted) -> Response:
        child = opened.child
        chat.people.change(child, {"stays_local": bool(form.get("on"))}, opened.me)
        said = "Everything stays on this machine." if form.get("on") else "Saved."
        return pages.console.go(f"{child_path(child)}/consent", said)
