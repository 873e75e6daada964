"""Forms keep what was typed; the API's page is made from its own description."""

import re
from decimal import Decimal
from typing import Annotated, Literal

import httpx
import pytest
from pydantic import BaseModel, Field
from tests.app.browsing import Enter
from tests.app.test_console_frame import text_of

from tablewright.app.schema_words import example_of, outline, type_of
from tablewright.edge.errors import CallerError, Conflict, Refused
from tablewright.pages.forms import Form, FormWrong, form_of, read


class Campaign(BaseModel):
    code: Annotated[str, Field(min_length=3)]
    discount: Annotated[Decimal, Field(ge=0, lt=100)]
    note: str | None = None
    live: bool = False


def test_what_was_typed_becomes_the_model_and_blanks_are_absent() -> None:
    form = Form({"code": "SUMMER", "discount": "20", "note": "  ", "live": "on"})
    assert read(form, Campaign) == Campaign(code="SUMMER", discount=Decimal(20), live=True)


def test_each_mistake_is_beside_its_field_and_nothing_is_lost() -> None:
    form = Form({"code": "X", "discount": "100"})
    with pytest.raises(FormWrong) as wrong:
        read(form, Campaign)
    assert wrong.value.form.values == form.values
    assert wrong.value.form.errors == {
        "code": "Code must have at least 3 characters.",
        "discount": "Discount must be less than 100.",
    }


def test_a_refusal_of_the_domain_stands_beside_its_field_or_above_the_form() -> None:
    form = Form({"code": "SUMMER"})
    taken = form.refused(Conflict("CODE_EXISTS", "This code is taken.", "code"))
    assert taken.errors == {"code": "This code is taken."}
    assert form.refused(CallerError("It has changed.")).error == "It has changed."
    many = Refused("INVALID_FIELD", "x", "y", {"errors": [{"field": "code", "message": "Too short."}]})
    assert form.refused(many).errors == {"code": "Too short."}


def test_a_form_is_filled_in_from_what_is_there() -> None:
    form = form_of(Campaign(code="SUMMER", discount=Decimal("12.5"), live=True))
    assert form.values == {"code": "SUMMER", "discount": "12.5", "live": "on"}
    assert form_of({"features": ["a", "b"]}).get("features") == "a\nb"


def test_a_body_that_is_no_form_is_refused(enter: Enter) -> None:
    browser = enter("lib_ines")
    assert browser.post("/console/library/add", content=b"\xff=\xfe").status_code == 400


# --- the API's page ---


class Inner(BaseModel):
    kind: Literal["monthly", "yearly"]
    inner: "Inner | None" = None


class Outer(BaseModel):
    price: Annotated[Decimal, Field(gt=0)]
    parts: list[Inner]
    note: str = "none"


def test_a_schema_reads_like_the_json_it_describes_and_one_in_itself_ends() -> None:
    document = Outer.model_json_schema()
    words = outline(document, document["$defs"])
    assert '"price": number, more than 0' in words
    assert "one of monthly, yearly" in words
    assert '"note": text, default none (optional)' in words
    assert len(words) < 5000


def test_an_example_has_what_is_required() -> None:
    document = Outer.model_json_schema()
    assert example_of(document, document["$defs"]) == {"price": 1, "parts": []}


@pytest.mark.parametrize(
    ("schema", "words"),
    [({"type": "string", "format": "date"}, "date"), ({"enum": ["a", "b"]}, "one of a, b"), ({}, "anything"),
     ({"type": "array", "items": {"type": "integer"}}, "list of whole number"),
     ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "text or null"), ({"const": 3}, "always 3")],
)  # fmt: skip
def test_types_are_said_in_words(schema: dict[str, object], words: str) -> None:
    assert type_of(schema, {}) == words


def test_every_path_of_a_system_is_on_the_page_with_a_line_to_try(enter: Enter, url: str) -> None:
    browser = enter()
    page = browser.get("/docs")
    for expected in ("Lending library", "/library/v1/books/{id}", "Add a book"):
        assert expected in text_of(page)
    operation = re.search(r'href="(/docs/[^"]+)"><span class="method post"', page.text)
    assert operation is not None
    words = text_of(browser.get(operation[1]))
    for expected in (f"{url}/library/v1/books", "&#34;isbn&#34;: text, must match", "number, more than 0"):
        assert expected in words
    assert browser.get("/docs/nothing").status_code == 404
    assert "/console/" not in httpx.get(f"{url}/openapi.json").text
    assert not re.search(r'(?:src|href)="https?://', page.text)
