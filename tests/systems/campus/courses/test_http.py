"""The API of courses, assignments, drafts and submissions over HTTP: what it takes, what it answers, who may."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.systems.campus.courses.talk import COURSE, Class, file_part, text
from tests.systems.campus.talk import Api
from tests.systems.talk import given, refused

from tablewright.systems.campus.model import User

CSV = {"Content-Type": "text/csv"}


def test_a_course_is_created_changed_and_listed_with_ones_role(lesson: Class, api: Api) -> None:
    body = {"courseId": "MA2", "name": "Analysis", "semester": "2030", "semesterEnd": "2030-09-30T00:00:00Z"}
    assert refused(api.post("/courses", body, by=lesson.people["u1"])) == (403, "INSTRUCTOR_ONLY")
    made = given(api.post("/courses", body, by=lesson.teacher), 201)
    assert refused(api.post("/courses", body, by=lesson.teacher)) == (409, "EXISTS")
    answer = api.post("/courses", {**body, "courseId": "no spaces"}, by=lesson.teacher)
    assert refused(answer) == (422, "INVALID_ID")
    changed = given(
        api.patch(
            "/courses/MA2", {"lateDays": 2}, by=lesson.teacher, headers={"If-Match": f'"{made["version"]}"'}
        )
    )
    assert (changed["lateDays"], changed["name"]) == (2, "Analysis")
    stale = api.patch("/courses/MA2", {"lateDays": 3}, by=lesson.teacher, headers={"If-Match": '"1"'})
    assert refused(stale) == (409, "VERSION_CONFLICT")
    mine = given(api.get("/courses", by=lesson.teacher))["items"]
    assert {(each["course"]["courseId"], each["role"]) for each in mine} == {
        ("MA2", "instructor"), (COURSE, "instructor"),
    }  # fmt: skip


def test_people_are_enrolled_by_address_and_listed_for_staff(lesson: Class, api: Api) -> None:
    path = f"/courses/{COURSE}/enrollments"
    assert refused(api.get(path, by=lesson.people["u1"])) == (403, "COURSE_STAFF_ONLY")
    assert refused(api.post(path, {"email": "eve@campus.example"}, by=lesson.teacher)) == (
        404,
        "USER_NOT_FOUND",
    )
    eve = {"email": "eve@campus.example", "name": "Eve", "role": "ta"}
    added = given(api.post(path, eve, by=lesson.teacher), 201)
    assert given(api.post(path, eve, by=lesson.teacher), 201) == added
    answer = api.post(path, {**eve, "section": "Z"}, by=lesson.teacher)
    assert refused(answer) == (422, "SECTION_NOT_FOUND")
    staff = given(api.get(f"{path}?role=ta", by=lesson.teacher))["items"]
    assert [each["name"] for each in staff] == ["Eve"]
    assert api.delete(f"{path}/{added['userId']}", by=lesson.teacher).status_code == 204
    assert refused(api.delete(f"{path}/{added['userId']}", by=lesson.teacher)) == (404, "ENROLMENT_NOT_FOUND")
    assert refused(api.delete(f"{path}/{lesson.teacher.user_id}", by=lesson.teacher)) == (
        422,
        "OWN_ENROLMENT",
    )


def test_a_roster_is_the_body_of_a_request(lesson: Class, api: Api) -> None:
    rows = b"email,name\nada@campus.example,Ada\n"
    path = f"/courses/{COURSE}/roster"
    preview = given(api.ask("POST", f"{path}:preview", by=lesson.teacher, content=rows, headers=CSV))
    assert preview["counts"] == {"new person": 1}
    assert given(api.ask("POST", path, by=lesson.teacher, content=rows, headers=CSV))["counts"] == {
        "new person": 1
    }
    assert given(api.ask("POST", path, by=lesson.teacher, content=rows, headers=CSV))["counts"] == {
        "unchanged": 1
    }
    assert refused(api.ask("POST", path, by=lesson.people["u1"], content=rows))[1] == "INSTRUCTOR_ONLY"
    assert refused(api.ask("POST", "/roster", by=lesson.teacher, content=rows)) == (403, "ADMIN_ONLY")


def test_teams_over_http(lesson: Class, api: Api) -> None:
    path, u1, teacher = f"/courses/{COURSE}/group-sets", lesson.people["u1"], lesson.teacher
    assert refused(api.post(path, {"name": "Mine"}, by=u1)) == (403, "COURSE_STAFF_ONLY")
    group_set = given(api.post(path, {"name": "Labs", "selfEnrolment": True, "teamSize": 2}, by=teacher), 201)
    teams = f"{path}/{group_set['groupSetId']}/teams"
    team = given(api.post(teams, {"name": "Lab A"}, by=teacher), 201)
    assert given(api.post(f"{teams}/{team['teamId']}:join", by=u1))["memberIds"] == [u1.user_id]
    assert given(api.post(f"{teams}/{team['teamId']}:leave", by=u1))["memberIds"] == []
    put = api.put(f"{teams}/{team['teamId']}/members/{u1.user_id}", None, by=teacher)
    assert given(put)["memberIds"] == [u1.user_id]
    assert given(api.delete(f"{teams}/{team['teamId']}/members/{u1.user_id}", by=teacher))["memberIds"] == []
    stranger = api.put(f"{teams}/{team['teamId']}/members/user-stranger", None, by=teacher)
    assert refused(stranger) == (404, "STUDENT_NOT_FOUND")
    made = given(api.post(f"{teams}:random", {"teamSize": 2}, by=teacher))["items"]
    assert [len(each["memberIds"]) for each in made] == [2]
    rows = b"team,email\nLab B,u1@campus.example\n"
    (row,) = given(api.ask("POST", f"{teams}:load", by=teacher, content=rows, headers=CSV))
    assert row["outcome"].startswith("refused: This student is already in a team")
    assert refused(api.get(f"{path}/nonsense/teams", by=u1)) == (404, "GROUP_SET_NOT_FOUND")


def test_cc_x19_who_joins_a_team_does_not_read_what_it_submitted_before(lesson: Class, api: Api) -> None:
    lesson.person("u3")
    u1, u2, u3 = (lesson.people[name] for name in ("u1", "u2", "u3"))
    path = f"/courses/{COURSE}/group-sets"
    body = {"name": "Labs", "selfEnrolment": True, "teamSize": 3}
    group_set = given(api.post(path, body, by=lesson.teacher), 201)["groupSetId"]
    teams = f"{path}/{group_set}/teams"
    one, other = (
        given(api.post(teams, {"name": name}, by=lesson.teacher), 201)["teamId"] for name in ("A", "B")
    )
    for user, team in ((u1, one), (u2, one), (u3, other)):
        given(api.post(f"{teams}/{team}:join", by=user))
    assignment = lesson.assignment(group_set_id=group_set)
    made = lesson.submit("u1", assignment, text("a secret of team A"), attempt=1)
    given(api.post(f"{teams}/{other}:leave", by=u3))
    given(api.post(f"{teams}/{one}:join", by=u3))
    listing = f"/assignments/{assignment.assignment_id}/submissions"

    def numbers(user: User) -> list[int]:
        return [each["submissionNumber"] for each in given(api.get(listing, by=user))["items"]]

    assert (numbers(u1), numbers(u2), numbers(u3)) == ([1], [1], [])
    assert refused(api.get(f"/submissions/{made.submission_id}", by=u3)) == (404, "SUBMISSION_NOT_FOUND")
    for parts in ({}, {"parts": [{"kind": "text", "text": "mine"}]}):
        answer = api.post(listing, {**parts, "attempt": 1}, by=u3)
        assert refused(answer) == (409, "VERSION_CONFLICT")
        assert "secret" not in answer.text
    lesson.submit("u3", assignment, text("of three"), attempt=2)
    assert (numbers(u1), numbers(u2), numbers(u3)) == ([1, 2], [1, 2], [2])


def test_an_assignment_over_http_with_its_states_and_mistakes(lesson: Class, api: Api) -> None:
    teacher, u1 = lesson.teacher, lesson.people["u1"]
    due = (lesson.now() + timedelta(days=3)).isoformat()
    path = f"/courses/{COURSE}/assignments"
    answer = api.post(path, {"title": "", "dueDate": due, "maxSubmissions": 0}, by=teacher)
    assert refused(answer) == (422, "INVALID_TITLE")
    assert [each["field"] for each in answer.json()["mistakes"]] == ["maxSubmissions"]
    assert refused(api.post(path, {"title": "Lab", "dueDate": due}, by=u1)) == (403, "INSTRUCTOR_ONLY")
    made = given(api.post(path, {"title": "Lab", "dueDate": due, "points": 10}, by=teacher), 201)
    one = f"/assignments/{made['assignmentId']}"
    assert refused(api.get(one, by=u1)) == (404, "ASSIGNMENT_NOT_FOUND")
    assert given(api.post(f"{one}:publish", by=teacher))["status"] == "active"
    shown = given(api.get(one, by=u1))
    assert (shown["mine"]["attempts"], shown["mine"]["isOpen"]) == (0, True)
    renamed = given(
        api.put(one, {"title": "Lab 1", "updatedAt": shown["assignment"]["updatedAt"]}, by=teacher)
    )
    assert (renamed["title"], renamed["points"]) == ("Lab 1", 10)
    stale = api.put(one, {"title": "Lab 2", "updatedAt": shown["assignment"]["updatedAt"]}, by=teacher)
    assert refused(stale) == (409, "VERSION_CONFLICT")
    assert given(api.post(f"{one}:close", by=teacher))["status"] == "closed"
    assert given(api.post(f"{one}:reopen", by=teacher))["status"] == "active"
    assert [each["assignment"]["title"] for each in given(api.get(path, by=u1))["items"]] == ["Lab 1"]


def test_extensions_over_http(lesson: Class, api: Api) -> None:
    assignment, u1 = lesson.assignment(), lesson.people["u1"]
    path = f"/assignments/{assignment.assignment_id}/extensions"
    later = (assignment.due_date + timedelta(days=2)).isoformat()
    assert refused(api.put(f"{path}/student/{u1.user_id}", {"dueDate": later}, by=u1)) == (
        403,
        "COURSE_STAFF_ONLY",
    )
    given(api.put(f"{path}/student/{u1.user_id}", {"dueDate": later, "reason": "ill"}, by=lesson.teacher))
    (found,) = given(api.get(path, by=lesson.teacher))["items"]
    assert (found["audience"], found["reason"]) == ("student", "ill")
    assert refused(api.get(path, by=u1)) == (403, "COURSE_STAFF_ONLY")
    assert api.delete(f"{path}/student/{u1.user_id}", by=lesson.teacher).status_code == 204
    gone = api.delete(f"{path}/student/{u1.user_id}", by=lesson.teacher)
    assert refused(gone) == (404, "EXTENSION_NOT_FOUND")


def test_before_it_is_available_students_see_when_and_not_what(lesson: Class, api: Api) -> None:
    file = lesson.file(lesson.teacher, b"secret until then\n", "sheet.txt")
    lesson.run_tasks()  # the scan
    start = lesson.now() + timedelta(days=1)
    assignment = lesson.assignment(available_from=start, instructions="Do this.", attachments=[file.file_id])
    path = f"/assignments/{assignment.assignment_id}"
    early = given(api.get(path, by=lesson.people["u1"]))
    assert (early["assignment"]["description"], early["assignment"]["attachments"]) == ("", [])
    assert "instructions" not in early["assignment"]
    sheet = f"{path}/attachments/{file.file_id}"
    assert refused(api.get(sheet, by=lesson.people["u1"])) == (404, "FILE_NOT_FOUND")
    lesson.at.later(days=1)
    assert given(api.get(path, by=lesson.people["u1"]))["assignment"]["instructions"] == "Do this."
    content = api.get(sheet, by=lesson.people["u1"])
    assert content.content == b"secret until then\n"
    assert content.headers["Content-Disposition"].startswith("attachment")
    assert content.headers["X-Content-Type-Options"] == "nosniff"
    other = lesson.file(lesson.teacher, b"not attached\n")
    assert refused(api.get(f"{path}/attachments/{other.file_id}", by=lesson.people["u1"]))[0] == 404


def test_an_attached_file_that_is_gone_is_not_offered_and_the_assignment_stays(
    lesson: Class, api: Api
) -> None:
    kept, gone = (lesson.file(lesson.teacher, name=name) for name in ("kept.txt", "gone.txt"))
    lesson.run_tasks()
    assignment = lesson.assignment(attachments=[kept.file_id, gone.file_id])
    path, u1 = f"/assignments/{assignment.assignment_id}", lesson.people["u1"]
    campus = lesson.campus
    campus.library.trash(lesson.teacher, gone.file_id)
    assert refused(api.get(f"{path}/attachments/{gone.file_id}", by=u1)) == (404, "FILE_NOT_FOUND")
    campus.purge.empty_trash(lesson.teacher)
    assert refused(api.get(f"{path}/attachments/{gone.file_id}", by=u1)) == (404, "FILE_NOT_FOUND")
    assert api.get(f"{path}/attachments/{kept.file_id}", by=u1).content == b"a result\n"
    assert [file.filename for file in campus.assignments.attachments(assignment)] == ["kept.txt"]
    assert given(api.put(path, {"title": "Lab 2"}, by=lesson.teacher))["title"] == "Lab 2"


def test_staff_attaches_own_files_only_and_leaves_those_of_others(lesson: Class, api: Api) -> None:
    other = lesson.person("ada", "instructor")
    mine, theirs = lesson.file(lesson.teacher), lesson.file(other)
    assignment = lesson.assignment(attachments=[mine.file_id])
    path = f"/assignments/{assignment.assignment_id}"
    both = {"attachments": [mine.file_id, theirs.file_id]}
    assert refused(api.put(path, both, by=lesson.teacher)) == (422, "FILE_NOT_FOUND")
    assert given(api.put(path, both, by=other))["attachments"] == both["attachments"]


def test_a_draft_over_http_is_added_to_on_the_version_that_was_seen(lesson: Class, api: Api) -> None:
    assignment, u1 = lesson.assignment(statement="Mine."), lesson.people["u1"]
    path = f"/assignments/{assignment.assignment_id}"
    assert given(api.get(f"{path}/draft", by=u1))["version"] == 0
    part = {"kind": "text", "text": "one", "version": 0}
    draft = given(api.post(f"{path}/draft/parts", part, by=u1), 201)
    assert refused(api.post(f"{path}/draft/parts", part, by=u1)) == (409, "VERSION_CONFLICT")
    given(api.post(f"{path}/draft/parts", part | {"version": 1, "text": "two"}, by=u1), 201)
    part_id = draft["parts"][0]["partId"]
    given(api.delete(f"{path}/draft/parts/{part_id}?version=2", by=u1))
    given(api.patch(f"{path}/draft", {"comments": "hello", "version": 3}, by=u1))
    submit = f"{path}/submissions"
    assert refused(api.post(submit, {"draftVersion": 3, "agreed": True}, by=u1)) == (409, "VERSION_CONFLICT")
    assert refused(api.post(submit, {"draftVersion": 4}, by=u1)) == (422, "STATEMENT_REQUIRED")
    made = given(api.post(submit, {"draftVersion": 4, "agreed": True}, by=u1), 201)
    assert ([each["text"] for each in made["parts"]], made["comments"]) == (["two"], "hello")
    receipt = given(api.get(f"/submissions/{made['submissionId']}/receipt", by=u1))
    checked = f"/submissions/{made['submissionId']}:check-receipt"
    assert refused(api.post(checked, {"code": receipt["code"]}, by=u1))[0] == 403
    answer = given(api.post(checked, {"code": receipt["code"]}, by=lesson.teacher))
    assert (answer["valid"], answer["submittedAt"], answer["parts"], answer["newest"]) == (
        True, receipt["submittedAt"], len(receipt["parts"]), True
    )  # fmt: skip
    other = {"code": receipt["code"].replace("-1-", "-2-")}
    assert given(api.post(checked, other, by=lesson.teacher))["valid"] is False
    assert receipt["parts"][0]["checksum"] == made["parts"][0]["checksum"]
    back = given(api.post(f"/submissions/{made['submissionId']}:withdraw", by=u1))
    assert [each["text"] for each in back["parts"]] == ["two"]
    assert refused(api.get(f"/submissions/{made['submissionId']}", by=u1)) == (404, "SUBMISSION_NOT_FOUND")


def test_staff_lists_all_submissions_in_pages_and_students_their_own(lesson: Class, api: Api) -> None:
    assignment = lesson.assignment()
    for name in ("u1", "u2", "u1"):
        lesson.submit(name, assignment, text())
    path = f"/assignments/{assignment.assignment_id}/submissions"
    first = given(api.get(f"{path}?pageSize=2", by=lesson.teacher))
    second = given(api.get(f"{path}?pageSize=2&startAt={first['startAt']}", by=lesson.teacher))
    numbers = [(row["studentName"], row["submissionNumber"]) for row in (*first["items"], *second["items"])]
    assert numbers == [("u1", 1), ("u1", 2), ("u2", 1)]
    assert len(given(api.get(path, by=lesson.people["u2"]))["items"]) == 1
    history = given(api.get("/me/submissions", by=lesson.people["u1"]))["items"]
    assert [row["submissionNumber"] for row in history] == [2, 1]


def test_the_bytes_of_a_submission_are_for_its_author_and_staff(lesson: Class, api: Api) -> None:
    made = lesson.submit(
        "u1", lesson.assignment(), file_part(lesson.file("u1", b"0123456789", "ten.txt")), text()
    )
    file, words = made.parts
    path = f"/submissions/{made.submission_id}/parts"
    assert refused(api.get(f"{path}/{file.part_id}/content", by=lesson.teacher)) == (423, "SCAN_PENDING")
    lesson.run_tasks()
    ranged = api.get(f"{path}/{file.part_id}/content", by=lesson.teacher, headers={"Range": "bytes=2-4"})
    assert (ranged.status_code, ranged.content) == (206, b"234")
    assert api.get(f"{path}/{file.part_id}/content", by=lesson.people["u1"]).content == b"0123456789"
    assert refused(api.get(f"{path}/{file.part_id}/content", by=lesson.people["u2"]))[0] == 404
    assert refused(api.get(f"{path}/{words.part_id}/content", by=lesson.teacher)) == (404, "PART_NOT_FOUND")


def test_staff_sets_an_attempt_back_over_http(lesson: Class, api: Api) -> None:
    made = lesson.submit("u1", lesson.assignment(), text())
    path = f"/submissions/{made.submission_id}:set-back"
    assert refused(api.post(path, {"reason": "x"}, by=lesson.people["u1"])) == (403, "COURSE_STAFF_ONLY")
    assert given(api.post(path, {"reason": "the wrong file"}, by=lesson.teacher))["ownerId"] == made.owner_id


@pytest.mark.parametrize("key", ["short", "with space in it"])
def test_a_key_that_cannot_be_unique_is_refused(lesson: Class, api: Api, key: str) -> None:
    path = f"/assignments/{lesson.assignment().assignment_id}/submissions"
    body = {"parts": [{"kind": "text", "text": "x"}]}
    answer = api.post(path, body, by=lesson.people["u1"], headers={"Idempotency-Key": key})
    assert refused(answer) == (400, "BAD_IDEMPOTENCY_KEY")


@pytest.mark.parametrize(
    "moment",
    ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "2030-03-01T10:00:00", 1893456000, None, ""],
)
def test_moments_that_no_calendar_has_are_refused_everywhere(lesson: Class, api: Api, moment: object) -> None:
    by = lesson.teacher
    assignment = lesson.assignment()
    path = f"/assignments/{assignment.assignment_id}"
    new = {"title": "Essay", "dueDate": moment}
    assert refused(api.post(f"/courses/{COURSE}/assignments", new, by=by)) == (400, "INVALID_DATE")
    course = {"courseId": "CS999", "name": "New", "semester": "2030", "semesterEnd": moment}
    assert refused(api.post("/courses", course, by=by)) == (400, "INVALID_DATE")
    if moment is None:  # no moment where one may be missing
        return
    extension = f"{path}/extensions/student/{lesson.people['u1'].user_id}"
    assert refused(api.put(extension, {"dueDate": moment}, by=by)) == (400, "INVALID_DATE")
    assert refused(api.put(path, {"acceptUntil": moment}, by=by)) == (400, "INVALID_DATE")
    assert refused(api.post(f"{path}:release", {"at": moment}, by=by)) == (400, "INVALID_DATE")
    file = lesson.file("u1", b"text", "notes.txt")
    share = {"recipients": [{"type": "user", "id": by.user_id}], "expiresAt": moment}
    answer = api.post(f"/files/{file.file_id}/shares", share, by=lesson.people["u1"])
    assert refused(answer) == (400, "INVALID_DATE")
