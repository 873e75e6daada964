"""E-mail addresses, and the error for text that is not one. Keys contain only a keyed hash of an address.

Elsewhere: the normalised form (edge/mail_addresses.py), the keyed hashes (keyring.py).
"""

from tablewright.edge.errors import BadRequest
from tablewright.edge.mail_addresses import NotAnAddress, normalise_address


def email_address(text: str, field: str = "email") -> str:
    """The normalised address; INVALID_EMAIL if mail cannot be sent to it."""
    try:
        return normalise_address(text)
    except NotAnAddress as mistake:
        raise BadRequest("INVALID_EMAIL", str(mistake), field) from None
