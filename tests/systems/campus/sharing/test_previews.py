"""Previews: what is shown, how much of it, and that nothing in a file can run as a page of ours."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.systems.campus.courses.talk import course_of, file_part
from tests.systems.campus.sharing.conftest import Shared
from tests.systems.campus.talk import Api, refuses

from tablewright.systems.campus.files import previews
from tablewright.systems.campus.files.previews import Preview, kind_of, text_preview
from tablewright.systems.campus.files.readers import Reader, of_link, of_user, reader_of
from tablewright.systems.campus.jobs import run_tasks
from tablewright.systems.campus.model import File, User

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
HTML = b"<!doctype html><script>alert(1)</script>"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


@pytest.fixture
def shared(campus_shares: Shared) -> Shared:
    return campus_shares


def preview(shared: Shared, name: str, content: bytes) -> Preview | None:
    ada = shared.user("ada")
    return shared.at.campus.previews.of(shared.stored(ada, name, content), of_user(ada.user_id))


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.py", b"print('x')\n", "text"),
        ("page.png", HTML, "text"),  # the bytes decide, whatever the name says
        ("picture.svg", SVG, "text"),
        ("index.html", HTML, "text"),
        ("a.png", PNG, "image"),
        ("a.txt", PNG, "image"),
        ("a.pdf", b"%PDF-1.7\n...", "pdf"),
        ("a.zip", b"PK\x03\x04" + bytes(30), None),
        ("a.exe", b"MZ" + bytes(30), None),
    ],
)
def test_what_is_shown_goes_by_the_bytes(shared: Shared, name: str, content: bytes, kind: str | None) -> None:
    found = preview(shared, name, content)
    assert (found.kind if found else None) == kind


def test_text_is_bounded_in_bytes_lines_and_length_of_a_line(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "MAX_TEXT", 100)
    found = preview(shared, "a.txt", b"x" * 1000)
    assert found == Preview("text", lines=("x" * 100,), is_cut=True)
    many = text_preview(b"\n" * 10_000)
    assert (len(many.lines), many.is_cut) == (5_000, True)
    assert text_preview(b"x" * 3_000).is_cut
    assert not text_preview(b"one\r\ntwo\rthree\n").is_cut


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("Grüße\n日本語\n".encode(), ("Grüße", "日本語")),
        ("\ufeffbom".encode(), ("bom",)),
        ("naïve".encode("utf-16"), ("naïve",)),
        ("naïve".encode("latin-1"), ("naïve",)),
        ("日本".encode()[:-1], ("日",)),  # cut in the middle of a letter
        (b"a\x00b\x1b[31m", ("a␀b␛[31m",)),
        ("if ok\u202e { }".encode(), ("if ok⟨U+202E⟩ { }",)),
        (b"", ("",)),
    ],
)
def test_text_is_read_in_its_encoding_and_hides_nothing(content: bytes, lines: tuple[str, ...]) -> None:
    assert text_preview(content).lines == lines


def test_large_images_and_documents_are_only_for_download() -> None:
    assert kind_of("image/png", 31 * 1024 * 1024) is None
    assert kind_of("application/pdf", 101 * 1024 * 1024) is None
    assert kind_of("text/plain", 10**12) == "text"


def test_a_preview_comes_from_a_signed_path_with_a_policy_that_lets_nothing_run(
    shared: Shared, api: Api
) -> None:
    found = preview(shared, "a.png", PNG)
    assert found is not None
    answer = api.client.get(found.url)
    assert (answer.status_code, answer.content) == (200, PNG)
    assert answer.headers["Content-Type"] == "image/png"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert "script" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["Content-Disposition"].startswith("inline")
    signed = found.url.rpartition("/")[2]
    for other in (signed[:-1] + ("A" if signed[-1] != "A" else "B"), "nonsense", ".", "..%2f..%2fetc"):
        assert api.client.get(f"/campus/v1/previews/{other}").status_code in (404, 410)
    shared.at.later(minutes=6)
    with refuses("LINK_EXPIRED"):
        shared.at.campus.previews.verify(signed)


def test_a_path_for_a_download_is_none_for_a_preview_and_the_other_way_round(
    shared: Shared, api: Api
) -> None:
    ada = shared.user("ada")
    file = shared.stored(ada, "page.html", HTML)
    signed = shared.at.campus.library.download_link(ada, file.file_id).url.rpartition("/")[2]
    assert api.client.get(f"/campus/v1/previews/{signed}").status_code == 410
    image = shared.at.campus.previews.of(shared.stored(ada, "a.png", PNG), of_user(ada.user_id))
    assert image is not None
    assert api.client.get(f"/campus/v1/objects/{image.url.rpartition('/')[2]}").status_code == 410


# --- the reader, with each read ---


def status(shared: Shared, api: Api, file: File, reader: Reader) -> Callable[[], int]:
    """What a path that was signed at this moment answers, from now on."""
    found = shared.at.campus.previews.of(file, reader)
    assert found is not None
    return lambda: api.client.get(found.url).status_code


def clean_image(shared: Shared, owner: User) -> File:
    made = shared.stored(owner, "a.png", PNG)
    run_tasks(shared.at.campus)
    return shared.at.campus.repository.file(made.file_id)


def test_a_preview_ends_with_the_share_that_allowed_it(shared: Shared, api: Api) -> None:
    ada, ben = shared.user("ada"), shared.user("ben")
    file = clean_image(shared, ada)
    (share,) = shared.share(ada, file, ben.email)
    read = status(shared, api, file, of_user(ben.user_id))
    assert read() == 200
    shared.at.campus.shares.revoke(ada, share.share_id)
    assert read() == 403


def test_a_preview_ends_with_its_file_and_with_the_account_of_its_reader(shared: Shared, api: Api) -> None:
    ada, admin = shared.user("ada"), shared.user("kaya", "admin")
    file = clean_image(shared, ada)
    read = status(shared, api, file, of_user(ada.user_id))
    shared.at.campus.users.suspend(ada.user_id, admin, "why")
    assert read() == 403
    shared.at.campus.users.reinstate(ada.user_id, admin)
    assert read() == 200
    shared.at.campus.library.trash(ada, file.file_id)
    assert read() == 410


def test_a_preview_ends_with_the_public_link_that_showed_it(shared: Shared, api: Api) -> None:
    ada = shared.user("ada")
    file = clean_image(shared, ada)
    link, _ = shared.link(ada, file)
    read = status(shared, api, file, of_link(link.link_id))
    assert read() == 200
    shared.at.campus.links.revoke(ada, link.link_id)
    assert read() == 410


def test_a_preview_of_a_submission_ends_with_the_role_in_its_course(shared: Shared, api: Api) -> None:
    room = course_of(shared.at)
    room.person("lin")
    tessa = room.person("tessa", "ta")
    file = clean_image(shared, room.people["lin"])
    made = room.submit("lin", room.assignment(), file_part(file))
    part = made.parts[0]
    read = status(shared, api, file, Reader("submission", tessa.user_id, made.submission_id, part.part_id))
    assert read() == 200
    other = clean_image(shared, room.people["lin"])
    wrong = Reader("submission", tessa.user_id, made.submission_id, part.part_id)
    assert status(shared, api, other, wrong)() == 404
    room.campus.courses.remove(room.member(), tessa.user_id)
    assert read() == 404


@pytest.mark.parametrize("reader", [of_user("auth0|7:x"), of_link("l"), Reader("submission", "u", "s", "p")])
def test_a_reader_is_read_back_from_what_is_signed(reader: Reader) -> None:
    assert reader_of(reader.subject) == reader
