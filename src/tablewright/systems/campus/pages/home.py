"""The first page: what is due, what is new, how much room is left."""

from fastapi import APIRouter, Request, Response

from tablewright.systems.campus.access import Me
from tablewright.systems.campus.pages.page import CampusPages


def home_router(pages: CampusPages) -> APIRouter:
    router = pages.router()

    @router.get("")
    def home(request: Request, user: Me) -> Response:
        campus = pages.campus
        news = campus.repository.page(campus.notifier.of(user), 5, None, user.user_id).items
        return pages.page(request, "home", title="Campus Cloud", user=user, news=news)

    return router
