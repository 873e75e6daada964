"""Limits on orders for an address without signing in, and on the mail about them.

A stranger can type anyone's address, so mail about such orders is limited per recipient, and so are the orders
themselves. The counts are in the store, so the limits hold across processes. Signed-in customers are not counted.
Must hold: an order is counted before it is written; the key of a count does not contain the address.
"""

import hashlib
import hmac
from datetime import timedelta

from tablewright.edge.errors import TooManyRequests
from tablewright.systems.portal import design as d
from tablewright.systems.portal.repository import Repository

# For one address: orders that are confirmed by mail, and orders in total.
MAILED_PER_HOUR, MAILED_PER_DAY = 3, 10
ORDERS_PER_HOUR = 120
_HOUR, _DAY = ("%Y-%m-%dT%H", timedelta(hours=2)), ("%Y-%m-%d", timedelta(days=2))


class GuestLimits:
    """Counts orders of people who did not sign in, by address."""

    def __init__(self, repository: Repository, secret: bytes) -> None:
        self._repository, self._secret = repository, secret

    def count(self, address: str) -> bool:
        """One more order for an address: whether mail is sent about it; CHECKOUT_LIMIT if there were too many."""
        this_hour = self._one_more(address, *_HOUR)
        if this_hour > ORDERS_PER_HOUR:
            words = (
                "There were too many orders for this address without signing in. Sign in or try again later."
            )
            raise TooManyRequests("CHECKOUT_LIMIT", words, self._seconds_left())
        return self._one_more(address, *_DAY) <= MAILED_PER_DAY and this_hour <= MAILED_PER_HOUR

    def _one_more(self, address: str, window: str, keep: timedelta) -> int:
        now = self._repository.now()
        digest = hmac.new(self._secret, f"guest order\0{address}".encode(), hashlib.sha256).hexdigest()
        count = d.codes.add(f"guest-{digest[:32]}", now.strftime(window), now + keep, 1)
        return self._repository.db.apply(count).used

    def _seconds_left(self) -> int:
        now = self._repository.now()
        return 3600 - now.minute * 60 - now.second
