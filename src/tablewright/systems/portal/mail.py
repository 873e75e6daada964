"""What the portal's mails say, by template.

Must hold: a code, or a link that opens something without a login, is given as a secret (kit/messages.py).
"""

from tablewright.kit.messages import Template

TEMPLATES = {
    "code": Template(
        "Your code: {code}", "Your code is {code}. Or open {link}\nBoth work once, for 15 minutes.{warning}"
    ),
    "order": Template("Your order {number}", "{summary}\n\nSee your order here:\n{link}"),
    "order to pay": Template(
        "Your order {number}", "{summary}\n\nNot paid yet. Pay by {until} here:\n{link}"
    ),
    "order on hold": Template(
        "Your order {number} is on hold",
        "{why} Order {number} is on hold and will not be delivered. Please write to support.\n\n{summary}",
    ),
    "order over limit": Template(
        "Your order {number} is on hold",
        "You have used this offer before, so order {number} is on hold. Nothing was charged. Sign in to order without "
        "the offer:\n{link}\n\n{summary}",
    ),
    "order paid": Template(
        "Your order {number} is paid", "We received your payment of {amount} for order {number}.\n{link}"
    ),
    "order cancelled": Template(
        "Your order {number} was cancelled", "Order {number} over {amount} was cancelled.\n{link}"
    ),
    "order expired": Template(
        "Your order {number} has expired",
        "Order {number} was not paid in time. Nothing was charged. Order again here:\n{link}",
    ),
    "order refunded": Template(
        "Your order {number} was refunded",
        "Your payment of {amount} for order {number} was refunded.\n{link}",
    ),
    "payment given back": Template(
        "Your payment was returned",
        "Order {number} {ended} when your payment arrived, so we return {amount} to you.",
    ),
    "reminder": Template("Please confirm your address", "Ask for a code on our page to confirm it."),
    "purge proposal": Template(
        "{count} customers have not confirmed their address",
        "{count} customers have not confirmed their address in 90 days. Decide whether to delete them.\n\n{ids}",
    ),
    "campaign ends": Template("Campaign {code} ends soon", "{code} ends on {day}."),
}
