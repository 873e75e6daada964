"""`/sync/...`: what devices push and pull, and what they disagree on. In words: docs/sync.md."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.routes import Router
from tablewright.systems.travel.access import TRAVEL, Traveller
from tablewright.systems.travel.api import bodies
from tablewright.systems.travel.api.bodies import After, PageSize
from tablewright.systems.travel.errors import ResyncRequired
from tablewright.systems.travel.sync.feed import PAGE
from tablewright.systems.travel.sync.operations import SCHEMA, Pulled, Pushed, Result, Snapshot
from tablewright.systems.travel.travel import Travel

Schema = Annotated[int, Query(description="the protocol version of the app")]


def sync(travel: Travel, buckets: RateLimiter) -> APIRouter:
    api = Router(prefix="/sync", tags=["sync"])
    pace = Depends(limit_rate(buckets, "pull", per_minute=240, burst=240, identity=TRAVEL.caller))

    @api.post("/push")
    def push(body: bodies.PushBody, who: Traveller) -> Pushed:
        """Apply the operations of a device; one result for each. Safe to repeat."""
        at = (body.since, body.seal)
        return travel.sync.push(who.user_id, who.device, body.operations, *at, schema=body.schema_)

    @api.get("/pull", dependencies=[pace])
    def pull(
        who: Traveller,
        since: int = 0,
        seal: Annotated[str | None, Query(description="the seal that came with `since`")] = None,
        limit: int = PAGE,
        schema: Schema = SCHEMA,
    ) -> Pulled:
        """The changes since a version; 410 FULL_RESYNC_REQUIRED if the device needs a full resync."""
        found = travel.feed.pull(who.user_id, who.device, since, seal, size=limit, schema=schema)
        if found.full_resync_required:
            words = "The feed does not go back that far. Take a snapshot, then pull from its version."
            facts = {"full_resync_required": True, "server_version": found.server_version}
            raise ResyncRequired(words, field="since", facts=facts)
        return found

    @api.get("/snapshot", dependencies=[pace])
    def snapshot(who: Traveller, after: After = None, limit: int = PAGE, schema: Schema = SCHEMA) -> Snapshot:
        """Everything, page after page; then pull from `as_of`."""
        return travel.feed.snapshot(who.user_id, who.device, after, size=limit, schema=schema)

    @api.get("/conflicts")
    def conflicts(
        who: Traveller, size: PageSize = None, after: After = None
    ) -> bodies.Listed[bodies.OperationView]:
        """Open conflicts between my devices, with both versions; the latest first."""
        page = travel.sync.conflicts(who.user_id, size, after)
        return bodies.listed(page, bodies.operation_view)

    @api.post("/conflicts/{operation_id}:resolve")
    def resolve(operation_id: str, body: bodies.ResolveBody, who: Traveller) -> Result:
        """Keep the current version, use the other one, or write another. Refused if it was changed since."""
        return travel.sync.resolve(who.user_id, operation_id, body.choice, body.data, body.versions)

    @api.get("/operations")
    def operations(
        who: Traveller,
        device_id: Annotated[str | None, Query(description="only those of one device")] = None,
        only_open: Annotated[bool, Query(alias="open", description="only refused and in conflict")] = False,
        size: PageSize = None,
        after: After = None,
    ) -> bodies.Listed[bodies.OperationView]:
        """The operations of my devices in the last 30 days, the latest first."""
        page = travel.sync.operations(who.user_id, device_id, size, after, only_open=only_open)
        return bodies.listed(page, bodies.operation_view)

    return api
