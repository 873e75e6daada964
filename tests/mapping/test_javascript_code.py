"""Code samples in JavaScript, run as they are printed with the AWS SDK from npm against our server.

Elsewhere: that Node.js reads the text as the request it was made from, without the SDK (test_code_samples.py).
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mapping.test_code_samples import BLOB, DIGITS, OTHERS, TEXTS, key, query, with_tables

from tablewright.mapping.code_samples import Target, javascript_code

PACKAGES = Path(__file__).parents[2] / "tools" / "javascript" / "node_modules"
# What a sample prints, as lines of JSON: loaded before it, so that its own text stays as it is.
PRINT = """
const plain = (value) => value instanceof Uint8Array ? Buffer.from(value).toString("base64")
  : value instanceof Set ? [...value].map(plain)
  : Array.isArray(value) ? value.map(plain)
  : value === null || typeof value !== "object" ? value
  : Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
console.dir = (value) => process.stdout.write(JSON.stringify(plain(value)) + "\\n");
"""


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Any, Target]]:
    with with_tables() as found:
        yield found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which Node.js finds the SDK."""
    if shutil.which("node") is None or not (PACKAGES / "@aws-sdk" / "lib-dynamodb").exists():
        pytest.skip("the AWS SDK for JavaScript is not installed: run `make javascript`")
    home = tmp_path_factory.mktemp("javascript")
    (home / "node_modules").symlink_to(PACKAGES)
    (home / "print.mjs").write_text(PRINT)
    return home


def run_node(home: Path, text: str, *options: str) -> str:
    (home / "sample.mjs").write_text(text)
    bare = {"PATH": os.environ["PATH"], "HOME": str(home)}  # no keys and no region are set
    done = subprocess.run(
        ["node", *options, "sample.mjs"], cwd=home, env=bare, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def answers(home: Path, text: str) -> list[Any]:
    printed = run_node(home, text, "--import", "./print.mjs")
    return [json.loads(line) for line in printed.split("\n") if line]  # a text may have other ends of lines


def test_the_sdk_reads_and_queries_items_whatever_their_letters_are(
    server: tuple[Any, Target], home: Path
) -> None:
    engine, target = server
    requests = [("GetItem", {"TableName": "odd", "Key": key(text)}) for text in TEXTS.values()]
    requests += [("GetItem", {"TableName": "blobs", "Key": {"id": {"B": BLOB}}})]
    requests += [("Query", query(text)) for text in TEXTS.values()]
    expected = [items_in(engine.call(verb, request)) for verb, request in requests]
    assert all(expected)
    assert [items_in(each) for each in answers(home, javascript_code(requests, target))] == expected


def items_in(answer: Any) -> list[Any]:
    """The SDK writes an attribute named __proto__ and loses it when it reads: it is not compared."""
    found = answer["Items"] if "Items" in answer else [answer["Item"]]
    return [{name: value for name, value in item.items() if name != "__proto__"} for item in found]


def test_the_sdk_writes_every_type(server: tuple[Any, Target], home: Path) -> None:
    engine, target = server
    item = {**key("written"), **OTHERS}
    answers(home, javascript_code([("PutItem", {"TableName": "odd", "Item": item})], target))
    stored = engine.call("GetItem", {"TableName": "odd", "Key": key("written")})["Item"]
    like_it = engine.call("GetItem", {"TableName": "odd", "Key": key(TEXTS["plain"])})["Item"]
    engine.call("DeleteItem", {"TableName": "odd", "Key": key("written")})
    assert stored == {**like_it, "id": {"S": "written"}}


def test_a_sample_prints_the_attributes_of_each_item(server: tuple[Any, Target], home: Path) -> None:
    printed = run_node(home, javascript_code([("Query", query(TEXTS["plain"]))], server[1]))
    assert "[Object]" not in printed
    assert DIGITS in printed
    assert TEXTS["plain"] in printed


def test_the_document_client_of_the_sdk_reads_what_it_wrote(server: tuple[Any, Target], home: Path) -> None:
    engine, target = server
    text = f"""
import {{ DynamoDBClient }} from "@aws-sdk/client-dynamodb";
import {{ DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand, UpdateCommand }} from "@aws-sdk/lib-dynamodb";

const client = DynamoDBDocumentClient.from(new DynamoDBClient({{
  endpoint: "{target.url}", region: "us-east-1", credentials: {{ accessKeyId: "any", secretAccessKey: "any" }},
}}));
const Key = {{ id: "document", at: 1 }};
const Item = {{ ...Key, tags: new Set(["a", "b"]), nested: {{ list: [1, null, true, "x"] }}, blob: Buffer.from("é") }};
await client.send(new PutCommand({{ TableName: "odd", Item }}));
console.dir(await client.send(new UpdateCommand({{
  TableName: "odd", Key, UpdateExpression: "SET nested.#n = :n", ReturnValues: "UPDATED_NEW",
  ExpressionAttributeNames: {{ "#n": "new" }}, ExpressionAttributeValues: {{ ":n": 2.5 }},
}})));
console.dir(await client.send(new GetCommand({{ TableName: "odd", Key }})));
console.dir(await client.send(new QueryCommand({{
  TableName: "odd", KeyConditionExpression: "id = :id", ExpressionAttributeValues: {{ ":id": "document" }},
}})));
try {{
  await client.send(new PutCommand({{ TableName: "odd", Item, ConditionExpression: "attribute_not_exists(id)" }}));
}} catch (error) {{
  console.dir({{ name: error.name, message: error.message }});
}}
"""
    updated, got, found, refused = answers(home, text)
    engine.call("DeleteItem", {"TableName": "odd", "Key": {"id": {"S": "document"}, "at": {"N": "1"}}})
    item = {"id": "document", "at": 1, "tags": ["a", "b"], "blob": "w6k=",
            "nested": {"list": [1, None, True, "x"], "new": 2.5}}  # fmt: skip
    assert updated["Attributes"] == {"nested": {"new": 2.5}}
    assert got["Item"] == item
    assert (found["Count"], found["Items"]) == (1, [item])
    assert refused == {
        "name": "ConditionalCheckFailedException", "message": "The conditional request failed"
    }  # fmt: skip
