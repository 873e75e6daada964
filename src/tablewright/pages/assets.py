"""Stylesheets, scripts and icons: read once, served under the hash of their content, kept by browsers for a year.

The frame's are in static/ here; those of a system are in static/ beside its pages, with the system's name in front.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources

from fastapi import APIRouter, Request, Response

from tablewright.edge.compression import StaticContent
from tablewright.edge.problems import not_found
from tablewright.edge.routes import Router

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Asset:
    """A file and the address it has as long as it stays the same."""

    name: str
    content: bytes
    kind: str

    @cached_property
    def kept(self) -> StaticContent:
        return StaticContent(self.content, self.kind)

    @cached_property
    def href(self) -> str:
        stem, _, ending = self.name.rpartition(".")
        return f"/static/{stem}.{hashlib.sha256(self.content).hexdigest()[:12]}.{ending}"


@cache
def assets_of(package: str, prefix: str = "") -> Mapping[str, Asset]:
    """Everything in static/ of a package, by its path there after the prefix; nothing where there is no static/."""
    found: dict[str, Asset] = {}
    root = resources.files(package) / "static"
    waiting = [(prefix, root)] if root.is_dir() else []
    while waiting:
        prefix, folder = waiting.pop()
        for entry in folder.iterdir():
            if entry.is_dir():
                waiting.append((f"{prefix}{entry.name}/", entry))
            elif (ending := "." + entry.name.rpartition(".")[2]) in _TYPES:
                name = prefix + entry.name
                found[name] = Asset(name, entry.read_bytes(), _TYPES[ending])
    return found


def assets_router(assets: Mapping[str, Asset]) -> APIRouter:
    by_href = {asset.href: asset for asset in assets.values()}
    router = Router(include_in_schema=False)

    @router.get("/static/{path:path}")
    def static(path: str, request: Request) -> Response:
        found = by_href.get(f"/static/{path}")
        if found is None:
            raise not_found("NO_SUCH_FILE", "There is no such file, or it has changed. Reload the page.")
        return found.kept.response(request, {"Cache-Control": _FOREVER})

    @router.get("/favicon.ico")
    def favicon(request: Request) -> Response:
        return assets["icon.svg"].kept.response(request, {"Cache-Control": "public, max-age=86400"})

    return router
