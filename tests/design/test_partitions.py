"""Partition keys that a design's load falls on: which become hot at which multiple of it, and how many partitions."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel
from tests.cli.command import here

from tablewright.design import Design, Keys, Load
from tablewright.design.partitions import PEAK, key_groups, place_loads

HOME = Path(__file__).parents[2]
SECONDS_A_YEAR = 12 * 30 * 86_400  # as bills count


class Job(BaseModel):
    owner: str
    number: str
    state: Literal["OPEN", "DONE"]
    at: datetime


def _key(owner: str, number: str) -> None: ...


def _design(index_key: str, *, a_second: int = 1, item_bytes: int = 1000) -> Design:
    design = Design("jobs")
    table = design.table("jobs", pk="PK", sk="SK")
    index = table.gsi("ByState", pk="GPK", sk="GSK")
    table.entity(
        Job,
        _key,
        tag="job",
        pk="OWNER#{owner}",
        sk="JOB#{number}",
        on={index: Keys(index_key, "{at:ms}#{number}")},
        load={"create": Load(per_second=a_second, item_bytes=item_bytes)},
    )
    return design.build()


@pytest.mark.parametrize(
    ("key", "values", "keys"),
    [
        ("ALL", 1, 1),
        ("STATE#{state}", 2, 1),
        ("DAY#{at:day}", 1, 1),
        ("STATE#{state}#{number:shard.8}", 16, 8),
        ("DAY#{at:day}#{number:shard.4}", 4, 4),
    ],
)
def test_a_key_that_does_not_get_more_values_is_exceeded_at_the_limit_of_its_partitions(
    key: str, values: int, keys: int
) -> None:
    (group,) = key_groups(_design(key))
    assert (group.place, group.keys, group.kind, group.shards) == ("jobs.ByState", key, "write", keys)
    assert group.values == values
    assert group.units == 1
    assert group.breaks_at == Decimal(1000 * keys) / PEAK
    assert group.calls == ("job.create",)


@pytest.mark.parametrize("key", ["OWNER#{owner}", "STATE#{state}#{owner}", "NUMBER#{number}"])
def test_a_key_that_gets_more_values_with_the_load_is_not_reported(key: str) -> None:
    assert key_groups(_design(key)) == ()


def test_a_pattern_that_names_a_state_otherwise_reads_as_few_keys() -> None:
    design = Design("jobs")
    table = design.table("jobs", pk="PK", sk="SK")
    index = table.gsi("ByState", pk="GPK", sk="GSK")
    on = {index: Keys("STATE#{state}", "{at:ms}#{number}")}
    jobs = table.entity(Job, _key, tag="job", pk="OWNER#{owner}", sk="JOB#{number}", on=on)

    @design.query(jobs, on=index, pk="STATE#{wanted}", load=Load(per_second=1))
    def jobs_in(*, wanted: Literal["OPEN", "DONE"]) -> None: ...

    (group,) = key_groups(design.build())
    assert (group.keys, group.kind, group.values, group.shards) == ("STATE#{wanted}", "read", 2, 1)


def test_larger_items_exceed_a_key_sooner() -> None:
    (small,), (large,) = key_groups(_design("ALL")), key_groups(_design("ALL", item_bytes=3000))
    assert large.breaks_at == small.breaks_at / 3


def test_partitions_are_as_many_as_throughput_or_size_needs() -> None:
    design = _design("OWNER#{owner}", a_second=100)
    for place in place_loads(design, Decimal(10)):
        assert place.write == 100 * 10 * PEAK
        # 1 000 items a second, each with 100 bytes that are billed beside its own
        assert place.bytes == 1100 * 1000 * SECONDS_A_YEAR
        assert place.partitions == 3422  # of 34 214.4 GB
        assert place.quota == Decimal("0.25")
    (table, _) = place_loads(_design("OWNER#{owner}", a_second=100), Decimal(1), months=0)
    assert (int(table.write), table.partitions) == (1000, 1)


def test_a_design_without_load_has_no_hot_key() -> None:
    design = Design("quiet")
    design.table("jobs", pk="PK", sk="SK").entity(Job, _key, tag="job", pk="O#{owner}", sk="{number}")
    assert (key_groups(design.build()), place_loads(design)) == ((), ())
    ran = here("scale", "travel", "--times", "7", "--json")
    assert ran.code == 0
    assert '"times": 7' in ran.out


@pytest.mark.parametrize("system", ["parental", "campus", "travel", "chat", "portal"])
def test_the_page_on_scale_has_the_figures_of_each_system(system: str) -> None:
    ran = here("scale", system)
    assert ran.out.strip() in (HOME / "docs" / "scale.md").read_text(), "print it again: tablewright scale"


def test_a_design_that_states_no_load_is_shown_without_one(tmp_path: Path) -> None:
    (tmp_path / "idle.py").write_text("from tablewright.design import Design\nIDLE = Design('idle')\n")
    ran = here("scale", f"{tmp_path}/idle.py:IDLE")
    assert (ran.code, ran.err) == (0, "")
    assert "no load stated" in ran.out
