"""IAM's decision in pure Python: does a policy document allow a request? As Amazon describes it, as far as DynamoDB
needs.

    allows(document, AccessRequest("dynamodb:Query", "table/pets/index/by-name", leading=("OLD",)))

A statement concerns a request if its Action (or NotAction), Resource (or NotResource) and every Condition match; a
request is allowed if some statement allows it and none denies it. Conditions: the operators on strings, Bool and Null,
with `ForAllValues:`, `ForAnyValue:` and `IfExists`; keys: `aws:SecureTransport`, `aws:PrincipalTag/...`, and
DynamoDB's LeadingKeys, Attributes, Select and ReturnValues. Variables in a policy are replaced; one that has no value
matches nothing.
Must hold: it is written from Amazon's descriptions and not from policies.py, so that the two can disagree; what it does
not know is an error, never a decision.
Elsewhere: which requests a design makes (role_access.py).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tablewright.design.errors import DesignMistake

Json: TypeAlias = Mapping[str, Any]
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_ALL, _ANY, _IF_EXISTS = "ForAllValues:", "ForAnyValue:", "IfExists"


class NotEvaluated(DesignMistake):
    """A policy with something that this evaluation does not know."""


@dataclass(frozen=True, order=True)
class AccessRequest:
    """An action on a resource: an ARN, or `table/pets` for that table in any region and account.

    `leading` are the partition keys that the request names, None where it names none (a Scan); `attributes` and
    `select` what it returns; `tags` are the principal's, names and values.
    """

    action: str
    resource: str
    leading: tuple[str, ...] | None = None
    encrypted: bool = True
    tags: tuple[tuple[str, str], ...] = ()
    attributes: tuple[str, ...] | None = None
    select: str | None = None
    returned: str | None = None

    @property
    def context(self) -> dict[str, Sequence[str]]:
        """The values of the condition keys that the request has."""
        found: dict[str, Sequence[str]] = {
            "aws:securetransport": ["true" if self.encrypted else "false"],
            **{f"aws:principaltag/{name.lower()}": [value] for name, value in self.tags},
        }
        several = {"leadingkeys": self.leading, "attributes": self.attributes}
        single = {"select": self.select, "returnvalues": self.returned}
        found |= {f"dynamodb:{name}": values for name, values in several.items() if values is not None}
        return found | {f"dynamodb:{name}": [value] for name, value in single.items() if value is not None}


def allows(document: Json, request: AccessRequest) -> bool:
    """Whether a document allows a request: some statement does, and none denies it."""
    effects = [each["Effect"] for each in document["Statement"] if _concerns(each, request)]
    return "Allow" in effects and "Deny" not in effects


def _concerns(statement: Json, request: AccessRequest) -> bool:
    return (
        _matches(statement, "Action", lambda pattern: _like(pattern.lower(), request.action.lower()))
        and _matches(statement, "Resource", lambda pattern: _is_resource(pattern, request))
        and all(_holds(test, keys, request) for test, keys in statement.get("Condition", {}).items())
    )


def _matches(statement: Json, member: str, is_match: Callable[[str], bool]) -> bool:
    if member in statement:
        return any(map(is_match, several(statement[member])))
    return not any(map(is_match, several(statement[f"Not{member}"])))


def _is_resource(pattern: str, request: AccessRequest) -> bool:
    if request.resource.startswith("table/") and ":table/" in pattern:
        pattern = "table/" + pattern.partition(":table/")[2]
    wanted = _pattern(pattern, request)
    return wanted is not None and wanted.fullmatch(request.resource) is not None


# --- conditions ---


def _holds(test: str, keys: Json, request: AccessRequest) -> bool:
    return all(_key_holds(test, key, several(wanted), request) for key, wanted in keys.items())


def _key_holds(test: str, key: str, wanted: Sequence[str], request: AccessRequest) -> bool:
    values = request.context.get(_known_key(key))
    quantifier = next((each for each in (_ALL, _ANY) if test.startswith(each)), "")
    operator = test.removeprefix(quantifier)
    if operator == "Null":
        return (values is None) is (wanted[0].lower() == "true")
    is_optional = operator.endswith(_IF_EXISTS)
    compare, is_negated = _operator(operator.removesuffix(_IF_EXISTS))

    def is_one(value: str) -> bool:
        found = any(compare(pattern, value, request) for pattern in wanted)
        return not found if is_negated else found

    if values is None:
        # A missing key holds for all of its values, for none of them, and is not equal to anything.
        return is_optional or quantifier == _ALL or (is_negated and not quantifier)
    if quantifier == _ALL:
        return all(map(is_one, values))
    if quantifier == _ANY:
        return any(map(is_one, values))
    if len(values) != 1:
        raise NotEvaluated(f"{test} on {key}: a key with several values needs ForAllValues or ForAnyValue")
    return is_one(values[0])


def _known_key(key: str) -> str:
    known = key.lower()
    plain = (
        "aws:securetransport",
        *(f"dynamodb:{name}" for name in ("leadingkeys", "attributes", "select", "returnvalues")),
    )
    if known not in plain and not known.startswith("aws:principaltag/"):
        raise NotEvaluated(
            f"the condition key {key} is not evaluated here; the known keys are {', '.join(plain)}"
        )
    return known


_Compare: TypeAlias = Callable[[str, str, AccessRequest], bool]


def _operator(name: str) -> tuple[_Compare, bool]:
    """The comparison, and whether it is negated."""
    found = _OPERATORS.get(name)
    if found is not None:
        return found, False
    positive = _OPERATORS.get(name.replace("Not", "", 1)) if "Not" in name else None
    if positive is None:
        raise NotEvaluated(
            f"the condition operator {name} is not evaluated here; the known ones are {', '.join(_OPERATORS)}"
        )
    return positive, True


def _equals(pattern: str, value: str, request: AccessRequest) -> bool:
    return _with_variables(pattern, request) == value


def _equals_ignoring_case(pattern: str, value: str, request: AccessRequest) -> bool:
    found = _with_variables(pattern, request)
    return found is not None and found.lower() == value.lower()


def _is_like(pattern: str, value: str, request: AccessRequest) -> bool:
    wanted = _pattern(pattern, request)
    return wanted is not None and wanted.fullmatch(value) is not None


_OPERATORS: dict[str, _Compare] = {
    "StringEquals": _equals,
    "StringEqualsIgnoreCase": _equals_ignoring_case,
    "StringLike": _is_like,
    "Bool": _equals_ignoring_case,
}


# --- patterns and variables ---


def _with_variables(text: str, request: AccessRequest) -> str | None:
    """A text with the variables of a policy replaced; None if one has no value: nothing equals it then."""
    values = [_variable(name, request) for name in _VARIABLE.findall(text)]
    if any(value is None for value in values):
        return None
    found = iter(values)
    return _VARIABLE.sub(lambda _: next(found) or "", text)


def _variable(inside: str, request: AccessRequest) -> str | None:
    name, _, default = (part.strip() for part in inside.partition(","))
    if name in ("*", "?", "$"):
        return name
    values = request.context.get(_known_key(name))
    if values is None or len(values) != 1:
        return default.strip("'") if default else None
    return values[0]


def _pattern(text: str, request: AccessRequest) -> re.Pattern[str] | None:
    """`*` and `?` stand for characters, but not those that come out of a variable."""
    pieces, end = [], 0
    for variable in _VARIABLE.finditer(text):
        value = _variable(variable[1], request)
        if value is None:
            return None
        pieces += [_wildcards(text[end : variable.start()]), re.escape(value)]
        end = variable.end()
    return re.compile("".join([*pieces, _wildcards(text[end:])]), re.DOTALL)


def _wildcards(text: str) -> str:
    return "".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in text)


def _like(pattern: str, text: str) -> bool:
    return re.fullmatch(_wildcards(pattern), text, re.DOTALL) is not None


def several(given: str | Sequence[str]) -> Sequence[str]:
    """A member of a policy that may be one text or a list of them."""
    return [given] if isinstance(given, str) else given
