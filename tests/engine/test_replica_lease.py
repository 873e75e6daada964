"""A lease: a writer that is cut off stops by itself, before anybody who is promoted without it begins."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from tests.engine.replicating import (
    ALL,
    ELSEWHERE,
    HERE,
    THERE,
    asks,
    breaking,
    cut_off,
    regions_of,
    replicate,
    update,
)
from tests.engine.tables import definition, item, keyed, names, put, transaction

from tablewright import Engine, ServiceError
from tablewright.engine import Regions, RegionsMistake
from tablewright.engine.replica_control import promote
from tablewright.engine.replica_lease import MARGIN, needed_for_promotion
from tablewright.engine.replica_plans import promotion
from tablewright.engine.replica_standings import ReplicasMistake, standing
from tablewright.testing import Clock

LEASE = 10.0
SECOND = timedelta(seconds=1)


def passing(regions: Regions, clock: Clock) -> Callable[[], None]:
    """A pause in which a second passes, and everybody who can hears of everybody."""

    def pause() -> None:
        clock.move(SECOND)
        regions.settle()

    return pause


def promoted(regions: Regions, clock: Clock, region: str, *without: str, force: bool = False) -> None:
    asked = asks(regions, *without)
    plan = promotion(asked, region, "pets", regions.settle)
    promote(asked, plan, passing(regions, clock), force=force)
    regions.settle()


def takes(engine: Engine, name: str = "rex") -> bool:
    try:
        engine.call("PutItem", put(name))
    except ServiceError as refusal:
        if refusal.name not in ("ReplicaLeaseLapsedException", "ReplicaNotWriterException"):
            raise
        return False
    return True


def test_a_writer_that_is_cut_off_stops_after_its_lease_and_goes_on_when_it_is_back(clock: Clock) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home = replicate(regions)
        promoted(regions, clock, HERE)
        assert takes(home)
        cut_off(regions, THERE)
        clock.move(timedelta(seconds=LEASE - 0.1))
        assert takes(home)
        clock.move(timedelta(seconds=0.1))
        with pytest.raises(ServiceError, match="ReplicaLeaseLapsed") as refusal:
            home.call("PutItem", put("rex"))
        assert refusal.value.message == (
            "Table pets takes no writes in us-east-1 for now: eu-west-1 did not confirm in the last 10 s that it is "
            "the writer, and another region may have been promoted. It goes on by itself once it is in touch again"
        )
        assert standing(regions.ask(HERE), "pets").lease == {
            "Seconds": 10.0,
            "Silent": [THERE],
            "Left": 0.0,
            "Voters": [THERE, HERE],
        }
        cut_off(regions, THERE, False)
        regions.settle()
        assert takes(home)


INSERT = {"Statement": "INSERT INTO pets VALUE {'pk': 'rex'}"}
WRITES = pytest.mark.parametrize(
    ("verb", "request_"),
    [
        ("UpdateItem", keyed("rex")),
        ("DeleteItem", keyed("rex")),
        ("BatchWriteItem", {"RequestItems": {"pets": [{"PutRequest": {"Item": item("rex")}}]}}),
        ("TransactWriteItems", transaction({"Put": put("rex")})),
        ("ExecuteStatement", INSERT),
        ("ExecuteTransaction", {"TransactStatements": [INSERT]}),
    ],
)


@WRITES
def test_every_verb_that_writes_is_refused_without_a_lease(
    clock: Clock, verb: str, request_: dict[str, object]
) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home = replicate(regions)
        promoted(regions, clock, HERE)
        cut_off(regions, THERE)
        clock.move(timedelta(seconds=LEASE))
        with pytest.raises(ServiceError, match="ReplicaLeaseLapsed"):
            home.call(verb, request_)
        assert names(home) == []


def between(engine: Engine, clock: Clock, *work: tuple[str, dict[str, object]]) -> list[str]:
    """Writes that are decided, and on disk when the lease is over: `ok`, or the name of the error."""
    group = engine.start_group(work)
    assert group is not None
    clock.move(timedelta(seconds=LEASE))
    return [one.name if isinstance(one, ServiceError) else "ok" for one in group.finish()]


@WRITES
def test_no_verb_acknowledges_what_was_committed_after_the_lease(
    clock: Clock, verb: str, request_: dict[str, object]
) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home = replicate(regions)
        promoted(regions, clock, HERE)
        assert between(home, clock, (verb, request_)) == ["InternalServerError"]


def test_a_write_that_came_too_late_says_that_nobody_knows_and_its_neighbours_are_answered(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home = replicate(regions)
        home.call("CreateTable", definition("plain"))
        promoted(regions, clock, HERE)
        refused = put("bad") | {"ConditionExpression": "attribute_exists(pk)"}
        plain = put("tom") | {"TableName": "plain"}
        with caplog.at_level("WARNING", "tablewright.engine"):
            done = between(home, clock, ("PutItem", put("rex")), ("PutItem", refused), ("PutItem", plain))
        assert done == ["InternalServerError", "ConditionalCheckFailedException", "ok"]
        assert [one.message for one in caplog.records] == ["a lease ran out before the commit"]
        regions.settle()
        group = home.start_group([("PutItem", put("tom"))])
        assert group is not None
        clock.move(timedelta(seconds=LEASE))
        (outcome,) = group.finish()
        assert isinstance(outcome, ServiceError)
        assert outcome.status == 500
        assert outcome.message == (
            "Table pets: it is not known whether this write holds. Before it was on disk in us-east-1 the lease of the "
            "writer had run out: eu-west-1 did not confirm in the last 10 s that it is the writer, and another region "
            "may have been promoted"
        )


def test_a_transaction_that_is_sent_again_is_not_acknowledged_without_a_lease_either(clock: Clock) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home = replicate(regions)
        promoted(regions, clock, HERE)
        asked = transaction({"Put": put("rex")}) | {"ClientRequestToken": "once"}
        assert between(home, clock, ("TransactWriteItems", asked)) == ["InternalServerError"]
        with pytest.raises(ServiceError, match="ReplicaLeaseLapsed"):
            home.call("TransactWriteItems", asked)
        regions.settle()
        assert home.call("TransactWriteItems", asked) == {}
        promoted(regions, clock, THERE)
        with pytest.raises(ServiceError, match="ReplicaNotWriter"):
            home.call("TransactWriteItems", asked)


def test_a_writer_without_a_lease_deletes_nothing_that_has_expired(clock: Clock) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home = replicate(regions)
        specification = {"Enabled": True, "AttributeName": "until"}
        home.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": specification})
        promoted(regions, clock, HERE)
        home.call("PutItem", put("rex", until=int(clock.now().timestamp()) + 1))
        cut_off(regions, THERE)
        clock.move(timedelta(minutes=1))
        home.settle()
        assert names(home) == ["rex"]
        cut_off(regions, THERE, False)
        regions.settle()
        assert names(home) == []


def test_a_promotion_without_the_writer_waits_until_its_lease_has_run_out(clock: Clock) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home, there = replicate(regions), regions[THERE]
        promoted(regions, clock, HERE)
        cut_off(regions, HERE)
        began = clock.now()
        with pytest.raises(ServiceError, match=r"us-east-1 may write for another 12\.5 s"):
            regions.ask(THERE)("PeerPromote", {"Table": "pets", "Epoch": 1})
        accepted: list[str] = []

        def pause() -> None:
            accepted.extend(one for one in (HERE, THERE) if takes(regions[one]))
            clock.move(SECOND)

        asked = asks(regions, HERE)
        plan = promotion(asked, THERE, "pets")
        assert (plan.lease, plan.wait, plan.needed) == (LEASE, LEASE * MARGIN, 1)
        promote(asked, plan, pause, force=True)
        assert set(accepted) == {HERE}
        assert clock.now() - began >= timedelta(seconds=LEASE * MARGIN)
        assert not takes(home)
        assert takes(there)


def test_a_writer_that_only_the_operator_cannot_reach_is_given_no_more_promises(clock: Clock) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home = replicate(regions)
        promoted(regions, clock, HERE)
        promoted(regions, clock, THERE, HERE, force=True)
        assert takes(regions[THERE])
        assert not takes(home)


def test_a_handover_waits_for_nothing(clock: Clock) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home = replicate(regions)
        promoted(regions, clock, HERE)
        asked = asks(regions)
        began = clock.now()
        promote(asked, promotion(asked, THERE, "pets", regions.settle), regions.settle)
        regions.settle()
        assert clock.now() == began
        assert takes(regions[THERE])
        assert not takes(home)


def test_a_promise_that_was_forgotten_in_a_restart_counts_as_just_made(clock: Clock) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        replicate(regions)
        promoted(regions, clock, HERE)
        cut_off(regions, HERE)
        clock.move(timedelta(hours=1))
        again = Regions(regions.engines, HERE, period=None, lease=LEASE)
        cut_off(again, HERE)
        left = again.ask(THERE)("PeerWithhold", {"Table": "pets"})["Left"]
        assert left == LEASE * MARGIN
        assert not takes(again[HERE])  # nor does the writer know of any promise


def test_with_three_replicas_one_may_be_away_and_two_have_to_agree(clock: Clock) -> None:
    with regions_of(clock, *ALL, lease=LEASE) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, clock, HERE)
        cut_off(regions, THERE)
        clock.move(timedelta(seconds=LEASE * 3))
        regions.settle()
        assert takes(home)  # it still has a majority
        alone = {THERE: regions.ask(THERE)}
        plan = promotion(alone, THERE, "pets")
        assert plan.needed == 2
        with pytest.raises(ReplicasMistake, match="2 replicas have to agree"):
            promote(alone, plan, passing(regions, clock), force=True)
        assert takes(home)
        # The other one agrees: the writer hears of it, or runs out.
        promoted(regions, clock, THERE, HERE, force=True)
        assert not takes(home)
        assert not takes(regions[THERE])  # it is cut off itself
        regions.line(THERE, ELSEWHERE).is_cut = False
        regions.settle()
        assert takes(regions[THERE])
        cut_off(regions, THERE, False)
        regions.settle()
        assert {standing(regions.ask(region), "pets").writer for region in ALL} == {THERE}


def test_who_was_silent_has_no_say_until_it_is_back_and_cannot_be_promoted_before(clock: Clock) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home, there = replicate(regions), regions[THERE]
        promoted(regions, clock, HERE)
        cut_off(regions, HERE)
        promoted(regions, clock, THERE, HERE, force=True)
        clock.move(timedelta(days=1))
        assert takes(there)
        # It hears that another is the writer, and the answer to the question that told it is lost.
        regions.line(THERE, HERE).is_cut, regions.line(THERE, HERE).losing = False, 1
        next(one for one in regions._followers if one.line.reader == THERE).visit()
        regions.line(THERE, HERE).is_cut = True
        clock.move(timedelta(days=1))
        assert takes(there)
        epoch = standing(regions.ask(HERE), "pets").epoch
        with pytest.raises(ServiceError, match="has not heard from its writer eu-west-1"):
            regions.ask(HERE)("PeerPromote", {"Table": "pets", "Epoch": epoch})
        assert not takes(home)
        cut_off(regions, HERE, False)
        regions.settle()
        assert standing(regions.ask(HERE), "pets").lease == {
            "Seconds": LEASE,
            "Silent": [],
            "Left": LEASE * MARGIN,
            "Voters": [THERE, HERE],
        }


def test_a_member_that_has_not_heard_of_another_is_not_outvoted_by_it(clock: Clock) -> None:
    with regions_of(clock, *ALL, lease=LEASE) as regions:
        home = replicate(regions, THERE)
        promoted(regions, clock, HERE)
        with pytest.raises(ServiceError, match="add replicas there"):
            regions[THERE].call("UpdateTable", update("Create", ELSEWHERE))
        cut_off(regions, THERE)
        home.call("UpdateTable", update("Create", ELSEWHERE))
        clock.move(timedelta(seconds=LEASE))
        regions.settle()
        # THERE knows of two replicas, so that it could be promoted by its own word.
        assert not takes(home)
        cut_off(regions, THERE, False)
        regions.settle()
        cut_off(regions, THERE)
        clock.move(timedelta(seconds=LEASE))
        regions.settle()
        assert takes(home)


def test_a_region_promises_no_longer_lease_than_its_own(clock: Clock) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home = replicate(regions)
        promoted(regions, clock, HERE)
        lease = home.place.lease
        assert lease is not None
        lease.seconds = LEASE + 1
        clock.move(timedelta(seconds=LEASE + 1))
        regions.settle()
        assert not takes(home)


def test_without_a_writer_there_is_no_lease(clock: Clock) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home = replicate(regions)
        cut_off(regions, THERE)
        clock.move(timedelta(hours=1))
        assert takes(home)
        assert takes(regions[THERE])


def test_a_lease_that_is_too_short_is_refused(clock: Clock) -> None:
    with pytest.raises(RegionsMistake, match="1 seconds or more"), regions_of(clock, lease=0.5):
        pass


@pytest.mark.parametrize(("members", "needed"), [(2, 1), (3, 2), (4, 2), (5, 3)])
def test_who_agrees_and_who_promises_have_one_in_common(members: int, needed: int) -> None:
    assert needed_for_promotion(members) == needed
    assert needed + members // 2 > members - 1  # of the others: the writer takes no part in either


def test_a_promotion_across_a_cut_line_stops_the_writer_and_begins_when_its_lease_is_over(
    clock: Clock,
) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home, there = replicate(regions), regions[THERE]
        promoted(regions, clock, HERE)
        cut_off(regions, HERE)
        assert takes(home, "unread")
        accepted: list[str] = []

        def pause() -> None:
            accepted.extend(one for one in (HERE, THERE) if takes(regions[one]))
            clock.move(SECOND)

        asked = asks(regions)
        plan = promotion(asked, THERE, "pets")
        assert (plan.unheard, plan.wait) == ([HERE], LEASE * MARGIN)
        promote(asked, plan, pause, force=True)
        assert accepted == []
        assert takes(there)  # who has stopped and is not heard of has no say
        clock.move(timedelta(days=1))
        assert takes(there)
        with pytest.raises(ServiceError, match="has not heard from its writer eu-west-1"):
            regions.ask(HERE)("PeerPromote", {"Table": "pets", "Epoch": 2})
        cut_off(regions, HERE, False)
        regions.settle()
        assert takes(there)
        assert not takes(home)


def test_with_three_replicas_a_promotion_across_a_cut_line_needs_another_one_to_agree(clock: Clock) -> None:
    with regions_of(clock, *ALL, lease=LEASE) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, clock, HERE)
        for line in regions.lines():
            line.is_cut = {line.reader, line.source} == {HERE, THERE}
        asked = asks(regions, ELSEWHERE)
        with pytest.raises(ReplicasMistake, match="2 replicas have to agree"):
            promote(asked, promotion(asked, THERE, "pets"), passing(regions, clock), force=True)
        assert takes(home), "nobody has stopped"
        promoted(regions, clock, THERE, force=True)
        assert takes(regions[THERE])
        assert not takes(home)


def test_a_role_that_is_given_back_needs_the_lease_it_needed_before(clock: Clock) -> None:
    with regions_of(clock, lease=LEASE) as regions:
        home = replicate(regions)
        promoted(regions, clock, HERE)
        asked = breaking(regions)
        plan = promotion(asked, THERE, "pets", regions.settle)
        with pytest.raises(ReplicasMistake, match="us-east-1 goes on writing pets, epoch 3"):
            promote(asked, plan, regions.settle)
        assert takes(home)  # what it was promised holds
        clock.move(timedelta(seconds=LEASE))
        assert not takes(home)
        assert not takes(regions[THERE])
        cut_off(regions, THERE, False)
        regions.settle()
        assert takes(home)


def test_one_that_has_taken_over_meanwhile_does_not_wait_for_the_lease(clock: Clock) -> None:
    """The writer does not answer whoever asks for the promotion, but the regions it does."""
    with regions_of(clock, *ALL, lease=LEASE) as regions:
        replicate(regions, THERE, ELSEWHERE)
        promoted(regions, clock, HERE)
        asked = asks(regions, HERE)
        plan = promotion(asked, THERE, "pets")
        waited: list[int] = []

        def pause() -> None:
            waited.append(1)
            passing(regions, clock)()

        assert promote(asked, plan, pause, force=True).writer == THERE
        assert len(waited) < LEASE
