"""Two versions of a design: what changes, what each change needs, and the beginning of a migration."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import pytest
from pydantic import BaseModel, create_model

from tablewright.app.systems import SYSTEMS
from tablewright.design import (
    Budget,
    Data,
    Design,
    Environment,
    Expires,
    Keys,
    Provisioned,
    Retention,
    Schema,
    States,
    begins,
)
from tablewright.design.diff import Change, changes, skeleton
from tablewright.mapping.migrate import Migration, TableUnsuitable


class Job(BaseModel):
    owner: str
    number: str
    state: Literal["OPEN", "DONE"] = "OPEN"
    at: datetime | None = None


def job_key(owner: str, number: str) -> None: ...


def jobs(
    model: type[BaseModel] = Job,
    *,
    sk: str = "JOB#{number}",
    table: dict[str, Any] | None = None,
    index: Keys | None = None,
    local: bool = False,
    project: Any = "ALL",
    pattern: bool = False,
    environment: Environment | None = None,
    **entity: Any,
) -> Design:
    design = Design("jobs")
    made = design.table("jobs", **{"pk": "PK", "sk": "SK", **(table or {})})
    on: dict[Any, Keys] = {}
    if index is not None:
        on[made.gsi("ByState", pk="GPK", sk="GSK", project=project)] = index
    if local:
        on[made.lsi("ByTime", sk="LSK")] = Keys("OWNER#{owner}", "AT#{at:ms}")
    jobs = made.entity(model, job_key, tag="job", pk="OWNER#{owner}", sk=sk, on=on, **entity)
    if pattern:

        @design.query(jobs, pk="OWNER#{owner}", sk=begins("JOB#"))
        def jobs_of(*, owner: str) -> None: ...

    if environment is not None:
        design.environment(environment)
    return design.build()


BY_STATE = Keys("STATE#{state}", "{number}")
WITH_NOTE: type[BaseModel] = create_model("Job", __base__=Job, note=(str, ...))
WITH_DEFAULT: type[BaseModel] = create_model("Job", __base__=Job, note=(str, ""))


class OnlyOpen(Job):
    state: Literal["OPEN"] = "OPEN"


PROD = Environment("prod", "us-east-1")


def upcast(item: Any) -> Any:
    return item


def needs(old: Design, new: Design) -> list[tuple[str, str, str]]:
    return [(each.subject, each.where, each.needs) for each in changes(old, new)]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_design_does_not_differ_from_itself(system: Any) -> None:
    assert [changes(design, design) for design in system.designs] == [()] * len(system.designs)


def test_equal_designs_do_not_differ() -> None:
    assert needs(jobs(index=BY_STATE, pattern=True), jobs(index=BY_STATE, pattern=True)) == []


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (jobs(), jobs(table={"pk": "ID"}), [("table", "jobs", "new table"), ("key", "jobs.job.PK", "new table"),
                                            ("key", "jobs.job.ID", "new table")]),
        (jobs(), jobs(sk="TASK#{number}"), [("key", "jobs.job.SK", "new table")]),
        (jobs(), jobs(local=True), [("index", "jobs.ByTime", "new table"), ("key", "jobs.job.LSK", "backfill")]),
        (jobs(), jobs(index=BY_STATE), [("index", "jobs.ByState", "backfill"), ("key", "jobs.job.GPK", "backfill"),
                                        ("key", "jobs.job.GSK", "backfill")]),
        (jobs(index=BY_STATE), jobs(index=Keys("STATE#{state}#{number:shard.8}", "{number}")),
         [("key", "jobs.job.GPK", "backfill")]),
        (jobs(index=BY_STATE), jobs(index=BY_STATE, project="KEYS_ONLY"), [("index", "jobs.ByState", "backfill")]),
        (jobs(), jobs(WITH_NOTE), [("field", "jobs.job.note", "backfill")]),
        (jobs(), jobs(WITH_DEFAULT), [("field", "jobs.job.note", "nothing")]),
        (jobs(), jobs(OnlyOpen), [("field", "jobs.job.state", "backfill")]),
        (jobs(WITH_DEFAULT), jobs(), [("field", "jobs.job.note", "nothing")]),
        (jobs(), jobs(pattern=True), [("pattern", "jobs_of", "nothing")]),
        (jobs(), jobs(table={"stream": "NEW_IMAGE"}), [("setting", "jobs stream", "nothing")]),
        (jobs(), jobs(retention=Retention(timedelta(days=30), "law")), [("retention", "jobs.job", "nothing")]),
        (jobs(), jobs(data={"owner": Data.PERSONAL}), [("field", "jobs.job.owner data class", "nothing")]),
        (jobs(), jobs(environment=PROD), [("setting", "environment prod", "nothing")]),
        (jobs(environment=PROD), jobs(environment=Environment("prod", "us-east-1", pitr_days=7)),
         [("setting", "environment prod pitr_days", "nothing")]),
        (jobs(environment=PROD), jobs(environment=Environment("prod", "eu-west-1")),
         [("setting", "environment prod region", "new table")]),
    ],
)  # fmt: skip
def test_each_change_needs_what_existing_items_need(old: Design, new: Design, found: list[Any]) -> None:
    assert needs(old, new) == found


def test_a_new_form_makes_a_backfill_of_fields_unnecessary() -> None:
    form: type[BaseModel] = create_model("Job", __base__=Job, form=(int, 1))
    later: type[BaseModel] = create_model("Job", __base__=form, note=(str, ...))
    old, new = jobs(form, schema=Schema("form")), jobs(later, schema=Schema("form", (upcast,)))
    assert needs(old, new) == [("field", "jobs.job.note", "nothing")]


def test_values_are_said_in_plain_words() -> None:
    states = States("state", "OPEN", {"OPEN": {"DONE": ("owner", "job")}}, overrides=("admin",))
    budget = Budget(Decimal("20.0"), Decimal(15), {"storage": Decimal("1.50")}, (Decimal(1), Decimal(2)))
    later = Environment("prod", "us-east-1", capacity=Provisioned(5, 6), budget=budget)
    old = jobs(environment=PROD)
    new = jobs(
        environment=later, states=states, table={"followed": True, **STREAM, "ttl": "ttl"},
        expires=Expires("at", timedelta(days=30)), version=None,
    )  # fmt: skip
    told = {each.where: (each.old, each.new) for each in changes(old, new)}
    assert told == {
        "jobs stream": ("none", "NEW_AND_OLD_IMAGES"),
        "jobs followed": ("no", "yes"),
        "jobs time to live": ("none", "ttl"),
        "jobs.job.ttl": ("none", "field: at, after: 30 days"),
        "jobs.job.states": ("none", "state starts as OPEN; OPEN to DONE by owner or job; any by admin"),
        "environment prod capacity": ("on demand", "read: 5, write: 6, target: 70"),
        "environment prod budget": (
            "none",
            "limit: 20, alert_at: 15, estimate: (storage: 1.5), said: (1, 2)",
        ),
    }
    lists: type[BaseModel] = create_model("Job", __base__=Job, names=(list[str], []))
    numbers: type[BaseModel] = create_model("Job", __base__=Job, names=(list[int], []))
    (field,) = changes(jobs(lists), jobs(numbers))
    assert (field.old, field.new, field.needs) == ("list of text", "list of whole number", "backfill")
    assert field.why == "existing items have members of type S, not N"


# --- skeletons ---


STREAM = {"stream": "NEW_AND_OLD_IMAGES"}


def filled(text: str, **given: Any) -> dict[str, Any]:
    names: dict[str, Any] = dict(given)
    exec(compile(text, "migration.py", "exec"), names)
    return names


def test_a_skeleton_of_a_new_table_refuses_to_run_until_it_is_filled_in() -> None:
    old, new = jobs(table=STREAM), jobs(WITH_NOTE, table=STREAM, sk="TASK#{number}", index=BY_STATE)
    text = skeleton("jobs", changes(old, new), ("", ""))
    names = filled(text, OLD=old, NEW=new)
    for function in ("forward_job", "back_job"):
        with pytest.raises(NotImplementedError, match=f"fill in {function}"):
            names[function](None)
    assert isinstance(names["JOBS"], Migration)
    with pytest.raises(NotImplementedError, match="import OLD"):
        filled(skeleton("jobs", changes(old, new)))


def test_a_skeleton_names_the_backfill_and_what_the_design_cannot_derive() -> None:
    names = filled(text := skeleton("jobs", changes(jobs(), jobs(WITH_NOTE, index=BY_STATE))))
    assert "tablewright migrate backfill jobs --entity job" in text
    with pytest.raises(NotImplementedError, match="fill in fill_job"):
        names["FILLS"]["job"]({})


def test_an_example_in_a_skeleton_has_the_type_of_its_field() -> None:
    examples: dict[Any, str] = {
        int: '{"N": "0"}',
        str: '{"S": "..."}',
        list[str]: '{"L": []}',
        bool: '{"BOOL": False}',
    }
    for kind, example in examples.items():
        later: type[BaseModel] = create_model("Job", __base__=Job, watts=(kind, ...))
        text = skeleton("jobs", changes(jobs(), jobs(later)))
        assert f'such as {{"watts": {example}}}; {{}} for an item that has it' in text
        filled(text)


def test_a_new_table_without_a_stream_says_that_it_needs_one_first() -> None:
    old, new = jobs(), jobs(sk="TASK#{number}", table=STREAM)
    first = "give both versions of the table the stream NEW_AND_OLD_IMAGES"
    (change,) = (each for each in changes(old, new) if each.needs == "new table")
    assert change.why.startswith(f"existing items have other keys; first {first}")
    text = skeleton("jobs", changes(old, new), ("", ""))
    assert f"# TODO: {first}" in text
    with pytest.raises(TableUnsuitable, match="needs a stream"):
        filled(text, OLD=old, NEW=new)
    both = changes(jobs(table=STREAM), new)
    assert [each.first for each in both] == [""]
    assert "TableUnsuitable" not in skeleton("jobs", both)


def test_a_change_that_needs_nothing_has_no_skeleton() -> None:
    assert skeleton("jobs", changes(jobs(), jobs(WITH_DEFAULT))) == ""


def test_no_text_of_a_design_ends_the_skeletons_docstring() -> None:
    nasty = Change("key", 'a"""b', "C:\\new", 'x"""', "new table", 'because """', "2 tables\u00e9", 'x"y')
    compile(skeleton("jobs", [nasty]), "migration.py", "exec")
