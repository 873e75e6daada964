"""Failed and waiting rules, most recent attempt first; and a retry that ignores the back-off."""

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import NotFound
from tablewright.pages.lists import AFTER
from tablewright.systems.parental.api.bodies.enforcement import failure_view
from tablewright.systems.parental.enforcement.history import FailingRule
from tablewright.systems.parental.model import Action, OpenStatus, RuleMapping
from tablewright.systems.parental.pages.operator_page import OperatorPages
from tablewright.systems.parental.pages.page import HOME, listing_of
from tablewright.systems.parental.pages.words import app_words


def add_failures(router: APIRouter, pages: OperatorPages) -> None:
    parental = pages.parental

    @router.get("/failures")
    def failures(request: Request, show: str = "", after: str | None = None) -> Response:
        status: OpenStatus = "pending" if show == "waiting" else "failed"
        after = request.query_params.get(AFTER)
        found = parental.records.failing_rules(pages.actor(request), status, after)
        return pages.page(
            request,
            "failures",
            title="Failures",
            listing=listing_of(request, found),
            failing=[_shown(one) for one in found.items],
            show=show,
            names={device.device_id: device.name for device in parental.devices.all()},
        )

    @router.post("/failures/{id}/retry")
    def retry(id: str) -> Response:
        action = parental.records.failure(id)
        if action.rule_id is None:
            parental.reconciler.reconcile(action.child)
            return pages.console.go(
                f"{HOME}/failures", f"{app_words(action.app_name)}: checked again.", "note"
            )
        try:
            parental.reconciler.retry(action.child, action.rule_id)
        except NotFound:
            # Another process has removed the rule, which is what was wanted.
            return pages.console.go(f"{HOME}/failures", retried_words(action, None))
        rule = parental.records.rule(action.child, action.rule_id)
        is_done = rule is None or rule.status == "active"
        return pages.console.go(f"{HOME}/failures", retried_words(action, rule), "good" if is_done else "bad")


def _shown(rule: FailingRule) -> dict[str, object]:
    return {
        **failure_view(rule.newest).model_dump(),
        "tried": rule.tried,
        "since": rule.since,
        "last_at": rule.newest.occurred_at,
        "next_try_at": rule.next_try_at,
        "latest": rule.latest,
    }


def retried_words(action: Action, rule: RuleMapping | None) -> str:
    """The result of a retry, by the rule's state now."""
    app = app_words(action.app_name)
    if rule is None:
        return f"{app}: done. The rule was removed from the firewall."
    if rule.status == "active":
        return f"{app}: done. The rule is active."
    return f"{app}: not done yet. Last response of the firewall: {rule.error or 'none'}."
