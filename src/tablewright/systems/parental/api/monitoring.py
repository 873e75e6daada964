"""The health of enforcement: `/enforcement/metrics` as JSON, `/metrics` for Prometheus (PC-X18)."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from tablewright.edge import Principal
from tablewright.systems.parental.api.common import Doors
from tablewright.systems.parental.enforcement import monitoring
from tablewright.systems.parental.parental import Parental


def figures(parental: Parental, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["figures"])

    @api.get("/enforcement/metrics")
    def metrics(caller: Annotated[Principal, Depends(doors.operator)]) -> dict[str, Any]:
        """Rules, failures, queues and latency, by device; how far behind the change feed of each table is."""
        return monitoring.as_json(monitoring.read(parental))

    @api.get("/metrics", response_class=Response)
    def prometheus(caller: Annotated[Principal, Depends(doors.network)]) -> Response:
        """The same in Prometheus' text format, for the roles network and operator."""
        told = monitoring.as_prometheus(monitoring.read(parental))
        return Response(told, media_type=monitoring.CONTENT_TYPE)

    return api
