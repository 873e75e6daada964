"""Mail about an order: the template and its values. Pure.

Must hold: a link leads to the order's page, which requires sign-in; none of these values is a secret.
Elsewhere: the texts (pages/mail/).
"""

from decimal import Decimal
from typing import TypeAlias

from tablewright.english import moment
from tablewright.systems.portal import rules
from tablewright.systems.portal.model import Order, OrderStatus

# A template of pages/mail/, and its values.
Mail: TypeAlias = tuple[str, dict[str, str]]


def order_placed(order: Order, link: str, *, pays_now: bool) -> Mail:
    values = {"number": order.order_number, "summary": rules.summary(order), "link": link}
    if pays_now:
        return "order", values
    return "order to pay", {**values, "until": moment(rules.pay_until(order), rules.ZONE)}


def order_on_hold(order: Order, why: str) -> Mail:
    return "order on hold", {"number": order.order_number, "summary": rules.summary(order), "why": why}


def order_over_limit(order: Order, link: str) -> Mail:
    return "order over limit", {"number": order.order_number, "summary": rules.summary(order), "link": link}


def order_moved(order: Order, target: OrderStatus, link: str) -> Mail:
    """An order was paid, cancelled, expired or refunded."""
    values = {"number": order.order_number, "amount": rules.rand(order.total), "link": link}
    return f"order {target.lower()}", values


def payment_given_back(order: Order, amount: Decimal) -> Mail:
    ended = {"EXPIRED": "had expired", "PAID": "was already paid", "REFUNDED": "had been refunded"}
    was = ended.get(order.order_status, "had been cancelled")
    return "payment given back", {"number": order.order_number, "ended": was, "amount": rules.rand(amount)}
