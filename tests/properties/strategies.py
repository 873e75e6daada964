"""What the property tests draw: attribute values, keys that collide and sort badly, items, tables.

Keys come from short lists on purpose: random texts would never meet the same item twice. Numbers are drawn in
many spellings of the same number, sets in any order, so that what comes back is not simply what was sent.
"""

from base64 import b64encode
from decimal import Decimal

from hypothesis import strategies as st
from tests.properties.model import Index, Shape
from tests.properties.plain import Item, Value, plain, settled

TEXT_KEYS = ("a", "a\0", "a\0b", "aa", "b", "é", "\uffff", "😀")
BINARY_KEYS = (b"\0", b"\0\0", b"\0\xff", b"\x01", b"a", b"a\0", b"\xff", b"\xff\xff")
NUMBER_KEYS = (
    "-9.9e125",
    "-10",
    "-1.001",
    "-1",
    "-1e-130",
    "0",
    "1e-130",
    "0.15",
    "1",
    "1.001",
    "10",
    "9.9e125",
)

PLAIN = ("va", "vb", "vc")
HASHES = ("ga", "gb")
RANGES = ("ra", "rb", "la")


def binary(raw: bytes) -> Value:
    return {"B": b64encode(raw).decode()}


@st.composite
def spelled(draw: st.DrawFn, number: Decimal) -> str:
    """One of the ways to write a number."""
    text = plain(number)
    ways = [text, f"{number:E}", f"{number:e}"]
    if not text.startswith("-"):
        ways += ["+" + text, "00" + text]
    ways.append(text + "00" if "." in text else text + ".0")
    return draw(st.sampled_from(ways))


# Up to 38 digits, from 1E-130 to 9.99E125.
@st.composite
def decimals(draw: st.DrawFn) -> Decimal:
    digits = draw(st.integers(0, 10**38 - 1))
    first = len(str(digits)) - 1
    exponent = draw(st.integers(-130 - first, 125 - first))
    # scaleb would round to the context's 28 digits.
    return Decimal(f"{draw(st.sampled_from('+-'))}{digits}E{exponent}") if digits else Decimal(0)


def key_values(kind: str, most: int | None = None) -> st.SearchStrategy[Value]:
    """Values of one key type, from the first `most` of a short list."""
    if kind == "S":
        return st.sampled_from([{"S": text} for text in TEXT_KEYS[:most]])
    if kind == "B":
        return st.sampled_from([binary(raw) for raw in BINARY_KEYS[:most]])
    numbers = st.sampled_from([Decimal(text) for text in NUMBER_KEYS[:most]])
    return numbers.flatmap(spelled).map(lambda text: {"N": text})


SMALL_NUMBERS = st.integers(-20, 20).map(Decimal).flatmap(spelled).map(lambda text: {"N": text})
SCALARS = st.one_of(
    st.text(max_size=4).map(lambda text: {"S": text}),
    SMALL_NUMBERS,
    decimals().flatmap(spelled).map(lambda text: {"N": text}),
    st.binary(max_size=4).map(binary),
    st.booleans().map(lambda flag: {"BOOL": flag}),
    st.just({"NULL": True}),
)
TEXT_SETS = st.sets(st.sampled_from("uvwxyz"), min_size=1, max_size=4).flatmap(
    lambda members: st.permutations(sorted(members)).map(lambda some: {"SS": list(some)})
)
NUMBER_SETS = st.lists(st.integers(-9, 9), unique=True, min_size=1, max_size=4).map(
    lambda members: {"NS": [f"{member}.0" for member in members]}
)
BINARY_SETS = st.lists(st.binary(max_size=2), unique=True, min_size=1, max_size=3).map(
    lambda members: {"BS": [b64encode(member).decode() for member in members]}
)
NAMES = st.text(min_size=1, max_size=3)
VALUES: st.SearchStrategy[Value] = st.recursive(
    st.one_of(SCALARS, TEXT_SETS, NUMBER_SETS, BINARY_SETS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda members: {"L": members}),
        st.dictionaries(NAMES, inner, max_size=3).map(lambda members: {"M": members}),
    ),
    max_leaves=6,
)
ITEMS: st.SearchStrategy[Item] = st.dictionaries(NAMES, VALUES, max_size=4)
SETTLED = VALUES.map(settled)


# --- tables ---


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """A table: hash only or with a sort key, every attribute that may be a key with its type, some indexes."""
    has_range = draw(st.booleans())
    names = ("pk", "sk", *HASHES, *RANGES)
    kinds = {name: draw(st.sampled_from("SNB")) for name in names}
    shape = Shape("pk", "sk" if has_range else None, kinds)
    shape.indexes.update(
        (i.name, i) for i in draw(st.lists(global_indexes(shape), max_size=2, unique_by=_name))
    )
    if has_range and draw(st.booleans()):
        projection, included = draw(projections())
        ranged = draw(st.sampled_from(RANGES))
        shape.indexes["local"] = Index("local", ("pk",), (ranged,), projection, included, local=True)
    return shape


def _name(index: Index) -> str:
    return index.name


@st.composite
def global_indexes(draw: st.DrawFn, shape: Shape) -> Index:
    """One to three attributes in the hash key, none to three in the range key; table keys may be among them."""
    names = draw(st.permutations([*HASHES, *RANGES, *shape.keys]))
    hashes, ranges = draw(st.sampled_from([(1, 0), (1, 1), (1, 2), (2, 0), (2, 2), (3, 3)]))
    projection, included = draw(projections())
    return Index(
        draw(st.sampled_from(["one", "two", "three"])),
        tuple(names[:hashes]),
        tuple(names[hashes : hashes + ranges]),
        projection,
        included,
    )


def projections() -> st.SearchStrategy[tuple[str, tuple[str, ...]]]:
    return st.sampled_from([("ALL", ()), ("KEYS_ONLY", ()), ("INCLUDE", ("va",)), ("INCLUDE", ("vb", "vc"))])


@st.composite
def keys(draw: st.DrawFn, shape: Shape) -> Item:
    """The key of an item that is quite likely there."""
    key = {"pk": draw(key_values(shape.kinds["pk"], 3))}
    if shape.range is not None:
        key["sk"] = draw(key_values(shape.kinds["sk"]))
    return key


@st.composite
def items(draw: st.DrawFn, shape: Shape) -> Item:
    item = draw(keys(shape))
    for name in (*HASHES, *RANGES, *PLAIN):
        if draw(st.booleans()):
            item[name] = draw(attribute(shape, name))
    return item


def attribute(shape: Shape, name: str) -> st.SearchStrategy[Value]:
    """A value for an attribute; of the right type nearly always where an index may want it as its key."""
    if name in PLAIN:
        return VALUES
    right = key_values(shape.kinds[name], 4)
    return st.integers(0, 19).flatmap(lambda n: right if n else SCALARS)
