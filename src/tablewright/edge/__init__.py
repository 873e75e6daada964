"""The edge: what every HTTP system of ours needs around its routes. See README.md."""

from tablewright.edge.app import AppDidNotStart, CannotListen, listening, make_app, run, serving_app, url_of
from tablewright.edge.identity import (
    ANYONE,
    Issuer,
    Principal,
    SessionCookie,
    Verifier,
    principal,
    require,
    require_owner,
)
from tablewright.edge.limits import Buckets, limited
from tablewright.edge.problems import Problem

__all__ = [
    "ANYONE",
    "AppDidNotStart",
    "Buckets",
    "CannotListen",
    "Issuer",
    "Principal",
    "Problem",
    "SessionCookie",
    "Verifier",
    "limited",
    "listening",
    "make_app",
    "principal",
    "require",
    "require_owner",
    "run",
    "serving_app",
    "url_of",
]
