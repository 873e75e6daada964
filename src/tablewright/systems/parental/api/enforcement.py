"""Enforcement, statistics: `/children/{phone}/enforcement|rules|sessions|status|metrics|dashboard`, `/parents/..`."""

from typing import Any

from fastapi import APIRouter

from tablewright.edge.routes import Router
from tablewright.kit.http import Cursor, FromDay, Page, Since, ToDay, page_of
from tablewright.systems.parental.access import SignedIn, VisibleChild
from tablewright.systems.parental.api.bodies import enforcement as views
from tablewright.systems.parental.api.bodies.common import HistoryPageSize, PageSize, Through
from tablewright.systems.parental.model import Metric, Session
from tablewright.systems.parental.parental import Parental


def enforcement(parental: Parental) -> APIRouter:
    api = Router(tags=["enforcement"])

    @api.get("/children/{phone}/status", response_model_exclude_none=True)
    def status_of_child(child: VisibleChild) -> list[views.StatusView]:
        """The state of each app: enforced, pending, failed, no session (PC-X6)."""
        return [views.status_view(status) for status in parental.reconciler.status(child.child)]

    @api.get("/children/{phone}/enforcement", response_model_exclude_none=True)
    def history_of_child(
        child: VisibleChild,
        actor: SignedIn,
        since: Since = None,
        until: Through = None,
        size: HistoryPageSize = None,
        after: Cursor = None,
    ) -> Page[views.ActionView]:
        """Every attempt to block or unblock something, newest first, for 90 days."""
        page = parental.records.history(child, actor, since=since, until=until, size=size, after=after)
        return page_of(page, views.action_view)

    @api.get("/children/{phone}/rules", response_model_exclude_none=True)
    def rules_of_child(child: VisibleChild) -> list[views.RuleView]:
        """The firewall rules of a child, existing and wanted."""
        return [views.rule_view(rule) for rule in parental.records.rules(child)]

    @api.get("/children/{phone}/sessions", response_model_exclude_none=True)
    def sessions_of_child(child: VisibleChild) -> list[Session]:
        """The child's devices on the network now."""
        return parental.sessions.open_of(child.child)

    return api


def metrics(parental: Parental) -> APIRouter:
    api = Router(tags=["metrics"])

    @api.get("/children/{phone}/metrics", response_model_exclude_none=True)
    def metrics_of_child(
        child: VisibleChild, since: FromDay = None, until: ToDay = None, app: str | None = None
    ) -> list[Metric]:
        """Blocked attempts by day, app and hour in the child's time zone."""
        return parental.records.metrics(child, since, until, app)

    @api.get("/children/{phone}/dashboard")
    def dashboard(child: VisibleChild) -> dict[str, Any]:
        """Today, seven and thirty days; by app, by hour of the week; this week and the one before."""
        return views.dashboard_view(parental.figures.of_child(child))

    @api.get("/parents/{who}/metrics", response_model_exclude_none=True)
    def metrics_of_parent(
        who: str,
        actor: SignedIn,
        since: FromDay = None,
        until: ToDay = None,
        size: PageSize = None,
        after: Cursor = None,
    ) -> Page[Metric]:
        """Blocked attempts of all my children, newest day first; `me`, or the family's own address."""
        email = None if who == "me" else who
        page = parental.records.metrics_of_parent(
            actor, email, since=since, until=until, size=size, after=after
        )
        return page_of(page)

    return api
