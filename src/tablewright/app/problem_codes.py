"""The codes of all errors, read from the calls in the source that make them: nothing is listed a second time.

A code is a literal in capitals that is handed to what makes an error: `not_found("ORDER_NOT_FOUND", "There is ...")`,
`require(who, code="ADMIN_ONLY")`, `code = "STALE"` in a class of errors, `NotFound("order")`.
Elsewhere: errors as answers (edge/problems.py), the pages (problem_pages.py).
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path

import tablewright

_ROOMS = ("edge", "kit", "pages", "systems", "app")
_CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
# A file without this makes no error.
_SIGN = re.compile(rb'"[A-Z][A-Z0-9_]{3,}"|\bNotFound\(')
_MAKERS = {
    "bad_request": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "gone": 410,
    "unprocessable": 422,
    "too_many": 429,
    "role_required": 403,
    "require": 403,
    "NotFound": 404,
}
_ADVICE = {
    400: "Correct the request and send it again.",
    401: "Sign in, or send another token as Authorization: Bearer.",
    403: "Sign in as someone who may do this, or ask your administrator.",
    404: "Check the ID and the address. It may have been deleted.",
    405: "Use one of the methods in the response's Allow header.",
    409: "Read the current state and decide again.",
    410: "It no longer exists. Do not repeat the request.",
    412: "Read it again and repeat your change with the new version.",
    422: "Correct the field that the response names and send it again.",
    429: "Wait as long as the response's Retry-After header says, then send it again.",
    500: "This is our fault. Report it with its requestId.",
    503: "Wait as long as the response's Retry-After header says, then send it again.",
}
_NOT_THERE = "_NOT_FOUND"
_OTHERWISE = "Read the message in the response; it says what to do."


@dataclass(frozen=True, slots=True)
class ProblemCode:
    """A code, the sentences it comes with, and its statuses as far as the source says them."""

    code: str
    sentences: tuple[str, ...] = ()
    statuses: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        return self.code.replace("_", " ").capitalize()

    @property
    def advice(self) -> str:
        return next((_ADVICE[status] for status in self.statuses if status in _ADVICE), _OTHERWISE)


@cache
def problem_codes() -> dict[str, ProblemCode]:
    """Every code of this server, in the order of the alphabet. Reading the source takes a second, once."""
    found: dict[str, ProblemCode] = {}
    for source in _sources():
        for one in _codes_in(ast.parse(source)):
            found[one.code] = _merged(found.get(one.code), one)
    for status in HTTPStatus:  # what the framework refuses has the name of its status
        if status >= 400:
            one = ProblemCode(status.name, (f"{status.description or status.phrase}.",), (status.value,))
            found.setdefault(status.name, one)
    return dict(sorted(found.items()))


def problem_code(code: str) -> ProblemCode | None:
    """What is known of a code; None if no error has it."""
    found = problem_codes().get(code)
    noun = code.removesuffix(_NOT_THERE)
    if found is None and noun != code and _CODE.fullmatch(code):  # the noun is said where it is looked up
        return ProblemCode(code, (f"There is no such {noun.replace('_', ' ').lower()}.",), (404,))
    return found


def _sources() -> Iterator[bytes]:
    """The files that make errors."""
    home = Path(tablewright.__file__).parent
    every = (path.read_bytes() for room in _ROOMS for path in sorted((home / room).rglob("*.py")))
    return (source for source in every if _SIGN.search(source))


def _merged(known: ProblemCode | None, one: ProblemCode) -> ProblemCode:
    if known is None:
        return one
    sentences = tuple(dict.fromkeys(known.sentences + one.sentences))
    return ProblemCode(one.code, sentences, tuple(sorted({*known.statuses, *one.statuses})))


Words = list[tuple[int, str, ast.expr]]  # line, name, value: `words = "..."` before the call that is given it


def _codes_in(tree: ast.AST) -> Iterator[ProblemCode]:
    words: Words = [
        (node.lineno, node.targets[0].id, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    words.sort(key=lambda each: each[0])
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _codes_of_call(node, words)
    for _, name, value in words:
        if name == "code" and isinstance(value, ast.Constant) and _CODE.fullmatch(str(value.value)):
            yield ProblemCode(str(value.value))


def _codes_of_call(call: ast.Call, words: Words) -> Iterator[ProblemCode]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    statuses = (_MAKERS[name],) if name in _MAKERS else ()
    if name == "Problem" and call.args and isinstance(call.args[0], ast.Constant):
        statuses = (int(str(call.args[0].value)),)
    if name == "NotFound" and call.args and isinstance(call.args[0], ast.Constant):
        noun = str(call.args[0].value)
        told = _sentences(call, 1, words) or (f"There is no such {noun.lower()}.",)
        yield ProblemCode(f"{noun.upper()}{_NOT_THERE}", told, statuses)
        return
    for at, part in enumerate(call.args[:2]):
        told = _sentences(call, at + 1, words)
        if statuses or _is_error(name):
            yield from _code(part, told, statuses)
    for keyword in call.keywords:
        if keyword.arg == "code":
            yield from _code(keyword.value, (), statuses)


def _is_error(name: str) -> bool:
    """Kinds of errors of the systems: `Refused(code, words)`, `super().__init__(code, words)`."""
    return name == "__init__" or name[:1].isupper()


def _code(node: ast.expr, sentences: tuple[str, ...], statuses: tuple[int, ...]) -> Iterator[ProblemCode]:
    if isinstance(node, ast.IfExp):  # one code or another
        yield from _code(node.body, sentences, statuses)
        yield from _code(node.orelse, sentences, statuses)
    text = node.value if isinstance(node, ast.Constant) else None
    is_surely_one = bool(sentences or statuses)  # other things have names in capitals, but few of two words
    if isinstance(text, str) and _CODE.fullmatch(text) and len(text) > 3 and (is_surely_one or "_" in text):
        yield ProblemCode(text, sentences, statuses)


def _sentences(call: ast.Call, at: int, words: Words) -> tuple[str, ...]:
    """The words of a message, with … for what is filled in."""
    if len(call.args) <= at:
        return ()
    part = call.args[at]
    if isinstance(part, ast.Name):
        before = [value for line, name, value in words if name == part.id and line < call.lineno]
        part = before[-1] if before else part
    if isinstance(part, ast.Constant) and isinstance(part.value, str):
        return (part.value,) if " " in part.value else ()
    if isinstance(part, ast.JoinedStr):
        texts = [str(each.value) if isinstance(each, ast.Constant) else "…" for each in part.values]
        return ("".join(texts),)
    return ()
