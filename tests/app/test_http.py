"""The app's port as HTTP: HEAD and compression."""

from __future__ import annotations

import gzip

import httpx
from fastapi.routing import iter_route_contexts
from tests.app.browsing import Enter

from tablewright.app.runtime import Runtime
from tablewright.app.serve import app_of
from tablewright.pages.assets import assets_of


def test_every_page_and_path_without_parameters_answers_head_as_it_answers_get(
    runtime: Runtime, enter: Enter
) -> None:
    client = enter("lib_ines", follow=False)
    paths = [
        route.path or ""
        for route in iter_route_contexts(app_of(runtime).routes)
        if "GET" in (route.methods or ()) and "{" not in (route.path or "")
    ]
    assert len(paths) > 15
    for path in paths:
        if path != "/sign-out":
            got, head = client.get(path), client.head(path)
            assert (path, head.status_code, head.content) == (path, got.status_code, b"")


def test_a_style_is_sent_compressed_and_in_its_own_bytes_to_those_who_do_not_read_that(enter: Enter) -> None:
    client, sheet = enter(), assets_of("tablewright.pages")["console.css"]
    style = sheet.content
    with client.stream("GET", sheet.href, headers={"Accept-Encoding": "gzip"}) as answered:
        body = b"".join(answered.iter_raw())
    assert gzip.decompress(body) == style
    assert len(body) < len(style) / 2
    plain = client.get(sheet.href, headers={"Accept-Encoding": "identity"})
    assert (plain.content, plain.headers["Vary"]) == (style, "Accept-Encoding")


def test_a_page_is_sent_compressed(enter: Enter) -> None:
    answered: httpx.Response = enter("lib_ines").get("/console/designs")
    assert answered.headers["Content-Encoding"] == "gzip"
