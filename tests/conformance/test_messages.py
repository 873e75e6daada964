"""Requests in the order they were first sent, and the code, sentence or answer each must get.

probes.json holds them, one a line. `message` is the whole sentence; `pattern` stands for it where captures
of the service disagree or print an object's address; `answer` is the whole answer, `answer_has` some of its
members, `extra` further members of an error; `why` says why an expectation is not the recorded one.
Must hold: later probes read what earlier ones wrote, so all are sent once, in order, before any is judged.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.probe_requests import MADE
from tests.conformance.talk import (
    BIN_TABLE,
    COMP_TABLE,
    HASH_TABLE,
    NUM_TABLE,
    Json,
    Line,
    Reply,
    create,
    drop,
)

PROBES: list[Json] = json.loads((Path(__file__).parent / "probes.json").read_text())
TABLES = {"hash": HASH_TABLE, "comp": COMP_TABLE, "num": NUM_TABLE, "bin": BIN_TABLE}
MADE_BY_PROBES = ("ct_probe", "ct_21nka", "ct_str", "ct_cls", "ct_odt")

# What was in the tables when the probes were recorded, read back from the recorded answers.
IN_HASH: list[Json] = [
    {
        "pk": {"S": "u"},
        "a": {"N": "1"},
        "b": {"BOOL": True},
        "s": {"S": "str"},
        "nul": {"NULL": True},
        "ss": {"SS": ["a", "b"]},
        "ns": {"NS": ["1", "2"]},
        "l": {"L": [{"N": "1"}, {"N": "2"}]},
        "m": {"M": {"x": {"N": "1"}}},
    },
    {
        "pk": {"S": "p"},
        "l": {
            "L": [
                {"M": {"a": {"N": "1"}, "b": {"N": "2"}}},
                {"M": {"a": {"N": "3"}, "b": {"N": "4"}}},
                {"N": "7"},
            ]
        },
        "m": {"M": {"x": {"N": "1"}, "y": {"M": {"z": {"N": "2"}}}}},
    },
]


def in_comp(sort: str, a: str, big: str, lsk: str) -> Json:
    indexed = {"gpk": {"S": "g"}, "gsk": {"N": sort}, "lsk": {"N": lsk}}
    return {"pk": {"S": "a"}, "sk": {"S": sort}, "a": {"S": a}, "big": {"S": big}, **indexed}


IN_COMP = [in_comp("1", "A", "B", "5"), *(in_comp(sort, "x", "y", sort) for sort in "2345")]


@pytest.fixture(scope="module")
def prefix() -> str:
    return f"conf-{uuid.uuid4().hex[:12]}-"


@pytest.fixture(scope="module")
def replies(line: Line, prefix: str) -> Iterator[dict[int, Reply | str]]:
    for name, definition in TABLES.items():
        create(line, {"TableName": prefix + name, **definition})
    for name, items in (("hash", IN_HASH), ("comp", IN_COMP)):
        for item in items:
            reply = line.call("PutItem", {"TableName": prefix + name, "Item": item})
            assert reply.status == 200, reply.raw.decode()
    yield {probe["id"]: ask(line, probe, prefix) for probe in PROBES}
    for name in (*TABLES, *MADE_BY_PROBES):
        drop(line, prefix + name)


def ask(line: Line, probe: Json, prefix: str) -> Reply | str:
    """The reply, or how the connection broke: one lost probe must not hide the others."""
    request = MADE[probe["made"]]() if "made" in probe else probe["request"]
    try:
        return line.call(probe["verb"], placed(request, prefix))
    except OSError as broken:
        return repr(broken)


def placed(marked: Any, prefix: str) -> Any:
    """The same JSON with the run's prefix where the mark is."""
    return json.loads(json.dumps(marked).replace("@", prefix))


def unordered(answer: Any) -> Any:
    """The answer with its sets sorted: a set has no order to be right or wrong about."""
    if isinstance(answer, dict):
        return {
            name: sorted(member) if name in ("SS", "NS", "BS") else unordered(member)
            for name, member in answer.items()
        }
    if isinstance(answer, list):
        return [unordered(member) for member in answer]
    return answer


def name_of(probe: Json) -> str:
    return f"{probe['id']:03}-{probe['verb']}-{probe['label']}"


@pytest.mark.parametrize("probe", PROBES, ids=name_of)
def test_a_probe_gets_the_recorded_reply(probe: Json, replies: dict[int, Reply | str], prefix: str) -> None:
    reply = replies[probe["id"]]
    assert isinstance(reply, Reply), reply
    wanted = placed(probe, prefix)
    got_code = reply.code if reply.status != 200 else "OK"
    told = f"{reply.status} {reply.raw[:2000].decode()}"
    assert re.fullmatch(wanted.get("code", "OK"), got_code), told
    if got_code == "OK":
        judge_answer(wanted, reply.body)
    else:
        assert reply.status == 400
        judge_error(wanted, reply)


def judge_answer(wanted: Json, body: Json) -> None:
    if "answer" in wanted:
        assert unordered(body) == unordered(wanted["answer"])
    for name, member in wanted.get("answer_has", {}).items():
        assert unordered(body.get(name)) == unordered(member)


def judge_error(wanted: Json, reply: Reply) -> None:
    if "message" in wanted:
        assert reply.message == wanted["message"]
    if "pattern" in wanted:
        assert re.fullmatch(wanted["pattern"], reply.message), reply.message
    for name, member in wanted.get("extra", {}).items():
        assert unordered(reply.body.get(name)) == unordered(member)


def test_every_long_request_belongs_to_a_probe() -> None:
    assert sorted(MADE) == sorted(probe["made"] for probe in PROBES if "made" in probe)
