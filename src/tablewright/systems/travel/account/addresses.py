"""E-mail addresses, and what Skratch says of what is none. Never more of them than a keyed hash stands in a key.

Elsewhere: their one spelling (edge/mail_addresses.py), what stands in keys instead (keyring.py).
"""

from tablewright.edge.mail_addresses import NotAnAddress, normalise_address
from tablewright.systems.travel.errors import BadRequest


def email_address(text: str, field: str = "email") -> str:
    """An address in its one spelling; INVALID_EMAIL if nobody could get mail there."""
    try:
        return normalise_address(text)
    except NotAnAddress as mistake:
        raise BadRequest("INVALID_EMAIL", str(mistake), field) from None
