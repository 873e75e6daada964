"""An area: the pages of one system (or of the workbench), their menu, and the routes that answer for them.

Must hold: a page that requires a role is in the menu only of callers who have it, and its route checks the role too
(the menu protects nothing).
Elsewhere: an area as one caller sees it (front.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fastapi import APIRouter

from tablewright.edge import Principal
from tablewright.kit.system import Accent, in_system

SIGN_IN = "/sign-in"  # of the workbench; and where the demo's people sign in


@dataclass(frozen=True, slots=True)
class Nav:
    """A page in the menu. `path` is below the area's own; `roles` None is for all callers, empty for all signed in.

    `except_for` are roles with pages of their own: they may open this one, but do not see the link.
    `icon` is a name in icons.py.
    """

    title: str
    path: str = ""
    roles: tuple[str, ...] | None = None
    except_for: tuple[str, ...] = ()
    icon: str = "docs"

    def is_for(self, caller: Principal) -> bool:
        """Whether to show it to a caller who has the roles of this area's system."""
        if not caller.roles.isdisjoint(self.except_for):
            return False
        if self.roles is None:
            return True
        return caller.is_known and (not self.roles or not caller.roles.isdisjoint(self.roles))


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result."""

    title: str
    href: str
    about: str = ""


def _everybody(caller: Principal) -> bool:
    return True


def _no_pages() -> Sequence[Nav]:
    return ()


def _finds_nothing(caller: Principal, text: str) -> Sequence[Hit]:
    return ()


@dataclass(frozen=True, slots=True)
class Area:
    """One area. Its routes are mounted at `/console/<name>`; `icon` is a name in icons.py.

    `serves` says whether its pages have anything for a caller; other callers find a description at its address.
    `finds` are examples of what its search finds, for a reader who found nothing.
    `has_door`: its router answers at `door`, where its people sign in, and its staff has a page of its own. Else the
    page is made by app/sign_in.py and signs in to accounts; `admits` says which addresses get one there.
    `is_workbench`: not a system's, so its roles are spelled as in tokens. `scripts` are loaded on its own pages,
    `everywhere` on all pages of the server: files of static/, in this order.
    """

    name: str
    title: str
    icon: str
    accent: Accent
    pages: tuple[Nav, ...]
    router: APIRouter
    about: str = ""
    search: Callable[[Principal, str], Sequence[Hit]] = field(default=_finds_nothing)
    finds: str = ""
    also: tuple[tuple[str, str], ...] = ()  # other addresses of ours, each with the page it belongs to
    serves: Callable[[Principal], bool] = field(default=_everybody)
    has_door: bool = False
    admits: Callable[[str], bool] | None = None
    is_workbench: bool = False
    # Pages that come and go, with the heading they have in the menu.
    listed: Callable[[], Sequence[Nav]] = field(default=_no_pages)
    listed_title: str = ""
    scripts: tuple[str, ...] = ()
    everywhere: tuple[str, ...] = ()

    @property
    def door(self) -> str:
        """Where its people sign in."""
        return SIGN_IN if self.is_workbench else f"{self.path}{SIGN_IN}"

    @property
    def staff_door(self) -> str:
        """Where its staff signs in to accounts, if that is another page."""
        return f"{self.path}/staff{SIGN_IN}" if self.has_door else ""

    def is_door(self, path: str) -> bool:
        return any(path == at or path.startswith(f"{at}/") for at in (self.door, self.staff_door) if at)

    @property
    def path(self) -> str:
        return f"/console/{self.name}"

    def href(self, page: Nav) -> str:
        return f"{self.path}/{page.path}" if page.path else self.path

    def local(self, caller: Principal) -> Principal:
        """The caller with the roles of this area's system."""
        return caller if self.is_workbench else in_system(caller, self.name)

    def pages_for(self, caller: Principal) -> tuple[Nav, ...]:
        """The pages for a caller, who has the roles of this area's system."""
        found = tuple(page for page in self.pages if page.is_for(caller))
        return found if not found or self.serves(caller) else ()

    def listed_for(self, caller: Principal) -> tuple[Nav, ...]:
        """Those of the pages that come and go that are for a caller."""
        return tuple(page for page in self.listed() if page.is_for(caller))

    def home_of(self, pages: Sequence[Nav]) -> str:
        """Where a caller begins who has these pages: at the first one for a role of theirs."""
        return next((self.href(page) for page in pages if page.roles), self.path)

    def has(self, path: str) -> bool:
        """Whether an address is one of this area's."""
        ours = (self.path, *(prefix for prefix, _ in self.also))
        return any(path == prefix or path.startswith(prefix + "/") for prefix in ours)

    def page_at(self, path: str) -> Nav | None:
        """The page a path belongs to: the one with the longest path in front of it; the door belongs to none."""
        if self.is_door(path):
            return None
        for prefix, page in self.also:
            if path == prefix or path.startswith(prefix + "/"):
                return next((each for each in self.pages if each.path == page), None)
        fitting = [
            page
            for page in (*self.pages, *self.listed())
            if path == self.href(page) or path.startswith(self.href(page) + "/")
        ]
        return max(fitting, key=lambda page: len(page.path), default=None)


def area_at(areas: Sequence[Area], path: str) -> Area | None:
    """The area of an address. A server without a workbench has one area, and every address is that area's."""
    if not any(area.is_workbench for area in areas):
        return next(iter(areas), None)
    return next((area for area in areas if area.has(path)), None)


def door_at(areas: Sequence[Area], path: str) -> str:
    """The sign-in page for an address: its area's, or the workbench's."""
    found = area_at(areas, path)
    return found.door if found is not None else SIGN_IN
