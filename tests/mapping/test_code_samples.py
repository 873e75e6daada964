"""Code made from requests does what the request does: run with boto3, the `aws` command and Node.js."""

import json
import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.app.library import Book, Note, book_by_id, books, books_by_state, library, notes, notes_on

from tablewright import testing
from tablewright.app.systems import SYSTEMS
from tablewright.client import embedded
from tablewright.design import Environment
from tablewright.design.patterns import Plan
from tablewright.mapping import Db
from tablewright.mapping.code_samples import Target, boto3_code, cli_code, javascript_code, samples
from tablewright.mapping.typed_samples import Tables, typed_call, typed_program
from tablewright.systems.portal.design import PORTAL
from tablewright.wire import serving

AWS = Path(sysconfig.get_path("scripts")) / "aws"
TEXTS = {
    "plain": "BOOK#b007",
    "quotes": """it's "so" `x` $HOME $(date) \\ \\n %s {} !""",
    "unicode": "Zoë 🦉 \u2028 ไทย",
    "lines": "a\nb\tc\r\nd",
    "option": "--debug",
    "script": "'; rm -rf / #",
}
DIGITS = "12345678901234567890123456789012345678"
BLOB = "AP+AJ1wi"  # not UTF-8, with quotes and a backslash
OTHERS: dict[str, Any] = {
    "n": {"N": "-" + DIGITS},
    "ss": {"SS": ["'", '"', "é"]},
    "ns": {"NS": ["1", DIGITS]},
    "bs": {"BS": ["AP8=", BLOB]},
    "blob": {"B": BLOB},
    "__proto__": {"S": "a name"},
    "B": {"M": {"B": {"L": [{"B": BLOB}, {"NULL": True}, {"BOOL": False}]}}},
}


@contextmanager
def with_tables() -> Iterator[tuple[Any, Target]]:
    """A table by text and number, with an item for each text; and one by bytes."""
    with testing.engine() as engine, serving(engine) as url:
        keys = (("id", "S", "HASH"), ("at", "N", "RANGE"))
        engine.call(
            "CreateTable",
            {
                "TableName": "odd",
                "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, _, kind in keys],
                "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t, _ in keys],
            },
        )
        engine.call(
            "CreateTable",
            {
                "TableName": "blobs",
                "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "B"}],
            },
        )
        engine.settle()
        for text in TEXTS.values():
            engine.call("PutItem", {"TableName": "odd", "Item": {**key(text), **OTHERS}})
        engine.call("PutItem", {"TableName": "blobs", "Item": {"id": {"B": BLOB}}})
        yield engine, Target(url, "us-east-1", takes_any_key=True)


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Any, Target]]:
    with with_tables() as found:
        yield found


def key(text: str) -> dict[str, Any]:
    return {"id": {"S": text}, "at": {"N": DIGITS}}


def query(text: str) -> dict[str, Any]:
    """A Query whose names, values and flags need their quotes."""
    values = {f":{name}": OTHERS[name] for name in ("n", "ss", "ns")} | {":id": {"S": text}}
    return {
        "TableName": "odd",
        "KeyConditionExpression": "#k = :id",
        "FilterExpression": "#n = :n AND #ss = :ss AND #ns = :ns AND #p <> :id",
        "ExpressionAttributeNames": {"#k": "id", "#n": "n", "#ss": "ss", "#ns": "ns", "#p": "__proto__"},
        "ExpressionAttributeValues": values,
        "ScanIndexForward": False,
        "ConsistentRead": True,
    }


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Code must run as it is printed: no keys and no region are set."""
    for name in (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_DEFAULT_REGION",
        "AWS_REGION",
        "AWS_PROFILE",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "absent"))


def run_boto3(text: str) -> Any:
    seen: dict[str, Any] = {"boto3": boto3}
    exec(text, seen)
    seen["client"].close()
    return seen["response"]


def test_boto3_code_reads_the_item_whatever_its_key_is(server: tuple[Any, Target]) -> None:
    for text in TEXTS.values():
        got = run_boto3(boto3_code([("GetItem", {"TableName": "odd", "Key": key(text)})], server[1]))
        assert got["Item"]["id"] == {"S": text}
    got = run_boto3(boto3_code([("GetItem", {"TableName": "blobs", "Key": {"id": {"B": BLOB}}})], server[1]))
    assert got["Item"]["id"]["B"] == b"\x00\xff\x80'\\\""


def test_boto3_code_of_a_query_and_of_a_write_sends_every_type(server: tuple[Any, Target]) -> None:
    engine, url = server
    assert run_boto3(boto3_code([("Query", query(TEXTS["quotes"]))], url))["Count"] == 1
    item = {**key("written"), **OTHERS}
    run_boto3(boto3_code([("PutItem", {"TableName": "odd", "Item": item})], url))
    stored = engine.call("GetItem", {"TableName": "odd", "Key": key("written")})["Item"]
    engine.call("PutItem", {"TableName": "odd", "Item": {**item, "id": {"S": "by hand"}}})
    by_hand = engine.call("GetItem", {"TableName": "odd", "Key": key("by hand")})["Item"]
    assert stored == {**by_hand, "id": {"S": "written"}}
    for text in ("written", "by hand"):
        engine.call("DeleteItem", {"TableName": "odd", "Key": key(text)})


def run_shell(text: str) -> list[Any]:
    """What the commands print, by a POSIX shell with `aws` on its path."""
    there = {**os.environ, "PATH": f"{AWS.parent}:{os.environ['PATH']}", "AWS_PAGER": ""}
    done = subprocess.run(["sh", "-eu"], input=text, capture_output=True, text=True, env=there, timeout=120)
    assert done.returncode == 0, done.stderr
    reader, found, at = json.JSONDecoder(), [], 0
    while at < len(done.stdout.rstrip()):
        answer, at = reader.raw_decode(done.stdout, at)
        found.append(answer)
        at += len(done.stdout[at:]) - len(done.stdout[at:].lstrip())
    return found


def test_commands_of_the_aws_cli_send_the_request_whatever_its_letters_are(
    server: tuple[Any, Target],
) -> None:
    chosen = (TEXTS["quotes"], TEXTS["unicode"], TEXTS["lines"], TEXTS["script"])
    requests = [("GetItem", {"TableName": "odd", "Key": key(text)}) for text in chosen]
    *got, found = run_shell(cli_code([*requests, ("Query", query(TEXTS["quotes"]))], server[1]))
    assert [answer["Item"]["id"]["S"] for answer in got] == list(chosen)
    assert got[0]["Item"]["at"] == {"N": DIGITS}
    assert [item["id"]["S"] for item in found["Items"]] == [TEXTS["quotes"]]


def test_a_command_with_a_binary_value_says_which_version_takes_it() -> None:
    text = cli_code([("GetItem", {"TableName": "blobs", "Key": {"id": {"B": BLOB}}})])
    assert text.startswith(
        "# Binary values are in base64, as version 2 of the AWS CLI takes them.\naws dynamodb get-item"
    )
    assert BLOB in text
    assert "# Binary" not in cli_code([("Query", query("x"))])


# The SDK's names, printing what they are given: the module's text is what is tested, and Node.js reads it.
STAND_IN = """
export class DynamoDBClient { constructor(options) { this.options = options; } async send(command) { return command; } }
const plain = (value) => value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") }
  : Array.isArray(value) ? value.map(plain)
  : value === null || typeof value !== "object" ? value
  : Object.entries(value).map(([name, each]) => [name, plain(each)]);
class Command { constructor(input) { process.stdout.write(JSON.stringify(plain(input)) + "\\n"); } }
export class GetItemCommand extends Command {}
export class QueryCommand extends Command {}
console.dir = () => {};
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js")
def test_node_reads_the_javascript_as_the_request_that_it_was_made_from(tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / "@aws-sdk" / "client-dynamodb"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"type": "module", "main": "index.js"}')
    (package / "index.js").write_text(STAND_IN)
    requests = [("GetItem", {"TableName": "odd", "Key": {**key(text), **OTHERS}}) for text in TEXTS.values()]
    requests.append(("Query", query(TEXTS["unicode"])))
    (tmp_path / "sample.mjs").write_text(javascript_code(requests, Target("http://127.0.0.1:1", "r", True)))
    done = subprocess.run(["node", "sample.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    seen = [json.loads(line) for line in done.stdout.strip().split("\n")]
    assert seen == [_pairs(request) for _, request in requests]


def _pairs(value: Any, kind: str = "") -> Any:
    """What the stand-in prints: objects as pairs, so that no name is lost; bytes marked."""
    if isinstance(value, dict):
        return [
            [name, _pairs(each, name if isinstance(each, str | list) else "")] for name, each in value.items()
        ]
    if isinstance(value, list):
        return [{"bytes": each} if kind == "BS" else _pairs(each) for each in value]
    return {"bytes": value} if kind == "B" else value


# --- typed calls ---


def typed(plan: Plan, **arguments: Any) -> Any:
    """What the code asks its `db` for."""
    asked: list[Any] = []

    class Asked:
        one = page = staticmethod(asked.append)

    patterns = {"book_by_id": book_by_id, "books_by_state": books_by_state, "notes_on": notes_on}
    exec(typed_call(plan, arguments), {"db": Asked, "datetime": datetime, **patterns})
    return asked[0]


def test_a_typed_call_makes_the_request_of_the_pattern() -> None:
    assert typed(book_by_id.plan, id=TEXTS["quotes"]) == book_by_id(id=TEXTS["quotes"])
    assert typed(books_by_state.plan, state="LENT") == books_by_state(state="LENT")
    at = datetime(2026, 1, 31, 9, 30, 0, 5000, tzinfo=UTC)
    assert typed(notes_on.plan, book="b'1", since=at, until=None) == notes_on(book="b'1", since=at)
    book = "b" * 80
    assert typed(notes_on.plan, book=book, since=at, until=at) == notes_on(book=book, since=at, until=at)


def test_a_typed_call_leaves_defaults_out() -> None:
    given = {"book": "b1", "since": None, "until": None}
    assert typed_call(notes_on.plan, given) == 'page = db.page(notes_on(book="b1"))\n'


def test_a_typed_program_runs_as_it_is_printed_and_reads_the_item() -> None:
    with testing.engine() as engine, serving(engine) as url:
        target = Target(url, "us-east-1", takes_any_key=True)
        db = Db(embedded(engine), library)
        db.create_tables()
        at = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
        book = Book(id=TEXTS["unicode"], isbn="1" * 13, title="A", price=Decimal("1.5"), added=at)
        note = Note(book=book.id, at=at, text="good")
        db.write(books.create(book), notes.create(note))
        programs: list[tuple[Plan, dict[str, Any]]] = [
            (book_by_id.plan, {"id": book.id}),
            (books_by_state.plan, {"state": "ON_SHELF"}),
            (notes_on.plan, {"book": book.id, "since": at, "until": None}),
        ]
        seen = [_ran(typed_program(library, plan, given, Tables(target))) for plan, given in programs]
    assert (seen[0]["found"], seen[1]["page"].items, seen[2]["page"].items) == (book, (book,), (note,))


def _ran(text: str) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    exec(text, seen)
    return seen


def test_every_pattern_of_every_system_is_imported_under_its_own_plan() -> None:
    for system in SYSTEMS:
        for design in system.designs:
            for plan in design.plans:
                text = typed_program(design, plan, {}, Tables(Target()))
                assert text, f"{design.name}.{plan.name}"
                lines = [line for line in text.split("\n") if line.startswith("from ")]
                seen: dict[str, Any] = {}
                exec("\n".join(lines), seen)
                name = re.search(r"= db\.(?:one|page)\((.+)\(\)\)", text)
                assert name is not None, text
                assert eval(name[1], seen).plan is plan, text


def test_a_typed_program_names_the_environment_whose_tables_it_reads() -> None:
    own = Environment("prod", region="eu-west-1", table_name="{env}-{table}")
    assert typed_program(library, book_by_id.plan, {"id": "x"}, Tables(Target(), own)) == ""
    text = typed_program(
        PORTAL, PORTAL.plans[0], {}, Tables(Target(), next(iter(PORTAL.environments.values())))
    )
    assert "HttpCall.resolve()" in text


def test_the_endpoint_is_named_only_where_there_is_one() -> None:
    request = [("GetItem", {"TableName": "odd", "Key": key("x")})]
    for each in samples(request):
        assert "endpoint" not in each.text
        assert "any" not in each.text
    for each in samples(request, Target("http://127.0.0.1:8000", "eu-west-1")):
        assert "http://127.0.0.1:8000" in each.text
        assert "eu-west-1" in each.text
        assert "any" not in each.text, "keys are the reader's own"
    assert [each.language for each in samples(request, typed="page = ...")] == [
        "boto3", "AWS CLI", "JavaScript", "Typed Python",
    ]  # fmt: skip
