"""HTTP plumbing for every system: apps, identity, problems, ETags, rate limits, logs. See README.md."""

from tablewright.edge.app import AppDidNotStart, CannotListen, listening, make_app, run, serving_app, url_of
from tablewright.edge.identity import ANYONE, Issuer, Principal, SessionCookie, Verifier, principal, require
from tablewright.edge.problems import Problem
from tablewright.edge.rate_limit import RateLimit, RateLimiter, limit_rate

__all__ = [
    "ANYONE",
    "AppDidNotStart",
    "CannotListen",
    "Issuer",
    "Principal",
    "Problem",
    "RateLimit",
    "RateLimiter",
    "SessionCookie",
    "Verifier",
    "limit_rate",
    "listening",
    "make_app",
    "principal",
    "require",
    "run",
    "serving_app",
    "url_of",
]
