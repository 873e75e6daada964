"""Bodies, views, pages of lists, versions and times, as all systems read and write them."""

from collections.abc import Iterator
from datetime import UTC, date, datetime

import httpx
import pytest
from fastapi import APIRouter, Response
from pydantic import BaseModel, ValidationError

from tablewright.edge import Problem, make_app, serving_app
from tablewright.kit.http import (
    Body,
    Cursor,
    Day,
    IdempotencyKey,
    IfMatch,
    Moment,
    Page,
    Since,
    VersionRead,
    based_on,
    day_of,
    listed,
    marked,
    matched,
    moment_of,
    page_of,
    version_needed,
    view_of,
)
from tablewright.mapping import Page as Found
from tablewright.world import real_world


class Card(BaseModel):
    card_id: str
    version: int = 7


class CardView(BaseModel):
    card_id: str
    version: int
    color: str = "red"


class CardChange(Body):
    card_name: str = ""
    ends_on: Day = date.max
    ends_at: Moment = None
    version: int | None = None


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    api = APIRouter()

    @api.put("/cards/{card_id}")
    def change(
        card_id: str, body: CardChange, response: Response, version: VersionRead, key: IdempotencyKey
    ) -> dict[str, object]:
        marked(response, Card(card_id=card_id))
        return {"version": based_on(version, body.version), "key": key, "changes": sorted(body.changes())}

    @api.post("/cards/{card_id}")
    def replace(card_id: str, match: IfMatch = None) -> int | None:
        return matched(match, 7)

    @api.get("/cards")
    def cards(since: Since = None, after: Cursor = None) -> Page[Card]:
        return page_of(Found((Card(card_id="a"), Card(card_id="b")), after, 1.0))

    with (
        serving_app(make_app("cards", real_world(), routers=[api])) as url,
        httpx.Client(base_url=url) as opened,
    ):
        yield opened


def code_of(response: httpx.Response) -> tuple[int, str, str | None]:
    return response.status_code, response.json()["code"], response.json()["field"]


# --- bodies and views ---


def test_a_body_has_camel_case_names_and_no_others() -> None:
    assert CardChange.model_validate({"cardName": "ace"}).changes() == {"card_name": "ace"}
    with pytest.raises(ValidationError):
        CardChange.model_validate({"colour": "red"})


def test_a_body_with_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(ValidationError, match="must be valid UTF-8 text"):
        CardChange.model_validate({"cardName": "\ud800"})


def test_the_version_is_no_change() -> None:
    assert CardChange.model_validate({"cardName": "ace", "version": 3}).changes() == {"card_name": "ace"}


def test_a_view_has_the_fields_of_the_same_names_and_computed_ones() -> None:
    assert view_of(CardView, Card(card_id="a")) == CardView(card_id="a", version=7)
    assert view_of(CardView, Card(card_id="a"), version=8, color="blue") == CardView(
        card_id="a", version=8, color="blue"
    )


# --- lists ---


def test_a_page_says_whether_there_is_more(client: httpx.Client) -> None:
    first = client.get("/cards", params={"startAt": "token"}).json()
    assert (len(first["items"]), first["moreAvailable"], first["startAt"]) == (2, True, "token")
    assert not client.get("/cards").json()["moreAvailable"]


def test_a_page_shows_each_item_by_its_view() -> None:
    found = Found((Card(card_id="a"),), None, 1.0)
    page = page_of(found, lambda card: view_of(CardView, card))
    assert page.items == [CardView(card_id="a", version=7)]
    assert page == listed([CardView(card_id="a", version=7)])


# --- versions ---


@pytest.mark.parametrize(
    ("match", "sent", "version"),
    [(None, None, None), (None, 3, 3), ("*", 3, 3), ('"7"', 3, 7), ('"0"', 3, 0)],
)
def test_if_match_takes_precedence_over_the_version_of_the_body(
    client: httpx.Client, match: str | None, sent: int | None, version: int | None
) -> None:
    headers = {"If-Match": match} if match is not None else {}
    response = client.put("/cards/a", json={"version": sent}, headers=headers)
    assert response.json()["version"] == version
    assert response.headers["ETag"] == '"7"'


@pytest.mark.parametrize("match", ['"7", "8"', '"seven"', 'W/"7"'])
def test_if_match_names_one_version(client: httpx.Client, match: str) -> None:
    assert code_of(client.put("/cards/a", json={}, headers={"If-Match": match})) == (
        400,
        "BAD_ETAG",
        "If-Match",
    )


def test_a_version_that_is_not_the_current_one_is_stale(client: httpx.Client) -> None:
    assert client.post("/cards/a").json() is None
    assert client.post("/cards/a", headers={"If-Match": '"7"'}).json() == 7
    stale = client.post("/cards/a", headers={"If-Match": '"6"'})
    assert (stale.status_code, stale.headers["ETag"]) == (412, '"7"')


def test_a_version_that_is_needed_and_missing_is_428() -> None:
    assert version_needed(0) == 0
    with pytest.raises(Problem) as refused:
        version_needed(None)
    assert (refused.value.status, refused.value.code) == (428, "PRECONDITION_REQUIRED")


def test_an_idempotency_key_is_read_from_its_header(client: httpx.Client) -> None:
    given = client.put("/cards/a", json={}, headers={"Idempotency-Key": "12345678"})
    assert given.json()["key"] == "12345678"
    short = client.put("/cards/a", json={}, headers={"Idempotency-Key": "1"})
    assert code_of(short) == (400, "BAD_IDEMPOTENCY_KEY", "Idempotency-Key")


# --- times and dates ---


@pytest.mark.parametrize("text", ["2025-6-1", "20250601", "1748736000", "2025-02-30", 1748736000, ""])
def test_a_date_is_written_with_dashes(text: object) -> None:
    with pytest.raises(Problem) as refused:
        day_of(text, "endsOn")
    assert (refused.value.code, refused.value.field) == ("INVALID_DATE", "endsOn")
    assert day_of("2025-06-01", "endsOn") == date(2025, 6, 1)


@pytest.mark.parametrize(
    "text", ["2025-06-01T00:00:00", "2025-06-01", "1999-06-01T00:00:00Z", 1748736000, ""]
)
def test_a_time_has_its_zone(text: object) -> None:
    with pytest.raises(Problem) as refused:
        moment_of(text, "from")
    assert (refused.value.code, refused.value.field) == ("INVALID_DATE", "from")
    assert moment_of("2025-06-01T00:00:00Z", "from") == datetime(2025, 6, 1, tzinfo=UTC)


def test_an_error_in_a_time_names_its_field(client: httpx.Client) -> None:
    assert code_of(client.put("/cards/a", json={"endsOn": 5})) == (400, "INVALID_DATE", "endsOn")
    assert code_of(client.put("/cards/a", json={"endsOn": None})) == (400, "INVALID_DATE", "endsOn")
    assert code_of(client.put("/cards/a", json={"endsAt": "noon"})) == (400, "INVALID_DATE", "endsAt")
    assert code_of(client.get("/cards", params={"from": "noon"})) == (400, "INVALID_DATE", "from")
