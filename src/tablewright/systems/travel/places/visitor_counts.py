"""How many have been to a region, of those who want to be counted (SK-D7).

A visit is listed under its region only while its owner shares visits (SK-13); how many there are is counted from the
stream, in sixteen parts for each region. Must hold: lists stay in here, to be counted; a count is the number of listed
visits once the changes so far were followed, however often each was told.
Elsewhere: what is written with a visit (sync/apply.py), the switch itself (sync/push.py), what of it is told
(public_profiles.py).
"""

from dataclasses import replace

from tablewright.design.key_codecs import codec, shard_name
from tablewright.edge.errors import Conflict
from tablewright.kit.tables import ATTEMPTS
from tablewright.mapping import Change as Told
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.design import SHARDS
from tablewright.systems.travel.geography.regions import Geography
from tablewright.systems.travel.model import Head, RegionTally, RegionType, Visit
from tablewright.systems.travel.repository import Repository

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

    def recount(self, region_type: RegionType, region_code: str) -> int:
        """Compare the count of a region with its list; returns how many parts were corrected.

        A part may differ because changes are still in the stream. So it is corrected only if it differs by the same
        number one round later; a wrong correction is undone by the round after.
        """
        query = d.visitors_of(region_type=region_type, region_code=region_code)
        keys = [(region_type, region_code, shard_name(n, SHARDS)) for n in range(SHARDS)]
        tallies = self._repository.db.many([d.region_tallies.get(*key) for key in keys], consistent=True)
        mended = 0
        for key, tally, partition in zip(keys, tallies, query.partitions, strict=True):
            listed = self._repository.db.count(replace(query, partitions=(partition,)))
            if tally is None and listed == 0:
                continue
            before = tally or RegionTally(region_type=key[0], region_code=key[1], shard=key[2])
            mended += self._compared(before, listed, is_new=tally is None)
        return mended

    def _compared(self, before: RegionTally, listed: int, *, is_new: bool) -> bool:
        off = listed - before.visitors
        is_sure = off != 0 and off == before.off
        after = before.model_copy(update={"visitors": listed, "off": 0} if is_sure else {"off": off})
        if after == before:
            return False
        seen = before.visitors
        write = (
            d.region_tallies.create(after)
            if is_new
            else d.region_tallies.change(before, after).when(lambda it: it.visitors == seen)
        )
        # Refused if it was counted at the same time: the next round checks again.
        return self._repository.try_write(write) and is_sure

    # --- the switch ---

    def relist(self, user_id: str) -> int:
        """List a traveller's visits or take them off the lists, as the switch says; how many changed sides.

        A push that runs at the same time uses the new setting: its condition is on the same item.
        """
        moved = 0
        for tried in range(ATTEMPTS):
            head = self._repository.head(user_id)
            switch = head is not None and head.shares_visits
            wrong = self._wrongly_listed(user_id, switch)
            if not wrong:
                return moved
            moved += sum(self._list(visit, switch) for visit in wrong)
            if tried:
                self._repository.pause(tried)
        raise Conflict("STATE_CONFLICT", "The switch is being turned back and forth. Try again in a moment.")

    def _wrongly_listed(self, user_id: str, switch: bool) -> list[Visit]:
        owner = self._repository.db.one(d.profile_by_id(user_id=user_id))
        # A child's are on no list, whatever the switch says.
        shares = switch and owner is not None and not owner.is_minor
        return [visit for visit in self._repository.live_visits(user_id) if visit.is_listed != shares]

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
        was = told.before is not None and told.before.is_listed
        is_now = told.after is not None and told.after.is_listed
        visit = told.after or told.before
        if was == is_now or visit is None:
            return
        start = RegionTally(
            region_type=visit.region_type,
            region_code=visit.region_code,
            shard=_SHARD.encode(visit.user_id) or "",
        )
        counted = d.region_tallies.upsert(start).at(lambda tally: tally.visitors).add(1 if is_now else -1)
        self._repository.db.write(counted, once=f"visitors/{told.event_id}")
