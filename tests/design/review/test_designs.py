"""The facts of a design value: a good one raises nothing, whatever its names, and a changed one what was changed."""

from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from tablewright.design import (
    Alarm,
    Budget,
    Data,
    Design,
    Environment,
    Expires,
    Keys,
    Load,
    OnDemand,
    Provisioned,
    Retention,
    States,
    Unique,
    begins,
)
from tablewright.design.cardinality import UNBOUNDED, Cardinality, template_cardinality
from tablewright.design.large import Large
from tablewright.design.review import Finding, from_json, review
from tablewright.design.review.designs import facts_of
from tablewright.design.templates import parse


class Visit(BaseModel):
    """A visit of a user to a city."""

    user_id: str
    visit_id: str
    city: str
    at: datetime
    state: Literal["planned", "done"] = "planned"
    note: str = ""
    tags: set[str] = set()


def visit_key(user_id: str, at: datetime, visit_id: str) -> None: ...


DIARY = Retention(timedelta(days=30), "a diary")


def design_of(
    *, name: str = "trips", literal: str = "VISIT", index: str = "by-city", sk: str = "{at:ms}#{visit_id}",
    kept: Retention | None = DIARY, pitr: int = 35, protected: bool = True, budget: int = 9999,
    metric: str = "SystemErrors", read: bool = True, days: int = 30, whole: bool = False, personal: bool = True,
) -> Design:  # fmt: skip
    design = Design(name)
    table = design.table(name, pk="PK", sk="SK", ttl="ttl" if days else None, whole=whole)
    by_city = table.gsi(index, pk="GPK", sk="GSK")
    visits = table.entity(
        Visit, visit_key, tag="visit", pk="USER#{user_id}", sk=f"{literal}#{sk}",
        on={by_city: Keys("CITY#{city}", "AT#{at:ms}#{visit_id}")}, data={"note": Data.PERSONAL} if personal else {},
        retention=kept, expires=Expires("at", timedelta(days=days)) if days else None,
        load={"create": Load(per_second=100)},
    )  # fmt: skip

    @design.query(visits, pk="USER#{user_id}", sk=begins(f"{literal}#"))
    def visits_of(*, user_id: str) -> None: ...

    design.environment(Environment("dev", "eu-west-1"))
    design.environment(
        Environment(
            "prod", "eu-west-1", pitr_days=pitr, deletion_protection=protected,
            budget=Budget(Decimal(budget), Decimal(budget)),
        )
    )  # fmt: skip
    design.alarm(Alarm("errors", metric, Decimal(5), 5))
    if read:

        @design.query(visits, on=by_city, pk="CITY#{city}")
        def visits_in(*, city: str) -> None: ...

    design.accept("CAP-SIZE", "a person enters the tags", "visit.tags")
    return design.build()


def findings(design: Design) -> list[str]:
    return [finding.rule for finding in open_findings(design)]


def open_findings(design: Design) -> list[Finding]:
    return [finding for finding in review(facts_of(design)) if not finding.reason]


NAMES = st.from_regex(r"[a-z][a-z0-9]{2,11}", fullmatch=True)


@settings(deadline=None, max_examples=40)
@given(
    NAMES,
    NAMES.map(str.upper),
    NAMES,
    st.integers(1, 900),
    st.sampled_from(["{at:ms}#{visit_id}", "{at:s}#{visit_id}", "{at:us}#{visit_id}"]),
)
def test_a_good_design_raises_nothing(name: str, literal: str, index: str, days: int, sk: str) -> None:
    assert findings(design_of(name=name, literal=literal, index=index, days=days, sk=sk)) == []


def test_personal_data_without_retention_and_without_backups_is_found() -> None:
    assert findings(design_of(kept=None, pitr=0)) == ["OPS-UNPROTECTED", "TTL-NONE"]


@pytest.mark.parametrize(
    ("given", "where", "why"),
    [
        ({"protected": False}, "prod", "its deletion protection is off"),
        ({"pitr": 0, "personal": False}, "prod", "it has no point-in-time recovery"),
    ],
)
def test_production_without_protection_is_found(given: dict[str, Any], where: str, why: str) -> None:
    found = open_findings(design_of(**given))
    assert [(each.rule, each.where, each.why) for each in found] == [("OPS-UNPROTECTED", where, why)]


def test_a_budget_below_what_the_design_costs_is_found() -> None:
    (found,) = open_findings(design_of(budget=20))
    assert (found.rule, found.where) == ("COST-ARITH", "prod")
    assert found.why == "the budget of $20.00 a month is below what the design costs"
    assert found.evidence.endswith(" computed")


def test_a_retention_that_nothing_enforces_is_found_and_one_that_a_job_archives_is_not() -> None:
    (found,) = open_findings(design_of(days=0))
    assert (found.rule, found.where) == ("TTL-ATTRIBUTE", "visit")
    assert findings(design_of(days=0, kept=Retention(timedelta(days=30), "a diary", "archived"))) == []


def test_states_without_a_version_are_found() -> None:
    def design(version: str | None) -> Design:
        made = Design("jobs")
        table = made.table("jobs", pk="PK", sk="SK")
        moves: dict[str, dict[str, tuple[str, ...]]] = {"OPEN": {"DONE": ("worker",)}}
        table.entity(
            Task, job_key, tag="task", pk="OWNER#{owner}", sk="TASK#{job_id}", version=version,
            states=States("state", "OPEN", moves),
        )  # fmt: skip
        return made.build()

    assert findings(design("version")) == []
    (found,) = open_findings(design(None))
    assert (found.rule, found.where, found.why) == (
        "CC-NOVERSION", "task", "it has the states of state and no version",
    )  # fmt: skip


class Task(BaseModel):
    owner: str
    job_id: str
    state: Literal["OPEN", "DONE"]
    version: int = 0


def test_an_alarm_on_a_metric_of_the_account_is_found() -> None:
    assert findings(design_of(metric="UserErrors")) == ["OPS-METRIC"]


def test_an_index_that_no_pattern_reads_is_found() -> None:
    assert findings(design_of(read=False)) == ["IDX-UNUSED"]


def test_a_table_that_is_read_whole_is_a_scan() -> None:
    assert findings(design_of(whole=True)) == ["EXPR-SCAN"]


def test_a_list_without_a_limit_is_found_and_accepted_with_its_reason() -> None:
    (found,) = [finding for finding in review(facts_of(design_of())) if finding.rule == "CAP-SIZE"]
    assert (found.where, found.reason) == ("visit.tags", "a person enters the tags")


# --- keys with few values ---


class Level(Enum):
    LOW = 1
    HIGH = 2


class Job(BaseModel):
    """A job; `state` has another name in items than in the model."""

    model_config = ConfigDict(populate_by_name=True)

    owner: str
    job_id: str
    state: Literal["OPEN", "DONE", "LOST"] = Field(alias="jobState")
    level: Level
    kind: Literal["A", "B"]
    urgent: bool
    at: datetime


def job_key(owner: str, job_id: str) -> None: ...


def jobs(key: str, *, owned: bool = False, a_second: float = 0) -> Design:
    design = Design("jobs")
    table = design.table("jobs", pk="PK", sk="SK")
    index = table.gsi("by-key", pk="GPK", sk="GSK")
    table.entity(
        Job, job_key, tag="job", pk="OWNER#{owner}", sk="JOB#{job_id}", on={index: Keys(key, "{at:ms}#{job_id}")},
        load={"create": Load(per_second=a_second)},
    )  # fmt: skip
    if owned:
        design.principal("worker", owner="owner")
    return design.build()


def few(design: Design) -> list[tuple[str, str, str]]:
    rules = ("IDX-LOWCARD", "IDX-POPULAR")
    return [(each.rule, each.where, each.why) for each in open_findings(design) if each.rule in rules]


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("STATUS#{state}", "3 values"),
        ("{state}", "3 values"),
        ("{state:lower}", "3 values"),
        ("STATUS#{state}#{kind}", "6 values"),
        ("{urgent:bool}", "2 values"),
        ("ALL", "1 value"),
    ],
)
def test_a_template_with_few_values_is_found_as_the_key_of_an_index(key: str, values: str) -> None:
    assert few(jobs(key)) == [("IDX-LOWCARD", "job.GPK", f"'{key}' has {values}")]


@pytest.mark.parametrize("key", ["STATUS#{state}", "{urgent:bool}", "{state}#{kind}", "DAY#{at:day}"])
def test_a_template_that_people_share_is_found_once(key: str) -> None:
    assert few(jobs(key, owned=True)) == [("IDX-POPULAR", "job.GPK", f"'{key}' is shared")]


@pytest.mark.parametrize(
    "key",
    [
        "STATUS#{state}#{owner}",
        "STATUS#{state}#{job_id:shard.4}",
        "{urgent:flag}",
        "OPEN{urgent:when}",
        "{state:only.OPEN}",
        "{job_id}",
    ],
)
@pytest.mark.parametrize("owned", [True, False])
def test_a_key_that_is_not_bounded_or_sharded_or_sparse_is_fine(key: str, owned: bool) -> None:
    assert few(jobs(key, owned=owned)) == []


def test_a_busy_template_is_an_error_until_it_has_enough_shards() -> None:
    def severities(key: str) -> list[tuple[str, str]]:
        found = open_findings(jobs(key, a_second=1200))
        return [(each.severity, each.why) for each in found if each.rule == "IDX-LOWCARD"]

    assert severities("STATUS#{state}") == [("error", "'STATUS#{state}' has 3 values")]
    two = "STATUS#{state}#{job_id:shard.2}"
    assert severities(two) == [("error", f"'{two}' has 6 values in 2 shards")]
    assert severities("STATUS#{state}#{job_id:shard.3}") == []


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("DAY#{at:day}", "1 value at a time"),
        ("{state:only.OPEN}", "1 value"),
        ("DAY#{at:day}#{job_id:shard.2}", "2 values at a time in 2 shards"),
    ],
)
def test_a_key_of_today_or_of_one_state_is_an_error_where_it_is_too_busy(key: str, values: str) -> None:
    assert few(jobs(key, a_second=400)) == []
    assert few(jobs(key, a_second=1200)) == [("IDX-LOWCARD", "job.GPK", f"'{key}' has {values}")]


class Hit(BaseModel):
    id: str
    at: datetime
    kind: Literal["view", "buy"] = "view"


def hit_key(id: str) -> None: ...
def hit_by_kind(kind: Literal["view", "buy"], id: str) -> None: ...
def hit_by_day(at: datetime, id: str) -> None: ...


HIT_KEYS: dict[str, Any] = {"KIND#{kind}": hit_by_kind, "DAY#{at:day}": hit_by_day}


def hits(pk: str, *, a_second: float, item_bytes: int = 200, units: int | None = None) -> Design:
    """Hits in a table by a key of its own, in a production that may reserve units."""
    design = Design("hits")
    capacity = OnDemand() if units is None else Provisioned(5, units, max_write=2 * units)
    dev = Environment("dev", "eu-west-1", capacity=Provisioned(1, 1))
    design.environment(dev)
    design.environment(
        Environment("prod", "eu-west-1", pitr_days=35, deletion_protection=True, capacity=capacity)
    )
    design.table("hits", pk="PK", sk="SK").entity(
        Hit, HIT_KEYS.get(pk, hit_key), tag="hit", pk=pk, sk="HIT#{id}",
        load={"create": Load(per_second=a_second, item_bytes=item_bytes)},
    )  # fmt: skip
    return design.build()


@pytest.mark.parametrize("pk", ["HITS", *HIT_KEYS])
def test_a_table_whose_items_share_a_few_partitions_is_an_error_only_if_they_are_busy(pk: str) -> None:
    (found,) = open_findings(hits(pk, a_second=501))
    assert (found.rule, found.severity, found.where) == ("IDX-LOWCARD", "error", "hit.PK")
    assert found.evidence.startswith("501 writes a second into ")
    assert findings(hits(pk, a_second=500)) == []
    assert findings(hits("HIT#{id}", a_second=100_000)) == []


def test_items_that_are_larger_than_dynamodb_takes_are_an_error() -> None:
    (found,) = open_findings(hits("HIT#{id}", a_second=1, item_bytes=409_601))
    assert (found.rule, found.severity, found.where) == ("CAP-SIZE", "error", "hit")
    assert (found.why, found.evidence) == ("its items have 409,601 bytes", "409,600 are the most")
    assert findings(hits("HIT#{id}", a_second=1, item_bytes=409_600)) == []


def test_units_that_do_not_take_the_load_of_production_are_an_error() -> None:
    (found,) = open_findings(hits("HIT#{id}", a_second=201, units=100))
    assert (found.rule, found.where, found.evidence) == (
        "CAP-UNITS", "hits", "the load takes 201 a second on average"
    )  # fmt: skip
    assert found.why == "prod reserves at most 200 write units for it and each index"
    assert findings(hits("HIT#{id}", a_second=200, units=100)) == []


def test_a_choice_of_numbers_has_few_values_too() -> None:
    fields = jobs("ALL").shapes[0].fields
    assert template_cardinality(parse("{level:2}#{state}#{job_id:shard.4}"), fields) == Cardinality(24, 4)
    assert template_cardinality(parse("{level:2}#{job_id}"), fields) == UNBOUNDED


@pytest.mark.parametrize("shard", ["{shard.4}", "{order_id:shard.4}"])
def test_a_document_states_shards_in_the_template(shard: str) -> None:
    text = """{"name": "x", "tables": [{"name": "t", "hash": {"name": "id"}, "writes": %d}], "entities": [{"name": "e",
      "table": "t", "keys": [{"attribute": "GPK", "template": "STATUS#{status}%s"}], "attributes":
      [{"name": "status", "values": ["a", "b", "c"]}]}], "indexes": [{"name": "i", "table": "t",
      "hash": {"name": "GPK"}, "projection": {"kind": "KEYS_ONLY"}}]}"""

    def whys(writes: int, shard: str) -> list[str]:
        return [each.why for each in review(from_json(text % (writes, shard))) if each.rule == "IDX-LOWCARD"]

    assert whys(0, "") == ["'STATUS#{status}' has 3 values"]
    assert whys(2000, f"#{shard}") == []
    assert whys(2001, f"#{shard}") == [f"'STATUS#{{status}}#{shard}' has 12 values in 4 shards"]


class Report(BaseModel):
    id: str
    body: Large
    rows: dict[str, str] = {}


def report_key(id: str) -> None: ...


def test_a_large_field_is_not_without_a_limit_and_a_map_is() -> None:
    design = Design("reports")
    design.table("reports", pk="PK").entity(Report, report_key, tag="report", pk="REPORT#{id}")
    found = review(facts_of(design.build()))
    assert [each.where for each in found if each.rule == "CAP-SIZE"] == ["report.rows"]


@pytest.mark.parametrize(("value", "expected"), [("{email:lower}", ["driver.email"]), ("{email:hash}", [])])
def test_a_guard_of_a_personal_value_has_it_in_its_key_unless_it_is_hashed(
    value: str, expected: list[str]
) -> None:
    design = Design("drivers")
    design.table("drivers", pk="PK", sk="SK").entity(
        Driver, driver_key, tag="driver", pk="DRIVER#{id}", sk="DRIVER", unique=[Unique("email", value)],
        data={"email": Data.PERSONAL},
    )  # fmt: skip
    found = [each for each in review(facts_of(design.build())) if each.rule == "KEY-PII"]
    assert [each.where for each in found] == expected
    assert all(f"'UNIQUE#driver#email#{value}'" in each.why for each in found)


class Driver(BaseModel):
    id: str
    email: str


def driver_key(id: str) -> None: ...
