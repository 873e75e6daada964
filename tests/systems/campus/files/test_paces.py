"""Limits of what one user does in a minute (CC-X14), and the job of the trash after a long stop."""

from __future__ import annotations

from tests.systems.campus.talk import Api, Place


def test_folders_are_limited_for_each_user(at: Place, api: Api) -> None:
    lin, omar = at.user("lin"), at.user("omar")
    answers = [api.post("/folders", {"name": "x/y"}, by=lin).status_code for _ in range(601)]
    assert (answers[0], answers[-1]) == (400, 429)
    assert api.post("/folders", {"name": "Mine"}, by=omar).status_code == 201


def test_in_a_rush_the_students_of_one_network_do_not_use_up_each_others_submissions(
    at: Place, api: Api
) -> None:
    path = "/assignments/00000000-0000-4000-8000-000000000001/submissions"
    lin, omar = at.user("lin"), at.user("omar")
    answers = [api.post(path, {"parts": []}, by=lin).status_code for _ in range(61)]
    assert (answers[0], answers[-1]) == (404, 429)
    others = [at.user(f"student{number}") for number in range(20)]
    many = [api.post(path, {"parts": []}, by=other).status_code for other in others for _ in range(16)]
    assert many == [404] * 320, "a class behind one address"
    assert api.post(path, {"parts": []}, by=omar).status_code == 404


def test_trash_is_removed_also_after_the_job_was_stopped_for_a_year(at: Place) -> None:
    lin = at.user("lin")
    file = at.campus.uploads.store_whole(lin, "a.txt", [b"abc"], 3)
    at.campus.library.trash(lin, file.file_id)
    at.later(days=400)
    assert at.campus.purge.run() == 1
    assert at.again(lin).storage_used == 0
