"""What the pages of all systems share: the console, the caller, a folder of templates, and the values that all
templates of a system use. Each system's page.py adds its service and its permissions."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastapi import APIRouter, Request, Response

from tablewright.edge.identity.guards import FindPrincipal
from tablewright.pages.layout import Console, Crumb


@dataclass(frozen=True)
class SystemPages(ABC):
    """A system's pages. `folder` is where its templates are, below templates/."""

    folder: ClassVar[str]

    console: Console
    who: FindPrincipal

    def router(self) -> APIRouter:
        """A router for pages, whose routes may have the system's access checks as dependencies."""
        router = self.console.router()
        router.dependencies.append(self.access())
        return router

    @abstractmethod
    def access(self) -> Any:
        """The dependency that its access checks need: `Access.of` (kit/access.py)."""

    @abstractmethod
    def words(self, request: Request) -> Mapping[str, Any]:
        """The values that every template of the folder gets."""

    def page(
        self,
        request: Request,
        name: str,
        *,
        title: str,
        crumbs: tuple[Crumb, ...] = (),
        status: int = 200,
        **values: Any,
    ) -> Response:
        """A page of the folder. `crumbs` are the steps between the area and this page."""
        template = f"{self.folder}/{name}.html"
        given = {**self.words(request), **values}
        return self.console.page(request, template, title=title, crumbs=crumbs, status=status, **given)
