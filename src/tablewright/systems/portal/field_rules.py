"""The rules for the fields of a product, a campaign or a tenant: all mistakes at once, each with its field. Pure.

Must hold: a sentence about a field begins with the field's name, so that a page can put its own label in that place.
Absent values are not checked: if one number of a form could not be read, the other fields still are.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from tablewright.edge.errors import Refused
from tablewright.systems.portal import rules

DESCRIPTION_LETTERS, FEATURES, FEATURE_LETTERS, NAME_LETTERS = 500, 10, 60, 120
MAX_PRICE = Decimal("9999999.99")
MAX_LIMIT = 1_000_000_000
_LIMITS = (("redemption_limit", "redemptionLimit"), ("per_tenant_limit", "perTenantLimit"))
Values = Mapping[str, Any]
Mistakes = Iterator[Refused]


def check(mistakes: Iterable[Refused]) -> None:
    """Raise the first mistake, with all of them in its facts."""
    found = list(mistakes)
    if not found:
        return
    first = found[0]
    if len(found) == 1:
        raise first
    errors = [{"field": each.field, "code": each.code, "message": each.message} for each in found]
    raise Refused(first.code, first.message, first.field, {**first.facts, "errors": errors})


# --- products ---


def product_mistakes(values: Values) -> Mistakes:
    """What is wrong with a product's fields."""
    if "price" in values:
        yield from _price(values["price"], "price")
    if values.get("next_price") is not None:
        yield from _price(values["next_price"], "nextPrice")
    yield from _whole_schedule(values)
    if "name" in values and (not values["name"].strip() or len(values["name"]) > NAME_LETTERS):
        yield Refused("NAME_LENGTH", f"name must have 1 to {NAME_LETTERS} characters.", "name")
    yield from _description(values)
    features = values.get("features", ())
    if len(features) > FEATURES or any(not 0 < len(each) <= FEATURE_LETTERS for each in features):
        words = f"features can have at most {FEATURES} entries of 1 to {FEATURE_LETTERS} characters each."
        yield Refused("FEATURES", words, "features")


def _price(price: Decimal, field: str) -> Mistakes:
    if not price.is_finite() or price < rules.CENT:
        yield Refused("PRICE_NOT_POSITIVE", f"{field} must be at least R 0.01.", field)
    elif price > MAX_PRICE or price != rules.cents(price):
        words = f"{field} must have at most two decimal places and seven digits before the point."
        yield Refused("PRICE_PRECISION", words, field)


def _whole_schedule(values: Values) -> Mistakes:
    """A scheduled price needs both the price and its time."""
    if not {"next_price", "next_price_from"} <= set(values):
        return
    price, since = values["next_price"], values["next_price_from"]
    if price is None and since is not None:
        yield Refused("SCHEDULE_INCOMPLETE", "nextPrice is required for a scheduled price.", "nextPrice")
    if price is not None and since is None:
        words = "nextPriceFrom is required for a scheduled price."
        yield Refused("SCHEDULE_INCOMPLETE", words, "nextPriceFrom")


def schedule_mistakes(since: datetime | None, now: datetime) -> Mistakes:
    """A scheduled price must start in the future: the price history is not rewritten."""
    if since is not None and since <= now:
        words = "nextPriceFrom must be in the future. To change the price now, change the price itself."
        yield Refused("SCHEDULE_PAST", words, "nextPriceFrom")


def _description(values: Values) -> Mistakes:
    text = values.get("description")
    if text is not None and (not text.strip() or len(text) > DESCRIPTION_LETTERS):
        words = f"description must have 1 to {DESCRIPTION_LETTERS} characters."
        yield Refused("DESCRIPTION_LENGTH", words, "description")


# --- campaigns ---


def campaign_mistakes(values: Values) -> Mistakes:
    """What is wrong with a campaign's fields."""
    if "code" in values:
        try:
            rules.campaign_code(values["code"])
        except Refused as mistake:
            yield mistake
    yield from _description(values)
    if "discount_percentage" in values:
        yield from _discount(values["discount_percentage"])
    first, last = values.get("from_date"), values.get("to_date")
    if first is not None and last is not None and last < first:
        yield Refused("DATE_ORDER", "toDate must not be before the first day.", "toDate")
    link = values.get("terms_conditions_link")
    if link is not None and not re.fullmatch(r"https?://[^\s]{3,500}", link):
        words = "termsConditionsLink must be a web address that begins with https://."
        yield Refused("INVALID_LINK", words, "termsConditionsLink")
    for name, field in _LIMITS:
        if values.get(name) is not None and not 1 <= values[name] <= MAX_LIMIT:
            words = f"{field} must be 1 to {MAX_LIMIT}; leave it empty for no limit."
            yield Refused("LIMIT_RANGE", words, field)
    yield from _further_products(values)


def _discount(percentage: Decimal) -> Mistakes:
    is_fine = percentage.is_finite() and 0 <= percentage < 100
    if not is_fine or percentage != percentage.quantize(rules.PERCENT_STEP):
        words = "discountPercentage must be at least 0 and less than 100 per cent, with at most four decimal places."
        yield Refused("DISCOUNT_RANGE", words, "discountPercentage")


def _further_products(values: Values) -> Mistakes:
    products = [values.get("product_id"), *values.get("also_product_ids", ())]
    if len(products) > 11 or len(set(products)) != len(products):
        words = "alsoProductIds can have at most ten other plans, each only once."
        yield Refused("PRODUCTS", words, "alsoProductIds")


def past_campaign(last: date | None, today: date) -> Mistakes:
    """A new campaign must not be over already; its first day may be in the past (CP-48)."""
    if last is not None and last < today:
        yield Refused("DATE_PAST", "toDate must be today or later.", "toDate")


# --- tenants ---


def tenant_mistakes(values: Values) -> Mistakes:
    """What is wrong with a customer's addresses."""
    for name, field in (("email", "email"), ("destination_email", "destinationEmail")):
        if values.get(name):
            try:
                rules.email_address(values[name], field)
            except Refused as mistake:
                yield mistake
