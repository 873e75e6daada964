"""Policies of a child: the list, and the editor with its week, its times and its app picker.

Must hold: every button works without a script: those that only change the form send it and get it back complete. The
week that is shown is computed here from what is typed, by the same code that enforces it. Saving is conditional on the
version that was read; after a conflict the page shows the saved version and keeps what was typed.
Elsewhere: how the form is read (forms.py), what a policy means (systems/parental/policy/effective.py).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, FormWrong
from tablewright.pages.layout import Crumb
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.model import Policy
from tablewright.systems.parental.pages import forms
from tablewright.systems.parental.pages.charts import week_grid, week_hours
from tablewright.systems.parental.pages.page import (
    Look,
    ParentalPages,
    Posted,
    later,
    overtaken,
    refused,
    version_of,
)
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

_TAB = "/policies"
_ONLY_THE_FORM = ("find", "show", "add-time", "add-own", "drop")


def add_policies(router: APIRouter, pages: ParentalPages) -> None:
    for part in (_list, _editor, _moves):
        part(router, pages)


def _list(router: APIRouter, pages: ParentalPages) -> None:
    @router.get("/children/{key}/policies")
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
        "told": {row.number: forms.site_effect(row, allowed) for row in forms.own_rows(form)},
    }


def _editor(router: APIRouter, pages: ParentalPages) -> None:
    service = pages.parental.policies

    @router.get("/children/{key}/policies/new")
    def new(request: Request, key: str, app: str = "") -> Response:
        form = forms.new_form(pages.console.world.new_id())
        if app:
            form = Form({**form.values, "app": app})
        return editor(pages, request, pages.open(request, key), form)

    @router.post("/children/{key}/policies/preview")
    def preview(request: Request, key: str, form: Posted) -> Response:
        """Only the parts that depend on what is typed, for the editor to replace."""
        look = pages.open(request, key)
        return pages.child_page(
            request, look, "_preview", tab=_TAB, form=form, hours=week_hours(), **_shown(pages, look, form)
        )

    @router.post("/children/{key}/policies/new")
    def create(request: Request, key: str, form: Posted) -> Response:
        return save(request, pages.open(request, key), form)

    @router.get("/children/{key}/policies/{id}")
    def edit(request: Request, key: str, id: str) -> Response:
        look = pages.look(request, key)
        policy = service.get(look.child, id)
        return editor(pages, request, look, forms.form_of_policy(policy), policy)

    @router.post("/children/{key}/policies/{id}")
    def change(request: Request, key: str, id: str, form: Posted) -> Response:
        look = pages.open(request, key)
        return save(request, look, form, service.get(look.child, id))

    def save(request: Request, look: Look, form: Form, policy: Policy | None = None) -> Response:
        """A new policy, or the changed one; the editor again if that is refused."""
        if form.get("do").partition(":")[0] in _ONLY_THE_FORM:
            return editor(pages, request, look, forms.after_button(form), policy)
        fields: Mapping[str, str] = {}
        try:
            given = forms.draft_of(form, "draft" if form.get("do") == "draft" else "active")
            fields = given.fields
            if policy is None:
                saved = service.create(look.child, given.draft, look.actor, key=form.get("key") or None)
            else:
                seen = version_of(form) or policy.version
                saved = service.replace(look.child, policy.policy_id, given.draft, look.actor, seen)
        except FormWrong as wrong:
            return editor(pages, request, look, wrong.form, policy, 422)
        except VersionConflict:
            assert policy is not None  # a new one has no version
            current = service.get(look.child, policy.policy_id)
            late = overtaken(form, "this rule", version=str(current.version))
            return editor(pages, request, look, late, policy, 409, current)
        except CallerError as mistake:
            again = forms.refusal(form, mistake, fields)
            if mistake.code == "IDEMPOTENCY_KEY_REUSED":
                words = "This form was already saved. Save again to add a second rule."
                again = Form({**form.values, "key": pages.console.world.new_id()}, error=words)
            return editor(pages, request, look, again, policy, mistake.status)
        words = " ".join(["Saved." if policy else "Rule saved.", *(one.message for one in saved.notices)])
        to = look.at() if saved.policy.status == "active" else look.at(_TAB)
        return pages.console.go(to, words, "note" if saved.notices else "good")


# --- pause, resume, delete ---


def _moves(router: APIRouter, pages: ParentalPages) -> None:
    service = pages.parental.policies

    @router.post("/children/{key}/policies/{id}/pause")
    def pause(request: Request, key: str, id: str, form: Posted) -> Response:
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

    @router.post("/children/{key}/policies/{id}/resume")
    def resume(request: Request, key: str, id: str, form: Posted) -> Response:
        look = pages.open(request, key)
        try:
            resumed = service.resume(look.child, id, look.actor, version_of(form))
        except CallerError as mistake:
            return pages.console.go(look.at(_TAB), mistake.message, "bad")
        return pages.console.go(look.at(_TAB), f"“{policy_title(resumed)}” is active again.")

    @router.get("/children/{key}/policies/{id}/delete")
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

    @router.post("/children/{key}/policies/{id}/delete")
    def delete(request: Request, key: str, id: str, form: Posted) -> Response:
        look = pages.open(request, key)
        try:
            gone = service.delete(look.child, id, look.actor, version_of(form))
        except VersionConflict:
            policy = service.get(look.child, id)
            words = "Someone else changed this rule. This is the saved version."
            return _ask(request, look, policy, refused(Form(error=words), VersionConflict(policy)))
        when = clock(pages.now(), look.child.timezone)
        return pages.console.go(look.at(_TAB), f"“{policy_title(gone)}” was deleted at {when}.")
