"""Who sees whom, and the end of an account, proved by a look into every table (SK-S13, SK-S14)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from tests.client.ways import REGION, WAYS
from tests.engine.transfer_requests import data_of, describe, recoverable
from tests.systems.talk import at_once
from tests.systems.travel.account.test_accounts import refuses
from tests.systems.travel.images import png
from tests.systems.travel.people import MAIL, PHONE, TABLET, Home, home_over
from tests.targets import skip_elsewhere

from tablewright import Engine, testing
from tablewright.client import embedded
from tablewright.design import Environment
from tablewright.design.requests import Query
from tablewright.edge import Issuer
from tablewright.edge.errors import Conflict
from tablewright.mapping import Change, Consumer
from tablewright.mapping.tables import create_table
from tablewright.systems.travel import design as d
from tablewright.systems.travel import jobs
from tablewright.systems.travel import rounds as all_rounds
from tablewright.systems.travel.account import privacy
from tablewright.systems.travel.account.accounts import Proved
from tablewright.systems.travel.account.privacy import SETTLES, UNDO
from tablewright.systems.travel.model import Profile, RegionType, Visit
from tablewright.systems.travel.sync.operations import Edit
from tablewright.testing import Clock

OPEN: dict[str, JsonValue] = {"privacy_settings": {"share_visits": True, "profile_public": True}}
SECRET_NOTES = "we got married here"
FR: tuple[RegionType, str] = ("country", "FR")


def follow(home: Home) -> None:
    """Let everything that follows from changes happen."""
    follower = home.travel.follower()
    while follower.run_once().read:
        pass
    assert list(follower.parked()) == []


def _shares(home: Home, subject: str) -> str:
    """A traveller who has been to France and says so."""
    user_id = home.by_apple(subject).profile.user_id
    home.travel.sync.change_user(user_id, {**OPEN, "display_name": f"T. {subject}"})
    home.travel.visits.mark(user_id, *FR)
    return user_id


def _listed(home: Home) -> set[str]:
    """Who is counted in France."""
    return {it.user_id for it in home.db.all(d.visitors_of(region_type=FR[0], region_code=FR[1]))}


# --- who sees whom ---


@pytest.mark.parametrize("way", WAYS)
def test_sk_s13_who_goes_private_is_on_no_list_any_more(home: Home) -> None:
    home.travel.follower().create_tables()
    ada, ben = _shares(home, "001.ada"), _shares(home, "002.ben")
    home.travel.visits.mark(ada, "us_state", "US-NY")
    follow(home)
    assert _listed(home) == {ada, ben}
    assert home.travel.regions.count("country", "FR") == 2
    home.travel.sync.change_user(ada, {"privacy_settings": {"share_visits": False}})
    assert _listed(home) == {ben}
    listed = [item for item in home.items() if "REGION#" in item.get("GSI1PK", {"S": ""})["S"]]
    assert {item["user_id"]["S"] for item in listed} == {ben}
    follow(home)
    assert home.travel.regions.count("country", "FR") == 1


def test_sk_s13_a_slow_one_that_lists_does_not_overtake_the_switch(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, regions = home.by_apple("001.ada").profile.user_id, home.travel.regions
    home.travel.visits.mark(ada, *FR)
    put = regions._list

    def slow(visit: Visit, switch: bool) -> bool:
        monkeypatch.setattr(regions, "_list", put)
        home.travel.sync.change_user(ada, {"privacy_settings": {"share_visits": False}})
        put(visit, switch)
        raise KeyboardInterrupt  # and dies before it looks again

    monkeypatch.setattr(regions, "_list", slow)
    with pytest.raises(KeyboardInterrupt):
        home.travel.sync.change_user(ada, {"privacy_settings": {"share_visits": True}})
    assert not home.travel.repository.profile(ada).privacy_settings.share_visits
    assert _listed(home) == set()


def test_nobody_is_seen_before_they_say_so(home: Home) -> None:
    ada = home.by_apple("001.ada").profile.user_id
    home.travel.visits.mark(ada, *FR)
    assert _listed(home) == set()
    with refuses("USER_NOT_FOUND"):
        home.travel.sharing.public_map("somebody", ada)
    assert home.travel.sharing.public_map(ada, ada).profile.user_id == ada


def test_a_public_map_shows_what_each_switch_says(home: Home) -> None:
    ada = _shares(home, "001.ada")
    home.travel.visits.mark(ada, *FR, {"notes": SECRET_NOTES, "visited_date": "2024-05"})
    seen = home.travel.sharing.public_map("somebody", ada)
    assert [(visit.region_code, visit.notes) for visit in seen.visits] == [("FR", None)]
    home.travel.sync.change_user(ada, {"privacy_settings": {"show_notes": True}})
    assert home.travel.sharing.public_map("somebody", ada).visits[0].notes == SECRET_NOTES
    home.travel.sync.change_user(ada, {"privacy_settings": {"share_visits": False}})
    assert home.travel.sharing.public_map("somebody", ada).visits == ()


def test_neither_of_two_sees_the_other_once_one_blocked(home: Home) -> None:
    ada, ben = _shares(home, "001.ada"), _shares(home, "002.ben")
    home.travel.privacy.block(ada, ben)
    home.travel.privacy.block(ada, ben)
    for reader, other in ((ada, ben), (ben, ada)):
        with refuses("USER_NOT_FOUND"):
            home.travel.sharing.public_map(reader, other)
    assert [block.blocked_id for block in home.travel.privacy.blocks(ada).items] == [ben]
    home.travel.privacy.unblock(ada, ben)
    assert home.travel.sharing.public_map(ben, ada).profile.user_id == ada
    with refuses("CANNOT_BLOCK_YOURSELF"):
        home.travel.privacy.block(ada, ada)
    home.travel.privacy.block(ada, "nobody")  # who blocks does not learn whether there is such an account
    with refuses("INVALID_ID"):
        home.travel.privacy.block(ada, "no#body")


def test_a_list_of_blocks_stays_within_its_limit_however_many_are_made_at_once(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(privacy, "BLOCKS_AT_MOST", 3)
    ada, *others = (home.by_apple(f"00{each}.a").profile.user_id for each in range(7))
    found = at_once([partial(home.travel.privacy.block, ada, other) for other in others])
    refused = [one for one in found if isinstance(one, Exception)]
    assert [one.code for one in refused if isinstance(one, Conflict)] == ["TOO_MANY_BLOCKS"] * 3
    assert len(home.travel.privacy.blocks(ada).items) == 3


# --- the end of an account ---


def lived(home: Home) -> Profile:
    """A traveller of whom there is something everywhere."""
    travel = home.travel
    profile = home.by_mail(MAIL, PHONE).profile
    user_id = profile.user_id
    travel.accounts.link(user_id, Proved("apple", "001.ada"), user_id)
    home.by_apple("001.ada", TABLET)
    travel.sync.change_user(user_id, {**OPEN, "display_name": "Ada L."})
    travel.visits.mark(user_id, *FR, {"notes": SECRET_NOTES})
    travel.visits.mark(user_id, "country", "DE")
    travel.visits.unmark(user_id, "country", "DE")
    for device in ("phone", "tablet"):
        travel.sync.push(user_id, device, [_edit(home, f"{SECRET_NOTES} {device}")])
    travel.statistics.of(user_id)
    travel.pictures.put(user_id, png(8, 8))
    jobs.export_week(travel)
    travel.importing.take(user_id, f"country,notes\n{SECRET_NOTES},".encode(), key="the-key-1")
    travel.email_login.start(MAIL)
    other = _shares(home, "003.other")
    travel.privacy.block(user_id, other)
    travel.privacy.block(other, user_id)
    home.clock.move(timedelta(hours=2))
    jobs.tell_conflicts(travel)
    return travel.repository.profile(user_id)


def _edit(home: Home, notes: str) -> Edit:
    return Edit(
        operation_id=home.clock.world().new_id(),
        operation_type="update",
        region_type="country",
        region_code="FR",
        client_version=1,
        entity_data={"notes": notes},
        client_timestamp=home.clock.now(),
    )


def erase(home: Home, user_id: str, *, is_followed: bool = False) -> None:
    home.travel.privacy.ask(user_id, user_id)
    for _ in range(8):
        home.clock.move(UNDO / 8)
        if is_followed:
            follow(home)  # which may not be away for a day
    assert jobs.erase(home.travel) == 0  # gone, but for what others may still write
    home.clock.move(SETTLES)
    assert jobs.erase(home.travel) == 1
    assert jobs.erase(home.travel) == 0


def _traces(home: Home, profile: Profile) -> list[str]:
    assert profile.email_hmac is not None
    return home.mentions(profile.user_id, SECRET_NOTES, MAIL, profile.email_hmac, "001.ada", "Ada L.")


@pytest.mark.parametrize("way", WAYS)
def test_sk_s14_after_an_erasure_no_table_says_anything_of_the_traveller(home: Home) -> None:
    home.travel.follower().create_tables()
    profile = lived(home)
    follow(home)
    assert len(_traces(home, profile)) > 20
    assert home.travel.regions.count("country", "FR") == 2
    erase(home, profile.user_id, is_followed=True)
    follow(home)
    assert _traces(home, profile) == []
    assert home.travel.regions.count("country", "FR") == 1
    assert not list(home.objects.names(f"pictures/{profile.user_id}/"))
    assert list(home.travel.privacy.erasures()) == []
    kept = list(home.travel.privacy.erased())
    assert [(erasure.user_id, erasure.items > 20) for erasure in kept] == [(None, True)]


def test_the_same_logins_are_a_new_traveller_afterwards(home: Home) -> None:
    profile = lived(home)
    erase(home, profile.user_id)
    fresh = home.by_mail()
    assert fresh.is_new
    assert home.by_apple("001.ada").is_new
    assert home.travel.visits.all(fresh.profile.user_id) == []


def test_an_account_is_kept_by_who_thinks_again_within_a_week(home: Home) -> None:
    profile = lived(home)
    user_id, privacy = profile.user_id, home.travel.privacy
    asked = privacy.ask(user_id, user_id)
    assert privacy.ask(user_id, user_id) == asked
    assert home.travel.repository.profile(user_id).erases_at == asked.due_at
    with refuses("USER_NOT_FOUND"):
        home.travel.sharing.public_map("somebody", user_id)
    home.clock.move(UNDO - timedelta(seconds=1))
    jobs.erase(home.travel)
    assert privacy.keep(user_id, user_id).erases_at is None
    assert privacy.keep(user_id, user_id).erases_at is None
    home.clock.move(UNDO)
    jobs.erase(home.travel)
    assert [visit.region_code for visit in home.travel.visits.all(user_id)] == ["FR"]
    assert home.travel.sharing.public_map("somebody", user_id).profile.user_id == user_id


def test_of_who_keeps_and_who_erases_in_the_same_moment_one_wins(home: Home) -> None:
    for n in range(8):
        user_id = home.by_apple(f"00{n}.race").profile.user_id
        home.travel.privacy.ask(user_id, user_id)
    home.clock.move(UNDO)
    people = [erasure.user_id for erasure in home.travel.privacy.erasures()]
    keeps = [partial(home.travel.privacy.keep, id, id) for id in people if id]
    work: list[Callable[[], object]] = [*keeps, partial(jobs.erase, home.travel)]
    outcomes = at_once(work)
    home.clock.move(SETTLES)
    jobs.erase(home.travel)
    left = {enrolment.user_id for enrolment in home.db.all(d.travellers_after())}
    kept = {outcome.user_id for outcome in outcomes if isinstance(outcome, Profile)}
    assert left == kept


def test_what_is_written_while_an_account_is_being_erased_goes_too(home: Home) -> None:
    profile = lived(home)
    late = home.travel.statistics.of(profile.user_id)
    home.travel.privacy.ask(profile.user_id, profile.user_id)
    home.clock.move(UNDO)
    jobs.erase(home.travel)
    home.db.write(d.statistics.put(late))  # somebody was in the middle of it
    home.clock.move(SETTLES)
    assert jobs.erase(home.travel) == 1
    assert _traces(home, profile) == []


def test_no_round_says_that_it_stopped_at_somebody_who_is_gone(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = sorted(home.by_apple(f"00{n}.walker").profile.user_id for n in range(3))
    seen = list[str]()
    for name in all_rounds.ROUNDS:
        all_rounds.run(home.travel.repository, name, seen.append, at_most=1)
    stopped = home.travel.repository.db.one(d.rounds.positions.get("recount"))
    assert stopped is not None
    assert stopped.after == seen[0]
    erase(home, seen[0])
    assert home.mentions(seen[0]) == []
    while all_rounds.run(home.travel.repository, "recount", seen.append, at_most=1):
        pass
    assert set(people) <= set(seen)


def test_what_has_expired_and_was_not_swept_yet_goes_too(home: Home) -> None:
    profile = lived(home)
    home.clock.move(timedelta(days=60))  # operations, sessions and changes are over, but lie there
    erase(home, profile.user_id)
    assert _traces(home, profile) == []


def _parks(home: Home) -> int:
    """Follow the changes, with nobody able to deal with a visit; how many records are parked."""

    def breaks(describe: Change[Any]) -> None:
        raise ValueError("nobody can count this")

    follower = Consumer(home.db, (d.visits,), d.table.table.name, d.FOLLOWER, breaks, attempts=1)
    while follower.run_once().read:
        home.clock.move(timedelta(minutes=1))
    return len(follower.parked())


def test_sk_s14_what_was_parked_of_a_travellers_changes_goes_with_the_account(home: Home) -> None:
    home.travel.follower().create_tables()
    profile = lived(home)
    parked = _parks(home)
    inside = [trace for trace in _traces(home, profile) if "PIECE#" in trace and SECRET_NOTES in trace]
    assert inside, "a scan that does not look into what is compressed proves nothing"
    erase(home, profile.user_id)
    assert _traces(home, profile) == []
    left = home.travel.follower().parked()
    assert 0 < len(left) < parked  # the other traveller's


def test_what_is_parked_after_an_account_is_gone_goes_too(home: Home) -> None:
    home.travel.follower().create_tables()
    profile = lived(home)
    home.travel.privacy.ask(profile.user_id, profile.user_id, after=timedelta(0))
    jobs.erase(home.travel)
    home.clock.move(SETTLES)
    assert jobs.erase(home.travel) == 1
    _parks(home)  # they were still in the stream
    assert _traces(home, profile) != []
    jobs.erase(home.travel)
    assert _traces(home, profile) == []


def test_a_change_that_nobody_can_follow_is_forgotten_after_a_month(home: Home) -> None:
    home.travel.follower().create_tables()
    home.travel.visits.mark(_shares(home, "001.ada"), *FR)
    assert _parks(home)
    jobs.erase(home.travel)
    assert home.travel.follower().parked() != []
    home.clock.move(privacy.PARKED_KEPT)
    home.clock.move(timedelta(hours=1))
    jobs.erase(home.travel)
    assert home.travel.follower().parked() == []


@pytest.mark.parametrize("step", ["_note", "_wipe"])
def test_an_erasure_whose_first_round_failed_still_has_two(
    home: Home, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    user_id, end = home.by_apple().profile.user_id, home.travel.privacy
    end.ask(user_id, user_id)
    rounds = list[str]()
    wipe = end._wipe

    def counted(user_id: str) -> int:
        rounds.append(user_id)
        return wipe(user_id)

    def breaks(_: object) -> int:
        raise OSError("the disk is full")

    home.clock.move(UNDO)
    with monkeypatch.context() as patch:
        patch.setattr(end, step, breaks)
        assert jobs.erase(home.travel) == 0
    monkeypatch.setattr(end, "_wipe", counted)
    home.clock.move(SETTLES)
    assert jobs.erase(home.travel) == 0
    home.clock.move(SETTLES)
    assert jobs.erase(home.travel) == 1
    assert rounds == [user_id] * 2


def test_an_account_that_cannot_be_erased_keeps_no_other_from_it(
    home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    people = [home.by_apple(f"00{n}.leaver").profile.user_id for n in range(3)]
    for user_id in people:
        home.travel.privacy.ask(user_id, user_id)
    remove = home.db.clear

    def breaks(query: Query[Any]) -> int:
        if people[0] in repr(query):
            raise KeyError("an item nobody can read")
        return remove(query)

    home.clock.move(UNDO)
    with monkeypatch.context() as patch:
        patch.setattr(home.db, "clear", breaks)
        assert jobs.erase(home.travel) == 0
        home.clock.move(SETTLES)
        assert jobs.erase(home.travel) == 2
    assert [erasure.user_id for erasure in home.travel.privacy.erasures()] == [people[0]]
    describe = [record for record in caplog.records if record.getMessage() == "account not erased"]
    assert {record.__dict__["mistake"] for record in describe} == {"KeyError"}
    assert jobs.erase(home.travel) == 0
    home.clock.move(SETTLES)
    assert jobs.erase(home.travel) == 1
    assert home.mentions(*people) == []


def test_the_weekly_files_are_gone_through_once_for_all_who_leave_together(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [home.by_apple(f"00{n}.leaver").profile.user_id for n in range(2)]
    home.travel.visits.mark(people[0], *FR)
    jobs.export_week(home.travel)
    looked = list[str]()
    get = home.objects.get

    def looking(name: str) -> bytes | None:
        looked.append(name)
        return get(name)

    monkeypatch.setattr(home.objects, "get", looking)
    for user_id in people:
        home.travel.privacy.ask(user_id, user_id)
    home.clock.move(UNDO)
    for _ in range(4):
        jobs.erase(home.travel)
        home.clock.move(SETTLES / 4)
    assert looked == []
    assert jobs.erase(home.travel) == 2
    assert [name for name in looked if name.startswith("analytics/")] == looked[:1]
    assert _exported_lines(home) == []


def test_a_weekly_file_that_is_damaged_goes_when_somebody_leaves(home: Home) -> None:
    user_id = home.by_apple().profile.user_id
    home.objects.put("analytics/2024-W20/aa.jsonl.gz", b"\x1f\x8b cut short")
    home.objects.put("analytics/2024-W20/bb.jsonl.gz", gzip.compress(b"{}\n"))
    erase(home, user_id)
    assert list(home.objects.names("analytics/")) == []


# --- a copy that is restored ---


@pytest.fixture
def recorded(clock: Clock, issuer: Issuer, tmp_path: Path) -> Iterator[tuple[Engine, Home]]:
    """Skratch on an engine whose exports can be read back."""
    skip_elsewhere("it exports to a bucket of this process and imports from there")
    (tmp_path / "buckets" / "vault").mkdir(parents=True)
    with testing.engine(world=clock.world(), buckets=tmp_path / "buckets") as engine:
        home = home_over(embedded(engine), clock, issuer, tmp_path / "kept")
        recoverable(engine, "skratch-data")
        yield engine, home


def test_sk_s14_yesterdays_export_does_not_bring_an_erased_traveller_back(
    recorded: tuple[Engine, Home], clock: Clock, issuer: Issuer, tmp_path: Path
) -> None:
    engine, home = recorded
    profile = lived(home)
    other = home.by_mail("ben@example.com").profile.user_id
    copy = _exported(engine)
    erase(home, profile.user_id)
    _imported(engine, copy)
    back = home_over(
        home.call, clock, issuer, tmp_path / "kept",
        Environment("restored", REGION, table_name="restored-{table}"),
    )  # fmt: skip
    assert back.travel.repository.profile(profile.user_id).email == MAIL  # it is all there again
    assert jobs.clean_restored(back.travel) == 1
    assert _traces(back, profile) == []
    assert back.travel.repository.profile(other).email == "ben@example.com"
    assert not back.travel.privacy.is_restored()
    assert jobs.clean_restored(back.travel) == 0
    # The proof came after the copy was made, and is there again too.
    assert list(back.travel.privacy.erased()) == list(home.travel.privacy.erased())


def test_an_erasure_that_was_begun_holds_in_a_copy_of_before_too(
    recorded: tuple[Engine, Home], clock: Clock, issuer: Issuer, tmp_path: Path
) -> None:
    engine, home = recorded
    profile = lived(home)
    home.travel.privacy.ask(profile.user_id, profile.user_id)
    copy = _exported(engine)
    home.clock.move(UNDO)
    assert jobs.erase(home.travel) == 0
    assert not home.travel.privacy.is_restored()  # the list and the table agree that it was begun
    _imported(engine, copy)
    place = Environment("restored", REGION, table_name="restored-{table}")
    back = home_over(home.call, clock, issuer, tmp_path / "kept", place)
    assert jobs.clean_restored(back.travel) == 1
    assert list(back.travel.privacy.erasures()) == []
    own = home.db.physical("skratch-data")
    assert [trace for trace in _traces(back, profile) if not trace.startswith(f"{own}:")] == []


def _exported(engine: Engine) -> str:
    asked = {"TableArn": f"arn:aws:dynamodb:{REGION}:000000000000:table/skratch-data", "S3Bucket": "vault"}
    arn = engine.call("ExportTableToPointInTime", asked)["ExportDescription"]["ExportArn"]
    engine.settle()
    return data_of(describe(engine, arn))


def _imported(engine: Engine, prefix: str) -> None:
    place = Environment("restored", REGION, table_name="restored-{table}")
    made = create_table(d.TRAVEL, d.TRAVEL.tables["skratch-data"], place)
    names = ("TableName", "AttributeDefinitions", "KeySchema", "BillingMode", "GlobalSecondaryIndexes")
    request = {
        "S3BucketSource": {"S3Bucket": "vault", "S3KeyPrefix": prefix},
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": "GZIP",
        "TableCreationParameters": {name: made[name] for name in names},
    }
    arn = engine.call("ImportTable", request)["ImportTableDescription"]["ImportArn"]
    engine.settle()
    assert describe(engine, arn)["ImportStatus"] == "COMPLETED"
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    engine.call("UpdateTable", {"TableName": made["TableName"], "StreamSpecification": stream})


def test_the_weekly_file_forgets_who_was_erased_and_nobody_else(home: Home) -> None:
    profile = lived(home)
    (name,) = home.objects.names("analytics/")
    other = home.by_mail("ben@example.com").profile.user_id
    home.travel.visits.mark(other, "country", "DE")
    home.clock.move(timedelta(days=7))
    jobs.export_week(home.travel)
    assert {line["region_code"] for line in _exported_lines(home)} == {"FR", "DE"}
    erase(home, profile.user_id)
    assert home.objects.get(name) is not None
    left = _exported_lines(home)
    assert len({line["traveller"] for line in left}) == 2  # the other sharer, and Ben
    assert [line["region_code"] for line in left].count("FR") == 1


def _exported_lines(home: Home) -> list[dict[str, str]]:
    return [
        json.loads(line)
        for name in home.objects.names("analytics/")
        for line in gzip.decompress(home.objects.get(name) or b"").splitlines()
    ]
