"""Payments: the interface a gateway has, and a simulated one.

A gateway authorises at once and sends the outcome later, in a signed event (webhook) that may come more than once.
The simulated gateway approves every token except `tok_declined`, and signs its events like a real one.
"""

import hashlib
import hmac
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

import orjson
from pydantic import TypeAdapter

_FIELDS = {"eventId": "event_id", "orderId": "order_id"}
EventKind = Literal["paid", "declined", "refunded"]


@dataclass(frozen=True, slots=True)
class PaymentEvent:
    """An event of a gateway. A repeated event has the same `event_id`."""

    event_id: str
    kind: EventKind
    order_id: str
    reference: str
    amount: Decimal


class BadSignature(Exception):
    """An event that the gateway did not sign."""


class BadEvent(Exception):
    """A signed event of an unknown kind or format."""


class Payments(Protocol):
    """A gateway."""

    def authorise(self, order_id: str, amount: Decimal, currency: str, token: str) -> PaymentEvent:
        """Charge the amount. A repeated call for the same order is the same payment."""
        ...

    def refund(self, order_id: str, reference: str, amount: Decimal) -> PaymentEvent:
        """Refund a payment. A repeated call for the same payment is the same refund."""
        ...

    def read(self, body: bytes, signature: str) -> PaymentEvent:
        """The event in a webhook's body; BadSignature or BadEvent if it cannot be trusted or read."""
        ...


class SimulatedGateway:
    """A gateway that moves no money."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def authorise(self, order_id: str, amount: Decimal, currency: str, token: str) -> PaymentEvent:
        kind: EventKind = "declined" if token == "tok_declined" else "paid"
        return PaymentEvent(f"evt_{kind}_{order_id}", kind, order_id, self._reference(order_id), amount)

    def refund(self, order_id: str, reference: str, amount: Decimal) -> PaymentEvent:
        return PaymentEvent(f"evt_refunded_{order_id}", "refunded", order_id, reference, amount)

    def sign(self, event: PaymentEvent) -> tuple[bytes, str]:
        """The webhook's body and its signature."""
        body = orjson.dumps(
            {
                "eventId": event.event_id,
                "kind": event.kind,
                "orderId": event.order_id,
                "reference": event.reference,
                "amount": str(event.amount),
            }
        )
        return body, self._signature(body)

    def read(self, body: bytes, signature: str) -> PaymentEvent:
        # As bytes: of texts, compare_digest takes ASCII only, and a header may hold anything.
        if not hmac.compare_digest(self._signature(body).encode(), signature.encode()):
            raise BadSignature
        try:
            return TypeAdapter(PaymentEvent).validate_python(
                {_FIELDS.get(name, name): value for name, value in orjson.loads(body).items()}
            )
        except (ValueError, AttributeError):
            raise BadEvent from None

    def _signature(self, body: bytes) -> str:
        return hmac.new(self._secret, body, hashlib.sha256).hexdigest()

    def _reference(self, order_id: str) -> str:
        return "pay_" + hmac.new(self._secret, order_id.encode(), hashlib.sha256).hexdigest()[:16]
