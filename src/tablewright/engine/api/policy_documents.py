"""Resource policies as documents: what is refused, and the form in which the service returns them.

The engine does not evaluate policies (docs/verbs.md): a document is checked, made canonical and stored. Two documents
with the same canonical form are one policy, so putting one over the other changes nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from tablewright.engine.errors import ServiceError, invalid, invalid_parameter
from tablewright.engine.limits import POLICY_BYTES
from tablewright.engine.transaction import WriteTransaction

_STATEMENT = ("Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource")
_REQUIRED = (("Effect",), ("Principal", "NotPrincipal"), ("Action", "NotAction"), ("Resource", "NotResource"))
_LOCKS_OUT = "dynamodb:putresourcepolicy"


def new_policy(
    txn: WriteTransaction, document: str, known: Mapping[str, str] | None = None, confirmed: bool = True
) -> Mapping[str, str]:
    """A policy to be stored: its canonical text, and its revision, which is later than that of `known`."""
    text = canonical(document, txn.place.account, confirmed)
    if known is not None and known["text"] == text:
        return known
    revision = max(txn.position.at // 1000, 0 if known is None else int(known["revision"]) + 1)
    return {"text": text, "revision": f"{revision:013d}"}


def shown(policy: Mapping[str, str]) -> str:
    """The document as GetResourcePolicy returns it; a document without a version has the oldest one."""
    document = orjson.loads(policy["text"])
    return orjson.dumps({"Version": "2008-10-17", **document}).decode()


def canonical(document: str, account: str, confirmed: bool) -> str:
    """The document in its canonical form. `confirmed`: it may forbid its own replacement."""
    if len(document.encode()) > POLICY_BYTES:
        raise invalid_parameter(f"Maximum policy size of {POLICY_BYTES} bytes exceeded")
    try:
        parsed = orjson.loads(document)
    except orjson.JSONDecodeError:
        raise _invalid("This policy contains invalid Json") from None
    if not isinstance(parsed, dict):
        raise _invalid("This policy contains invalid Json")
    given = parsed.get("Statement")
    if not given:
        raise _invalid("Could not parse the policy: Statement is empty!")
    statements = [
        _statement(one, document, account) for one in (given if isinstance(given, list) else [given])
    ]
    names = [one["Sid"] for one in statements if "Sid" in one]
    if len(set(names)) < len(names):
        raise _invalid("The Statement Ids in the policy are not unique")
    for one in statements:
        _refuse_unbounded(one)
    if not confirmed and any(_locks_out(one, account) for one in statements):
        raise ServiceError(
            "AccessDeniedException",
            "The new resource policy will not allow you to update the resource policy in the future.",
        )
    head = {name: parsed[name] for name in ("Version", "Id") if name in parsed}
    return orjson.dumps({**head, "Statement": statements}).decode()


def _invalid(reason: str) -> ServiceError:
    return invalid_parameter(f"Invalid policy document: {reason}")


def _statement(given: Any, document: str, account: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _invalid("This policy contains invalid Json")
    for names in _REQUIRED:
        if not any(name in given for name in names):
            raise _invalid(f"Missing required field {names[0]}")
    for name in ("Sid", "Action", "NotAction", "Resource", "NotResource"):
        _refuse_other_than_texts(given.get(name, ""), document, is_one=name == "Sid")
    effect = str(given["Effect"]).capitalize()
    if effect not in ("Allow", "Deny"):
        raise _invalid(f"Invalid effect: {given['Effect']}")
    statement = {name: given[name] for name in _STATEMENT if name in given} | {"Effect": effect}
    for name in ("Principal", "NotPrincipal"):
        if name in given:
            statement[name] = _principal(given[name], document, account)
    for name in ("Action", "NotAction"):
        if name in given:
            _refuse_actions(given[name])
    for name in ("Action", "NotAction", "Resource", "NotResource"):
        if name in given:
            statement[name] = _collapsed(given[name])
    if "Condition" in given:
        statement["Condition"] = given["Condition"]
    return statement


def _refuse_other_than_texts(given: Any, document: str, is_one: bool = False) -> None:
    """Refuse a member that is neither a text nor, unless it `is_one`, a list of texts."""
    if isinstance(given, str) or (
        isinstance(given, list) and not is_one and all(isinstance(one, str) for one in given)
    ):
        return
    raise _invalid(f"Syntax error at position {_position(document, str(given))}")


def _principal(given: Any, document: str, account: str) -> Any:
    """The principals with ARNs for account numbers, each once."""
    if given == "*":
        return given
    if not isinstance(given, dict):
        raise _invalid(f"Syntax error at position {_position(document, str(given))}")
    made = {}
    for kind, names in given.items():
        _refuse_other_than_texts(names, document)
        arns = [_root(str(name)) for name in (names if isinstance(names, list) else [names])]
        made[kind] = _collapsed(list(dict.fromkeys(arns)))
    return made


def _root(name: str) -> str:
    is_account = len(name) == 12 and name.isascii() and name.isdecimal()
    return f"arn:aws:iam::{name}:root" if is_account else name


def _position(document: str, value: str) -> str:
    before = document[: max(0, document.find(f'"{value}"'))]
    return f"({before.count(chr(10)) + 1},{len(before) - before.rfind(chr(10))})"


def _collapsed(values: Any) -> Any:
    return values[0] if isinstance(values, list) and len(values) == 1 else values


def _refuse_actions(given: Any) -> None:
    wrong = [one for one in _listed(given) if one != "*" and not one.lower().startswith("dynamodb:")]
    if wrong:
        names = ", ".join(f'"{one}"' for one in wrong)
        raise _invalid(f"The following action names are invalid: {names}")


def _listed(given: Any) -> list[str]:
    return [str(one) for one in given] if isinstance(given, list) else [str(given)]


def _principals(statement: Mapping[str, Any]) -> Iterator[str]:
    given = statement.get("Principal")
    if isinstance(given, dict):
        for names in given.values():
            yield from _listed(names)
    elif given is not None:
        yield str(given)


def _refuse_unbounded(statement: Mapping[str, Any]) -> None:
    if statement["Effect"] == "Allow" and "Condition" not in statement and "*" in _principals(statement):
        raise invalid(
            "Resource-based policy grants unbounded access in one or more elements. "
            "Please revise the policy to ensure least-privilege form of access"
        )


def _locks_out(statement: Mapping[str, Any], account: str) -> bool:
    """Whether the statement denies the account's own requests to replace the policy."""
    if statement["Effect"] != "Deny" or "Condition" in statement or "Action" not in statement:
        return False
    actions = {one.lower() for one in _listed(statement["Action"])}
    is_ours = not {"*", f"arn:aws:iam::{account}:root"}.isdisjoint(_principals(statement))
    return is_ours and not actions.isdisjoint(("*", "dynamodb:*", _LOCKS_OUT))
