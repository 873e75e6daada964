"""Zoo chat over HTTP: `/v1/...` of C.2, and `/v1-compat/...` of the first version.

Reads arguments, calls the service, makes the response.
Elsewhere: the routes with their bodies (the modules beside this one), who may call them (access.py).
"""

from fastapi import APIRouter

from tablewright.edge import RateLimiter
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import Router, include
from tablewright.systems.chat.access import CHAT
from tablewright.systems.chat.api import (
    admin,
    animals,
    children,
    compat,
    consent,
    context,
    conversations,
    family,
    people,
    policy,
    review,
    turns,
)
from tablewright.systems.chat.chat import Chat


def router(chat: Chat, who: FindPrincipal, *, buckets: RateLimiter | None = None) -> APIRouter:
    """All routes of Zoo chat."""
    # not `or`: an empty RateLimiter is falsy
    buckets = RateLimiter() if buckets is None else buckets
    api = Router(prefix="/v1")
    for part in (
        conversations.conversations(chat),
        turns.turns(chat),
        animals.animals(chat),
        review.review(chat),
        context.context(chat),
        family.families(chat),
        children.children(chat, buckets),
        consent.consent(chat),
        people.people(chat),
        policy.policy(chat),
        admin.admin(chat),
    ):
        include(api, part)
    every = Router(dependencies=[CHAT.of(chat, who)])
    include(every, api)
    include(every, compat.compat(chat))
    return every
