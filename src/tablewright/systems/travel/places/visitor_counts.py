"""How many have been to a region, of those who want to be counted (SK-D7).

A visit is listed under its region only while its owner shares visits (SK-13); how many there are is counted from the
stream, in sixteen parts for each region. Must hold: lists stay in here, to be counted; a count is the number of listed
visits once the changes so far were followed.
Elsewhere: counting a change once, and when a part may be corrected (kit/counters.py), what is written with a visit
(sync/apply.py), the switch itself (sync/push.py), what of it is told (public_profiles.py).
"""

import logging
from dataclasses import replace
from datetime import timedelta

from tablewright.design.key_codecs import codec, shard_name
from tablewright.edge.errors import Conflict
from tablewright.kit.counters import Counters, Numbers, additions
from tablewright.kit.rounds import Stretch, named
from tablewright.mapping import Change as Told
from tablewright.mapping import Consumer
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.design import SHARDS
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.geography.regions import Geography
from tablewright.systems.travel.model import REGION_TYPES, Head, RegionTally, RegionType, Visit
from tablewright.systems.travel.repository import Repository

log = logging.getLogger("tablewright.travel")

COUNTS = Counters(d.region_tallies, "visitors")
REGIONS_AT_ONCE, REGIONS_EVERY = 20, timedelta(hours=6)
_SHARD = codec(f"shard.{SHARDS}")


class Regions:
    """Regions, as far as they are about travellers."""

    def __init__(self, repository: Repository, geography: Geography) -> None:
        self._repository, self._geography = repository, geography

    def count(self, region_type: RegionType, region_code: str) -> int:
        """How many share that they have been there."""
        place = rules.present_place(self._geography, region_type, region_code)
        gets = [d.region_tallies.get(*place, shard_name(n, SHARDS)) for n in range(SHARDS)]
        return sum(tally.visitors for tally in self._repository.db.many(gets) if tally is not None)

    def recount_next(self, follower: Consumer) -> int:
        """Compare how many visitors the next regions have with their lists (SK-D7); returns how many regions. A round
        in six hours."""
        regions = {
            f"{kind}#{region.region_code}": region
            for kind in REGION_TYPES
            for region in self._geography.of(kind)
        }

        def recounted(name: str) -> None:
            region = regions[name]
            mended = self.recount(region.region_type, region.region_code, follower)
            if mended:
                log.warning("visitors recounted", extra={"region": name, "parts": mended})

        def among(last: str | None) -> Stretch[str]:
            return named((name for name in sorted(regions) if last is None or name > last), REGIONS_AT_ONCE)

        return d.rounds.run(self._repository.db, "regions", among, recounted, every=REGIONS_EVERY)

    def recount(self, region_type: RegionType, region_code: str, follower: Consumer) -> int:
        """Compare the count of a region with its list; returns how many parts were corrected."""
        db, visitors = self._repository.db, d.visitors_of(region_type=region_type, region_code=region_code)
        shards = [shard_name(n, SHARDS) for n in range(SHARDS)]
        partitions = dict(zip(shards, visitors.partitions, strict=True))

        def listed(part: RegionTally) -> Numbers:
            return {"visitors": db.count(replace(visitors, partitions=(partitions[part.shard],)))}

        parts = [RegionTally(region_type=region_type, region_code=region_code, shard=each) for each in shards]
        return len(COUNTS.reconcile(db, parts, listed, follower))

    # --- the switch ---

    def relist(self, user_id: str) -> int:
        """List a traveller's visits or take them off the lists, as the switch says; how many changed sides.

        A push that runs at the same time uses the new setting: its condition is on the same item.
        """
        moved = 0

        def attempt() -> int:
            nonlocal moved
            switch, wrong = self._wrongly_listed(user_id)
            moved += sum(self._list(visit, switch) for visit in wrong)
            if wrong and self._wrongly_listed(user_id)[1]:
                raise VersionConflict  # the switch was turned, or a visit changed, since they were read
            return moved

        words = "The switch is being turned back and forth. Try again in a moment."
        return self._repository.retried(None, attempt, busy=Conflict("STATE_CONFLICT", words))

    def _wrongly_listed(self, user_id: str) -> tuple[bool, list[Visit]]:
        """The switch, and the visits that are listed otherwise than it says."""
        head = self._repository.head(user_id)
        switch = head is not None and head.shares_visits
        owner = self._repository.db.one(d.profile_by_id(user_id=user_id))
        # A child's are on no list, whatever the switch says.
        shares = switch and owner is not None and not owner.is_minor
        return switch, [visit for visit in self._repository.live_visits(user_id) if visit.is_listed != shares]

    def _list(self, visit: Visit, switch: bool) -> bool:
        """Put a visit on the list, or off it, while the switch is as it was."""
        version, was = visit.sync_version, visit.is_listed
        listed = d.visits.put(visit.model_copy(update={"is_listed": not was}))
        # In one with the head: a slow one that follows a switch which was turned back writes nothing any more.
        same = d.heads.check(visit.user_id).when(lambda head: head.shares_visits == switch)
        return self._repository.try_write(
            listed.when(lambda it: (it.sync_version == version) & (it.is_listed == was)), same
        )

    # --- from the stream ---

    def follow_head(self, told: Told[Head]) -> None:
        """The switch was turned: what was to be done at once is done now, if it was not."""
        before = told.before.shares_visits if told.before is not None else False
        if told.after is not None and told.after.shares_visits != before:
            self.relist(told.after.user_id)

    def follow_visit(self, told: Told[Visit]) -> None:
        """A visit was listed or taken off a list: its region has one visitor more or less."""
        added = additions(told, lambda visit: {"visitors": int(visit.is_listed)})
        visit = told.after or told.before
        if visit is None:
            return
        start = RegionTally(
            region_type=visit.region_type,
            region_code=visit.region_code,
            shard=_SHARD.encode(visit.user_id) or "",
        )
        COUNTS.count(self._repository.db, told, d.region_tallies.upsert(start), added)
