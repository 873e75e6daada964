"""Failed and waiting rules, most recent attempt first; and a retry that ignores the back-off."""

from fastapi import APIRouter, Depends, Request, Response

from tablewright.pages.lists import AFTER, Listing, here
from tablewright.systems.parental.api.bodies.enforcement import failing_view
from tablewright.systems.parental.errors import NotThere
from tablewright.systems.parental.model import Action, OpenStatus, RuleMapping
from tablewright.systems.parental.pages.operator_page import HOME, OperatorPages, app_words

PAGE = 25


def failures_router(pages: OperatorPages) -> APIRouter:
    router = pages.router()
    parental = pages.parental

    @router.get("/failures", dependencies=[Depends(pages.operator)])
    def failures(request: Request, show: str = "") -> Response:
        status: OpenStatus = "pending" if show == "waiting" else "failed"
        after = request.query_params.get(AFTER)
        found = parental.failing.page(pages.actor(request), status, PAGE, after)
        return pages.page(
            request,
            "failures",
            title="Failures",
            listing=Listing(
                found.items,
                next=here(request, after=found.next) if found.next else None,
                first=here(request, after=None) if after else None,
            ),
            failing=[failing_view(one) for one in found.items],
            show=show,
            names={device.device_id: device.name for device in parental.devices.all()},
        )

    @router.post("/failures/{id}/retry", dependencies=[Depends(pages.operator)])
    def retry(id: str) -> Response:
        action = parental.records.failure(id)
        if action.rule_id is None:
            parental.reconciler.reconcile(action.child)
            return pages.console.go(
                f"{HOME}/failures", f"{app_words(action.app_name)}: checked again.", "note"
            )
        try:
            parental.reconciler.retry(action.child, action.rule_id)
        except NotThere:
            # Another process has removed the rule, which is what was wanted.
            return pages.console.go(f"{HOME}/failures", retried_words(action, None))
        rule = parental.records.rule(action.child, action.rule_id)
        is_done = rule is None or rule.status == "active"
        return pages.console.go(f"{HOME}/failures", retried_words(action, rule), "good" if is_done else "bad")

    return router


def retried_words(action: Action, rule: RuleMapping | None) -> str:
    """The result of a retry, by the rule's state now."""
    app = app_words(action.app_name)
    if rule is None:
        return f"{app}: done. The rule was removed from the firewall."
    if rule.status == "active":
        return f"{app}: done. The rule is active."
    return f"{app}: not done yet. Last response of the firewall: {rule.error or 'none'}."
