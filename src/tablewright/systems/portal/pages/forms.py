"""The values of the portal's forms, and the form after a conflict.

Must hold: only the fields of the model are read, so hidden fields of a form (version, seen) never reach it. A form that
rests on an older version keeps what was typed and shows what has changed since.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import takewhile
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from tablewright.edge.errors import CallerError, Refused
from tablewright.kit.tables import Actor
from tablewright.pages.forms import Form, FormWrong, read
from tablewright.pages.words import label
from tablewright.systems.portal import rules
from tablewright.systems.portal.model import Activatable, AuditEntry, BillingCycle, Kind, Value
from tablewright.systems.portal.portal import Portal

M = TypeVar("M", bound=BaseModel)
Rule: TypeAlias = Callable[[dict[str, Any]], Iterable[Refused]]
VERSION, SEEN = "version", "seen"
_PRICES = frozenset(("price", "nextPrice"))


def _plain(text: object) -> object:
    """`R 1 299,99` as `1299.99`: people type amounts as they are printed."""
    if not isinstance(text, str):
        return text
    bare = re.sub(r"[R\s\u00a0\u202f]", "", text)
    return bare.replace(",", ".") if bare.count(",") == 1 and "." not in bare else bare


def _in_our_zone(moment: datetime) -> datetime:
    """A time without a zone is South African, as the form says."""
    return moment if moment.tzinfo else moment.replace(tzinfo=rules.ZONE)


def _lines(text: object) -> object:
    return [line.strip() for line in text.splitlines() if line.strip()] if isinstance(text, str) else text


Amount = Annotated[Decimal, BeforeValidator(_plain)]
LocalMoment = Annotated[datetime, AfterValidator(_in_our_zone)]
Lines = Annotated[list[str], BeforeValidator(_lines)]


class TypedProduct(Value):
    """The product form; a scheduled price is optional."""

    name: str
    description: str
    price: Amount
    billing_cycle: BillingCycle = "monthly"
    features: Lines = []  # noqa: RUF012  # pydantic copies it
    draft: bool = False
    next_price: Amount | None = None
    next_price_from: LocalMoment | None = None


class TypedCampaign(Value):
    """The form of an existing campaign."""

    description: str
    discount_percentage: Amount
    also_product_ids: Lines = []  # noqa: RUF012  # pydantic copies it
    terms_conditions_link: str
    from_date: date
    to_date: date
    redemption_limit: int | None = None
    per_tenant_limit: int | None = None


class NewTypedCampaign(TypedCampaign):
    """The form of a new campaign."""

    code: str
    product_id: str


class TypedDiscount(Value):
    """Only the discount, for the price preview."""

    discount_percentage: Amount


class TypedTenant(Value):
    """The tenant form for staff; an empty field removes the value."""

    organization_name: str | None = Field(None, max_length=200)
    destination_email: str | None = Field(None, max_length=320)


def typed(form: Form, model: type[M], rule: Rule = lambda values: (), **others: Any) -> M:
    """The model read from its fields of the form; FormWrong keeps the whole form.

    If a field cannot be read, the portal's `rule` still checks the others: all mistakes at once.
    """
    names = {field.alias or name for name, field in model.model_fields.items()}
    own = Form({n: text for n, text in form.values.items() if n in names})
    try:
        return read(own, model, **others)
    except FormWrong as wrong:
        ruled = {mistake.field: mistake.message for mistake in rule(_readable(own, model)) if mistake.field}
        errors = {**ruled, **wrong.form.errors}
        raise FormWrong(replace(form, errors=errors, error=wrong.form.error)) from None


def _readable(form: Form, model: type[BaseModel]) -> dict[str, Any]:
    """The fields that can be read one by one, without the empty ones."""
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        text = form.get(field.alias or name)
        with suppress(ValidationError):
            if text.strip():
                kind: Any = Annotated[(field.annotation, *field.metadata, None)]
                found[name] = TypeAdapter(kind).validate_python(text)
    return found


def labelled(form: Form, name: str, label_: str) -> Form:
    """The form with a field's error under the label that the field has on the page."""
    text = form.errors.get(name)
    if not text:
        return form
    for known in (name, label(name), label_):
        if text.startswith(f"{known} "):
            return form.wrong(name, label_ + text.removeprefix(known))
    return form.wrong(name, f"{label_}: {text}")


def fields_of(value: BaseModel) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).model_fields}


def form_of_stored(stored: Activatable, portal: Portal, kind: Kind, subject_id: str, reader: Actor) -> Form:
    """A form filled with the stored values, its version, and the last entry of its history."""
    given = stored.model_dump(by_alias=True, exclude_none=True)
    values = {name: _shown(name, value) for name, value in given.items() if value is not False}
    return Form({**values, SEEN: _last(portal, kind, subject_id, reader)})


def _last(portal: Portal, kind: Kind, subject_id: str, reader: Actor) -> str:
    newest = portal.catalogue.history(kind, subject_id, reader, size=1).items
    return newest[0].audit_id if newest else ""


def _shown(name: str, value: Any) -> str:
    """A stored value as it is typed."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    if isinstance(value, Decimal):
        return f"{rules.cents(value):f}" if name in _PRICES else f"{value.normalize():f}"
    return "on" if value is True else str(value)


def version_of(form: Form) -> int | None:
    """The version a form was filled from; None if any version may be overwritten."""
    text = form.get(VERSION)
    return int(text) if text.isascii() and text.isdigit() else None


@dataclass(frozen=True, slots=True)
class TooLate:
    """A form from an older version, updated to the current version, with the changes in between."""

    form: Form
    changes_since: tuple[AuditEntry, ...]


def too_late(
    portal: Portal, kind: Kind, subject_id: str, stored: Activatable, form: Form, reader: Actor
) -> TooLate:
    """Keep what was typed and show the changes since; saving again then overwrites those."""
    recent = portal.catalogue.history(kind, subject_id, reader, size=25).items
    since = tuple(takewhile(lambda entry: entry.audit_id != form.get(SEEN), recent))
    seen = recent[0].audit_id if recent else ""
    words = "Someone else changed this while you were editing. Your entries are still here; saving overwrites theirs."
    return TooLate(Form({**form.values, VERSION: str(stored.version), SEEN: seen}, error=words), since)


def refused(form: Form, mistake: FormWrong | CallerError, fields: Sequence[tuple[str, str]] = ()) -> Form:
    """The form with the portal's error. `fields` gives the field for a code: (prefix of the code, field)."""
    for prefix, name in fields:
        if isinstance(mistake, CallerError) and mistake.code.startswith(prefix):
            words = mistake.message
            is_named = mistake.field is not None and words.startswith(f"{mistake.field} ")
            return form.wrong(name, name + words.removeprefix(mistake.field or "") if is_named else words)
    return form.refused(mistake)
