"""The health of enforcement: `/enforcement/metrics` as JSON, `/metrics` for Prometheus (PC-X18)."""

from typing import Any

from fastapi import APIRouter, Response

from tablewright.edge.routes import Router
from tablewright.systems.parental.access import Network, Operator
from tablewright.systems.parental.enforcement import monitoring, on_change
from tablewright.systems.parental.parental import Parental


def figures(parental: Parental) -> APIRouter:
    api = Router(tags=["figures"])

    @api.get("/enforcement/metrics")
    def metrics(actor: Operator) -> dict[str, Any]:
        """Rules, failures, queues and latency, by device; how far behind the change feed of each table is."""
        return monitoring.as_json(monitoring.read(parental, on_change.consumers(parental)))

    @api.get("/metrics", response_class=Response)
    def prometheus(actor: Network) -> Response:
        """The same in Prometheus' text format, for the roles network and operator."""
        told = monitoring.as_prometheus(monitoring.read(parental, on_change.consumers(parental)))
        return Response(told, media_type=monitoring.CONTENT_TYPE)

    return api
