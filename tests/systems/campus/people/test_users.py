"""Users: who a login is, one user for an address, suspension at once, what they are told."""

from tests.systems.campus.courses.talk import COURSE, course_of
from tests.systems.campus.talk import Api, Place, refuses
from tests.systems.talk import at_once, given, refused

from tablewright.edge import Principal


def test_a_first_login_makes_a_user_with_the_quota_of_the_role(at: Place) -> None:
    student, teacher = at.user("lin"), at.user("brandt", "instructor")
    assert (student.role, student.storage_quota) == ("student", 5 * 1024**3)
    assert (teacher.role, teacher.storage_quota) == ("instructor", 50 * 1024**3)


def test_an_address_has_one_user_whatever_its_case(at: Place) -> None:
    at.user("lin", email="lin@university.edu")
    with refuses("EMAIL_EXISTS"):
        at.campus.users.entered(Principal("other", email="Lin@University.edu"))


def test_of_many_first_logins_with_one_address_one_becomes_the_user(at: Place) -> None:
    logins = [Principal(f"login-{n}", email="Lin@University.edu") for n in range(8)]
    done = at_once([lambda login=login: at.campus.users.entered(login) for login in logins])  # type: ignore[misc]
    assert sum(not isinstance(each, Exception) for each in done) == 1


def test_someone_on_a_roster_keeps_their_id_when_they_sign_in(at: Place) -> None:
    invited = at.campus.users.invited("Noor@University.edu", "Noor de Vries", "S1")
    assert at.campus.users.invited("noor@university.edu", "Noor") == invited
    login = Principal("sub-of-noor", email="noor@university.edu")
    entered = at.campus.users.entered(login)
    assert (entered.user_id, entered.invited, entered.name) == (invited.user_id, False, "Noor de Vries")
    assert at.campus.users.entered(login).user_id == invited.user_id
    with refuses("EMAIL_EXISTS"):
        at.campus.users.entered(Principal("another", email="noor@university.edu"))


def test_the_role_is_that_of_the_login(at: Place) -> None:
    at.user("brandt", "instructor")
    assert at.campus.users.entered(Principal("user-brandt", email="brandt@campus.example")).role == "student"


def test_a_suspended_user_is_refused_with_the_next_request(at: Place, api: Api) -> None:
    lin, admin = at.user("lin"), at.user("kaya", "admin")
    assert given(api.get("/me", by=lin))["userId"] == lin.user_id
    given(api.post(f"/admin/users/{lin.user_id}:suspend", {"reason": "shared exam papers"}, by=admin))
    assert refused(api.get("/me", by=lin)) == (403, "SUSPENDED")
    given(api.post(f"/admin/users/{lin.user_id}:reinstate", by=admin))
    assert given(api.get("/me", by=lin))["status"] == "active"
    history = given(api.get(f"/admin/audit/user:{lin.user_id}", by=admin))["items"]
    assert [each["action"] for each in history] == ["reinstated", "suspended", "signed up"]


def test_only_an_admin_administers(at: Place, api: Api) -> None:
    lin = at.user("lin")
    assert refused(api.get("/admin/users", by=lin)) == (403, "ADMIN_ONLY")
    assert refused(api.put(f"/admin/users/{lin.user_id}/quota", {"storageQuota": 1}, by=lin)) == (
        403,
        "ADMIN_ONLY",
    )
    assert refused(api.get("/me")) == (401, "LOGIN_REQUIRED")


def test_a_profile_is_changed_on_the_version_that_was_read(at: Place, api: Api) -> None:
    lin = at.user("lin")
    changed = api.patch("/me", {"department": "Physics"}, by=lin, headers={"If-Match": f'"{lin.version}"'})
    assert given(changed)["department"] == "Physics"
    again = api.patch("/me", {"department": "Maths"}, by=lin, headers={"If-Match": f'"{lin.version}"'})
    assert refused(again) == (409, "VERSION_CONFLICT")
    assert refused(api.patch("/me", {"timeZone": "Mars/Base"}, by=lin)) == (422, "INVALID_TIME_ZONE")
    assert refused(api.patch("/me", {"storageQuota": 1}, by=lin))[0] in (400, 422)


def test_what_a_user_does_not_want_to_be_told_is_not_told(at: Place, api: Api) -> None:
    lin = at.user("lin")
    tell = at.campus.notifier.tell
    at.db.write(*tell(lin, "share", "Omar shared notes.txt with you.", link="/console/campus/shared"))
    assert [each["text"] for each in given(api.get("/me/notifications", by=lin))["items"]] == [
        "Omar shared notes.txt with you."
    ]
    assert [each.recipient for each in at.db.all(at.campus.repository.outbox.in_state("PENDING"))] == [
        lin.email
    ]
    given(api.patch("/me", {"notificationPreferences": {"shareNotifications": False}}, by=lin))
    assert tell(at.again(lin), "share", "Again.") == []
    assert len(tell(at.again(lin), "quota", "Your storage is full.")) == 2


def test_a_person_is_invited_by_an_address_that_mail_can_reach(at: Place) -> None:
    for wrong in ("", "lin", "lin@", " "):
        with refuses("INVALID_EMAIL"):
            at.campus.users.invited(wrong, "Lin Zhao")


# --- the university id ---


def test_users_cannot_change_their_own_university_id(at: Place, api: Api) -> None:
    lin = at.user("lin")
    assert refused(api.patch("/me", {"universityId": "S1"}, by=lin))[0] in (400, 422)
    assert at.again(lin).university_id is None


def test_an_admin_sets_the_university_id_of_a_user_in_their_courses_too(at: Place, api: Api) -> None:
    room, admin = course_of(at), at.user("kaya", "admin")
    lin = room.person("lin")
    assert (
        given(api.put(f"/admin/users/{lin.user_id}/university-id", {"universityId": " S7 "}, by=admin))[
            "universityId"
        ]
        == "S7"
    )
    enrolment = at.campus.repository.enrolment(lin.user_id, COURSE)
    assert enrolment is not None
    assert enrolment.university_id == "S7"
    assert refused(api.put(f"/admin/users/{lin.user_id}/university-id", {"universityId": "S8"}, by=lin)) == (
        403,
        "ADMIN_ONLY",
    )
    actions = [
        each["action"] for each in given(api.get(f"/admin/audit/user:{lin.user_id}", by=admin))["items"]
    ]
    assert actions[0] == "university id changed"


def test_the_university_id_of_the_identity_provider_is_taken_with_each_sign_in(at: Place) -> None:
    login = Principal("sub-1", email="ana@university.edu", claims={"university_id": "S1"})
    assert at.campus.users.entered(login).university_id == "S1"
    changed = Principal("sub-1", email="ana@university.edu", claims={"custom:university_id": "S2"})
    assert at.campus.users.entered(changed).university_id == "S2"
    without = Principal("sub-1", email="ana@university.edu")
    assert at.campus.users.entered(without).university_id == "S2"


def test_a_roster_sets_the_university_ids_of_its_course_and_gives_none_twice(at: Place) -> None:
    room = course_of(at)
    lin, omar = room.person("lin"), room.person("omar")
    file = f"email,university id\n{lin.email},S1\n{omar.email},S1\n"
    report = at.campus.roster.load(room.teacher, file.encode(), room.member())
    assert [each.outcome for each in report.entries] == ["changed", "refused"]
    again = at.campus.roster.load(
        room.teacher, f"email,university id\n{lin.email},S1\n".encode(), room.member()
    )
    assert [each.outcome for each in again.entries] == ["unchanged"]
    found = {each.user_id: each.university_id for each in at.campus.courses.members(COURSE)}
    assert (found[lin.user_id], found[omar.user_id]) == ("S1", None)
