"""Identity: verifying tokens, issuing tokens, and authorisation.

principal.py (the caller), keys.py (JWKS), verifier.py (token -> principal), issuer.py (the built-in provider),
guards.py (FastAPI dependencies).
"""

from tablewright.edge.identity.guards import SessionCookie, login_required, principal, require
from tablewright.edge.identity.issuer import Issuer, KeyFileExposed, KeyFileUnusable, LifetimeTooLong
from tablewright.edge.identity.keys import KeyAddressUnsafe, PublicKey, RemoteKeys
from tablewright.edge.identity.principal import ANYONE, Principal
from tablewright.edge.identity.verifier import Verifier

__all__ = [
    "ANYONE",
    "Issuer",
    "KeyAddressUnsafe",
    "KeyFileExposed",
    "KeyFileUnusable",
    "LifetimeTooLong",
    "Principal",
    "PublicKey",
    "RemoteKeys",
    "SessionCookie",
    "Verifier",
    "login_required",
    "principal",
    "require",
]
