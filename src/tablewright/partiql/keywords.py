"""The words of the language: none of them names an attribute or a table unless it stands in double quotes.

SQL-92's reserved words, without the parts of dates, and what PartiQL adds to them.
"""

_SQL = """
absolute action add all allocate alter and any are as asc assertion at authorization avg begin between bit bit_length
both by cascade cascaded case cast catalog char char_length character character_length check close coalesce collate
collation column commit connect connection constraint constraints continue convert corresponding count create cross
current current_date current_time current_timestamp current_user cursor date deallocate dec decimal declare default
deferrable deferred delete desc describe descriptor diagnostics disconnect distinct domain double drop else end escape
except exception exec execute exists external extract false fetch first float for foreign found from full get global go
goto grant group having identity immediate in indicator initially inner input insensitive insert int integer intersect
interval into is isolation join key language last leading left level like local lower match max min module names
national natural nchar next no not null nullif numeric octet_length of on only open option or order outer output
overlaps pad partial position precision prepare preserve primary prior privileges procedure public read real references
relative restrict revoke right rollback rows schema scroll section select session session_user set size smallint some
space sql sqlcode sqlerror sqlstate substring sum system_user table temporary then time timestamp to trailing
transaction translate translation trim true union unique unknown update upper usage user using value values varchar
varying view when whenever where with work write zone
"""
_PARTIQL = """
bag blob bool boolean clob conflict do index let limit list missing modified new old offset pivot remove returning sexp
string struct symbol tuple unpivot
"""

KEYWORDS = frozenset((_SQL + _PARTIQL).upper().split())

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
