"""The cookie of a browser that verified an address before: strangers cannot use up its codes (kit/code_requesters.py).

Must hold: scripts cannot read it, and it does not sign anyone in. A browser is known for a few addresses, the latest
first.
"""

from datetime import timedelta

from fastapi import Request, Response

from tablewright.edge.rate_limit import network_of
from tablewright.kit.code_requesters import CodeRequesters, RequestOrigin
from tablewright.pages.layout import Console

# As long as browsers keep any cookie.
_LASTS = timedelta(days=400)
_MOST, _BETWEEN = 8, "_"


def caller_of(request: Request, console: Console, ticket: str = "") -> RequestOrigin:
    """The origin of a request for a code, or of an attempt with one."""
    return RequestOrigin(network_of(request), _devices(request, console), ticket)


def remember(
    request: Request, response: Response, console: Console, requesters: CodeRequesters, address: str
) -> None:
    """Remember that this browser verified an address."""
    known = _devices(request, console)
    own = next((token for token in known if requesters.is_device(address, token)), None) or requesters.device(
        address
    )
    tokens = [own, *(token for token in known if token != own)][:_MOST]
    response.set_cookie(
        _name(console),
        _BETWEEN.join(tokens),
        max_age=int(_LASTS.total_seconds()),
        path="/",
        secure=console.cookie.secure,
        httponly=True,
        samesite="lax",
    )


def _devices(request: Request, console: Console) -> tuple[str, ...]:
    return tuple(filter(None, request.cookies.get(_name(console), "").split(_BETWEEN)))[:_MOST]


def _name(console: Console) -> str:
    return f"{console.cookie.name}-known"
