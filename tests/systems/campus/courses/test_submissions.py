"""Submissions: parts, drafts, limits, withdrawing, teams, late days; and what a crash or a race must not break."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from tests.systems.campus.courses.talk import COURSE, Class, file_part, text
from tests.systems.campus.talk import refuses
from tests.systems.talk import at_once

from tablewright.edge.errors import CallerError
from tablewright.systems.campus import design as d
from tablewright.systems.campus.courses.parts import NewPart
from tablewright.systems.campus.courses.receipts import Receipts

PDF = b"%PDF-1.7\nhello\n"


# --- parts ---


def test_a_submission_has_files_a_text_and_a_link_and_repeats_its_first_file(lesson: Class) -> None:
    assignment, file = lesson.assignment(), lesson.file("u1", PDF, "report.pdf")
    made = lesson.submit(
        "u1",
        assignment,
        text("see the report"),
        file_part(file),
        NewPart("link", url="https://example.edu/demo"),
    )
    assert [part.kind for part in made.parts] == ["text", "file", "link"]
    assert (made.file_id, made.filename, made.file_size) == (file.file_id, "report.pdf", len(PDF))
    assert made.file_checksum == file.checksum
    assert lesson.row(made) == made


def test_a_receipt_changes_with_any_part(lesson: Class) -> None:
    made = lesson.submit("u1", lesson.assignment(), text("one"))
    receipts = Receipts(b"the campus")
    code = receipts.code(made)
    assert receipts.check(made, f" {code.lower()} ").newest
    other = made.model_copy(update={"parts": [made.parts[0].model_copy(update={"checksum": "sha256:0"})]})
    second = made.model_copy(update={"submission_number": 2})
    later = made.model_copy(update={"submitted_at": made.submitted_at + timedelta(seconds=1)})
    assert len({receipts.code(each) for each in (made, other, second, later)}) == 4
    assert not receipts.check(other, code).valid
    assert not receipts.check(second, code).valid
    assert not Receipts(b"another").check(made, code).valid
    for wrong in ("", "x", code[:-1], code.replace("Z-1-", "Z-9-"), f"{code}\n1"):
        assert not receipts.check(made, wrong).valid


def test_a_receipt_still_confirms_the_first_parts_after_a_teammate_added_more(lesson: Class) -> None:
    made = lesson.submit("u1", lesson.assignment(), text("one"))
    receipts = Receipts(b"the campus")
    joined = made.model_copy(
        update={
            "parts": [*made.parts, made.parts[0].model_copy(update={"checksum": "sha256:0"})],
            "submitted_at": made.submitted_at + timedelta(minutes=5),
        }
    )
    before = receipts.check(joined, receipts.code(made))
    assert (before.valid, before.submitted_at, before.parts, before.newest) == (
        True, made.submitted_at, 1, False
    )  # fmt: skip
    assert receipts.check(joined, receipts.code(joined)).newest


def test_types_are_checked_by_content_and_sizes_by_the_stored_bytes(lesson: Class) -> None:
    assignment = lesson.assignment(allowed_file_types=["application/pdf"], max_file_size=100)
    with refuses("TYPE_NOT_ALLOWED"):
        lesson.submit("u1", assignment, file_part(lesson.file("u1", b"MZ\x90\x00 not a pdf", "report.pdf")))
    with refuses("FILE_TOO_LARGE"):
        lesson.submit("u1", assignment, file_part(lesson.file("u1", PDF + b" " * 100, "report.pdf")))
    lesson.submit("u1", assignment, file_part(lesson.file("u1", PDF, "anything.exe")))


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (NewPart("text", text="  "), "INVALID_TEXT"),
        (NewPart("text", text="x" * 100_001), "INVALID_TEXT"),
        (NewPart("link", url="javascript:alert(1)"), "INVALID_URL"),
        (NewPart("link", url="http://example.edu"), "INVALID_URL"),
        (NewPart("link", url="https://"), "INVALID_URL"),
        (NewPart("file", file_id="../../etc/passwd"), "FILE_NOT_FOUND"),
    ],
)
def test_a_part_that_is_none_is_refused_and_uses_no_attempt(lesson: Class, part: NewPart, code: str) -> None:
    assignment = lesson.assignment()
    with refuses(code):
        lesson.submit("u1", assignment, part)
    assert lesson.campus.assignments.count(assignment.assignment_id) == 0


def test_another_students_file_cannot_be_submitted(lesson: Class) -> None:
    with refuses("NOT_SHARED"):
        lesson.submit("u1", lesson.assignment(), file_part(lesson.file("u2", PDF)))


def test_one_to_twenty_parts(lesson: Class) -> None:
    assignment = lesson.assignment()
    with refuses("NO_PARTS"):
        lesson.campus.submissions.submit(lesson.member("u1"), assignment, parts=[])
    with refuses("TOO_MANY_PARTS"):
        lesson.submit("u1", assignment, *[text(f"part {n}") for n in range(21)])
    assert len(lesson.submit("u1", assignment, *[text(f"part {n}") for n in range(20)]).parts) == 20


# --- when ---


def test_work_is_accepted_from_its_start_until_its_end(lesson: Class) -> None:
    start, due = lesson.now() + timedelta(days=1), lesson.now() + timedelta(days=2)
    end = due + timedelta(days=1)
    assignment = lesson.assignment(available_from=start, due_date=due, accept_until=end)
    with refuses("NOT_AVAILABLE"):
        lesson.submit("u1", assignment)
    lesson.at.later(days=1)
    assert not lesson.submit("u1", assignment).is_late
    lesson.at.clock.move(end - lesson.now())
    assert lesson.submit("u1", assignment).is_late
    lesson.at.later(seconds=1)
    with refuses("DEADLINE_PASSED"):
        lesson.submit("u1", assignment)


def test_an_extension_is_for_its_student_and_can_have_more_attempts(lesson: Class) -> None:
    assignment = lesson.assignment(late_policy="reject", max_submissions=1)
    fields = {"due_date": assignment.due_date + timedelta(days=2), "extra_submissions": 1}
    u1 = lesson.people["u1"].user_id
    lesson.campus.assignments.override(lesson.member(), assignment.assignment_id, "student", u1, fields)
    lesson.at.clock.move(assignment.due_date + timedelta(hours=1) - lesson.now())
    assert [lesson.submit("u1", assignment).submission_number for _ in range(2)] == [1, 2]
    with refuses("DEADLINE_PASSED"):
        lesson.submit("u2", assignment)


def test_a_date_that_changes_while_a_submission_is_written_decides_about_it(lesson: Class) -> None:
    """The transaction depends on the acceptance row: no submission keeps dates that were changed before it."""
    assignment = lesson.assignment()
    lesson.at.clock.move(assignment.due_date + timedelta(minutes=5) - lesson.now())
    service, changed = lesson.campus.submissions, list[bool]()
    owners_of = service._owners.of

    def meddled(found: object, student: object) -> object:
        owner = owners_of(found, student)  # type: ignore[arg-type]  # passed on
        if not changed:
            changed.append(True)
            later = {"due_date": assignment.due_date + timedelta(days=1)}
            lesson.campus.assignments.change(lesson.member(), assignment.assignment_id, later)
        return owner

    service._owners.of = meddled  # type: ignore[method-assign,assignment]  # in the middle of the attempt
    made = service.submit(lesson.member("u1"), assignment, parts=[text()])
    assert (made.is_late, made.due_date) == (False, assignment.due_date + timedelta(days=1))


def test_however_dates_change_in_a_rush_every_row_ends_with_the_dates_that_apply(lesson: Class) -> None:
    for n in range(3, 9):
        lesson.person(f"u{n}", section="A" if n % 2 else "B")
    assignment, service = lesson.assignment(max_submissions=5), lesson.campus.assignments
    lesson.at.clock.move(assignment.due_date + timedelta(hours=1) - lesson.now())
    members, staff, due = (
        {f"u{n}": lesson.member(f"u{n}") for n in range(1, 9)},
        lesson.member(),
        assignment.due_date,
    )
    submits = [
        lambda member=member: lesson.campus.submissions.submit(member, assignment, parts=[text()])
        for member in (*members.values(), *members.values())
    ]
    changes = [
        lambda: service.change(staff, assignment.assignment_id, {"due_date": due + timedelta(minutes=5)}),
        lambda: service.override(
            staff, assignment.assignment_id, "section", "A", {"due_date": due + timedelta(hours=2)}
        ),
        lambda: service.override(
            staff,
            assignment.assignment_id,
            "student",
            members["u2"].user.user_id,
            {"due_date": due + timedelta(days=1)},
        ),
    ]
    found = at_once([*submits[:6], changes[0], *submits[6:10], changes[1], *submits[10:], changes[2]], 8)
    assert not [each for each in found if isinstance(each, Exception)]
    lesson.run_tasks()
    moved = {"A": timedelta(hours=2), "B": timedelta(minutes=5)}
    for name, member in members.items():
        assert member.enrolment is not None
        wanted = due + (timedelta(days=1) if name == "u2" else moved[member.enrolment.section or ""])
        rows = lesson.campus.owners.submissions(assignment.assignment_id, member.user.user_id)
        assert [(row.due_date, row.is_late) for row in rows] == [(wanted, wanted < lesson.now())] * 2, name


def test_a_closed_assignment_takes_no_work_and_a_reopened_one_does(lesson: Class) -> None:
    assignment, service = lesson.assignment(), lesson.campus.assignments
    service.close(lesson.member(), assignment.assignment_id)
    with refuses("DEADLINE_PASSED"):
        lesson.submit("u1", assignment)
    service.reopen(lesson.member(), assignment.assignment_id)
    assert lesson.submit("u1", assignment).submission_number == 1


# --- the statement, and staff ---


def test_the_statement_that_was_agreed_to_is_recorded(lesson: Class) -> None:
    assignment = lesson.assignment(statement="This is my own work.")
    with refuses("STATEMENT_REQUIRED"):
        lesson.submit("u1", assignment)
    assert lesson.submit("u1", assignment, agreed=True).statement_agreed == "This is my own work."


def test_staff_submits_for_a_student_and_it_says_so(lesson: Class) -> None:
    assignment, u1 = lesson.assignment(), lesson.people["u1"]
    member, service = lesson.member(), lesson.campus.submissions
    made = service.submit(member, assignment, parts=[text("by mail")], on_behalf_of=u1.user_id)
    assert (made.student_id, made.submitted_by, made.on_behalf) == (u1.user_id, lesson.teacher.user_id, True)
    with refuses("STUDENT_REQUIRED"):
        service.submit(member, assignment, parts=[text()])
    with refuses("COURSE_STAFF_ONLY"):
        service.submit(lesson.member("u2"), assignment, parts=[text()], on_behalf_of=u1.user_id)


# --- drafts ---


def test_a_draft_collects_parts_and_ends_with_the_submission(lesson: Class) -> None:
    assignment, drafts = lesson.assignment(), lesson.campus.drafts
    member = lesson.member("u1")
    assert drafts.mine(member, assignment).version == 0
    drafts.add(member, assignment, text("one"), 0)
    two = drafts.add(member, assignment, text("two"), 1)
    left = drafts.remove(member, assignment, two.parts[0].part_id, two.version)
    drafts.comment(member, assignment, "please look at 2", left.version)
    made = lesson.campus.submissions.submit(member, assignment, draft=4)
    assert ([part.text for part in made.parts], made.comments) == (["two"], "please look at 2")
    assert drafts.mine(member, assignment).version == 0


def test_a_draft_with_a_file_that_was_purged_says_which_one(lesson: Class) -> None:
    assignment, file = lesson.assignment(), lesson.file("u1", name="report.txt")
    campus, u1 = lesson.campus, lesson.people["u1"]
    campus.drafts.add(lesson.member("u1"), assignment, file_part(file))
    campus.library.trash(u1, file.file_id)
    campus.purge.empty_trash(u1)
    with refuses("DELETED"):
        campus.submissions.submit(lesson.member("u1"), assignment)


def test_a_part_is_added_on_the_version_that_was_seen(lesson: Class) -> None:
    group_set, _ = lesson.team("u1", "u2")
    assignment, drafts = lesson.assignment(group_set_id=group_set.group_set_id), lesson.campus.drafts
    drafts.add(lesson.member("u1"), assignment, text("mine"), 0)
    with refuses("VERSION_CONFLICT"):
        drafts.add(lesson.member("u2"), assignment, text("unseen"), 0)
    both = drafts.add(lesson.member("u2"), assignment, text("mine too"), 1)
    assert [part.text for part in both.parts] == ["mine", "mine too"]


def test_of_twenty_members_parts_at_once_none_replaces_another(lesson: Class) -> None:
    group_set, _ = lesson.team("u1", "u2")
    assignment = lesson.assignment(group_set_id=group_set.group_set_id)
    members = [lesson.member("u1"), lesson.member("u2")]
    work = [
        lambda n=n: lesson.campus.drafts.add(members[n % 2], assignment, text(f"part {n}")) for n in range(20)
    ]
    assert not [each for each in at_once(work, 8) if isinstance(each, Exception)]
    found = lesson.campus.drafts.mine(members[0], assignment)
    assert sorted(part.text or "" for part in found.parts) == sorted(f"part {n}" for n in range(20))


# --- teams ---


def test_two_who_submit_the_same_draft_of_their_team_make_one_attempt(lesson: Class) -> None:
    group_set, _ = lesson.team("u1", "u2")
    assignment = lesson.assignment(group_set_id=group_set.group_set_id)
    members = [lesson.member("u1"), lesson.member("u2")]
    draft = lesson.campus.drafts.add(members[0], assignment, text("ours"), 0)
    submit = lesson.campus.submissions.submit
    work = [
        lambda member=member: submit(member, assignment, draft=draft.version, attempt=1) for member in members
    ]
    one, other = at_once(work, 2)
    assert not isinstance(one, Exception), one
    assert not isinstance(other, Exception), other
    assert one.submission_id == other.submission_id
    assert lesson.campus.assignments.count(assignment.assignment_id) == 1


def test_a_team_must_say_which_attempt_it_makes_and_a_marked_one_gets_no_more_parts(lesson: Class) -> None:
    group_set, _ = lesson.team("u1", "u2")
    assignment = lesson.assignment(group_set_id=group_set.group_set_id)
    with refuses("ATTEMPT_REQUIRED"):
        lesson.submit("u1", assignment)
    made = lesson.submit("u1", assignment, attempt=1)
    stored = lesson.row(made)
    assert stored is not None
    marked = stored.model_copy(update={"marking_state": "in marking"})
    lesson.at.db.write(d.submissions.change(stored, marked))
    with refuses("ALREADY_MARKED"):
        lesson.submit("u2", assignment, attempt=1)
    assert lesson.submit("u2", assignment, attempt=2).submission_number == 2


def test_a_late_teammate_does_not_make_the_team_late(lesson: Class) -> None:
    group_set, _ = lesson.team("u1", "u2")
    assignment = lesson.assignment(group_set_id=group_set.group_set_id)
    lesson.submit("u1", assignment, attempt=1)
    lesson.at.clock.move(assignment.due_date + timedelta(seconds=1) - lesson.now())
    with refuses("LATE_FOR_ATTEMPT"):
        lesson.submit("u2", assignment, attempt=1)
    assert lesson.submit("u2", assignment, attempt=2).is_late


def test_the_members_of_a_submission_stay_when_the_team_changes(lesson: Class) -> None:
    group_set, team = lesson.team("u1", "u2")
    assignment = lesson.assignment(group_set_id=group_set.group_set_id)
    made = lesson.submit("u1", assignment, attempt=1)
    u2 = lesson.people["u2"]
    lesson.campus.teams.take_out(lesson.member(), group_set, team.team_id, u2.user_id)
    stored = lesson.row(made)
    assert stored is not None
    assert u2.user_id in stored.member_ids
    with refuses("NO_TEAM"):
        lesson.submit("u2", assignment, attempt=2)


# --- taking back ---


def test_a_withdrawn_attempt_is_a_draft_again_and_its_number_is_free(lesson: Class) -> None:
    assignment, file = lesson.assignment(max_submissions=1), lesson.file("u1", PDF)
    made = lesson.submit("u1", assignment, file_part(file), key="a-key-of-mine")
    draft = lesson.campus.withdrawals.withdraw(lesson.member("u1"), assignment, made)
    assert draft.parts == made.parts
    assert lesson.row(made) is None
    assert lesson.campus.repository.file(file.file_id).held_by == []
    again = lesson.campus.submissions.submit(lesson.member("u1"), assignment, draft=draft.version)
    assert (again.submission_number, again.parts) == (1, made.parts)
    with refuses("WITHDRAWN"):
        lesson.submit("u1", assignment, file_part(file), key="a-key-of-mine")


def test_after_the_deadline_only_staff_takes_an_attempt_back(lesson: Class) -> None:
    assignment = lesson.assignment()
    made = lesson.submit("u1", assignment)
    lesson.at.clock.move(assignment.due_date + timedelta(seconds=1) - lesson.now())
    with refuses("DEADLINE_PASSED"):
        lesson.campus.withdrawals.withdraw(lesson.member("u1"), assignment, made)
    with refuses("COURSE_STAFF_ONLY"):
        lesson.campus.withdrawals.set_back(lesson.member("u1"), made)
    lesson.campus.withdrawals.set_back(lesson.member(), made, "wrong file")
    actions = [entry.action for entry in lesson.at.db.all(d.audit.of(f"submission:{made.submission_id}"))]
    assert sorted(actions) == ["set back to draft", "submitted"]


def test_only_the_last_attempt_that_is_not_marked_can_be_taken_back(lesson: Class) -> None:
    assignment = lesson.assignment()
    first, second = lesson.submit("u1", assignment), lesson.submit("u1", assignment)
    with refuses("NOT_LAST"):
        lesson.campus.withdrawals.withdraw(lesson.member("u1"), assignment, first)
    stored = lesson.row(second)
    assert stored is not None
    graded = stored.model_copy(update={"status": "graded"})
    lesson.at.db.write(d.submissions.move(stored, graded, by="staff"))
    with refuses("ALREADY_MARKED"):
        lesson.campus.withdrawals.withdraw(lesson.member("u1"), assignment, second)


def test_withdrawing_and_submitting_at_once_leaves_as_many_rows_as_the_counter_says(lesson: Class) -> None:
    assignment = lesson.assignment(max_submissions=50)
    made = lesson.submit("u1", assignment)
    member, service = lesson.member("u1"), lesson.campus.submissions
    work = [
        *(lambda: lesson.campus.withdrawals.withdraw(member, assignment, made) for _ in range(3)),
        *(lambda: service.submit(member, assignment, parts=[text()]) for _ in range(4)),
    ]
    refusals = [each for each in at_once(work, 7) if isinstance(each, Exception)]
    assert all(isinstance(each, CallerError) for each in refusals), refusals
    rows = lesson.campus.owners.submissions(assignment.assignment_id, member.user.user_id)
    assert [row.submission_number for row in rows] == list(range(1, len(rows) + 1))
    assert lesson.campus.owners.attempts(assignment, member.user.user_id) == len(rows)


# --- late days ---


def test_late_days_are_taken_once_and_given_back(lesson: Class) -> None:
    lesson.campus.courses.change(lesson.member(), {"late_days": 3})
    assignment = lesson.assignment(
        late_policy="penalise", late_penalty={"percent": Decimal(10), "unit": "day"}, max_submissions=5
    )

    def used() -> int:
        found = lesson.campus.repository.enrolment(lesson.people["u1"].user_id, COURSE)
        assert found is not None
        return found.late_days_used

    lesson.at.clock.move(assignment.due_date + timedelta(hours=1) - lesson.now())
    assert lesson.submit("u1", assignment).late_days_used == 1
    lesson.submit("u1", assignment)
    assert used() == 1
    lesson.at.later(days=1)
    last = lesson.submit("u1", assignment)
    assert (last.late_days_used, used()) == (2, 2)
    lesson.campus.withdrawals.set_back(lesson.member(), last)
    assert used() == 1
    lesson.campus.assignments.change(
        lesson.member(), assignment.assignment_id, {"due_date": assignment.due_date + timedelta(days=5)}
    )
    lesson.run_tasks()
    assert used() == 0


def test_removed_students_cannot_submit(lesson: Class) -> None:
    assignment, member = lesson.assignment(), lesson.member("u1")
    lesson.campus.courses.remove(lesson.member(), member.user.user_id)
    with refuses("NOT_ENROLLED"):
        lesson.campus.submissions.submit(member, assignment, parts=[text()])
