"""A traveller as others see them: the page of a public profile (SK-X5), with a button that blocks its owner.

A public profile opens without signing in, for everyone who has its address; search engines are asked to skip it.
Must hold: the page shows nothing that the API hides from a traveller; a private profile looks like one that does not
exist.
Elsewhere: what is shown to whom (systems/travel/places/public_profiles.py), the switches and the list of blocks
(settings.py).
"""

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge import RateLimiter, limit_rate
from tablewright.systems.travel.pages.page import TravelPages
from tablewright.systems.travel.pages.statistics import shares
from tablewright.systems.travel.rules import check_id


def add_profiles(router: APIRouter, pages: TravelPages) -> None:
    pace = Depends(limit_rate(RateLimiter(), "travel-profiles", per_minute=30, burst=30))

    @router.get("/travellers/{user_id}", dependencies=[pace])
    def traveller(user_id: str, request: Request) -> Response:
        caller = pages.caller(request)
        reader = caller.subject if caller.is_known and pages.has_map(caller) else None
        found = pages.travel.sharing.public_map(reader, check_id(user_id, "user_id"))
        base = pages.console.url or str(request.base_url)
        response = pages.page(
            request,
            "traveller",
            title=found.profile.display_name or "A traveller",
            found=found,
            is_own=reader == user_id,
            is_traveller=reader is not None,
            is_open=found.profile.privacy_settings.profile_public and not found.profile.is_minor,
            shares=shares(found.statistic, pages.travel.geography),
            address=f"{base.rstrip('/')}{request.url.path}",
        )
        response.headers["X-Robots-Tag"] = "noindex"
        return response
