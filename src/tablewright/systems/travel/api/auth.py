"""`/auth/...`: signing in with Apple or by mail, the next token, signing out."""

from fastapi import APIRouter, Depends, Request

from tablewright.edge import Problem, RateLimiter, limit_rate
from tablewright.edge.rate_limit import network_of
from tablewright.edge.routes import Router
from tablewright.kit.code_requesters import RequestOrigin
from tablewright.systems.travel.access import Traveller
from tablewright.systems.travel.account.accounts import Proved
from tablewright.systems.travel.account.apple import NONCE_LIVES, AppleVerifier
from tablewright.systems.travel.api import bodies
from tablewright.systems.travel.rules import check_id
from tablewright.systems.travel.travel import Travel


def apple_or_503(travel: Travel) -> AppleVerifier:
    if travel.apple is None:
        raise Problem(
            503, "APPLE_UNAVAILABLE", "Sign in with Apple is not available here. Please sign in by e-mail."
        )
    return travel.apple


def typed_by(request: Request, body: bodies.CodeBody) -> RequestOrigin:
    """The origin of a typed code."""
    return RequestOrigin(network_of(request), (body.known_device,), body.ticket)


def auth(travel: Travel, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["auth"])
    pace = Depends(limit_rate(buckets, "sign-in", per_minute=30, burst=30))
    mail_pace = Depends(limit_rate(buckets, "sign-in-mail", per_minute=6, burst=10))

    @api.post("/auth/apple:start", dependencies=[pace])
    def apple_start() -> bodies.NonceView:
        """A nonce to hand to Apple; it works once, for ten minutes."""
        return bodies.NonceView(nonce=travel.nonces.give(), expires_in=int(NONCE_LIVES.total_seconds()))

    @api.post("/auth/apple", dependencies=[pace])
    def apple(body: bodies.AppleBody) -> bodies.SignedInView:
        """Sign in with Apple's id_token; a new traveller gets an account."""
        login = apple_or_503(travel).verify(body.id_token, body.nonce)
        travel.nonces.spend(body.nonce, check_id(body.device.device_id, "device_id"))
        proved = Proved("apple", login.subject, login.email, body.display_name)
        return bodies.signed_in_view(travel.accounts.sign_in(proved, body.device.gadget()))

    @api.post("/auth/email:start", status_code=202, dependencies=[mail_pace])
    def email_start(body: bodies.EmailBody, request: Request) -> bodies.CodeSent:
        """Send a code; the answer is the same for every address."""
        ticket = travel.email_login.start(
            body.email, RequestOrigin(network_of(request), (body.known_device,))
        )
        words = "A code is on its way to this address. It works for 15 minutes."
        return bodies.CodeSent(message=words, ticket=ticket)

    @api.post("/auth/email:verify", dependencies=[pace])
    def email_verify(body: bodies.EmailVerifyBody, request: Request) -> bodies.SignedInView:
        """Sign in with the code from the mail."""
        check_id(body.device.device_id, "device_id")
        address = travel.email_login.prove(body.email, body.code, typed_by(request, body))
        signed = travel.accounts.sign_in(Proved("email", email=address), body.device.gadget())
        return bodies.signed_in_view(signed, travel.email_login.requesters.device(address))

    @api.post("/auth/refresh", dependencies=[pace])
    def refresh(body: bodies.RefreshBody) -> bodies.SignedInView:
        """The next token, and the secret for the one after it."""
        return bodies.signed_in_view(travel.accounts.refresh(body.refresh_token))

    @api.post("/auth/sign-out", status_code=204)
    def sign_out(me: Traveller) -> None:
        """End this login; the device keeps what it has and may sign in again."""
        if me.session_id is not None:
            travel.sessions.sign_out(me.user_id, me.session_id)

    return api
