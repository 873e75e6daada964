"""Policies of a child: the list, and the editor with its week, its times and its app picker.

Must hold: every button works without a script: those that only change the form send it and get it back complete. The
week that is shown is computed here from what is typed, by the same code that enforces it. Saving is conditional on the
version that was read; after a conflict the page shows the saved version and keeps what was typed.
Elsewhere: how the form is read (forms.py), what a policy means (systems/parental/policy/effective.py).
"""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge.errors import CallerError, Refused
from tablewright.edge.routes import gather
from tablewright.pages.forms import Form, FormWrong, posted
from tablewright.pages.layout import Crumb, Tone
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.model import Policy
from tablewright.systems.parental.pages import forms
from tablewright.systems.parental.pages.charts import week_grid, week_hours
from tablewright.systems.parental.pages.moments import later
from tablewright.systems.parental.pages.page import Look, ParentalPages, refused, status_of, version_of
from tablewright.systems.parental.pages.words import (
    clock,
    listed,
    moment,
    policy_state,
    policy_title,
    until_words,
    window_words,
)
from tablewright.systems.parental.policy.effective import in_their_time
from tablewright.systems.parental.policy.policies import Saved, WrittenStatus

_TAB = "/policies"
_ONLY_THE_FORM = ("find", "show", "add-time", "add-own", "drop")
_OVERTAKEN = "Someone else changed this rule. Your entries are still here; save again to replace theirs."


def policies_router(pages: ParentalPages) -> APIRouter:
    router = pages.router()
    gather(router, (part(pages) for part in (_list, _new, _edit, _moves)))
    return router


def _list(pages: ParentalPages) -> APIRouter:
    router = pages.router()

    @router.get("/children/{key}/policies", dependencies=[Depends(pages.signed_in)])
    def policies(request: Request, key: str) -> Response:
        look = pages.look(request, key)
        found = pages.parental.policies.of_child(look.child)
        child = look.child
        holding = pages.parental.blocked_now(child).now
        in_time = in_their_time(child, found, holding.at)
        statuses = pages.parental.reconciler.status(child.child)
        rows = [
            (
                policy,
                policy_state(policy, holding, in_time, child, statuses),
                week_grid(policy.time_windows, is_small=True),
            )
            for policy in found
        ]
        return pages.child_page(request, look, "policies", tab=_TAB, rows=rows)

    return router


# --- the editor ---


def editor(
    pages: ParentalPages, request: Request, look: Look, form: Form, policy: Policy | None = None, status: int = 200,
    current: Policy | None = None,
) -> Response:  # fmt: skip
    """The form with everything around it. `current` is the stored policy after a version conflict."""
    chosen = forms.chosen_apps(form)
    offered = pages.parental.registry.offered()
    picks = forms.shelves(offered, form.get("find"), chosen)
    action = look.at(f"/policies/{policy.policy_id}" if policy else "/policies/new")
    return pages.child_page(
        request,
        look,
        "policy",
        tab=_TAB,
        title=policy_title(policy) if policy else "New rule",
        status=status,
        policy=policy,
        form=form,
        action=action,
        chosen=chosen,
        shelves=picks,
        best_known=forms.best_known(offered, chosen),
        times=forms.time_rows(form),
        own=forms.own_rows(form),
        presets=forms.PRESETS,
        current=current,
        hours=week_hours(),
        **_shown(pages, look, form),
    )


def _shown(pages: ParentalPages, look: Look, form: Form) -> dict[str, Any]:
    preview = forms.preview_of(form)
    allowed = pages.parental.repository.family(look.child.family_id).allowed_domains
    return {
        "preview": preview,
        "week": week_grid(preview.windows)
        if preview.windows or preview.is_always
        else week_grid((), is_empty=True),
        "in_words": [window_words(window) for window in preview.windows],
        "policy_zone": form.get("timezone").strip() or look.child.timezone,
        "told": {row.number: forms.told_of(row, allowed) for row in forms.own_rows(form)},
    }


def _only_changes_the_form(form: Form) -> bool:
    return form.get("do").partition(":")[0] in _ONLY_THE_FORM


def _status(form: Form) -> WrittenStatus:
    return "draft" if form.get("do") == "draft" else "active"


def _saved(pages: ParentalPages, look: Look, saved: Saved, said: str) -> Response:
    words = " ".join([said, *(notice.message for notice in saved.notices)])
    tone: Tone = "note" if saved.notices else "good"
    return pages.console.go(look.at() if saved.policy.status == "active" else look.at(_TAB), words, tone)


def _new(pages: ParentalPages) -> APIRouter:
    router = pages.router()
    service = pages.parental.policies

    @router.get("/children/{key}/policies/new", dependencies=[Depends(pages.signed_in)])
    def new(request: Request, key: str, app: str = "") -> Response:
        form = forms.new_form(pages.console.world.new_id())
        if app:
            form = Form({**form.values, "app": app})
        return editor(pages, request, pages.open(request, key), form)

    @router.post("/children/{key}/policies/preview", dependencies=[Depends(pages.signed_in)])
    def preview(request: Request, key: str, form: Annotated[Form, Depends(posted)]) -> Response:
        """Only the parts that depend on what is typed, for the editor to replace."""
        look = pages.open(request, key)
        return pages.child_page(
            request, look, "_preview", tab=_TAB, form=form, hours=week_hours(), **_shown(pages, look, form)
        )

    @router.post("/children/{key}/policies/new", dependencies=[Depends(pages.signed_in)])
    def create(request: Request, key: str, form: Annotated[Form, Depends(posted)]) -> Response:
        look = pages.open(request, key)
        if _only_changes_the_form(form):
            return editor(pages, request, look, forms.pressed(form))
        fields: dict[str, str] = {}
        try:
            given = forms.written(form, _status(form))
            fields = dict(given.fields)
            saved = service.create(look.child, given.draft, look.actor, key=form.get("key") or None)
        except FormWrong as wrong:
            return editor(pages, request, look, wrong.form, status=422)
        except Refused as mistake:
            if mistake.code == "IDEMPOTENCY_KEY_REUSED":
                words = "This form was already saved. Save again to add a second rule."
                again = Form({**form.values, "key": pages.console.world.new_id()}, error=words)
                return editor(pages, request, look, again, status=422)
            return editor(
                pages, request, look, forms.refusal(form, mistake, fields), status=status_of(mistake)
            )
        return _saved(pages, look, saved, "Rule saved.")

    return router


def _edit(pages: ParentalPages) -> APIRouter:
    router = pages.router()
    service = pages.parental.policies

    @router.get("/children/{key}/policies/{id}", dependencies=[Depends(pages.signed_in)])
    def edit(request: Request, key: str, id: str) -> Response:
        look = pages.look(request, key)
        policy = service.get(look.child, id)
        return editor(pages, request, look, forms.form_of_policy(policy), policy)

    @router.post("/children/{key}/policies/{id}", dependencies=[Depends(pages.signed_in)])
    def save(request: Request, key: str, id: str, form: Annotated[Form, Depends(posted)]) -> Response:
        look = pages.open(request, key)
        policy = service.get(look.child, id)
        if _only_changes_the_form(form):
            return editor(pages, request, look, forms.pressed(form), policy)
        fields: dict[str, str] = {}
        try:
            given = forms.written(form, _status(form))
            fields = dict(given.fields)
            seen = version_of(form)
            saved = service.replace(
                look.child, id, given.draft, look.actor, policy.version if seen is None else seen
            )
        except FormWrong as wrong:
            return editor(pages, request, look, wrong.form, policy, 422)
        except VersionConflict:
            current = service.get(look.child, id)
            late = forms.with_version(form, current.version, _OVERTAKEN)
            return editor(pages, request, look, late, policy, 409, current)
        except CallerError as mistake:
            again = forms.refusal(form, mistake, fields)
            return editor(pages, request, look, again, policy, status_of(mistake))
        return _saved(pages, look, saved, "Saved.")

    return router


# --- pause, resume, delete ---


def _moves(pages: ParentalPages) -> APIRouter:
    router = pages.router()
    service = pages.parental.policies

    @router.post("/children/{key}/policies/{id}/pause", dependencies=[Depends(pages.signed_in)])
    def pause(request: Request, key: str, id: str, form: Annotated[Form, Depends(posted)]) -> Response:
        look = pages.open(request, key)
        until: datetime | None = None
        try:
            if form.get("until") or form.get("minutes"):
                until = later(form, look.child, pages.now())
            paused = service.pause(look.child, id, look.actor, until, version_of(form))
        except FormWrong as wrong:
            return pages.console.go(
                look.at(_TAB), next(iter(wrong.form.errors.values()), "Enter a valid time."), "bad"
            )
        except CallerError as mistake:
            return pages.console.go(look.at(_TAB), mistake.message, "bad")
        words = (
            "until you resume it"
            if until is None
            else f"until {until_words(until, look.child.timezone, pages.now())}"
        )
        return pages.console.go(look.at(_TAB), f"“{policy_title(paused)}” is paused {words}.")

    @router.post("/children/{key}/policies/{id}/resume", dependencies=[Depends(pages.signed_in)])
    def resume(request: Request, key: str, id: str, form: Annotated[Form, Depends(posted)]) -> Response:
        look = pages.open(request, key)
        try:
            resumed = service.resume(look.child, id, look.actor, version_of(form))
        except CallerError as mistake:
            return pages.console.go(look.at(_TAB), mistake.message, "bad")
        return pages.console.go(look.at(_TAB), f"“{policy_title(resumed)}” is active again.")

    @router.get("/children/{key}/policies/{id}/delete", dependencies=[Depends(pages.signed_in)])
    def ask_delete(request: Request, key: str, id: str) -> Response:
        look = pages.open(request, key)
        return _ask(request, look, service.get(look.child, id), Form())

    def _ask(request: Request, look: Look, policy: Policy, form: Form) -> Response:
        details = {
            "Blocks": listed([entry.app_name for entry in policy.blocked_apps]) or "nothing",
            "When": "; ".join(window_words(window) for window in policy.time_windows) or "always",
            "Created": f"{moment(policy.created_at, look.child.timezone, pages.now())}",
        }
        return pages.console.confirm(
            request,
            title=f"Delete “{policy_title(policy)}”?",
            happens=f"This rule no longer applies to {look.child.child_name}. Apps that only this rule blocks are "
            "unblocked within seconds; apps that other rules block stay blocked.",
            button="Delete rule",
            back=look.at(_TAB),
            crumbs=(Crumb(look.child.child_name, look.at()), Crumb("Rules", look.at(_TAB))),
            form=Form({"version": str(policy.version)}, form.errors, form.error),
            details=details,
            undo="This cannot be undone. You can pause the rule instead.",
        )

    @router.post("/children/{key}/policies/{id}/delete", dependencies=[Depends(pages.signed_in)])
    def delete(request: Request, key: str, id: str, form: Annotated[Form, Depends(posted)]) -> Response:
        look = pages.open(request, key)
        try:
            gone = service.delete(look.child, id, look.actor, version_of(form))
        except VersionConflict:
            policy = service.get(look.child, id)
            words = "Someone else changed this rule. This is the saved version."
            return _ask(request, look, policy, refused(Form(error=words), VersionConflict(policy)))
        when = clock(pages.now(), look.child.timezone)
        return pages.console.go(look.at(_TAB), f"“{policy_title(gone)}” was deleted at {when}.")

    return router
