"""Enforcement, statistics: `/children/{phone}/enforcement|rules|sessions|status|metrics|dashboard`, `/parents/..`."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from tablewright.edge import Principal
from tablewright.systems.parental.api.bodies import enforcement as views
from tablewright.systems.parental.api.bodies.common import Page
from tablewright.systems.parental.api.common import (
    Doors,
    FromDay,
    HistoryPageSize,
    PageSize,
    Since,
    StartAt,
    Through,
    ToDay,
    Why,
    actor_of,
    page_of,
)
from tablewright.systems.parental.model import Metric, Session
from tablewright.systems.parental.parental import Parental


def enforcement(parental: Parental, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["enforcement"])

    @api.get("/children/{phone}/status", response_model_exclude_none=True)
    def status_of_child(
        phone: str, caller: Annotated[Principal, Depends(doors.signed_in)], reason: Why = None
    ) -> list[views.StatusView]:
        """The state of each app: enforced, pending, failed, no session (PC-X6)."""
        child = parental.families.child(actor_of(caller), phone, reason=reason)
        return [views.status_view(status) for status in parental.reconciler.status(child.child)]

    @api.get("/children/{phone}/enforcement", response_model_exclude_none=True)
    def history_of_child(
        phone: str,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        since: Since = None,
        until: Through = None,
        size: HistoryPageSize = None,
        after: StartAt = None,
        reason: Why = None,
    ) -> Page[views.ActionView]:
        """Every attempt to block or unblock something, newest first, for 90 days."""
        actor = actor_of(caller)
        child = parental.families.child(actor, phone, reason=reason)
        page = parental.records.history(child, actor, since=since, until=until, size=size, after=after)
        return page_of(page, views.action_view)

    @api.get("/children/{phone}/rules", response_model_exclude_none=True)
    def rules_of_child(
        phone: str, caller: Annotated[Principal, Depends(doors.signed_in)], reason: Why = None
    ) -> list[views.RuleView]:
        """The firewall rules of a child, existing and wanted."""
        child = parental.families.child(actor_of(caller), phone, reason=reason)
        return [views.rule_view(rule) for rule in parental.records.rules(child)]

    @api.get("/children/{phone}/sessions", response_model_exclude_none=True)
    def sessions_of_child(
        phone: str, caller: Annotated[Principal, Depends(doors.signed_in)], reason: Why = None
    ) -> list[Session]:
        """The child's devices on the network now."""
        child = parental.families.child(actor_of(caller), phone, reason=reason)
        return parental.sessions.open_of(child.child)

    return api


def metrics(parental: Parental, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["metrics"])

    @api.get("/children/{phone}/metrics", response_model_exclude_none=True)
    def metrics_of_child(
        phone: str,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        since: FromDay = None,
        until: ToDay = None,
        app: str | None = None,
        reason: Why = None,
    ) -> list[Metric]:
        """Blocked attempts by day, app and hour in the child's time zone."""
        child = parental.families.child(actor_of(caller), phone, reason=reason)
        return parental.records.metrics(child, since, until, app)

    @api.get("/children/{phone}/dashboard")
    def dashboard(
        phone: str, caller: Annotated[Principal, Depends(doors.signed_in)], reason: Why = None
    ) -> dict[str, Any]:
        """Today, seven and thirty days; by app, by hour of the week; this week and the one before."""
        child = parental.families.child(actor_of(caller), phone, reason=reason)
        return views.dashboard_view(parental.figures.of_child(child))

    @api.get("/parents/{who}/metrics", response_model_exclude_none=True)
    def metrics_of_parent(
        who: str,
        caller: Annotated[Principal, Depends(doors.signed_in)],
        since: FromDay = None,
        until: ToDay = None,
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[Metric]:
        """Blocked attempts of all my children, newest day first; `me`, or the family's own address."""
        email = None if who == "me" else who
        page = parental.records.metrics_of_parent(
            actor_of(caller), email, since=since, until=until, size=size, after=after
        )
        return page_of(page, lambda metric: metric)

    return api
