"""Campus Cloud over a bucket in a real browser: parts go straight to S3, past the server and within its policy."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.browser.conftest import Open, Served, serving
from tests.s3_server import KEYS, new_bucket, s3_server, use_server

from tablewright.kit.objects.store import PART_SIZE

FILES, OMAR = "/console/campus/files", "student_omar"


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server() as url, pytest.MonkeyPatch.context() as patch:
        client = use_server(url, patch)
        with new_bucket(client, "campus-files"):
            yield url
        client.close()


@pytest.fixture(scope="module")
def served(s3: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The app with its objects in a bucket."""
    data = tmp_path_factory.mktemp("data")
    home = data / "systems" / "campus"
    home.mkdir(parents=True, mode=0o700)
    (home / "objects.json").write_bytes(orjson.dumps({"bucket": "s3://campus-files/bytes"}))
    keys = dict.fromkeys(KEYS, "test")
    with serving("--only", "campus", "--data", str(data), AWS_ENDPOINT_URL_S3=s3, **keys) as there:
        yield there


def _parts_sent(page: Any) -> list[str]:
    """Where the page sends parts from now on: the origin of each PUT."""
    found: list[str] = []
    origin = re.compile(r"https?://[^/]+")
    page.on(
        "request",
        lambda call: found.append(origin.match(call.url)[0]) if call.method == "PUT" else None,  # type: ignore[index]  # every URL has one
    )
    return found


def test_the_parts_of_a_chosen_file_go_straight_to_the_bucket(
    open_page: Open, tmp_path: Path, s3: str
) -> None:
    page = open_page(OMAR)
    policy = page.goto(FILES).headers["content-security-policy"]
    assert policy.endswith(f"; connect-src 'self' {s3}")
    content = b"0123456789abcdef" * (PART_SIZE // 16) + b"the end"
    path = tmp_path / "lecture.txt"
    path.write_bytes(content)
    sent = _parts_sent(page)
    page.locator("[data-upload] input[data-choose][multiple]").set_input_files(path)
    page.locator(".upload[data-state=done]").wait_for()
    assert sent == [s3, s3]
    page.locator("#listing a", has_text="lecture.txt").wait_for()
    with page.expect_download() as caught:
        page.locator("a[aria-label='Download lecture.txt']").click()
    assert Path(caught.value.path()).read_bytes() == content


def test_where_the_bucket_takes_no_part_from_a_page_the_server_does(
    browser: Any, served: Served, tmp_path: Path, s3: str
) -> None:
    # Not `open_page`: the browser writes what the bucket refuses into its console.
    context = browser.new_context(base_url=served.url)
    page = context.new_page()
    page.goto("/sign-in")
    page.locator(f'.people button[value="{OMAR}"]').click()
    page.goto(FILES)
    page.route(re.compile(re.escape(s3)), lambda route: route.abort())  # as without a rule for our origin
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for path in paths:
        path.write_bytes(path.name.encode())
    sent = _parts_sent(page)
    page.locator("[data-upload] input[data-choose][multiple]").set_input_files(paths)
    page.locator("#listing a", has_text="two.txt").wait_for()
    assert sent == [s3, served.url, served.url]
    context.close()
