"""The base of repositories: refusals in a system's words, requests done once, one retry loop."""

from __future__ import annotations

import pytest
from tests.kit.shop import Changed, Thing, log, things

from tablewright.edge.errors import BadRequest, CallerError, Conflict, NotFound, Refused
from tablewright.kit.tables import NOT_ONCE, OnceRequest, Tables, digest
from tablewright.mapping import Stale

LAMP = Thing(id="1", name="Lamp")


def test_what_is_not_there_has_the_word_of_people_and_the_code_of_programs(tables: Tables) -> None:
    with pytest.raises(NotFound, match=r"There is no such article\.") as refused:
        tables.found(tables.db.one(things.get("1")), "THING")
    assert (refused.value.code, refused.value.status) == ("THING_NOT_FOUND", 404)


def test_a_version_that_is_out_of_date_is_the_systems_own_error_with_the_stored_one(tables: Tables) -> None:
    tables.write("THING", things.create(LAMP))
    tables.write("THING", things.change(LAMP, LAMP.model_copy(update={"name": "Lantern"})))
    with pytest.raises(Changed) as refused:
        tables.write("THING", things.change(LAMP, LAMP.model_copy(update={"name": "Torch"})))
    assert isinstance(refused.value.current, Thing)
    assert refused.value.current.name == "Lantern"


def test_what_exists_already_is_a_conflict_with_its_noun(tables: Tables) -> None:
    tables.write("THING", things.create(LAMP))
    with pytest.raises(Conflict, match="This thing already exists"):
        tables.write("THING", things.create(LAMP))


@pytest.mark.parametrize(
    ("size", "after", "code"), [(500, None, "INVALID_PAGE_SIZE"), (10, "no token", "BAD_TOKEN")]
)
def test_a_page_that_cannot_be_is_a_bad_request(
    tables: Tables, size: int, after: str | None, code: str
) -> None:
    with pytest.raises(BadRequest) as refused:
        tables.page(log.of("1"), size, after, "ann")
    assert refused.value.code == code


def test_a_race_is_repeated_until_it_is_won(tables: Tables) -> None:
    tried: list[int] = []

    def attempt() -> int:
        tried.append(1)
        if len(tried) < 3:
            raise Changed
        return len(tried)

    assert tables.retried(None, attempt) == 3


def test_a_caller_who_insists_on_a_version_is_told_at_once(tables: Tables) -> None:
    def attempt() -> None:
        raise Changed

    with pytest.raises(Changed):
        tables.retried(7, attempt)


def test_who_never_wins_is_told_to_come_back(tables: Tables) -> None:
    def attempt() -> None:
        raise KeyError

    with pytest.raises(CallerError) as busy:
        tables.retried(None, attempt, on=KeyError, attempts=2)
    assert busy.value.code == "BUSY"
    with pytest.raises(TimeoutError):
        tables.retried(None, attempt, on=KeyError, attempts=2, busy=TimeoutError())


def test_between_two_attempts_the_newest_is_read_and_who_finds_no_race_ends_it(tables: Tables) -> None:
    tables.write("THING", things.create(LAMP))
    tables.write("THING", things.change(LAMP, LAMP.model_copy(update={"name": "Lantern"})))
    known = LAMP

    def attempt() -> None:
        tables.db.write(things.change(known, known.model_copy(update={"name": "Torch"})))

    def read_again(refused: Stale) -> None:
        nonlocal known
        assert isinstance(refused.current, Thing)
        known = refused.current

    tables.retried(None, attempt, on=Stale, on_race=read_again)
    assert tables.db.one(things.get("1")) == known.model_copy(update={"name": "Torch", "version": 3})

    def closed(refused: Stale) -> None:
        raise PermissionError

    with pytest.raises(PermissionError):
        tables.retried(None, attempt, on=Stale, on_race=closed)


def test_a_request_with_a_key_is_done_once_and_answered_alike(tables: Tables) -> None:
    request = OnceRequest("make-1", digest("Lamp"), "Use a new key.")
    assert tables.earlier(request) is None
    assert tables.write_once(request, things.create(LAMP), id="1") is None
    other = Thing(id="2", name="Lamp")
    again = tables.write_once(request, things.create(other), id="2")
    assert again is not None
    assert again["id"] == "1"
    assert tables.earlier(request) == again
    assert tables.db.one(things.get("2")) is None


def test_a_key_of_another_request_is_refused(tables: Tables) -> None:
    tables.write_once(OnceRequest("make-1", digest("Lamp"), "Use a new key."), things.create(LAMP), id="1")
    with pytest.raises(Refused) as refused:
        tables.earlier(OnceRequest("make-1", digest("Torch"), "Use a new key."))
    assert refused.value.code == "IDEMPOTENCY_KEY_REUSED"


def test_without_a_key_each_request_is_done(tables: Tables) -> None:
    for id in ("1", "2"):
        assert tables.write_once(NOT_ONCE, things.create(Thing(id=id, name="Lamp")), id=id) is None
    assert tables.earlier(NOT_ONCE) is None
