"""The words of the language: none of them names an attribute or a table unless it stands in double quotes.

SQL-92's reserved words, without the parts of dates, and what PartiQL adds to them.
"""

from pathlib import Path

KEYWORDS = frozenset(Path(__file__).with_name("keywords.txt").read_text("ascii").upper().split())

# Keywords that may stand before a parenthesis, as the name of a function.
_CALLABLE = """
avg bit_length cast char_length character_length coalesce count exists extract lower max min nullif octet_length
position size substring sum trim upper
"""
CALLABLE = frozenset(_CALLABLE.upper().split())

# Names of types, behind IS: what attribute_type calls them; None for those DynamoDB knows no test of.
_UNTESTED = """
bag bigint char character clob date decimal double float int int2 int4 int8 integer integer2 integer4 integer8 real
sexp smallint symbol time timestamp varchar
"""
TYPES: dict[str, str | None] = {
    "NULL": "NULL",
    "BOOL": "BOOL",
    "BOOLEAN": "BOOL",
    "STRING": "S",
    "BLOB": "B",
    "LIST": "L",
    "STRUCT": "M",
    "TUPLE": "M",
    "NUMERIC": "N",
    **dict.fromkeys(_UNTESTED.upper().split()),
}
