"""Every member of every request, replaced in turn by every odd value: answered or refused, never a fault of ours.

The same every time and without a gap, where test_bad_input.py goes deeper and by chance.
"""

from copy import copy, deepcopy
from typing import Any

import pytest
from tests.engine.stepped_engine import SteppedEngine
from tests.properties.sound import KEY, SOUND, Json
from tests.properties.test_bad_input import begin, places

from tablewright import Engine, ServiceError

DEEP: Json = {"S": "x"}
for _ in range(40):
    DEEP = {"L": [DEEP]}

ODD: list[Json] = [
    # JSON of every other type
    None, True, False, 0, 1, -1, 1.5, -0.0, 1e300, 2**31, 2**63, 2**64, 10**30, [], {}, [[]], [None], {"": None}, [{}],
    # texts: empty, blank, huge, and characters that are hard on somebody
    "", " ", "x" * 70_000, "\0", "é", "ß" * 300, "\U0001f600", "\u202e", "\ufeff", "\uffff", "\ud800", "a\ud800b",
    # what only looks like a number, a name, an expression
    "NaN", "Infinity", "1e999", "1e" + "9" * 5000, "0" * 5000, "١٢", "arn:aws:dynamodb", "#", ":", "(((", "a.b[0]",
    "SET", "a = :a", "NOT " * 2000, "(" * 2000,
    # attribute values
    {"S": None}, {"S": 1}, {"S": "\ud800"}, {"N": ""}, {"N": "x"}, {"N": 1}, {"B": "é"}, {"B": "A"}, {"BOOL": "true"},
    {"NULL": False}, {"SS": []}, {"SS": [None]}, {"NS": ["1", "1.0"]}, {"BS": ["AA==", "AB=="]}, {"L": None},
    {"L": [None]}, {"M": []}, {"M": {"": {"S": "a"}}}, {"S": "a", "N": "1"}, {"X": "a"}, {"S": "x" * 410_000}, DEEP,
    KEY, [KEY],
]  # fmt: skip


@pytest.mark.parametrize("verb", sorted(SOUND))
def test_no_odd_value_in_any_place_makes_the_engine_fail(verb: str) -> None:
    failed = []
    for request in SOUND[verb]:
        given = deepcopy(request)
        for path in places(request):
            with SteppedEngine.stepped() as engine:
                begin(engine)
                failed += [(path, odd) for odd in ODD if fails(engine, verb, replaced(request, path, odd))]
                assert engine.verify() == []
        assert request == given, "the engine changed what it was given"
    assert [(path, repr(odd)[:60]) for path, odd in failed] == []


@pytest.mark.parametrize("verb", sorted(SOUND))
def test_no_odd_name_beside_any_member_makes_the_engine_fail(verb: str) -> None:
    names = [odd for odd in ODD if isinstance(odd, str)]
    failed = []
    for request in SOUND[verb]:
        for path in [(), *places(request)]:
            if isinstance(at(request, path), dict):
                with SteppedEngine.stepped() as engine:
                    begin(engine)
                    failed += [
                        (path, name)
                        for name in names
                        for member in ("x", {"S": "x"}, None)
                        if fails(engine, verb, replaced(request, (*path, name), member))
                    ]
    assert [(path, repr(name)[:60]) for path, name in failed] == []


def replaced(request: Json, path: tuple[Any, ...], odd: Json) -> Json:
    """The request with something else in a place. Only what leads there is copied: the engine changes no request."""
    bent, (first, *rest) = copy(request), path
    bent[first] = replaced(request[first], tuple(rest), odd) if rest else odd
    return bent


def at(request: Json, path: tuple[Any, ...]) -> Json:
    for key in path:
        request = request[key]
    return request


def fails(engine: Engine, verb: str, request: Json) -> bool:
    """Whether anything but an answer or a refusal comes of it."""
    try:
        engine.call(verb, request)
    except ServiceError as refused:
        return refused.status != 400
    except Exception:
        return True
    return False
