"""The front of a page: the product it belongs to, as one caller sees it.

Each system is a product with a name, a colour, a home page, a search, a sign-in page and a menu of its own; the
workbench is the engineers'. They share the frame (templates/frame.html), not the menu.
Must hold: the front of a system has no link to the workbench or to another system; the workbench links to the systems,
and shows none of their pages.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tablewright.edge import Principal
from tablewright.kit.system import Accent
from tablewright.pages.area import Area, Nav, area_at

WORKBENCH = "Tablewright"
SEARCH = "/search"


@dataclass(frozen=True, slots=True)
class MenuLink:
    title: str
    href: str
    icon: str
    is_here: bool = False


@dataclass(frozen=True, slots=True)
class Front:
    """What the frame shows of a product. `menu` is groups of links, each with a heading or none.

    `search` is where its search is, or "" where a caller has nothing to find; `area` is None on pages of the workbench
    that belong to none.
    """

    title: str
    icon: str
    accent: Accent
    home: str
    search: str
    menu: tuple[tuple[str, tuple[MenuLink, ...]], ...]
    caller: Principal
    area: Area | None

    @property
    def system(self) -> str:
        """The name of the system; "" for the workbench."""
        return "" if self.area is None or self.area.is_workbench else self.area.name


def front_at(areas: Sequence[Area], path: str, caller: Principal) -> Front:
    """The front of an address. The caller has the roles as the token spells them."""
    area = area_at(areas, path)
    if area is None or area.is_workbench:
        return _workbench(areas, area, path, caller)
    local = area.local(caller)
    pages, here = area.pages_for(local), area.page_at(path)
    links = tuple(MenuLink(page.title, area.href(page), page.icon, page == here) for page in pages)
    home, search = area.home_of(pages), area.path + SEARCH if pages else ""
    # A menu of one page leads where the name on top leads.
    menu = (("", links),) if len(links) > 1 else ()
    return Front(area.title, area.icon, area.accent, home, search, menu, local, area)


def _workbench(areas: Sequence[Area], area: Area | None, path: str, caller: Principal) -> Front:
    here = area.page_at(path) if area is not None else None
    is_api = path.startswith(("/docs", "/problems"))
    benches = [each for each in areas if each.is_workbench]

    def links(each: Area, pages: Sequence[Nav]) -> tuple[MenuLink, ...]:
        return tuple(
            MenuLink(page.title, each.href(page), page.icon, each is area and page == here) for page in pages
        )

    own = [link for each in benches for link in links(each, each.pages_for(caller))]
    listed = [(each.listed_title, links(each, each.listed_for(caller))) for each in benches]
    systems = [MenuLink(each.title, each.path, each.icon) for each in areas if not each.is_workbench]
    menu = (
        ("", (MenuLink("Home", "/", "home", path == "/"), *own, MenuLink("API", "/docs", "docs", is_api))),
        *((title, found) for title, found in listed if found),
        *((("Systems", tuple(systems)),) if systems else ()),
    )
    return Front(WORKBENCH, "brand", "blue", "/", SEARCH, menu, caller, area)
