"""A traveller as others see them: the page of a public profile (SK-X5), with the way not to be seen by its owner.

Must hold: nothing is here that the API would not tell the same reader; who is not public looks as if there were nobody.
Elsewhere: what is shown to whom (systems/travel/sharing.py), the switches and the list of blocks (settings.py).
"""

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.console.travel.desk import Desk
from tablewright.app.console.travel.looking import shares
from tablewright.systems.travel.rules import check_id


def travellers_router(desk: Desk) -> APIRouter:
    router = desk.router()

    @router.get("/travellers/{user_id}", dependencies=[Depends(desk.signed_in)])
    def traveller(user_id: str, request: Request) -> Response:
        reader = desk.traveller(request)
        found = desk.travel.sharing.public_map(reader.user_id, check_id(user_id, "user_id"))
        name = found.profile.display_name or "A traveller"
        return desk.page(
            request,
            "traveller",
            title=name,
            found=found,
            is_own=reader.user_id == user_id,
            is_open=found.profile.privacy_settings.profile_public and not found.profile.is_minor,
            shares=shares(found.statistic, desk.travel.geography),
        )

    return router
