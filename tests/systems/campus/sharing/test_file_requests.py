"""File requests: senders see only what they sent, the quota is the owner's, and a deadline is one (CC-S19)."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from tests.client.ways import WAYS
from tests.systems.campus.sharing.conftest import Shared
from tests.systems.campus.talk import Api, refuses
from tests.systems.talk import given, refused

from tablewright.kit.objects.store import PART_SIZE
from tablewright.systems.campus import design as d
from tablewright.systems.campus.jobs import run_tasks

CONTENT = b"my homework"


@pytest.fixture
def shared(campus_shares: Shared) -> Shared:
    return campus_shares


def send(api: Api, at: str, ticket: str, name: str = "homework.txt", content: bytes = CONTENT) -> Any:
    """A file through a link, in as many parts as it has."""
    headers = {"X-Drop-Ticket": ticket}
    slot = given(
        api.post(f"{at}/uploads", {"filename": name, "fileSize": len(content)}, headers=headers), 201
    )
    for number in range(1, slot["partCount"] + 1):
        part = content[(number - 1) * PART_SIZE : number * PART_SIZE]
        put = f"{at}/uploads/{slot['uploadId']}/parts/{number}"
        assert api.ask("PUT", put, content=part, headers=headers).status_code == 204
    return api.post(f"{at}/uploads/{slot['uploadId']}:complete", {}, headers=headers)


def enter(api: Api, at: str, name: str, **more: str) -> str:
    return str(given(api.post(f"{at}/senders", {"name": name, **more}), 201)["ticket"])


def test_senders_of_one_name_have_folders_of_their_own_and_see_only_their_own_files(
    shared: Shared, api: Api
) -> None:
    ada = shared.user("ada")
    folder = shared.at.campus.folders.create(ada, "Homework")
    shared.stored(ada, "answers.txt", b"secret", folder)
    _, token = shared.link(ada, folder, kind="drop")
    at = f"/drops/{token}"
    first, second = enter(api, at, "Zoë 李"), enter(api, at, "Zoë 李")
    given(send(api, at, first, "одно.txt"))
    listed = [
        given(api.get(f"{at}/files", headers={"X-Drop-Ticket": one}))["items"] for one in (first, second)
    ]
    assert [[one["filename"] for one in each] for each in listed] == [["одно.txt"], []]
    assert "answers" not in str(listed)
    names = [one.name for one in shared.at.campus.folders.tree(ada.user_id).children(folder.folder_id)]
    assert sorted(names) == ["Zoë 李", "Zoë 李 (2)"]
    assert shared.notices(ada) == ["Zoë 李 sent you “одно.txt”."]


def test_a_class_behind_one_address_enters_at_once(shared: Shared, api: Api) -> None:
    ada = shared.user("ada")
    _, token = shared.link(ada, shared.folder(ada, "Homework"), kind="drop")
    for number in range(40):
        enter(api, f"/drops/{token}", f"Student {number}")


def test_nothing_of_a_drop_can_be_read_through_the_link(shared: Shared, api: Api) -> None:
    ada = shared.user("ada")
    folder = shared.at.campus.folders.create(ada, "Homework")
    file = shared.stored(ada, "answers.txt", b"secret", folder)
    _, token = shared.link(ada, folder, kind="drop")
    assert refused(api.get(f"/public/links/{token}")) == (404, "LINK_NOT_FOUND")
    assert refused(api.get(f"/public/links/{token}/files/{file.file_id}/content")) == (404, "LINK_NOT_FOUND")
    assert refused(api.get(f"/drops/{token}/files")) == (403, "TICKET_NEEDED")
    shown = {"ownerName", "expiresAt", "hasPassword", "maxFileSize"}
    assert given(api.get(f"/drops/{token}")).keys() == shown


def test_a_ticket_of_one_sender_opens_neither_another_senders_upload_nor_another_link(
    shared: Shared, api: Api
) -> None:
    ada = shared.user("ada")
    folder = shared.at.campus.folders.create(ada, "Homework")
    at, other = (f"/drops/{shared.link(ada, folder, kind='drop')[1]}" for _ in range(2))
    first, second = enter(api, at, "Ann"), enter(api, at, "Ben")
    body = {"filename": "a.txt", "fileSize": 3}
    slot = given(api.post(f"{at}/uploads", body, headers={"X-Drop-Ticket": first}), 201)
    upload = f"{at}/uploads/{slot['uploadId']}"
    by = {"X-Drop-Ticket": second}
    assert refused(api.get(upload, headers=by)) == (404, "UPLOAD_NOT_FOUND")
    assert refused(api.ask("PUT", f"{upload}/parts/1", content=b"abc", headers=by)) == (
        404,
        "UPLOAD_NOT_FOUND",
    )
    assert refused(api.post(f"{upload}:complete", {}, headers=by)) == (404, "UPLOAD_NOT_FOUND")
    assert refused(api.post(f"{other}/uploads", body, headers={"X-Drop-Ticket": first})) == (
        403,
        "TICKET_NEEDED",
    )
    forged = f"{folder.folder_id}.{first.partition('.')[2]}"
    assert refused(api.post(f"{at}/uploads", body, headers={"X-Drop-Ticket": forged})) == (
        403,
        "TICKET_NEEDED",
    )


def test_an_upload_through_a_link_is_resumed_with_the_parts_that_are_missing(
    shared: Shared, api: Api
) -> None:
    ada = shared.user("ada")
    folder = shared.at.campus.folders.create(ada, "Homework")
    at = f"/drops/{shared.link(ada, folder, kind='drop')[1]}"
    ticket = {"X-Drop-Ticket": enter(api, at, "Ann")}
    content = bytes(PART_SIZE) + b"the end"
    slot = given(
        api.post(f"{at}/uploads", {"filename": "b.bin", "fileSize": len(content)}, headers=ticket), 201
    )
    upload = f"{at}/uploads/{slot['uploadId']}"
    api.ask("PUT", f"{upload}/parts/2", content=content[PART_SIZE:], headers=ticket)
    assert refused(api.post(f"{upload}:complete", {}, headers=ticket)) == (409, "PARTS_MISSING")
    assert given(api.get(upload, headers=ticket))["parts"] == [2]
    api.ask("PUT", f"{upload}/parts/1", content=content[:PART_SIZE], headers=ticket)
    sent = [given(api.post(f"{upload}:complete", {}, headers=ticket)) for _ in range(2)]
    assert sent[0] == sent[1]
    assert sent[0]["checksum"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    assert len(shared.notices(ada)) == 1
    assert [link.uploads for link in shared.at.campus.links.of(ada)] == [1]


def test_a_drop_needs_a_folder_and_its_password_once(shared: Shared, api: Api) -> None:
    ada = shared.user("ada")
    with refuses("FOLDER_NEEDED"):
        shared.link(ada, shared.file(ada), kind="drop")
    folder = shared.at.campus.folders.create(ada, "Homework")
    at = f"/drops/{shared.link(ada, folder, kind='drop', password='открой сим')[1]}"
    assert refused(api.post(f"{at}/senders", {"name": "Ann"})) == (403, "PASSWORD_NEEDED")
    ticket = enter(api, at, "Ann", password="открой сим")
    given(send(api, at, ticket))


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a\\b", "..", "", "x" * 256, "nul\x00", "ev\u202elif.txt"]
)
def test_a_sender_cannot_choose_a_name_that_leads_elsewhere(shared: Shared, api: Api, name: str) -> None:
    ada = shared.user("ada")
    folder = shared.at.campus.folders.create(ada, "Homework")
    at = f"/drops/{shared.link(ada, folder, kind='drop')[1]}"
    ticket = {"X-Drop-Ticket": enter(api, at, "Ann")}
    assert (
        refused(api.post(f"{at}/uploads", {"filename": name, "fileSize": 1}, headers=ticket))[1]
        == "INVALID_NAME"
    )
    assert refused(api.post(f"{at}/senders", {"name": name}))[1] == "INVALID_NAME"


class TestScenarios:
    """On every way to a database."""

    @pytest.fixture(params=list(WAYS))
    def way(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    def test_cc_s19_a_sender_sees_only_their_upload_the_quota_is_the_owners_and_after_the_deadline_it_is_403(
        self, shared: Shared, api: Api
    ) -> None:
        ada = shared.user("ada")
        folder = shared.at.campus.folders.create(ada, "Homework")
        deadline = shared.at.clock.now() + timedelta(hours=1)
        _, token = shared.link(ada, folder, kind="drop", expires_at=deadline)
        at = f"/drops/{token}"
        ticket = enter(api, at, "Ann")
        sent = given(send(api, at, ticket))
        assert sent.keys() == {"filename", "fileSize", "checksum", "uploadedAt"}
        assert shared.at.again(ada).storage_used == len(CONTENT)
        shared.at.campus.users.set_quota(ada.user_id, 30, shared.user("root", "admin"))
        headers = {"X-Drop-Ticket": ticket}
        full = api.post(f"{at}/uploads", {"filename": "b.txt", "fileSize": 10}, headers=headers)
        assert refused(full) == (413, "QUOTA_EXCEEDED")
        assert not any(
            letter.isdigit() for letter in full.json()["message"]
        )  # how much room the owner has is not told
        slot = given(api.post(f"{at}/uploads", {"filename": "c.txt", "fileSize": 3}, headers=headers), 201)
        shared.at.clock.move(deadline - shared.at.clock.now())
        upload = f"{at}/uploads/{slot['uploadId']}"
        for answer in (
            api.get(at),
            api.post(f"{at}/senders", {"name": "Ben"}),
            api.post(f"{at}/uploads", {"filename": "d.txt", "fileSize": 1}, headers=headers),
            api.ask("PUT", f"{upload}/parts/1", content=b"abc", headers=headers),
            api.post(f"{upload}:complete", {}, headers=headers),
            api.get(f"{at}/files", headers=headers),
        ):
            assert refused(answer) == (403, "DROP_CLOSED")
        files = list(shared.at.db.all(d.files_of_user(user_id=ada.user_id)))
        assert [file.filename for file in files] == ["homework.txt"]


# --- visitors cannot take the owner's room ---


def test_senders_together_reserve_at_most_a_quarter_of_what_is_free(shared: Shared, api: Api) -> None:
    ada = shared.user("ada")
    folder = shared.at.campus.folders.create(ada, "Homework")
    at, other = (f"/drops/{shared.link(ada, folder, kind='drop')[1]}" for _ in range(2))
    free = ada.storage_quota
    tickets = {one: {"X-Drop-Ticket": enter(api, one, "Ann")} for one in (at, other)}

    def ask(where: str, size: int) -> Any:
        body = {"filename": "a.bin", "fileSize": size}
        return api.post(f"{where}/uploads", body, headers=tickets[where])

    assert refused(ask(at, free // 4 + 1)) == (413, "QUOTA_EXCEEDED")
    given(ask(at, free // 8), 201)
    slot = given(ask(other, free // 8), 201)
    assert refused(ask(at, 1)) == (413, "QUOTA_EXCEEDED")
    assert refused(ask(other, 1)) == (413, "QUOTA_EXCEEDED")
    # The owner still has the rest.
    campus = shared.at.campus
    mine = campus.uploads.begin(ada, filename="b", size=free // 2, content_type="text/plain")
    campus.uploads.abandon(mine.upload_id)
    api.ask("DELETE", f"{other}/uploads/{slot['uploadId']}", headers=tickets[other])
    given(ask(at, 1), 201)
    assert campus.repository.user(ada.user_id).link_reserved == free // 8 + 1


def test_a_file_that_has_arrived_is_no_longer_reserved_by_a_link(shared: Shared, api: Api) -> None:
    ada = shared.user("ada")
    folder = shared.at.campus.folders.create(ada, "Homework")
    at = f"/drops/{shared.link(ada, folder, kind='drop')[1]}"
    given(send(api, at, enter(api, at, "Ann")))
    user = shared.at.campus.repository.user(ada.user_id)
    assert (user.storage_used, user.storage_reserved, user.link_reserved) == (len(CONTENT), 0, 0)


def test_a_file_larger_than_its_link_takes_is_refused(shared: Shared, api: Api) -> None:
    ada = shared.user("ada")
    folder = shared.at.campus.folders.create(ada, "Homework")
    at = f"/drops/{shared.link(ada, folder, kind='drop', max_file_size=10)[1]}"
    by = {"X-Drop-Ticket": enter(api, at, "Ann")}
    body = {"filename": "a.bin", "fileSize": 11}
    assert refused(api.post(f"{at}/uploads", body, headers=by)) == (413, "FILE_TOO_LARGE")
    given(api.post(f"{at}/uploads", body | {"fileSize": 10}, headers=by), 201)
    assert given(api.get(at))["maxFileSize"] == 10


def test_a_slot_of_a_visitor_ends_after_two_hours_without_a_part(shared: Shared, api: Api) -> None:
    ada = shared.user("ada")
    campus = shared.at.campus
    folder = campus.folders.create(ada, "Homework")
    at = f"/drops/{shared.link(ada, folder, kind='drop')[1]}"
    by = {"X-Drop-Ticket": enter(api, at, "Ann")}
    body = {"filename": "a.bin", "fileSize": PART_SIZE + 1}
    slot, idle = (given(api.post(f"{at}/uploads", body, headers=by), 201)["uploadId"] for _ in range(2))
    shared.at.clock.move(timedelta(minutes=90))
    put = api.ask("PUT", f"{at}/uploads/{slot}/parts/2", content=b"x", headers=by)
    assert put.status_code == 204
    shared.at.clock.move(timedelta(minutes=40))
    run_tasks(campus)
    assert [one.upload_id for one in campus.uploads.sent_to(ada)] == [slot]
    assert refused(api.get(f"{at}/uploads/{idle}", headers=by)) == (404, "UPLOAD_NOT_FOUND")
    assert campus.repository.user(ada.user_id).link_reserved == PART_SIZE + 1
    assert api.ask("PUT", f"{at}/uploads/{slot}/parts/1", content=bytes(PART_SIZE), headers=by).is_success
    given(api.post(f"{at}/uploads/{slot}:complete", {}, headers=by))
    run_tasks(campus)
    assert campus.repository.user(ada.user_id).link_reserved == 0
