"""Statements the service refuses, in its words; some of them name the place, `at line:column:length`."""

from __future__ import annotations

import pytest
from tests.conformance.statement_talk import (
    ALIASED,
    LEFT_OVER,
    NO_KEY,
    NOT_WELL_FORMED,
    Refusal,
    batch,
    refuser,
    said,
    together,
)
from tests.conformance.talk import Answered, Json, Refused

OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
DIGITS = "Attempting to store more than 38 significant digits in a Number"
TERM = f"{NOT_WELL_FORMED}Unexpected term"
RIGHT = f"{NOT_WELL_FORMED}Missing right-hand side expression of infix operator"
DOCUMENT_PATH = "Operator or function requires a document path; operator or function: "
OPERANDS = "Incorrect number of operands for operator or function; operator or function: "
OPERAND_TYPE = "Incorrect operand type for operator or function; operator or function: "
DUPLICATES = "One or more parameter values were invalid: Input collection "
TABLE = "any-table"  # nearly all of these are refused before anybody looks for it


@pytest.fixture
def refusal(refused: Refused) -> Refusal:
    return refuser(refused)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # A word left over.
        ("SELECT * FROM T WHERE pk = 1 foo", LEFT_OVER),
        ("SELECT * FROM T WHERE pk = 1 e5", LEFT_OVER),
        ("SELECT * FROM T WHERE pk = 1)", LEFT_OVER),
        ("SELECT * FROM T ORDER BY pk WHERE pk = 1", LEFT_OVER),
        ("SELECT *, a FROM T", LEFT_OVER),
        ("INSERT INTO T VALUE {'pk': 1} foo", LEFT_OVER),
        ("INSERT INTO T t VALUE {'pk': 1}", LEFT_OVER),
        ("UPDATE T SET a = 9 WHERE pk = 1 foo", LEFT_OVER),
        ("DELETE FROM T WHERE pk = 1 foo", LEFT_OVER),
        ("DELETE FROM T WHERE pk = 1 ORDER BY pk", LEFT_OVER),
        ("FROM T SET c = 1 WHERE pk = 'x'", LEFT_OVER),
        # No statement at all.
        ("SLECT * FROM T", f"{NOT_WELL_FORMED}Expected data manipulation"),
        ("x", f"{NOT_WELL_FORMED}Expected data manipulation"),
        (";", f"{NOT_WELL_FORMED}Expected data manipulation"),
        ("CREATE TABLE x", f"{NOT_WELL_FORMED}Expected data manipulation"),
        ("UPDATE T", f"{NOT_WELL_FORMED}Expected data manipulation"),
        ("UPDATE Payment-x SET a = 1 WHERE pk = 'x'", f"{NOT_WELL_FORMED}Expected data manipulation"),
        # What cannot be a token.
        ("SELECT * FROM T WHERE pk = 1e2147483648", NOT_WELL_FORMED),
        ("SELECT * FROM T WHERE pk = 1e99999999999", NOT_WELL_FORMED),
        ("SELECT * FROM T WHERE pk = 1.5e-2147483647", NOT_WELL_FORMED),
        ("SELECT * FROM T WHERE pk = 1 # note", NOT_WELL_FORMED),
        ("SELECT * FROM T WHERE pk = 1 /* note", NOT_WELL_FORMED),
        ("SELECT * FROM T WHERE pk = 'x", NOT_WELL_FORMED),
        ('SELECT * FROM "T', NOT_WELL_FORMED),
        ('SELECT * FROM "', NOT_WELL_FORMED),
        # A condition that is not there.
        ("SELECT * FROM T WHERE", TERM),
        ("SELECT * FROM T WHERE;", TERM),
        ("SELECT pk FROM T WHERE   ", TERM),
        ("UPDATE T SET a = 1 WHERE", TERM),
        ("DELETE FROM T WHERE", TERM),
        ("SELECT * FROM T WHERE NOT", TERM),
        ("SELECT * FROM T WHERE (", TERM),
        ("SELECT * FROM", TERM),
        ("SELECT * FROM T WHERE pk = 'p1' AND", RIGHT),
        ("SELECT * FROM T WHERE pk = 'p1' OR", RIGHT),
        ("SELECT * FROM T WHERE pk =", RIGHT),
        ("SELECT * FROM T WHERE ORDER BY pk", f"{NOT_WELL_FORMED}Unexpected keyword"),
        ("SELECT * FROM T WHERE IS NULL", f"{NOT_WELL_FORMED}Unexpected operator"),
        ("SELECT * FROM T WHERE pk = LIKE", f"{NOT_WELL_FORMED}Unexpected operator"),
        ("SELECT * FROM T WHERE pk = 'a' AND x IS FOO", f"{NOT_WELL_FORMED}Expected type name"),
        ("SELECT * FROM T WHERE attribute_exists(m.inner)", f"{NOT_WELL_FORMED}Invalid path dot component"),
        ("UPDATE T SET m.inner = 1 WHERE pk = 1", f"{NOT_WELL_FORMED}Invalid path dot component"),
        # Tables.
        ("DELETE FROM", f"{NOT_WELL_FORMED}Expected identifier for simple path"),
        ("DELETE FROM;", f"{NOT_WELL_FORMED}Expected identifier for simple path"),
        ("DELETE FROM WHERE pk = 'a'", f"{NOT_WELL_FORMED}Expected identifier for simple path"),
        ("SELECT * FROM T t WHERE pk = 'x'", ALIASED),
        ("SELECT * FROM T AS t WHERE pk = 'x'", ALIASED),
        ("UPDATE T t SET a = 3 WHERE pk = 'x'", ALIASED),
        ("DELETE FROM T t WHERE pk = 'x'", ALIASED),
        ("SELECT * FROM T.a.b WHERE pk = 'p'", "A path may contain at most 2 components in the FROM clause"),
        ('SELECT * FROM T."" WHERE pk = 1', "Path component cannot be an empty string"),
        ('SELECT * FROM "" WHERE pk = 1', "Path component cannot be an empty string"),
        ("INSERT INTO T.i VALUE {'pk': 1}", "FROM clause may only contain a single table name"),
        ("UPDATE T.i SET a = 1 WHERE pk = 1", "This operation is not supported on an index"),
        ("DELETE FROM T.i WHERE pk = 1", "This operation is not supported on an index"),
        ("SELECT * FROM T LIMIT 3", "Unsupported clause: LIMIT at 1:17:5"),
        # Numbers.
        ("SELECT * FROM T WHERE pk = 1e126", f"{OVERFLOW} under root"),
        ("SELECT * FROM T WHERE pk = 1e-131", f"{UNDERFLOW} under root"),
        (f"SELECT * FROM T WHERE pk = {'123456789' * 4}123", f"{DIGITS} under root"),
        ("INSERT INTO T VALUE {'pk': 1e126}", f"{OVERFLOW} under root"),
        ("UPDATE T SET a = 1e-131 WHERE pk = 1", f"{UNDERFLOW} under root"),
        ("INSERT INTO T VALUE {'pk': 1, 'm': {'x': 1e126}}", f"{OVERFLOW} under root.x"),
        ("INSERT INTO T VALUE {'pk': 1, 'l': [1, 1e126]}", f"{OVERFLOW} under root[1]"),
        # Literals.
        ("UPDATE T SET d = " + "{'a':" * 32 + "1" + "}" * 32 + " WHERE pk = 1",
         "Nesting Levels have exceeded supported limits under root" + ".a" * 32),
        ("UPDATE T SET d = {'a':" + "[" * 31 + "1" + "]" * 31 + "} WHERE pk = 1",
         "Nesting Levels have exceeded supported limits under root.a" + "[0]" * 31),
        ("UPDATE T SET s = <<>> WHERE pk = 1", "Empty bags are not supported"),
        ("UPDATE T SET s = <<'b', 'b'>> WHERE pk = 1", f"{DUPLICATES}[b, b] contains duplicates."),
        ("UPDATE T SET n = <<2, 2.0>> WHERE pk = 1", f"{DUPLICATES}[2, 2.0] contains duplicates! under root"),
        ("UPDATE T SET n = <<2, 'x'>> WHERE pk = 1",
         "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"),
        ("INSERT INTO T VALUE {'pk': 1, 's': set_add(<<1>>, <<2>>)}",
         "Unsupported data type: set_add under key root at 1:36:7"),
        # Functions and operators.
        ("SELECT COUNT(*) FROM T", "Unexpected path component at 1:8:5"),
        ("SELECT attribute_exists(a) FROM T", "Unexpected path component at 1:8:16"),
        ("SELECT * FROM T WHERE EXISTS(a)", "Unrecognized function: exists at 1:23:6"),
        ("SELECT * FROM T WHERE set_add(a, <<1>>) = a", "Unrecognized function: set_add at 1:23:7"),
        ("SELECT * FROM T WHERE attribute_exists('a')", f"{DOCUMENT_PATH}attribute_exists"),
        ("SELECT * FROM T WHERE attribute_exists()", f"{OPERANDS}attribute_exists, number of operands: 0"),
        ("SELECT * FROM T WHERE attribute_exists(a, b)", f"{OPERANDS}attribute_exists, number of operands: 2"),
        ("SELECT * FROM T WHERE attribute_type(a, 1)", f"{OPERAND_TYPE}attribute_type, operand type: N"),
        ("SELECT * FROM T WHERE attribute_exists(a) > false", f"{OPERAND_TYPE}>, operand type: BOOL"),
        ("SELECT * FROM T WHERE a < [1]", f"{OPERAND_TYPE}<, operand type: L"),
        ("SELECT * FROM T WHERE a BETWEEN NULL AND 1", f"{OPERAND_TYPE}BETWEEN, operand type: NULL"),
        ("UPDATE T SET n = 'a' + 1 WHERE pk = 1", f"{OPERAND_TYPE}+, operand type: S"),
        ("UPDATE T SET n = n - null WHERE pk = 1", f"{OPERAND_TYPE}-, operand type: NULL"),
        ("SELECT * FROM T WHERE size(a)",
         "The function is not allowed to be used this way in an expression; function: size"),
        ("SELECT l[-1] FROM T", "List index is not within the allowable range; index: [-1] at 1:11:1"),
        ("SELECT l[2147483648] FROM T",
         "List index is not within the allowable range; index: [2147483648] at 1:10:10"),
        # set_add.
        ("UPDATE T SET t = set_add(s, <<1>>) WHERE pk = 1",
         "The first argument to SET_ADD must equal the assignment value at 1:18:7"),
        ("UPDATE T SET s = set_add(<<1>>, <<2>>) WHERE pk = 1",
         "The first argument to SET_ADD must equal the assignment value at 1:18:7"),
        ("UPDATE T SET s = set_add(s, 'x') WHERE pk = 1",
         "The second argument to SET_ADD must be a value with type SET at 1:26:1"),
        ("UPDATE T\nSET \"s\" = set_delete(\"s\", ['x']) WHERE pk = 1",
         "The second argument to SET_DELETE must be a value with type SET at 2:22:3"),
        ("UPDATE T SET s = set_add(s) WHERE pk = 1", "SET_ADD must have exactly two arguments at 1:18:7"),
        ("UPDATE T SET s = set_delete(s, <<1>>, <<2>>) WHERE pk = 1",
         "SET_DELETE must have exactly two arguments at 1:18:10"),
        # RETURNING and EXISTS.
        ("DELETE FROM T WHERE pk = 1 RETURNING MODIFIED OLD *",
         "Invalid returning clause: RETURNING MODIFIED OLD *. "
         "Only RETURNING ALL OLD * is allowed in DELETE statements."),
        ("DELETE FROM T WHERE pk = 1 RETURNING ALL NEW *",
         "Invalid returning clause: RETURNING ALL NEW *. Only RETURNING ALL OLD * is allowed in DELETE statements."),
        ("EXISTS(SELECT * FROM T WHERE pk = 1 AND a = 1)",
         "EXISTS can only be used in ExecuteTransaction write requests."),
        # Two assignments of one place.
        ("UPDATE T SET a = 1, a.b = 2 WHERE pk = 1",
         "Two document paths overlap with each other; must remove or rewrite one of these paths; "
         "path one: [a], path two: [a, b]"),
    ],
)  # fmt: skip
def test_a_statement_is_refused_before_its_table_is_looked_for(
    refusal: Refusal, text: str, words: str
) -> None:
    assert refusal(text) == words


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ([{"SS": ["a", "a"]}], f"{DUPLICATES}[a, a] contains duplicates."),
        ([{"NULL": False}],
         "One or more parameter values were invalid: Null attribute value types must have the value of true"),
        ([{"SS": []}], "One or more parameter values were invalid: An string set  may not be empty"),
        ([{"N": "abc"}], "The parameter cannot be converted to a numeric value: abc"),
        ([{"N": ""}], "The parameter cannot be converted to a numeric value"),
        ([{}], "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
    ],
)  # fmt: skip
def test_a_bad_parameter_is_refused_before_the_text_is_read(
    refusal: Refusal, refused: Refused, answered: Answered, parameters: list[Json], words: str
) -> None:
    member = said("UPDATE x SET WHERE", *parameters)
    assert refusal("UPDATE x SET WHERE", *parameters) == words
    assert refused("ExecuteTransaction", together(member)) == ("ValidationException", words)
    error = answered("BatchExecuteStatement", batch(member))["Responses"][0]["Error"]
    assert error == {"Code": "ValidationError", "Message": words}


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("SELECT * FROM T WHERE pk = ?", []),
        ("SELECT * FROM T WHERE pk = 1", [{"N": "1"}]),
        ("SELECT * FROM T WHERE pk = '?' AND a = ?", [{"N": "1"}, {"N": "2"}]),
    ],
)
def test_there_is_a_parameter_for_each_question_mark(
    refusal: Refusal, text: str, parameters: list[Json]
) -> None:
    assert refusal(text, *parameters) == "Number of parameters in request and statement don't match."


def test_a_parameter_stands_for_a_whole_value(refusal: Refusal) -> None:
    told = refusal("UPDATE T SET x = [?] WHERE pk = 1", {"S": "v"})
    assert told == "Unsupported data type: Parameter under key root[0] at 1:19:1"
    told = refusal("INSERT INTO T VALUE {'pk': 1, 'm': {'k': ?}}", {"S": "v"})
    assert told == "Unsupported data type: Parameter under key root.k at 1:42:1"


def test_the_mistake_of_an_operand_is_told_before_a_missing_table(refusal: Refusal) -> None:
    told = refusal("SELECT pk FROM nowhere WHERE pk = ? AND val < ?", {"S": "x"}, {"BOOL": True})
    assert told == f"{OPERAND_TYPE}<, operand type: BOOL"


def test_a_where_without_a_key_is_told_once_the_table_is_there(refusal: Refusal, hash_table: str) -> None:
    for text in ("FROM {} SET c = 1", "FROM {} REMOVE a", "FROM {} WHERE a = 1 SET c = 1"):
        assert refusal(text.format(f'"{hash_table}"')) == NO_KEY


def test_a_request_has_the_form_of_a_request(refused: Refused) -> None:
    start = "1 validation error detected: Value "
    bad: list[tuple[Json, str]] = [
        ({}, f"{start}null at 'statement' failed to satisfy constraint: Member must not be null"),
        ({"Statement": "x", "Parameters": []}, f"{start}'[]' at 'parameters' failed to satisfy constraint: "
         "Member must have length greater than or equal to 1"),
        ({"Statement": "x", "Limit": 0}, f"{start}'0' at 'limit' failed to satisfy constraint: "
         "Member must have value greater than or equal to 1"),
        ({"Statement": "x", "ReturnConsumedCapacity": "ALL"}, f"{start}'ALL' at 'returnConsumedCapacity' failed to "
         "satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"),
    ]  # fmt: skip
    for request, words in bad:
        assert refused("ExecuteStatement", request) == ("ValidationException", words)
    code, words = refused("ExecuteStatement", {"Statement": "x" * 8193})
    assert (code, "length less than or equal to 8192" in words) == ("ValidationException", True)


@pytest.mark.parametrize(
    "where", ["(" * 4000 + "a = 1" + ")" * 4000, "NOT " * 2000 + "a = 1", "a = " + "[" * 4000 + "]" * 4000,
              "a = " + "- " * 4000 + "1", " AND ".join(["a=1"] * 900), "f(" * 2500 + ")" * 2500,
              "a=" + "1+" * 4000 + "1"]
)  # fmt: skip
def test_no_depth_of_nesting_breaks_anything(refusal: Refusal, hash_table: str, where: str) -> None:
    assert refusal(f'SELECT * FROM "{hash_table}" WHERE {where}')
