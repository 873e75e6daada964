"""Sync of whole documents over HTTP, in the form RxDB's replication asks for; in words in docs/sync.md."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from tablewright.edge import RateLimiter, limit_rate
from tablewright.systems.travel.access import TRAVEL, Traveller
from tablewright.systems.travel.api import bodies
from tablewright.systems.travel.sync.documents import Checkpoint, PulledDocuments, PushedDocuments, Row
from tablewright.systems.travel.sync.feed import PAGE
from tablewright.systems.travel.sync.operations import SCHEMA
from tablewright.systems.travel.travel import Travel


class RowsBody(bodies.Body):
    """What RxDB hands to a push handler."""

    rows: list[Row]


def documents(travel: Travel, buckets: RateLimiter) -> APIRouter:
    api = APIRouter(prefix="/sync/documents", tags=["sync"])
    pace = Depends(limit_rate(buckets, "pull", per_minute=240, burst=240, identity=TRAVEL.caller))
    form = Annotated[int, Query(description="the protocol version of the app")]

    @api.get("/pull", dependencies=[pace])
    def pull(
        who: Traveller,
        feed: Annotated[int | None, Query(description="of the checkpoint")] = None,
        seal: Annotated[str | None, Query(description="of the checkpoint")] = None,
        snapshot: Annotated[str | None, Query(description="of the checkpoint")] = None,
        limit: int = PAGE,
        schema: form = SCHEMA,
    ) -> PulledDocuments:
        """What is new since a checkpoint; without one, everything."""
        at = Checkpoint(feed=feed, seal=seal, snapshot=snapshot)
        return travel.documents.pull(who.user_id, who.device, at, size=limit, schema=schema)

    # A push without news does not count for the pace of devices, and RxDB sends one after each edit.
    @api.post("/push", dependencies=[pace])
    def push(body: RowsBody, who: Traveller, schema: form = SCHEMA) -> PushedDocuments:
        """Apply the client's edits; returns every place whose state differs from what was sent. Safe to repeat."""
        return travel.documents.push(who.user_id, who.device, body.rows, schema=schema)

    return api
