"""The pages of pictures: each picture of a design at its own address, on a page and as a file.

Elsewhere: what is drawn (app/pictures/).
"""

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.designs.lookup import find_design
from tablewright.app.pictures import KINDS, DesignPicture, pictures_of
from tablewright.app.pictures.canvas import Link, no_links
from tablewright.app.runtime import Runtime
from tablewright.design import Design
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import not_found
from tablewright.edge.security import CONTENT_POLICY
from tablewright.pages.layout import Console, Crumb

# A picture has its colours in it, and nothing else.
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def add_pictures(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    guard = [Depends(allowed)]

    @router.get("/{design}/pictures/{name}.svg", dependencies=guard)
    def file(design: str, name: str) -> Response:
        found, _ = find_design(runtime, design)
        drawn = _named(found, name).draw(no_links).document()
        return Response(drawn, media_type="image/svg+xml", headers={CONTENT_POLICY: PICTURE_POLICY})

    @router.get("/{design}/pictures/{name}", dependencies=guard)
    def picture(request: Request, design: str, name: str) -> Response:
        found, _ = find_design(runtime, design)
        one, every = _named(found, name), pictures_of(found)
        drawn = one.draw(_link(found))
        return console.page(
            request,
            "designs/picture.html",
            title=drawn.title,
            crumbs=[Crumb(found.name, f"/console/designs/{found.name}")],
            design=found,
            one=one,
            drawn=drawn,
            about=KINDS[one.kind][1],
            kinds=[(each.kind, KINDS[each.kind][0], each.name) for each in _firsts(every, one.table)],
            tables=list(dict.fromkeys(each.table for each in every if each.kind == one.kind)),
            first_of={
                each.table: each.name for each in reversed([each for each in every if each.kind == one.kind])
            },
            choices=[each for each in every if (each.kind, each.table) == (one.kind, one.table)],
        )


def gallery(design: Design) -> list[tuple[DesignPicture, str, str]]:
    """One picture of each kind that a design has, with the kind's title and how to read it."""
    return [(each, *KINDS[each.kind]) for each in _firsts(pictures_of(design), "")]


def _firsts(every: tuple[DesignPicture, ...], table: str) -> list[DesignPicture]:
    """The first picture of each kind, of this table if it has one."""
    found: dict[str, DesignPicture] = {}
    for each in sorted(every, key=lambda each: each.table != table):
        found.setdefault(each.kind, each)
    return [found[kind] for kind in KINDS if kind in found]


def _named(design: Design, name: str) -> DesignPicture:
    found = next((each for each in pictures_of(design) if each.name == name), None)
    if found is None:
        raise not_found("NO_SUCH_PICTURE", f"The design {design.name} has no picture of this name.")
    return found


def _link(design: Design) -> Link:
    return lambda target, name: f"/console/designs/{design.name}/{target}/{name}"
