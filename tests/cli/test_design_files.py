"""Design files on the command line: new, check, cost, picture, import and export; and where a file is wrong."""

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.cli.command import here
from tests.cli.stores import store_of_pets

from tablewright.design import files as design_files
from tablewright.design.files import from_yaml, json_schema, written

# The example's unique e-mail address is part of a key, for a reason it states.
PASSED = "1 design checked, OK; 1 finding accepted with a reason (--accepted shows them)"
ROOT = Path(__file__).parents[2]
SYSTEMS = ("campus", "chat", "parental", "portal", "travel")
HEAD = "format: tablewright-design/1\nname: shop\n"
ORDERS = (
    HEAD
    + "tables:\n- name: orders\n  pk: PK\n  entities:\n  - tag: b\n    pk: 'B#{x}'\n    fields: {x: string}\n"
)
COMMANDS = (
    "design check {}", "design check {} --target amazon --environment prod", "design heat {}", "cost {}", "scale {}",
    "design picture {} --to {}.drawn", "design repository {} --to {}.tree", "design policy {} --environment prod",
    "design export {} --to json", "design export {} --to yaml", "design export {} --to create-table",
    "design export {} --to workbench", "design export {} --to cloudformation --environment prod",
    "deploy plan {} --environment prod --data store",
)  # fmt: skip


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert here("design", "new", "shop.yaml").code == 0
    assert here("design", "new", "shop.json").code == 0
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_takes_a_design_takes_a_file(shop: Path, command: str) -> None:
    if "--data" in command:
        store_of_pets(shop / "store")
    said = [here(*command.format(name, name).split()) for name in ("shop.yaml", "shop.json")]
    assert [each.code for each in said] == [said[0].code] * 2
    assert said[0].code in ((0, 1) if command.startswith("deploy") else (0,)), said[0]
    # A workbench is printed with the minute in which it was made.
    first, second = (re.sub(r"\d\d:\d\d [AP]M", "", each.out) for each in said)
    assert first.replace("shop.yaml", "") == second.replace("shop.json", "")


def test_the_example_says_the_same_in_both_forms_and_has_no_open_finding(shop: Path) -> None:
    both = [
        written(from_yaml((shop / name).read_text("utf-8"))).document for name in ("shop.yaml", "shop.json")
    ]
    assert both[0] == both[1]
    for name in ("shop.yaml", "shop.json"):
        assert here("design", "check", name).out == f"{name}: {PASSED}\n"


def test_a_new_file_says_what_to_do_next_and_replaces_nothing(shop: Path) -> None:
    ran = here("design", "new", "other.yaml")
    for command in ("design check", "design cost", "design picture", "serve --design"):
        assert f"tablewright {command} other.yaml" in ran.out
    again = here("design", "new", "other.yaml")
    assert (again.code, again.err) == (2, "tablewright: other.yaml already exists; name another file\n")
    assert here("design", "new", "other.txt").code == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "shop.yaml: the file: is not a design"),
        ("# A shop.\n\n\nname: x\n",
         "shop.yaml:1: format: is missing; write `format: tablewright-design/1` as the first line of a design"),
        ("format: shop/1\n", "shop.yaml:1: format: found 'shop/1'; write `format: tablewright-design/1`"),
        ("# A shop.\nformat: tablewright-design/1\n", "shop.yaml:1: name: is missing; write `name: ...`"),
        (ORDERS + "    retention: 5 parsecs\n",
         "shop.yaml:10: tables[0].entities[0].retention: found '5 parsecs'; "
         "write an object with period, purpose, then"),
        (ORDERS + "    retention:\n      purpose: x\n      period: 5 parsecs\n",
         "shop.yaml:12: tables[0].entities[0].retention.period: found '5 parsecs'; "
         "write a number and days, hours, minutes or seconds, such as '90 days'"),
        (ORDERS + "    expires: {field: x, after: 5}\n",
         "shop.yaml:10: tables[0].entities[0].expires.after: found 5; write a number and days"),
        (ORDERS + "    load: {create: {per_second: fast}}\n",
         "shop.yaml:10: tables[0].entities[0].load.create.per_second: found 'fast'; write a number, such as 2.5\n"),
        (ORDERS + "  ttl: yes please\n", "shop.yaml:10: tables[0].ttl: found 'yes please'; write a name without"),
        (ORDERS + "  followed: yes\n", "shop.yaml:10: tables[0].followed: found 'yes'; write true or false"),
        (ORDERS + "  stream: NEW_IMAGES\n",
         "shop.yaml:10: tables[0].stream: found 'NEW_IMAGES'; did you mean 'NEW_IMAGE'? write 'NEW_AND_OLD_IMAGES', "),
        (HEAD + "tables: 5\n", "shop.yaml:3: tables: found 5; write a list"),
        (HEAD + "tabels: []\n", "shop.yaml:3: tabels: is not known here; did you mean 'tables'?"),
        (HEAD + "types:\n  Line:\n    fields:\n      note: {type: string, optional: true}\n",
         "shop.yaml:6: types.Line.fields.note.optional: is a part of the type: write `type: string?`, or "),
        (HEAD + "tables:\n- name: orders\n  sk: SK\n", "shop.yaml:4: tables[0].pk: is missing"),
        (HEAD + "tables:\n- name: orders\n  pk: {id}\n", "shop.yaml:5: tables[0].pk: is text, not an object"),
        (HEAD + "environments:\n- {name: p, region: r, account: 123456789012}\n",
         "shop.yaml:4: environments[0].account: is text, not a number"),
        (HEAD + "tables:\n- name: orders\n  pk: PK\n  entities:\n  - tag: a\n    pk: 'A#{x'\n    fields: {x: string}\n",
         "shop.yaml:8: tables[0].entities[0].pk: the template 'A#{x'"),
        (HEAD + "tables:\n- name: orders\n  pk: PK\n  entities:\n"
         "  - tag: a\n    pk: 'A#{x}'\n    fields:\n      x: strng\n",
         "shop.yaml:10: tables[0].entities[0].fields.x: there is no type 'strng'"),
        (HEAD + "patterns:\n- {name: p, of: [nothing], pk: x}\n", "shop.yaml:4: patterns[0].of[0]: there is no entity"),
        (HEAD + "name: twice\n", "shop.yaml:3: the file: the key 'name' is twice in one object"),
        (HEAD + "tables: [\n", "shop.yaml:4: the file: is not YAML"),
        (HEAD + "about: &a x\nnotes: [*a]\n", "shop.yaml:4: the file: the alias *a is not read; write the part out"),
        (HEAD + "about: !!python/name:os.system x\n", "is not for a design file"),
        (HEAD + "version: !!int x\n", "shop.yaml:3: the file: "),
        (HEAD + "version: 1e999\n", "shop.yaml:3: the file: 1e999... is too large"),
        ("[" * 5000, "shop.yaml: the file: is nested too deeply"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_named_with_its_line_and_place(shop: Path, text: str, words: str) -> None:
    (shop / "shop.yaml").write_text(text, "utf-8")
    for command in ("design check", "cost"):
        ran = here(*command.split(), "shop.yaml")
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
        assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{\n \"format\": \"tablewright-design/1\",\n", "shop.json:3: the file: is not JSON"),
        ('{"format": "tablewright-design/1",\n"name": "x",\n"name": "y"}', "shop.json:3: name: this key is twice"),
        ('{"format": "tablewright-design/1",\n"name": "x",\n"tables": [\n{"name": "abc"},\n{"name": "abc", "pk": 7}]}',
         "shop.json:5: tables[1].pk: is text, not a number"),
        ('{"format": "tablewright-design/1", "name": "x", "version": NaN}', "NaN is not a number of JSON"),
    ],
)  # fmt: skip
def test_a_json_file_has_lines_too(shop: Path, text: str, words: str) -> None:
    (shop / "shop.json").write_text(text, "utf-8")
    ran = here("cost", "shop.json")
    assert ran.code == 2
    assert words in ran.err


def test_a_bomb_of_aliases_is_refused_before_it_grows(shop: Path) -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 30))
    (shop / "shop.yaml").write_text(f"{HEAD}l0: &l0 [x]\n{levels}", "utf-8")
    assert "shop.yaml:4: the file: the alias *l0 is not read" in here("cost", "shop.yaml").err


def test_a_mistake_of_the_design_itself_is_a_finding_with_its_line(shop: Path) -> None:
    example = (shop / "shop.yaml").read_text("utf-8")
    (shop / "shop.yaml").write_text(
        example.replace("sk: ORDER#{placed_at:ms}#", "sk: ORDER#{placed:ms}#"), "utf-8"
    )
    line = 1 + next(at for at, each in enumerate(example.splitlines()) if "sk: ORDER#{placed_at:ms}#" in each)
    ran = here("design", "check", "shop.yaml")
    assert ran.code == 1
    assert f"K001 at tables[0].entities[1].sk (shop.order.SK) (line {line})" in ran.out


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_file_of_a_shipped_design_fits_the_json_schema(system: str) -> None:
    schema = json.loads((ROOT / "docs" / "design-file.schema.json").read_text("utf-8"))
    exported = here("design", "export", system, "--to", "json")
    assert exported.code == 0
    assert list(Draft202012Validator(schema).iter_errors(json.loads(exported.out))) == []


def test_the_published_schema_is_the_one_that_is_applied() -> None:
    published = json.loads((ROOT / "docs" / "design-file.schema.json").read_text("utf-8"))
    assert published == json_schema() == json.loads(here("design", "schema").out)
    example = json.loads(files(design_files).joinpath("example.json").read_text("utf-8"))
    assert list(Draft202012Validator(published).iter_errors(example)) == []
    assert list(Draft202012Validator(published).iter_errors({**example, "tabels": []}))


def test_tables_of_a_store_are_imported_and_checked_as_a_design(shop: Path) -> None:
    store_of_pets(shop / "store")
    ran = here("design", "import", "--table", "pets", "--data", "store", "--to", "yaml", "--name", "clinic")
    assert ran.code == 0, ran
    (shop / "clinic.yaml").write_text(ran.out, "utf-8")
    assert here("design", "check", "clinic.yaml").code in (0, 1)
    assert from_yaml(ran.out).tables["pets"].pk
    assert "Patterns: how the tables are read is not known" in ran.err
    missing = here("design", "import", "--table", "nothing", "--data", "store")
    assert (missing.code, "has no table nothing" in missing.err) == (2, True)


@pytest.mark.parametrize("data", ["nothing", "shop.yaml", "shop.yaml/below"])
def test_a_store_that_is_none_is_named(shop: Path, data: str) -> None:
    ran = here("design", "import", "--table", "pets", "--data", data)
    assert (ran.code, ran.out) == (2, "")
    assert data in ran.err
    assert "Traceback" not in ran.err


def test_an_import_names_files_or_tables_and_says_which_file_is_wrong(shop: Path) -> None:
    assert here("design", "import").code == 2
    assert here("design", "import", "a.json", "--table", "b").code == 2
    ran = here("design", "import", "shop.json")
    assert (ran.code, "shop.json: is a design file already" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.json", '{"Resources": {"A": {"Type": "AWS::DynamoDB::Table",\n'
         '"Properties": {"KeySchema": [\n{"AttributeName": 3}]}}}}',
         ["t.json:2: Resources.A.Properties.AttributeDefinitions: is missing",
          "t.json:3: Resources.A.Properties.KeySchema[0].AttributeName: is text, not a number"]),
        ("t.yaml", "Resources:\n  A:\n    Type: AWS::DynamoDB::Table\n    Properties: x\n",
         ["t.yaml:4: Resources.A.Properties: is an object, not text"]),
        ("m.json", '{"DataModel": [\n{"TableName": "x",\n'
         '"KeyAttributes": {"PartitionKey": {"AttributeName": "a",\n"AttributeType": "Q"}}}]}',
         ["m.json:4: DataModel[0].KeyAttributes.PartitionKey.AttributeType: is one of S, N, B, not 'Q'"]),
        ("p.json", '{"planned_values": {"root_module": {"resources": [\n'
         '{"type": "aws_dynamodb_table",\n"values": {"name": "x"}}]}}}',
         ["p.json:3: planned_values.root_module.resources[0].values.hash_key: is missing"]),
        ("d.json", '[\n{"TableName": "a",\n"KeySchema": 7}]', ["d.json:3: [0].KeySchema: is a list, not a number"]),
        ("s.json", '{"primaryKey": {}}', ["s.json: streams: is missing"]),
    ],
)  # fmt: skip
def test_a_file_of_another_tool_that_is_wrong_is_named_with_field_and_line(
    shop: Path, name: str, text: str, words: list[str]
) -> None:
    (shop / name).write_text(text, "utf-8")
    ran = here("design", "import", name)
    assert (ran.code, ran.out) == (2, "")
    assert [each for each in words if each not in ran.err] == [], ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "command", ["docs {}", "export {} --to yaml", "policy {} --environment prod", "diff shop.json {}"]
)
def test_each_command_of_a_design_names_the_field_and_the_line_of_a_bad_file(
    shop: Path, command: str
) -> None:
    (shop / "bad.yaml").write_text(HEAD + "tables:\n- name: orders\n  sk: SK\n", "utf-8")
    ran = here("design", *command.format("bad.yaml").split())
    assert (ran.code, ran.out) == (2, "")
    assert "bad.yaml:4: tables[0].pk: is missing" in ran.err


def test_what_a_format_cannot_say_is_named_on_stderr() -> None:
    ran = here("design", "export", "travel", "--to", "workbench")
    assert ran.code == 0
    assert "not in the workbench file: " in ran.err
    assert json.loads(ran.out)["ModelMetadata"]["Version"] == "3.0"
    assert here("design", "export", "travel", "--to", "cloudformation").code == 2
    assert here("design", "export", "travel", "--to", "cloudformation", "--environment", "no").code == 2


def test_fix_shows_a_diff_and_changes_nothing_until_it_is_told_to(shop: Path) -> None:
    file = shop / "shop.yaml"
    bad = file.read_text("utf-8").replace("    ttl: expiresAt\n", "    followed: true # by a job\n")
    file.write_text(bad, "utf-8")
    file.chmod(0o640)
    ran = here("design", "check", "shop.yaml", "--fix")
    assert (ran.code, file.read_text("utf-8")) == (1, bad)
    assert "+    ttl: ttl" in ran.out.splitlines()
    assert "+    stream: NEW_AND_OLD_IMAGES" in ran.out.splitlines()
    assert "2 of 2 findings would be fixed; add --yes to write it" in ran.err
    ran = here("design", "check", "shop.yaml", "--fix", "--yes", "--json")
    assert ran.code == 0
    said = json.loads(ran.out)
    assert (said["written"], {one["rule"] for one in said["fixed"]}) == (True, {"K015", "K024"})
    assert "    followed: true # by a job\n" in file.read_text("utf-8")
    assert file.stat().st_mode & 0o777 == 0o640
    assert here("design", "check", "shop.yaml").out == f"shop.yaml: {PASSED}\n"
    again = here("design", "check", "shop.yaml", "--fix")
    assert (again.code, again.out) == (0, "")
    assert {path.name for path in shop.iterdir()} == {"shop.yaml", "shop.json"}


@pytest.mark.parametrize("name", ["shop.yaml", "shop.json"])
def test_fix_writes_the_names_that_are_meant(shop: Path, name: str) -> None:
    file = shop / name
    good = file.read_text("utf-8")
    bad = good.replace("descending", "desending").replace(
        "CUSTOMER#{customer_id}", "CUSTOMER#{customerid}", 1
    )
    assert bad.count("desending") == good.count("descending") > 0
    file.write_text(bad, "utf-8")
    assert "did you mean 'descending'?" in here("design", "check", name).err
    ran = here("design", "check", name, "--fix")
    assert (ran.code, file.read_text("utf-8")) == (1, bad)
    added = [line for line in ran.out.splitlines() if line.startswith("+ ")]
    assert any("descending" in line for line in added)
    assert any("{customer_id}" in line for line in added)
    assert "would be fixed; add --yes to write it" in ran.err
    assert here("design", "check", name, "--fix", "--yes").code == 0
    assert file.read_text("utf-8") == good


def test_fix_says_what_a_check_of_the_fixed_text_finds(shop: Path) -> None:
    file = shop / "shop.yaml"
    good = file.read_text("utf-8")
    bad = good.replace("descending", "desending").replace("CUSTOMER#{customer_id}", "CUSTOMER#{stranger}", 1)
    file.write_text(bad, "utf-8")
    ran = here("design", "check", "shop.yaml", "--fix", "--json")
    left = json.loads(ran.out)["left"]
    assert len(left) > 0
    assert f"a check of the fixed text finds {len(left)} finding" in ran.err
    assert "stranger" in ran.err
    here("design", "check", "shop.yaml", "--fix", "--yes")
    again = json.loads(here("design", "check", "shop.yaml", "--json").out)["findings"]
    assert [each["where"] for each in again] == [each["where"] for each in left]


def test_fix_is_for_files_and_writes_only_together_with_yes(shop: Path) -> None:
    for words in (("travel", "--fix"), ("shop.yaml", "--yes"), ("nowhere.json", "--fix")):
        ran = here("design", "check", *words)
        assert (ran.code, ran.out) == (2, ""), words
        assert ran.err.startswith("tablewright: ")


def test_a_file_with_line_ends_of_windows_is_not_rewritten(shop: Path) -> None:
    file = shop / "shop.yaml"
    bad = file.read_bytes().replace(b"    ttl: expiresAt\n", b"").replace(b"\n", b"\r\n")
    file.write_bytes(bad)
    ran = here("design", "check", "shop.yaml", "--fix", "--yes")
    assert (ran.code, file.read_bytes()) == (2, bad)
    assert "line ends of Windows" in ran.err


def test_an_unprotected_design_is_found_again_in_what_is_imported_from_its_export(shop: Path) -> None:
    lines = (shop / "shop.yaml").read_text("utf-8").splitlines()
    bare = [line for line in lines if "pitr_days" not in line and "deletion_protection" not in line]
    (shop / "bare.yaml").write_text("\n".join(bare), "utf-8")
    told = []
    for name in ("bare.yaml", "shop.yaml"):
        made = here("design", "export", name, "--to", "cloudformation", "--environment", "prod")
        (shop / "stack.yaml").write_text(made.out, "utf-8")
        (shop / "back.yaml").write_text(here("design", "import", "stack.yaml", "--to", "yaml").out, "utf-8")
        found = (json.loads(here("design", "check", each, "--json").out) for each in (name, "back.yaml"))
        told.append([[(one["rule"], one["where"]) for one in each["findings"]] for each in found])
    assert told == [[[("OPS-UNPROTECTED", "prod")] * 2] * 2, [[], []]]
