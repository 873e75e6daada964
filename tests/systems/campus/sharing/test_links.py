"""Public links: what they open and for how long, passwords, limits, and everything that closes them."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any
from urllib.parse import quote

import pytest
from tests.systems.campus.sharing.conftest import Shared
from tests.systems.campus.talk import SECRET, Api, refuses
from tests.systems.talk import at_once, given, refused

from tablewright.edge.errors import CallerError
from tablewright.systems.campus import design as d
from tablewright.systems.campus.campus import open_campus
from tablewright.systems.campus.model import Link
from tablewright.systems.campus.settings import Settings
from tablewright.systems.campus.sharing.links import Links, LinkTerms, Opened


@pytest.fixture
def shared(campus_shares: Shared) -> Shared:
    return campus_shares


def opened(shared: Shared, token: str) -> Opened:
    links = shared.at.campus.links
    return links.open(links.find(token))


def test_a_link_is_found_by_its_token_and_the_table_has_neither_token_nor_password(shared: Shared) -> None:
    ada = shared.user("ada")
    link, token = shared.link(ada, shared.file(ada), password="correct horse")
    [row] = [link_row for link_row in shared.scan("campus-cloud-library") if "tokenDigest" in link_row]
    assert token not in str(row)
    assert "correct horse" not in str(row)
    assert shared.at.campus.links.find(token).link_id == link.link_id
    for other in (
        token[:-1] + ("A" if token[-1] != "A" else "B"),
        link.link_id,
        link.token_digest,
        "",
        "x" * 43,
    ):
        with refuses("LINK_NOT_FOUND"):
            shared.at.campus.links.find(other)


def test_a_link_has_the_default_end_and_none_later_than_the_campus_allows(shared: Shared) -> None:
    ada = shared.user("ada")
    file, now = shared.file(ada), shared.at.clock.now()
    link, token = shared.link(ada, file)
    assert link.expires_at == now + timedelta(days=30)
    assert shared.at.campus.links.ends() == (now + timedelta(days=30), now + timedelta(days=365))
    for end in (now, now + timedelta(days=367)):
        with refuses("INVALID_EXPIRY"):
            shared.link(ada, file, expires_at=end)
    with refuses("INVALID_EXPIRY"):
        shared.at.campus.links.change(ada, link.link_id, {"expires_at": now + timedelta(days=400)})
    shared.at.later(days=30)
    with refuses("LINK_EXPIRED"):
        shared.at.campus.links.find(token)


def test_a_password_is_needed_and_a_wrong_one_is_refused(shared: Shared) -> None:
    ada = shared.user("ada")
    link, _ = shared.link(ada, shared.file(ada), password="pässwörd")
    check = shared.at.campus.links.refuse_password
    with refuses("PASSWORD_NEEDED"):
        check(link, None)
    with refuses("WRONG_PASSWORD"):
        check(link, "passwort")
    check(link, "pa\u0308ssw\u00f6rd")  # the same letters, typed on another keyboard
    with refuses("INVALID_PASSWORD"):
        shared.link(ada, shared.file(ada), password="short")


def test_of_many_downloads_at_once_exactly_as_many_as_the_limit_happen(shared: Shared) -> None:
    ada = shared.user("ada")
    link, token = shared.link(ada, shared.file(ada), download_limit=3)
    found = at_once([lambda: shared.at.campus.links.take(link)] * 12)
    assert found.count(None) == 3
    assert {getattr(one, "code", None) for one in found if one is not None} == {"DOWNLOAD_LIMIT"}
    assert shared.at.campus.links.find(token).downloads == 3
    shared.at.campus.links.change(ada, link.link_id, {"download_limit": 4})
    shared.at.campus.links.take(link)
    with refuses("DOWNLOAD_LIMIT"):
        shared.at.campus.links.take(link)


def test_a_revoked_link_is_closed_at_once_also_for_who_has_it_open(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    link, token = shared.link(ada, shared.file(ada))
    with refuses("LINK_NOT_FOUND"):
        shared.at.campus.links.revoke(bob, link.link_id)
    shared.at.campus.links.revoke(ada, link.link_id)
    with refuses("LINK_REVOKED"):
        shared.at.campus.links.find(token)
    with refuses("LINK_REVOKED"):
        shared.at.campus.links.take(link)
    assert shared.at.campus.links.of(ada) == []


def test_links_are_closed_for_files_that_are_quarantined_deleted_or_of_a_suspended_owner(
    shared: Shared,
) -> None:
    ada, root = shared.user("ada"), shared.user("root", "admin")
    file = shared.file(ada)
    _, token = shared.link(ada, file)
    db, repository = shared.at.db, shared.at.campus.repository
    for status, code in (("quarantined", "QUARANTINED"), ("deleted", "DELETED")):
        stored = repository.file_of(ada.user_id, file.file_id)
        db.write(d.files.move(stored, stored.model_copy(update={"status": status}), by="admin"))
        with refuses(code):
            opened(shared, token)
    _, other = shared.link(ada, shared.file(ada))
    assert opened(shared, other).owner.user_id == ada.user_id
    shared.at.campus.users.suspend(ada.user_id, root, "left")
    with refuses("LINK_NOT_FOUND"):
        opened(shared, other)


def test_an_operator_switches_all_links_off(shared: Shared) -> None:
    ada, campus = shared.user("ada"), shared.at.campus
    file = shared.file(ada)
    _, token = shared.link(ada, file)
    off = Links(campus.repository, campus.file_access, Settings(public_links=False), b"secret")
    with refuses("LINKS_OFF"):
        off.find(token)
    with refuses("LINKS_OFF"):
        off.create(ada, shared.target(ada, file), LinkTerms())


def test_an_admin_switches_all_links_off_at_once_and_on_again(shared: Shared, api: Api) -> None:
    ada, root = shared.user("ada"), shared.user("root", "admin")
    file = shared.file(ada)
    _, token = shared.link(ada, file)
    assert refused(api.put("/admin/links", {"enabled": False}, by=ada)) == (403, "ADMIN_ONLY")
    assert given(api.put("/admin/links", {"enabled": False}, by=root)) == {"enabled": False}
    assert refused(api.get(f"/public/links/{token}")) == (403, "LINKS_OFF")
    assert refused(api.post(f"/files/{file.file_id}/links", {}, by=ada)) == (403, "LINKS_OFF")
    given(api.put("/admin/links", {"enabled": True}, by=root))
    assert given(api.get(f"/public/links/{token}"))["name"] == file.filename
    entries = shared.at.db.all(shared.at.campus.repository.history("campus:links"))
    assert [entry.action for entry in entries] == ["public links switched on", "public links switched off"]


def test_a_link_to_a_folder_opens_what_is_below_it_and_nothing_else(shared: Shared) -> None:
    ada = shared.user("ada")
    outer, other = shared.folder(ada, "Out"), shared.folder(ada, "Other")
    inner = shared.folder(ada, "In", outer)
    inside, beside = shared.file(ada, "in.txt", inner), shared.file(ada, "beside.txt", other)
    _, token = shared.link(ada, outer)
    visit, links = opened(shared, token), shared.at.campus.links
    assert links.contents(links.folder(visit, None)) == ([inner], [])
    assert [file.filename for file in links.contents(links.folder(visit, inner.folder_id))[1]] == ["in.txt"]
    assert links.file(visit, inside.file_id).filename == "in.txt"
    with refuses("FILE_NOT_FOUND"):
        links.file(visit, beside.file_id)
    with refuses("FOLDER_NOT_FOUND"):
        links.folder(visit, other.folder_id)
    with refuses("FOLDER_NOT_FOUND"):
        links.folder(visit, "../" + other.folder_id)


def test_a_link_over_http_counts_a_download_and_its_ranges_come_from_a_path_that_expires(
    shared: Shared, api: Api
) -> None:
    ada = shared.user("ada")
    file = shared.stored(ada, "naïve 日本.txt", b"hello world")
    made = given(
        api.post(f"/files/{file.file_id}/links", {"downloadLimit": 1, "password": "naïve сезам"}, by=ada), 201
    )
    assert made["url"] == f"https://campus.example/console/campus/open/{made['token']}"
    at = f"/public/links/{made['token']}"
    assert refused(api.get(at)) == (403, "PASSWORD_NEEDED")
    headers = {"X-Link-Password": quote("naïve сезам")}
    seen = given(api.get(at, headers=headers))
    assert (seen["name"], seen["ownerName"], seen["downloadsLeft"]) == ("naïve 日本.txt", "ada", 1)
    assert "objectName" not in str(seen)
    leads = api.get(f"{at}/files/{file.file_id}/content", headers=headers)
    assert leads.status_code == 303
    for range_, body in (("bytes=0-4", b"hello"), ("bytes=6-", b"world")):
        part = api.client.get(leads.headers["Location"], headers={"Range": range_})
        assert (part.status_code, part.content) == (206, body)
    assert "attachment" in part.headers["Content-Disposition"]
    assert "filename*=UTF-8''na%C3%AFve%20%E6%97%A5%E6%9C%AC.txt" in part.headers["Content-Disposition"]
    assert refused(api.get(f"{at}/files/{file.file_id}/content", headers=headers)) == (403, "DOWNLOAD_LIMIT")
    shared.at.later(minutes=6)
    assert api.client.get(leads.headers["Location"]).status_code == 410


def test_the_path_to_the_bytes_ends_with_its_link(shared: Shared, api: Api) -> None:
    ada = shared.user("ada")
    file = shared.stored(ada, "a.txt", b"hello world")
    link, token = shared.link(ada, file)
    path = api.get(f"/public/links/{token}/files/{file.file_id}/content").headers["Location"]
    assert api.client.get(path).content == b"hello world"
    shared.at.campus.links.revoke(ada, link.link_id)
    assert refused(api.client.get(path)) == (410, "LINK_REVOKED")


def test_passwords_cannot_be_tried_without_end(shared: Shared, api: Api) -> None:
    ada = shared.user("ada")
    _, token = shared.link(ada, shared.file(ada), password="open sesame")
    tried = [api.get(f"/public/links/{token}", headers={"X-Link-Password": f"guess {n}"}) for n in range(12)]
    assert [one.status_code for one in tried] == [403] * 10 + [429] * 2
    right = {"X-Link-Password": "open%20sesame"}
    assert api.get(f"/public/links/{token}", headers=right).status_code == 429, "or guessing would go on"


def test_passwords_that_are_tried_at_once_are_counted_too(
    shared: Shared, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = shared.user("ada")
    _, token = shared.link(ada, shared.file(ada), password="open sesame")
    links, together = (
        shared.at.campus.links,
        Barrier(10),
    )  # the two others are refused before they are compared
    compare = type(links).refuse_password

    def compared_together(*args: Any) -> None:
        together.wait(timeout=30)
        compare(*args)

    monkeypatch.setattr(type(links), "refuse_password", compared_together)
    tries = [
        partial(api.get, f"/public/links/{token}", headers={"X-Link-Password": f"{n}"}) for n in range(12)
    ]
    codes = sorted(one.status_code for one in at_once(tries, 12) if not isinstance(one, Exception))
    assert codes == [403] * 10 + [429] * 2


def test_wrong_passwords_are_counted_for_all_processes_together_and_again_in_the_next_minute(
    shared: Shared, tmp_path: Path
) -> None:
    ada = shared.user("ada")
    link, _ = shared.link(ada, shared.file(ada), password="open sesame")
    at = shared.at
    other = open_campus(at.db, at.world, SECRET, home=tmp_path, settings=at.campus.settings)
    services = [at.campus.links, other.links]

    def guess(number: int) -> str:
        with pytest.raises(CallerError) as refusal:
            services[number % 2].check_password(link, f"guess {number}", "address 192.0.2.7")
        return refusal.value.code

    codes = at_once([partial(guess, number) for number in range(14)], 14)
    assert sorted(map(str, codes)) == ["RATE_LIMIT"] * 4 + ["WRONG_PASSWORD"] * 10
    for each in services:
        with refuses("RATE_LIMIT"):
            each.check_password(link, "open sesame", "address 192.0.2.7")
        each.check_password(link, "open sesame", "address 192.0.2.8")
    at.later(minutes=1)
    for number in range(20):
        services[number % 2].check_password(link, "open sesame", "address 192.0.2.7")


def test_who_guesses_passwords_holds_up_nobody_else(shared: Shared, api: Api) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    _, token = shared.link(ada, shared.file(ada), password="open sesame")
    for number in range(12):
        api.get(f"/public/links/{token}", headers={"X-Link-Password": f"guess {number}"})
    right = {"X-Link-Password": "open%20sesame"}
    answers = [api.get(f"/public/links/{token}", by=bob, headers=right).status_code for _ in range(15)]
    assert set(answers) == {200}, "and the right password is never too often"


def test_a_link_for_viewing_has_no_downloads(shared: Shared, api: Api) -> None:
    ada = shared.user("ada")
    file = shared.stored(ada, "a.txt", b"text")
    _, token = shared.link(ada, file, view_only=True)
    assert given(api.get(f"/public/links/{token}"))["viewOnly"] is True
    assert refused(api.get(f"/public/links/{token}/files/{file.file_id}/content")) == (403, "VIEW_ONLY")
    assert refused(
        api.post(f"/files/{file.file_id}/links", {"viewOnly": True, "downloadLimit": 3}, by=ada)
    ) == (422, "INVALID_LIMIT")


def test_only_the_owner_makes_changes_and_removes_links(shared: Shared, api: Api) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.file(ada)
    shared.share(ada, file, bob.email, permissions="write")
    assert refused(api.post(f"/files/{file.file_id}/links", {}, by=bob)) == (403, "OWNER_ONLY")
    made = given(api.post(f"/files/{file.file_id}/links", {"title": "For all"}, by=ada), 201)
    assert refused(api.patch(f"/links/{made['linkId']}", {"title": "x"}, by=bob)) == (404, "LINK_NOT_FOUND")
    changed = given(api.patch(f"/links/{made['linkId']}", {"expiresOn": "2030-02-20"}, by=ada))
    assert (changed["expiresAt"], changed["token"]) == ("2030-02-20T23:59:59Z", made["token"])
    assert [one["title"] for one in given(api.get("/links", by=ada))["items"]] == ["For all"]
    assert api.delete(f"/links/{made['linkId']}", by=ada).status_code == 204
    assert refused(api.get(f"/public/links/{made['token']}")) == (410, "LINK_REVOKED")


def test_every_change_of_a_link_is_audited_without_its_secrets(shared: Shared) -> None:
    ada = shared.user("ada")
    file = shared.file(ada)
    link, token = shared.link(ada, file, password="open sesame")
    shared.at.campus.links.revoke(ada, link.link_id)
    entries = list(shared.at.db.all(shared.at.campus.repository.history(f"file:{file.file_id}")))
    assert [entry.action for entry in entries] == ["link revoked", "link made"]
    assert not any(secret in str(entries) for secret in (token, link.token_digest, "sesame", "scrypt"))


def test_links_of_someone_else_are_in_no_list(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    mine: Link = shared.link(ada, shared.file(ada))[0]
    assert [link.link_id for link in shared.at.campus.links.of(ada)] == [mine.link_id]
    assert shared.at.campus.links.of(bob) == []


def test_a_file_is_public_while_a_link_opens_it(shared: Shared, api: Api) -> None:
    ada = shared.user("ada")
    file = shared.stored(ada, "essay.txt", b"my essay")
    path = f"/files/{file.file_id}"
    assert given(api.get(path, by=ada))["isPublic"] is False
    given(api.post(f"{path}/links", {}, by=ada), 201)
    assert given(api.get(path, by=ada))["isPublic"] is True
    assert [each["isPublic"] for each in given(api.get("/files", by=ada))["items"]] == [True]
    shared.at.later(days=31)  # links end after thirty days if nothing else was chosen
    assert given(api.get(path, by=ada))["isPublic"] is False
