"""Previews: what is shown, how much of it, and that nothing in a file can run as a page of ours."""

from __future__ import annotations

import pytest
from tests.systems.campus.sharing.conftest import Shared
from tests.systems.campus.talk import Api, refuses

from tablewright.systems.campus.files import previews
from tablewright.systems.campus.files.previews import Preview, kind_of, text_preview

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
HTML = b"<!doctype html><script>alert(1)</script>"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


@pytest.fixture
def shared(campus_shares: Shared) -> Shared:
    return campus_shares


def preview(shared: Shared, name: str, content: bytes) -> Preview | None:
    return shared.at.campus.previews.of(shared.stored(shared.user("ada"), name, content))


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
    image = shared.at.campus.previews.of(shared.stored(ada, "a.png", PNG))
    assert image is not None
    assert api.client.get(f"/campus/v1/objects/{image.url.rpartition('/')[2]}").status_code == 410
