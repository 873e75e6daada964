"""Shares: recipients, terms, notices, pending addresses, lists, and what follows without a request."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from tests.client.ways import WAYS
from tests.systems.campus.sharing.conftest import Shared
from tests.systems.campus.talk import refuses
from tests.systems.talk import at_once

from tablewright.edge.errors import CallerError
from tablewright.kit.tasks import Worker
from tablewright.systems.campus import design as d
from tablewright.systems.campus import rules
from tablewright.systems.campus.model import Permission, Share
from tablewright.systems.campus.sharing import recipients
from tablewright.systems.campus.sharing.addressees import RecipientName
from tablewright.systems.campus.sharing.pending_shares import claim_pending, has_pending, merged


@pytest.fixture
def shared(campus_shares: Shared) -> Shared:
    return campus_shares


# --- making ---


def test_a_share_is_written_with_its_notification_its_mail_and_its_audit_entry(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.file(ada, "résumé 日本語.pdf")
    [share] = shared.share(ada, file, "BOB@campus.example", message="Please comment.")
    assert shared.notices(bob) == ["ada shared “résumé 日本語.pdf” with you."]
    [mail] = shared.mails(bob.email)
    assert "Please comment." in mail
    assert f"https://campus.example/console/campus/shared/{share.share_id}" in mail
    [entry] = shared.at.db.all(shared.at.campus.repository.history(f"file:{file.file_id}"))
    assert (entry.action, entry.after["with"]) == ("shared", "bob")


def test_sharing_again_is_refused_unless_someone_is_new_and_a_revoked_share_becomes_active_again(
    shared: Shared,
) -> None:
    ada, bob, cy = shared.user("ada"), shared.user("bob"), shared.user("cy")
    file = shared.file(ada)
    [first] = shared.share(ada, file, bob.email)
    with refuses("ALREADY_SHARED"):
        shared.share(ada, file, bob.email)
    assert [each.shared_with_name for each in shared.share(ada, file, bob.email, cy.email)] == ["bob", "cy"]
    shared.at.campus.shares.revoke(ada, first.share_id)
    [again] = shared.share(ada, file, bob.email, permissions="write")
    assert (again.share_id, again.status, again.revoked_at) == (first.share_id, "active", None)
    assert shared.read(bob, file, write=True) is not None


def test_of_many_who_share_with_one_recipient_at_once_one_makes_the_share(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.file(ada)
    found = at_once([lambda: shared.share(ada, file, bob.email)] * 8)
    assert sum(isinstance(one, CallerError) and one.code == "ALREADY_SHARED" for one in found) == 7
    assert len(shared.notices(bob)) == 1


def test_every_mistake_among_the_recipients_is_named_and_nothing_is_shared(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.file(ada)
    named = [RecipientName(email=text) for text in (bob.email, "nonsense", ada.email)]
    with pytest.raises(CallerError, match=r"nonsense.*own address.*not in the course X-1") as mistake:
        shared.at.campus.addressees.find(ada, [*named, RecipientName(course_id="X-1")])
    assert (mistake.value.code, mistake.value.field) == ("INVALID_EMAIL", "recipients")
    assert shared.received(bob) == []
    many = [f"p{n}@campus.example" for n in range(101)]
    with refuses("TOO_MANY_RECIPIENTS"):
        shared.share(ada, file, *many)
    assert len(shared.share(ada, file, *many[:100])) == 100


def test_only_the_owner_shares_and_nothing_that_is_in_the_trash_or_quarantined(shared: Shared) -> None:
    ada, bob, cy = shared.user("ada"), shared.user("bob"), shared.user("cy")
    file = shared.file(ada)
    shared.share(ada, file, bob.email, permissions="write")
    with refuses("OWNER_ONLY"):
        shared.share(bob, file, cy.email)
    with refuses("NOT_SHARED"):
        shared.share(cy, file, bob.email)
    with refuses("DELETED"):
        shared.share(ada, shared.file(ada, status="deleted"), bob.email)
    with refuses("QUARANTINED"):
        shared.share(ada, shared.file(ada, status="quarantined"), bob.email)
    with refuses("FILE_NOT_FOUND"):
        shared.share(ada, shared.file(ada, upload_state="pending"), bob.email)


def test_a_student_shares_with_own_courses_and_teams_only_and_staff_with_every_team(shared: Shared) -> None:
    ada, bob, tess = shared.user("ada"), shared.user("bob"), shared.user("tess", "instructor")
    course = shared.course(student_1=ada, student_2=bob, instructor_3=tess)
    other = shared.course("CS202", student_1=bob)
    team = shared.team(course, bob)
    file = shared.file(ada)
    with refuses("NOT_ENROLLED"):
        shared.share(ada, file, other)
    with refuses("TEAM_NOT_FOUND"):
        shared.share(ada, file, team)
    [share] = shared.share(tess, shared.file(tess), team)
    assert share.shared_with_name == "Team 1 (CS101)"


def test_everyone_in_a_course_is_told_once_however_often_the_task_runs(shared: Shared) -> None:
    ada, bob, cy = shared.user("ada"), shared.user("bob"), shared.user("cy")
    shared.share(ada, shared.file(ada), shared.course(student_1=ada, student_2=bob, student_3=cy))
    campus = shared.at.campus
    [task] = [each for each in d.tasks.open(shared.at.db) if each.kind == "share"]
    campus.share_jobs.tell_group(task)
    Worker(d.tasks, shared.at.db, {"share": campus.share_jobs.tell_group}).run(task.task_id)
    assert [len(shared.notices(user)) for user in (ada, bob, cy)] == [0, 1, 1]


# --- terms ---


def test_a_share_ends_with_the_day_where_its_maker_is() -> None:
    assert rules.end_of_day(date(2030, 7, 1), "Africa/Johannesburg") == datetime(
        2030, 7, 1, 21, 59, 59, tzinfo=UTC
    )
    # The day on which clocks change has 25 hours.
    assert rules.end_of_day(date(2030, 10, 27), "Europe/Berlin") == datetime(
        2030, 10, 27, 22, 59, 59, tzinfo=UTC
    )


def test_an_end_in_the_past_and_a_long_message_are_refused(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.file(ada)
    with refuses("INVALID_EXPIRY"):
        shared.share(ada, file, bob.email, expires_at=shared.at.clock.now())
    with refuses("INVALID_MESSAGE"):
        shared.share(ada, file, bob.email, message="x" * 1001)
    assert shared.received(bob) == []


def test_an_owner_changes_permission_and_end_and_the_next_access_goes_by_them(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file, shares = shared.file(ada), shared.at.campus.shares
    [share] = shared.share(ada, file, bob.email, permissions="write")
    end = shared.at.clock.now() + timedelta(hours=1)
    changed = shares.change(ada, share.share_id, {"permissions": "read", "expires_at": end})
    assert (changed.permissions, changed.expires_at, changed.removed_at) == ("read", end, end)
    with refuses("READ_ONLY"):
        shared.read(bob, file, write=True)
    with refuses("OWNER_ONLY"):
        shares.change(bob, share.share_id, {"permissions": "write"})
    with refuses("SHARE_NOT_FOUND"):
        shares.revoke(shared.user("eve"), share.share_id)
    without_end = shares.change(ada, share.share_id, {"expires_at": None})
    assert without_end.removed_at is None
    assert "ttl" not in (shared.row(share) or {})


# --- lists ---


def test_shared_with_me_has_nothing_that_its_reader_shares_with_a_course_of_their_own(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    course = shared.course(student_1=ada, student_2=bob)
    [share] = shared.share(ada, shared.file(ada), course)
    assert shared.received(ada) == []
    assert [each.share_id for each in shared.received(bob)] == [share.share_id]


def test_shared_with_me_merges_user_courses_and_teams_newest_first_in_full_pages(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    course = shared.course(student_1=ada, student_2=bob)
    team = shared.team(course, ada, bob)
    made: list[Share] = []
    for n in range(30):
        to: Any = (bob.email, course, team)[n % 3]
        end = shared.at.clock.now() + timedelta(minutes=5) if n % 5 == 0 else None
        made += shared.share(ada, shared.file(ada, f"{n}.txt"), to, expires_at=end)
        shared.at.later(seconds=1)
    for share in made[7:9]:
        shared.at.campus.shares.revoke(ada, share.share_id)
    shared.at.later(minutes=10)
    wanted = [each.share_id for n, each in enumerate(made) if n % 5 and n not in (7, 8)][::-1]
    campus, pages, token = shared.at.campus, [], None
    while True:
        page = campus.repository.page(campus.shares.with_user(bob), 9, token, bob.user_id)
        pages.append([each.share_id for each in page.items])
        token = page.next
        if token is None:
            break
        shared.at.later(seconds=1)  # a token still fits when the clock has moved
    assert [len(page) for page in pages] == [9, 9, 4]
    assert [one for page in pages for one in page] == wanted


def test_the_owner_sees_shares_that_ended_until_they_are_removed(shared: Shared) -> None:
    ada, bob, cy = shared.user("ada"), shared.user("bob"), shared.user("cy")
    file = shared.file(ada)
    [ended] = shared.share(ada, file, bob.email, expires_at=shared.at.clock.now() + timedelta(hours=1))
    [other] = shared.share(ada, file, cy.email)
    shared.at.campus.shares.revoke(ada, other.share_id)
    shared.at.later(hours=2)
    listed = shared.at.campus.shares.of(shared.at.campus.targets.file(ada, file.file_id), None, None)
    now = shared.at.campus.repository.now()
    assert {each.share_id: rules.share_status(each, now) for each in listed.items} == {
        ended.share_id: "expired",
        other.share_id: "revoked",
    }
    [again] = shared.share(ada, file, bob.email)
    assert again.share_id != ended.share_id
    assert shared.read(bob, file) is not None


# --- addresses without an account ---


def test_an_address_without_an_account_gets_a_mail_and_no_key_names_it(shared: Shared) -> None:
    ada = shared.user("ada")
    [share] = shared.share(ada, shared.file(ada), "New.Person@University.edu")
    assert share.shared_with_user_id == recipients.of_address("new.person@university.edu")
    assert "person" not in share.shared_with_user_id
    [mail] = shared.mails("new.person@university.edu")
    assert "Sign in with the address new.person@university.edu" in mail
    assert has_pending(shared.at.campus.repository, "new.person@university.edu")
    admits = shared.at.campus.users.admits
    assert (admits("NEW.person@university.edu"), admits("other@university.edu")) == (True, False)


def test_a_share_that_was_made_while_its_recipient_signed_up_is_not_lost(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.file(ada)
    [share] = shared.share(ada, file, "late@campus.example")
    # As if the share's maker had looked bob up just before bob signed up.
    late = bob.model_copy(update={"email": "late@campus.example"})
    assert shared.read(late, file) is not None
    assert [each.share_id for each in shared.received(late)] == [share.share_id]
    assert claim_pending(shared.at.campus.repository, late) == 1
    assert claim_pending(shared.at.campus.repository, late) == 0
    [own] = shared.received(late)
    assert (own.share_id, own.shared_with_user_id) == (share.share_id, bob.user_id)
    assert shared.at.campus.shares.revoke(ada, share.share_id).shared_with_user_id == bob.user_id


def test_two_shares_of_one_file_become_one_with_the_more_of_both(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.file(ada)
    shared.share(ada, file, bob.email, expires_at=shared.at.clock.now() + timedelta(days=1))
    shared.share(ada, file, "other@campus.example", permissions="write")
    assert (
        claim_pending(shared.at.campus.repository, bob.model_copy(update={"email": "other@campus.example"}))
        == 1
    )
    [own] = shared.received(bob)
    assert (own.permissions, own.expires_at, own.removed_at) == ("write", None, None)


def terms(permissions: Permission, days: int | None) -> Share:
    now = datetime(2030, 2, 4, tzinfo=UTC)
    end = None if days is None else now + timedelta(days=days)
    return Share(
        file_id="f", shared_with_user_id="u", share_id="s", owner_id="o", shared_at=now, permissions=permissions,
        expires_at=end, removed_at=end,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (("read", None), ("read", None), ("read", None)),
        (("read", 1), ("write", None), ("write", None)),
        (("read", 1), ("read", 2), ("read", 2)),
        (("read", 1), ("write", 1), ("write", 1)),
        (("read", 1), ("write", 2), ("write", 2)),
        (("write", 1), ("write", None), ("write", None)),
        (("read", None), ("write", 1), None),
        (("read", 2), ("write", 1), None),
    ],
)
def test_two_shares_become_one_only_if_one_allows_all_that_the_other_does(
    one: tuple[Permission, int | None],
    other: tuple[Permission, int | None],
    both: tuple[Permission, int | None] | None,
) -> None:
    expected = None if both is None else terms(*both)
    assert merged(terms(*one), terms(*other)) == expected
    assert merged(terms(*other), terms(*one)) == expected


def test_reading_without_end_and_writing_until_tomorrow_stay_two_shares(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file, tomorrow = shared.file(ada), shared.at.clock.now() + timedelta(days=1)
    shared.share(ada, file, bob.email)
    shared.share(ada, file, "other@campus.example", permissions="write", expires_at=tomorrow)
    bob = bob.model_copy(update={"email": "other@campus.example"})
    assert claim_pending(shared.at.campus.repository, bob) == 0
    found = {(one.permissions, one.expires_at) for one in shared.received(bob)}
    assert found == {("read", None), ("write", tomorrow)}
    assert shared.read(bob, file, write=True) is not None
    shared.at.later(days=1)
    with refuses("READ_ONLY"):
        shared.read(bob, file, write=True)
    assert shared.read(bob, file) is not None


# --- without a request ---


def test_an_owner_is_told_once_that_a_share_has_ended_by_the_job_or_by_the_stream(shared: Shared) -> None:
    ada, bob, cy = shared.user("ada"), shared.user("bob"), shared.user("cy")
    campus = shared.at.campus
    follower = campus.share_jobs.consumer()
    follower.create_tables()
    end = shared.at.clock.now() + timedelta(hours=1)
    shared.share(ada, shared.file(ada, "a.txt"), bob.email, expires_at=end)
    shared.at.later(hours=2)
    assert campus.share_jobs.notify_ended() == 1
    assert campus.share_jobs.notify_ended() == 0
    assert shared.notices(ada) == ["“a.txt” is no longer shared with bob: the share has ended."]
    shared.share(
        ada, shared.file(ada, "b.txt"), cy.email, expires_at=shared.at.clock.now() + timedelta(hours=1)
    )
    shared.at.later(hours=2)
    assert shared.at.engine is not None
    shared.at.engine.settle()  # TTL removes both rows
    follower.run_once()
    assert shared.notices(ada)[0] == "“b.txt” is no longer shared with cy: the share has ended."
    assert len(shared.notices(ada)) == 2


def test_statistics_count_each_share_once_also_one_that_was_claimed(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    follower = shared.at.campus.share_jobs.consumer()
    follower.create_tables()
    shared.share(ada, shared.file(ada), bob.email, "later@campus.example")
    later = shared.user("later")
    follower.run_once()
    counts = [shared.at.again(user).statistics for user in (ada, bob, later)]
    assert [(one.files_shared, one.files_received) for one in counts] == [(2, 0), (0, 1), (0, 1)]


def test_the_shares_of_a_folder_go_with_it(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    folder = shared.at.campus.folders.create(ada, "Notes")
    [share] = shared.share(ada, folder, bob.email)
    shared.at.campus.library.trash_folder(ada, folder.folder_id)
    assert shared.row(share) is None


def test_shares_with_people_who_are_gone_for_90_days_are_removed(shared: Shared) -> None:
    ada, bob, cy = shared.user("ada"), shared.user("bob"), shared.user("cy")
    root = shared.user("root", "admin")
    shares = shared.share(ada, shared.file(ada), bob.email, cy.email)
    shared.at.campus.users.suspend(bob.user_id, root, "left")
    shared.at.later(days=89)
    assert shared.at.campus.share_jobs.remove_stale() == 0
    shared.at.later(days=2)
    assert shared.at.campus.share_jobs.remove_stale() == 1
    assert [shared.row(each) is None for each in shares] == [True, False]


class TestScenarios:
    """On every way to a database."""

    @pytest.fixture(params=list(WAYS))
    def way(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    def test_cc_s14_a_share_with_an_address_without_an_account_is_there_at_the_first_sign_in(
        self, shared: Shared
    ) -> None:
        ada = shared.user("ada")
        file = shared.file(ada)
        shared.share(ada, file, "New.Person@University.edu")
        new = shared.user("new", email="new.person@university.edu")
        assert [each.file_id for each in shared.received(new)] == [file.file_id]
        assert shared.received(new)[0].shared_with_user_id == new.user_id
        assert shared.read(new, file) is not None
        with refuses("EMAIL_EXISTS"):
            shared.user("again", email="NEW.person@university.edu")
