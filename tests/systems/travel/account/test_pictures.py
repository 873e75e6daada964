"""Pictures that are taken and refused by what their headers say."""

from collections.abc import Callable

import pytest
from tests.systems.travel.images import jpeg, png, webp, webp_extended, webp_lossless
from tests.systems.travel.people import Home

from tablewright.edge.errors import BadRequest
from tablewright.systems.travel.account.picture_headers import Header, read_header

Make = Callable[[int, int], bytes]
EVERY = pytest.mark.parametrize(
    ("make", "kind"),
    [(png, "png"), (jpeg, "jpg"), (webp, "webp"), (webp_lossless, "webp"), (webp_extended, "webp")],
)


@pytest.fixture
def ada(home: Home) -> str:
    return home.by_mail().profile.user_id


@EVERY
@pytest.mark.parametrize("size", [(1, 1), (640, 480), (12_000, 4_000), (16_383, 1)])
def test_a_header_says_kind_width_and_height(make: Make, kind: str, size: tuple[int, int]) -> None:
    header = read_header(make(*size))
    assert header is not None
    assert (header.kind, header.width, header.height) == (kind, *size)


@pytest.mark.parametrize("frame", [0xC1, 0xC2, 0xC3, 0xCF])
def test_a_jpeg_has_its_size_in_whatever_frame_it_has(frame: int) -> None:
    assert read_header(jpeg(300, 200, frame)) == Header("jpg", 300, 200)


@EVERY
def test_a_header_that_is_cut_off_or_broken_says_nothing(make: Make, kind: str) -> None:
    whole = make(640, 480)
    for length in range(len(whole)):
        found = read_header(whole[:length])
        assert found is None or (found.width, found.height) == (640, 480)
    assert read_header(whole[:12]) is None


@pytest.mark.parametrize(
    "content",
    [
        b"", b"<svg>", b"GIF89a" + b"\1" * 20, b"\x89PNG\r\n\x1a\n" + b"\0" * 40, png(0, 10), jpeg(10, 0),
        b"\xff\xd8\xff\xda\0\2" + b"\1" * 40,
        b"\xff\xd8\xff\xe0\0\0" + b"\1" * 40, b"RIFF\0\0\0\0WEBPABCD" + b"\1" * 20,
    ],
)  # fmt: skip
def test_what_is_no_picture_is_refused_whatever_it_begins_with(home: Home, ada: str, content: bytes) -> None:
    with pytest.raises(BadRequest, match="PNG, JPEG or WebP") as refused:
        home.travel.pictures.put(ada, content)
    assert refused.value.code == "NOT_A_PICTURE"
    assert not list(home.objects.names("pictures/"))


@pytest.mark.parametrize(
    "content",
    [png(30_000, 30_000), png(12_001, 1), png(1, 12_001), png(8_000, 8_000), jpeg(30_000, 30_000),
     webp(16_000, 16_000), webp_lossless(12_001, 2), webp_extended(30_000, 30_000)],
)  # fmt: skip
def test_a_picture_with_too_many_pixels_is_refused_with_the_limit(
    home: Home, ada: str, content: bytes
) -> None:
    with pytest.raises(BadRequest, match="at most 12000 pixels on each side and 50 megapixels") as refused:
        home.travel.pictures.put(ada, content)
    assert refused.value.code == "PICTURE_TOO_LARGE"
    assert home.travel.repository.profile(ada).profile_picture_url is None
    assert not list(home.objects.names("pictures/"))


@EVERY
def test_a_picture_is_of_the_type_it_was_sent_as(home: Home, ada: str, make: Make, kind: str) -> None:
    right = {"png": "image/png", "jpg": "image/jpeg", "webp": "image/webp"}[kind]
    wrong = "image/png" if kind != "png" else "image/jpeg"
    with pytest.raises(BadRequest, match=f"sent as {wrong}, but it is {right}"):
        home.travel.pictures.put(ada, make(10, 10), wrong)
    for said in (right, right.upper(), f"{right}; q=1", "image/*", "application/octet-stream", ""):
        home.travel.pictures.put(ada, make(10, 10), said)
    assert home.travel.repository.profile(ada).profile_picture_url is not None
