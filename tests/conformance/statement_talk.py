"""How the tests of PartiQL talk: a statement in a line, its parameters behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.conformance.talk import Answered, Json, Refused, Sentence

NOT_WELL_FORMED = "Statement wasn't well formed, can't be processed: "
LEFT_OVER = f"{NOT_WELL_FORMED}Unexpected token after expression"
NO_KEY = "Where clause does not contain a mandatory equality on all key attributes"
OVERLAPPING = "Overlapping conditions with range keys are not supported in where clause"
ALIASED = "Aliasing is not supported"


def said(text: str, *parameters: Json, **rest: Any) -> Json:
    """The request of one statement, alone or as a member of others."""
    request: Json = {"Statement": text, **rest}
    return request | {"Parameters": list(parameters)} if parameters else request


def batch(*members: Json, **rest: Any) -> Json:
    return {"Statements": list(members), **rest}


def together(*members: Json, **rest: Any) -> Json:
    return {"TransactStatements": list(members), **rest}


# run("SELECT ...", {"S": "x"}) -> the answer's body
Run = Callable[..., Json]
# refusal("SELECT ...") -> the sentence of a ValidationException
Refusal = Callable[..., Sentence]


def runner(answered: Answered) -> Run:
    return lambda text, *parameters, **rest: answered("ExecuteStatement", said(text, *parameters, **rest))


def refuser(refused: Refused) -> Refusal:
    def ask(text: str, *parameters: Json, **rest: Any) -> Sentence:
        code, message = refused("ExecuteStatement", said(text, *parameters, **rest))
        assert code == "ValidationException", (code, message)
        return Sentence(message)

    return ask
