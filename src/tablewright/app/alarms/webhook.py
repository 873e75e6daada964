"""The webhook: each change of an alarm as a POST of JSON.

    {"alarm": "campus/StorageQuotaHigh", "state": "ALARM", "before": "OK", "value": 91.5, ...}

Must hold: a call that was not answered with 2xx is repeated as an undelivered mail is (kit/delivery.py), with the same
id; the address may contain a secret, so it is neither stored nor logged; a redirect is not followed.
"""

import http.client
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tablewright.kit.delivery import DeliveryDelayed, DeliveryRefused, OutgoingMessage

SECONDS = 10.0
# Answers after which the same call may be accepted later.
_LATER = (408, 425, 429)


class WebhookUnusable(ValueError):
    """An address that no request can be sent to."""

    def __init__(self, why: str) -> None:
        super().__init__(f"--alarm-webhook: {why}; give an address such as https://hooks.example.com/alarms")


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where to post. Made by `webhook_at`."""

    connect: Callable[[], http.client.HTTPConnection]
    path: str = field(repr=False)

    def send(self, message: OutgoingMessage) -> None:
        """Post the body of a message; its id is the same in each attempt."""
        connection = self.connect()
        headers = {"Content-Type": "application/json", "Idempotency-Key": message.id}
        try:
            connection.request("POST", self.path, message.body.encode(), headers)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            raise DeliveryDelayed(type(error).__name__) from None
        finally:
            connection.close()
        if status >= 500 or status in _LATER:
            raise DeliveryDelayed(f"status {status}")
        if not 200 <= status < 300:
            raise DeliveryRefused(f"status {status}")


def webhook_at(url: str) -> Webhook:
    """The webhook at an address; WebhookUnusable if it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise WebhookUnusable("the port is not a number") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WebhookUnusable("it does not begin with https:// and a host")
    if parts.username or not url.isascii() or any(letter.isspace() for letter in url):
        raise WebhookUnusable("it has a user name, a space or a letter that addresses do not have")
    host = parts.hostname
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Webhook(lambda: kind(host, port, timeout=SECONDS), path)
